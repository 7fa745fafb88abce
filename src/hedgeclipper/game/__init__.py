"""The paper's equations and their solvers, for two classes and for many.

terms, losses -> equations (primal, dual, one pass) -> batch, exact, stream -> solution -> api.
"""
