"""scikit-learn's AdaBoost with its defaults: stumps."""

import numpy as np
from sklearn.ensemble import AdaBoostClassifier

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, imputed, probability


def scores(draw: Draw) -> np.ndarray:
    model = imputed(AdaBoostClassifier(random_state=draw.seed))
    return probability(model.fit(draw.X, draw.y), draw.X_scored)


METHOD = Method("adaboost", "AdaBoost Trees", scores, is_member=True)
