"""scikit-learn's self-training with its defaults, around the scaled logistic regression."""

import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import SelfTrainingClassifier

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, probability, scaled


def scores(draw: Draw) -> np.ndarray:
    model = SelfTrainingClassifier(scaled(LogisticRegression(max_iter=1000), draw))
    X = np.vstack([draw.X, draw.X_unlabeled])
    y = np.concatenate([draw.y, np.full(draw.X_unlabeled.shape[0], -1)])
    with warnings.catch_warnings():
        # No harm done where all rows end up labeled before the last round.
        warnings.filterwarnings("ignore", message="y contains no unlabeled samples")
        model.fit(X, y)
    return probability(model, draw.X_scored)


METHOD = Method("self-training", "Self-training", scores, is_member=True, uses_unlabeled=True)
