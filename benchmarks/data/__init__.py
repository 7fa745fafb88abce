"""The paper's data sets that are available: label budgets that are run, and published values."""
