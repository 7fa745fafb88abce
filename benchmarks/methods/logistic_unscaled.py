"""Logistic regression on unscaled columns, as the paper's figures suggest; for table (a) alone."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, imputed, probability


def scores(draw: Draw) -> np.ndarray:
    model = imputed(LogisticRegression())
    with warnings.catch_warnings():
        # It does not converge on such columns, but that is the comparison.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(draw.X, draw.y)
    return probability(model, draw.X_scored)


METHOD = Method("logistic-unscaled", "Logistic Regression, unscaled", scores)
