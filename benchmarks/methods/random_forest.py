"""scikit-learn's random forest with its defaults."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, probability


def scores(draw: Draw) -> np.ndarray:
    model = RandomForestClassifier(random_state=draw.seed)
    return probability(model.fit(draw.X, draw.y), draw.X_scored)


METHOD = Method("random-forest", "Random Forest", scores, is_member=True)
