"""Classifiers of scikit-learn and LightGBM with their defaults, fitted to the labeled rows."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, imputed, probability, scaled
from hedgeclipper import HedgeClipperClassifier

N_TREES = HedgeClipperClassifier().n_estimators


def fitted_by(make: Callable[[Draw], Any]) -> Callable[[Draw], np.ndarray]:
    """Return a function that fits what ``make`` returns to a draw, and scores its rows."""

    def scores(draw: Draw) -> np.ndarray:
        with warnings.catch_warnings():
            # On columns that are not scaled it does not converge, but that is the comparison.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = make(draw).fit(draw.X, draw.y)
        return probability(model, draw.X_scored)

    return scores


def papers_forest(draw: Draw) -> RandomForestClassifier:
    """Return the forest of the paper: at least 10 rows a leaf, or 4 with few labels."""
    least = 10 if draw.y.size >= 1000 else 4
    return RandomForestClassifier(min_samples_leaf=least, random_state=draw.seed)


def method(name: str, title: str, make: Callable[[Draw], Any], is_member: bool = True) -> Method:
    return Method(name, title, fitted_by(make), is_member)


EQUAL_FOREST = f"random-forest-{N_TREES}"
METHODS = (
    method(
        EQUAL_FOREST,
        f"Random Forest, {N_TREES} trees",
        lambda draw: RandomForestClassifier(N_TREES, random_state=draw.seed),
        is_member=False,
    ),
    method(
        "random-forest",
        "Random Forest",
        lambda draw: RandomForestClassifier(random_state=draw.seed),
    ),
    method("base-forest", "Base RF", papers_forest),
    method(
        "adaboost",
        "AdaBoost Trees",
        lambda draw: imputed(AdaBoostClassifier(random_state=draw.seed)),
    ),
    method(
        "mart", "MART", lambda draw: imputed(GradientBoostingClassifier(random_state=draw.seed))
    ),
    method(
        "logistic-regression",
        "Logistic Regression",
        lambda draw: scaled(LogisticRegression(max_iter=1000), draw),
    ),
    # as the paper's figures suggest; for table (a) alone
    method(
        "logistic-unscaled",
        "Logistic Regression, unscaled",
        lambda draw: imputed(LogisticRegression()),
        is_member=False,
    ),
    method(
        "lightgbm",
        "LightGBM",
        lambda draw: LGBMClassifier(n_jobs=1, verbose=-1, random_state=draw.seed),
    ),
)
