"""scikit-learn's gradient boosting with its defaults."""

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, imputed, probability


def scores(draw: Draw) -> np.ndarray:
    model = imputed(GradientBoostingClassifier(random_state=draw.seed))
    return probability(model.fit(draw.X, draw.y), draw.X_scored)


METHOD = Method("mart", "MART", scores, is_member=True)
