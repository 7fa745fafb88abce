"""The paper's equations and their solvers, for two classes and for many.

losses, specialists -> equations (objective, primal, dual, one pass) -> batch, exact, stream -> solution -> setup, solve.
"""
