"""The columns of the tables, one file each, in the tables' order."""

from benchmarks.methods import (
    adaboost,
    base_forest,
    equal_forest,
    hedgeclipper,
    hedgeclipper_paper,
    label_spreading,
    lightgbm,
    logistic_regression,
    logistic_unscaled,
    mart,
    mean,
    random_forest,
    self_training,
    stacking,
)

METHODS = {
    method.name: method
    for method in (
        hedgeclipper.METHOD,
        hedgeclipper.TREES,
        hedgeclipper.MEAN,
        hedgeclipper_paper.METHOD,
        hedgeclipper_paper.SMALL_ALPHA,
        hedgeclipper_paper.HELD_OUT,
        equal_forest.METHOD,
        random_forest.METHOD,
        base_forest.METHOD,
        adaboost.METHOD,
        mart.METHOD,
        logistic_regression.METHOD,
        logistic_unscaled.METHOD,
        self_training.METHOD,
        label_spreading.METHOD,
        lightgbm.METHOD,
        mean.METHOD,
        stacking.METHOD,
    )
}
CONTROLS = tuple(name for name, method in METHODS.items() if method.is_control)
ABLATIONS = tuple(name for name, method in METHODS.items() if method.is_ablation)
