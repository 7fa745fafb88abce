"""The paper's equations and their solvers, for two classes and for many.

losses -> equations (voters, slack, dual, one pass over the rows) -> solvers -> solve, which turns
what a caller passes into a game and solves it.
"""
