"""The columns of the table, one file each, in the table's order."""

from benchmarks.methods import (
    adaboost,
    base_forest,
    hedgeclipper,
    hedgeclipper_alone,
    hedgeclipper_paper,
    hedged_voting,
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
    method.name: method
    for method in (
        hedgeclipper.METHOD,
        hedgeclipper_paper.METHOD,
        hedgeclipper_paper.SMALL_ALPHA,
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
        leaf_count.METHOD,
        leaf_vote.METHOD,
        hedgeclipper_alone.METHOD,
        hedged_voting.METHOD,
        hedged_voting.MEAN,
        hedged_voting.STACKING,
    )
}
