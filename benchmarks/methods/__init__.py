"""The columns of the tables, one file each, in the tables' order."""

from benchmarks.methods import (
    adaboost,
    base_forest,
    equal_forest,
    hedgeclipper,
    hedgeclipper_apart,
    hedgeclipper_labeled_views,
    hedgeclipper_no_extra,
    hedgeclipper_no_views,
    hedgeclipper_paper,
    hedgeclipper_unshrunk,
    hedged_voting,
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
        hedgeclipper.MEAN,
        hedgeclipper_labeled_views.METHOD,
        hedgeclipper_unshrunk.METHOD,
        hedgeclipper_apart.METHOD,
        hedgeclipper_no_views.METHOD,
        hedgeclipper_no_extra.METHOD,
        hedgeclipper_paper.METHOD,
        hedgeclipper_paper.SMALL_ALPHA,
        hedgeclipper_paper.CHOSEN_ALPHA,
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
        hedged_voting.METHOD,
        hedged_voting.MEAN,
        hedged_voting.STACKING,
    )
}
CONTROLS = tuple(name for name, method in METHODS.items() if method.is_control)
ABLATIONS = tuple(name for name, method in METHODS.items() if method.is_ablation)
