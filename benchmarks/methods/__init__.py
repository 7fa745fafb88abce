"""The columns of the tables, in the tables' order, and further methods of `benchmarks.rivals`."""

from benchmarks.methods import (
    combined,
    elsewhere,
    hedgeclipper,
    hedgeclipper_paper,
    semi_supervised,
    supervised,
)

MODULES = (hedgeclipper, hedgeclipper_paper, supervised, semi_supervised, combined)
METHODS = {method.name: method for module in MODULES for method in module.METHODS}
RIVALS = {method.name: method for method in (*elsewhere.METHODS, supervised.FOR_FEW_LABELS)}
