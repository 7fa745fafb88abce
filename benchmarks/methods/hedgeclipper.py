"""HedgeClipperClassifier with its defaults, and without the game: equal weights of its trees.

Both come from one fit.
"""

from collections.abc import Callable
from functools import lru_cache
from unittest.mock import patch

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, probability
from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.forest.growing import Ensemble


@lru_cache(maxsize=1)
def fitted(draw: Draw) -> HedgeClipperClassifier:
    """Return the classifier, fitted to a draw."""
    return fit(HedgeClipperClassifier(random_state=draw.seed), draw)


def fit(model: HedgeClipperClassifier, draw: Draw) -> HedgeClipperClassifier:
    """Return the model, fitted to the labeled and unlabeled rows of a draw."""
    return model.fit(draw.X, draw.y, X_unlabeled=draw.X_unlabeled)


def scores_of_plan(draw: Draw, plan: Callable[..., list[Ensemble]]) -> np.ndarray:
    """Return the scores of the classifier with another plan of trees."""
    with patch("hedgeclipper.forest.growing.default_ensembles", plan):
        model = fit(HedgeClipperClassifier(random_state=draw.seed), draw)
    return probability(model, draw.X_scored)


def scores(draw: Draw) -> np.ndarray:
    return probability(fitted(draw), draw.X_scored)


def mean_scores(draw: Draw) -> np.ndarray:
    scorer = fitted(draw)._predictor.scorer
    return scorer.score(draw.X_scored)[:, :, 0] @ scorer.prior_weights


METHOD = Method("hedgeclipper", "HedgeClipper", scores, uses_unlabeled=True)
MEAN = Method(
    "hedgeclipper-mean", "without the game", mean_scores, uses_unlabeled=True, is_control=True
)
