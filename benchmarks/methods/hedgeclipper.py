"""HedgeClipperClassifier with its defaults, with trees alone, and the mean of its voters.

The first and the last come from one fit.
"""

from functools import lru_cache

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, two_classes
from hedgeclipper import HedgeClipperClassifier


@lru_cache(maxsize=2)
def fitted(draw: Draw, n_jobs: int = 1, estimators: str = "default") -> HedgeClipperClassifier:
    """Return the classifier, fitted to a draw."""
    model = HedgeClipperClassifier(estimators, n_jobs=n_jobs, random_state=draw.seed)
    return model.fit(draw.X, draw.y, X_unlabeled=draw.X_unlabeled)


def default(draw: Draw, n_jobs: int) -> np.ndarray:
    return fitted(draw, n_jobs).predict_proba(draw.X_scored)


def trees(draw: Draw, n_jobs: int) -> np.ndarray:
    return fitted(draw, n_jobs, "trees").predict_proba(draw.X_scored)


def mean_of_voters(draw: Draw, n_jobs: int) -> np.ndarray:
    scorer = fitted(draw, n_jobs)._predictor.scorer
    return two_classes(scorer.score(draw.X_scored)[:, :, 0].mean(axis=1))


METHODS = (
    Method("hedgeclipper", "HedgeClipper", default),
    Method("hedgeclipper-trees", "its trees alone", trees),
    Method("hedgeclipper-mean", "mean of its voters", mean_of_voters),
)
