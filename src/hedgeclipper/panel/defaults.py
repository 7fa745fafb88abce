"""The default panel: varied classifiers, some of which learn from unlabeled rows, too."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import LabelSpreading
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.forest.classifier import HedgeClipperClassifier
from hedgeclipper.panel.views import filler, fit_views

MANY_LABELS = 1_000
# in the order in which they are fitted, as far as a time limit allows
DEFAULT_MEMBERS = (
    "hedgeclipper",
    "linear_quantile",
    "linear",
    "components",
    "extra_trees",
    "class_means",
    "kernel",
    "boosting",
    "cells",
    "spreading",
    "boosted_stumps",
    "boosting_large",
)


def default_members() -> list[tuple[str, str]]:
    """Return the default members of `HedgedVotingClassifier`, to add others to or take some away.

    Each is a name and the word "default". What it stands for depends on the rows: ``fit`` puts a
    classifier in its place, on views that it learns from labeled and unlabeled rows, and leaves out
    members that do not suit these (some are for many labels, others for few).

    Returns
    -------
    list of (str, str)
        Names, those first that a ``time_limit`` begins with, each with "default".

    Examples
    --------
    >>> from sklearn.neural_network import MLPClassifier
    >>> from hedgeclipper import HedgedVotingClassifier, default_members
    >>> default_members()[0]
    ('hedgeclipper', 'default')
    >>> few = [member for member in default_members() if member[0] not in ("kernel", "cells")]
    >>> panel = HedgedVotingClassifier([*few, ("network", MLPClassifier())])
    """
    return [(name, "default") for name in DEFAULT_MEMBERS]


def default_panel(
    X: Any, n_labels: int, random_state: np.random.RandomState
) -> list[tuple[str, Any]]:
    """Return named classifiers that suit rows like these: labeled and unlabeled, or a sample.

    docs/panel.md tells how they were chosen, and which were left out.
    """
    views = fit_views(X, random_state)
    seed = random_state.randint(np.iinfo(np.int32).max)
    has_many_labels = n_labels >= MANY_LABELS
    smooth = {"min_samples_leaf": 10 if has_many_labels else 4, "max_features": 0.3}
    stochastic = {"subsample": 0.7, "max_features": "sqrt"}
    large = {"learning_rate": 0.05, "max_iter": 200, "l2_regularization": 1.0}

    def linear(strength: float) -> LogisticRegression:
        return LogisticRegression(C=strength, max_iter=1000)

    steps: dict[str, tuple[Any, ...]] = {
        "linear": (views.scaled, linear(0.02)),
        "linear_quantile": (views.quantiles, linear(0.1)),
        "components": (views.components, linear(0.1)),
        "class_means": (views.components, NearestCentroid()),
        "cells": (views.cells, linear(0.02)),
        "kernel": (views.kernel, linear(10.0)),
        "hedgeclipper": (HedgeClipperClassifier(n_estimators=400, random_state=seed),),
        "extra_trees": (filler(), ExtraTreesClassifier(100, **smooth, random_state=seed)),
        "boosting": (filler(), GradientBoostingClassifier(**stochastic, random_state=seed)),
        "boosted_stumps": (filler(), AdaBoostClassifier(n_estimators=100, random_state=seed)),
        "spreading": (views.components, SmoothSpreading("knn", n_neighbors=10, alpha=0.8)),
    }
    if has_many_labels and not sparse.issparse(X):
        steps["boosting_large"] = (HistGradientBoostingClassifier(**large, random_state=seed),)
    return [(name, make_pipeline(*own) if len(own) > 1 else own[0]) for name, own in steps.items()]


class SmoothSpreading(LabelSpreading):
    """Label spreading over nearest neighbors, and their mean for new rows.

    Rows that no label reaches get the class proportions of the labels, where scikit-learn's own
    class has NaN or 0. There may be fewer rows than neighbors.

    Parameters
    ----------
    kernel, gamma, n_neighbors, alpha, max_iter, tol, n_jobs
        As in ``LabelSpreading``.
    """

    def fit(self, X, y):
        """Spread the labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels, -1 for unlabeled rows.
        """
        labels = np.asarray(y)
        n_neighbors = min(self.n_neighbors, labels.size)
        spread = LabelSpreading(**{**self.get_params(), "n_neighbors": n_neighbors})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", message="invalid value", category=RuntimeWarning)
            spread.fit(X, y)
        self.classes_, self.n_features_in_ = spread.classes_, spread.n_features_in_
        soft = spread.label_distributions_
        prior = np.mean(labels[labels != -1][:, None] == self.classes_, axis=0)
        reached = soft.sum(axis=1, keepdims=True) > 0
        soft = np.where(reached, soft, prior)
        self.neighbors_ = KNeighborsRegressor(n_neighbors, weights="distance").fit(X, soft)
        return self

    def predict_proba(self, X):
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        return self.neighbors_.predict(X)
