"""The ablations, one file each, in the order of the page."""

from benchmarks.ablations import (
    bounds,
    box,
    dimension,
    diversity,
    judges,
    label_noise,
    n_trees,
    small_leaves,
    solvers,
    specialists,
    together,
    unlabeled_share,
)

STUDIES = {
    module.STUDY.name: module.STUDY
    for module in (
        box,
        specialists,
        together,
        judges,
        bounds,
        small_leaves,
        solvers,
        n_trees,
        diversity,
        label_noise,
        dimension,
        unlabeled_share,
    )
}
