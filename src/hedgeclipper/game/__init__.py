"""The paper's equations and their solvers.

terms, losses, multiclass_losses -> equations (primal, dual, one pass) -> batch, exact, stream -> solution -> api.
"""
