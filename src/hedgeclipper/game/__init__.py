"""The paper's equations and their solvers, for two classes and for many.

specialists, losses -> equations (objective, dual, one pass) -> solvers -> solution; solve turns
what a caller passes into a game and solves it.
"""
