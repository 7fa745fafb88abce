"""The ablations, one file each, in the order of the page."""

from benchmarks.ablations import (
    bounds,
    box,
    dimension,
    diversity,
    held_out,
    label_noise,
    n_trees,
    n_unlabeled,
    small_leaves,
    solvers,
    specialists,
    together,
)

STUDIES = {
    module.STUDY.name: module.STUDY
    for module in (
        box,
        specialists,
        together,
        held_out,
        bounds,
        small_leaves,
        solvers,
        n_trees,
        diversity,
        label_noise,
        dimension,
        n_unlabeled,
    )
}
