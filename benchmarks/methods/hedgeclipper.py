"""HedgeClipperClassifier with its defaults, with trees alone, and the mean of its voters.

The first and the last come from one fit.
"""

from functools import lru_cache

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, probability
from hedgeclipper import HedgeClipperClassifier


@lru_cache(maxsize=2)
def fitted(draw: Draw, estimators: str = "default") -> HedgeClipperClassifier:
    """Return the classifier, fitted to a draw."""
    model = HedgeClipperClassifier(estimators, random_state=draw.seed)
    return model.fit(draw.X, draw.y, X_unlabeled=draw.X_unlabeled)


def scores(draw: Draw) -> np.ndarray:
    return probability(fitted(draw), draw.X_scored)


def scores_of_trees(draw: Draw) -> np.ndarray:
    return probability(fitted(draw, "trees"), draw.X_scored)


def mean_scores(draw: Draw) -> np.ndarray:
    return fitted(draw)._predictor.scorer.score(draw.X_scored)[:, :, 0].mean(axis=1)


METHODS = (
    Method("hedgeclipper", "HedgeClipper", scores),
    Method("hedgeclipper-trees", "its trees alone", scores_of_trees),
    Method("hedgeclipper-mean", "mean of its voters", mean_scores),
)
