"""Label correlations of the base forest's leaves on out-of-bag rows, for the two controls."""

from collections.abc import Callable

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods import base_forest

SHRINKAGE = 4.0


def sum_votes(draw: Draw, weigh: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the probability of class 1 from a vote of the leaves, each weighted by its b.

    b is the out-of-bag correlation with balanced labels, shrunk to the in-bag value, which is
    better for the controls than the plain one. No unlabeled row plays a part.
    """
    forest = base_forest.forest(draw).fit(draw.X, draw.y)
    positive_rate = draw.y.mean()
    weights = np.where(draw.y == 1, 0.5 / positive_rate, 0.5 / (1 - positive_rate))
    seen, new = forest.apply(draw.X), forest.apply(draw.X_scored)
    total = np.zeros(draw.n_scored)
    for tree, rows in enumerate(forest.estimators_samples_):
        bag = np.bincount(rows, minlength=draw.y.size)
        n_nodes = forest.estimators_[tree].tree_.node_count
        side, b = _sides_and_correlations(seen[:, tree], bag, weights, draw.y, n_nodes)
        total += (side * weigh(b))[new[:, tree]]
    return (1 + total / len(forest.estimators_)) / 2


def _sides_and_correlations(
    leaves: np.ndarray, bag: np.ndarray, weights: np.ndarray, y: np.ndarray, n_nodes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the vote and the b of each node of a tree (NaN for inner nodes)."""
    sums = [
        [np.bincount(leaves, part * weights * (y == label), n_nodes) for label in (0, 1)]
        for part in (bag, bag == 0)
    ]
    (bag_minus, bag_plus), (out_minus, out_plus) = sums
    in_bag = (bag_plus - bag_minus) / np.maximum(bag_plus + bag_minus, 1e-12)
    side = np.where(in_bag > 0, 1.0, -1.0)
    b = side * (out_plus - out_minus) + SHRINKAGE * np.abs(in_bag)
    return side, b / (out_plus + out_minus + SHRINKAGE)
