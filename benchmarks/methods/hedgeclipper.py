"""HedgeClipperClassifier with its defaults, on the base forest."""

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods import base_forest
from benchmarks.methods.method import Method, probability
from hedgeclipper import HedgeClipperClassifier


def scores(draw: Draw) -> np.ndarray:
    model = HedgeClipperClassifier(base_forest.forest(draw), random_state=draw.seed)
    model.fit(draw.X, draw.y, X_unlabeled=draw.X_unlabeled)
    return probability(model, draw.X_scored)


METHOD = Method("hedgeclipper", "HedgeClipper", scores, uses_unlabeled=True)
