"""The columns of the tables, in the tables' order."""

from benchmarks.methods import (
    combined,
    hedgeclipper,
    hedgeclipper_paper,
    semi_supervised,
    supervised,
)

MODULES = (hedgeclipper, hedgeclipper_paper, supervised, semi_supervised, combined)
METHODS = {method.name: method for module in MODULES for method in module.METHODS}
