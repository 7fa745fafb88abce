"""Control: HedgeClipper without unlabeled rows; the labeled ones are used instead."""

import warnings

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods import base_forest
from benchmarks.methods.method import Method, probability
from hedgeclipper import HedgeClipperClassifier, NoUnlabeledRowsWarning


def scores(draw: Draw) -> np.ndarray:
    model = HedgeClipperClassifier(base_forest.forest(draw), random_state=draw.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoUnlabeledRowsWarning)
        model.fit(draw.X, draw.y)
    return probability(model, draw.X_scored)


METHOD = Method("hedgeclipper-alone", "Control: HedgeClipper without unlabeled rows", scores)
