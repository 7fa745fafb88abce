"""Control without unlabeled rows: leaves with b > alpha for the class minus those against it."""

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods.leaf_votes import sum_votes
from benchmarks.methods.method import Method

ALPHA = 0.3


def scores(draw: Draw) -> np.ndarray:
    return sum_votes(draw, lambda b: (b > ALPHA).astype(float))


METHOD = Method("leaf-count", "Control: count of leaves", scores)
