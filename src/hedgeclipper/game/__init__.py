"""The paper's equations and their solvers, for two classes and for many.

specialists, losses -> equations (objective, dual, one pass) -> batch, exact, stream -> solution;
setup and solve turn what a caller passes into a game and solve it.
"""
