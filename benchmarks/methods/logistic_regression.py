"""scikit-learn's logistic regression on scaled columns."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, probability, scaled


def scores(draw: Draw) -> np.ndarray:
    model = scaled(LogisticRegression(max_iter=1000), draw)
    return probability(model.fit(draw.X, draw.y), draw.X_scored)


METHOD = Method("logistic-regression", "Logistic Regression", scores, is_member=True)
