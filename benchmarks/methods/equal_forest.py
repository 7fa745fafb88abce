"""scikit-learn's random forest with as many trees as HedgeClipper has in all."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, probability
from hedgeclipper import HedgeClipperClassifier

N_TREES = HedgeClipperClassifier().n_estimators


def scores(draw: Draw) -> np.ndarray:
    model = RandomForestClassifier(N_TREES, random_state=draw.seed)
    return probability(model.fit(draw.X, draw.y), draw.X_scored)


METHOD = Method(f"random-forest-{N_TREES}", f"Random Forest, {N_TREES} trees", scores)
