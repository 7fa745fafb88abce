"""Classifiers of scikit-learn for frames, whose columns skrub's TableVectorizer prepares."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.draws import Draw
from benchmarks.methods.method import Method, imputed


def method(name: str, title: str, make: Callable[[int], Any]) -> Method:
    """Return a method that gets columns as skrub's TableVectorizer prepares them."""

    def probabilities(draw: Draw, n_jobs: int) -> np.ndarray:
        model = make_pipeline(import_module("skrub").TableVectorizer(), make(draw.seed))
        return model.fit(draw.X, draw.y).predict_proba(draw.X_scored)

    return Method(name, title, probabilities, needs="skrub")


METHODS = (
    method("forest", "Random Forest", lambda k: RandomForestClassifier(500, random_state=k)),
    method(
        "forest-leaves-of-3",
        "Random Forest, leaves of three",
        lambda k: RandomForestClassifier(500, min_samples_leaf=3, random_state=k),
    ),
    method(
        "logistic-regression",
        "Logistic Regression",
        lambda k: imputed(make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))),
    ),
    method(
        "hist-gradient-boosting",
        "HistGradientBoosting",
        lambda k: HistGradientBoostingClassifier(random_state=k),
    ),
)
