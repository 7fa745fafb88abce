"""LightGBM with its defaults."""

import numpy as np
from lightgbm import LGBMClassifier

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, probability


def scores(draw: Draw) -> np.ndarray:
    model = LGBMClassifier(n_jobs=1, verbose=-1, random_state=draw.seed)
    return probability(model.fit(draw.X, draw.y), draw.X_scored)


METHOD = Method("lightgbm", "LightGBM", scores, is_member=True)
