"""The columns of the table, one file each, in the table's order."""

from benchmarks.methods import (
    adaboost,
    base_forest,
    hedgeclipper,
    hedgeclipper_alone,
    hedgeclipper_paper,
    label_spreading,
    leaf_count,
    leaf_vote,
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
    module.METHOD.name: module.METHOD
    for module in (
        hedgeclipper,
        hedgeclipper_paper,
        random_forest,
        base_forest,
        adaboost,
        mart,
        logistic_regression,
        logistic_unscaled,
        self_training,
        label_spreading,
        lightgbm,
        mean,
        stacking,
        leaf_count,
        leaf_vote,
        hedgeclipper_alone,
    )
}
