"""The columns of the tables, in their order, those of rivals, and those of mixed columns."""

from benchmarks.methods import (
    behind_skrub,
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
MIXED = {method.name: method for method in (hedgeclipper.METHODS[0], *behind_skrub.METHODS)}
