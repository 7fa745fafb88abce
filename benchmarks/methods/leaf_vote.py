"""Control without unlabeled rows: the vote of the leaves weighted by b."""

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods.leaf_votes import sum_votes
from benchmarks.methods.method import Method


def scores(draw: Draw) -> np.ndarray:
    return sum_votes(draw, lambda b: np.maximum(b, 0.0))


METHOD = Method("leaf-vote", "Control: b-weighted vote", scores)
