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
    RandomForestClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.forest.classifier import HedgeClipperClassifier
from hedgeclipper.panel.views import Views, filler, fit_views

MANY_LABELS, TOO_MANY_LABELS = 1_000, 5_000
TOO_MANY_TO_SORT = 20_000


def default_panel(
    X: Any, n_labels: int, random_state: np.random.RandomState, *, n_classes: int = 2
) -> list[tuple[str, Any]]:
    """Return named classifiers that suit rows like these: labeled and unlabeled, or a sample."""
    views = fit_views(X, random_state)
    seed = random_state.randint(np.iinfo(np.int32).max)
    panel = {
        **_linear(views),
        **_trees(n_labels, seed),
        **_boosters(n_labels, n_classes, sparse.issparse(X), seed),
        **_neighbors(views, n_labels, seed),
        **_learning_from_all(views, seed),
    }
    return list(panel.items())


def _regression(strength: float) -> LogisticRegression:
    return LogisticRegression(C=strength, max_iter=1000)


def _linear(views: Views) -> dict[str, Any]:
    return {
        "linear": make_pipeline(views.scaled, _regression(1.0)),
        "linear_shrunk": make_pipeline(views.scaled, _regression(0.02)),
        "linear_quantile": make_pipeline(views.quantiles, _regression(0.1)),
        "linear_quantile_shrunk": make_pipeline(views.quantiles, _regression(0.005)),
        "components": make_pipeline(views.components, _regression(0.1)),
        "components_whitened": make_pipeline(views.whitened, _regression(0.02)),
        "cells": make_pipeline(views.cells, _regression(0.02)),
        "kernel": make_pipeline(views.kernel, _regression(10.0)),
    }


def _trees(n_labels: int, seed: int) -> dict[str, Any]:
    leaf = 10 if n_labels >= MANY_LABELS else 4
    smooth = ExtraTreesClassifier(200, min_samples_leaf=leaf, max_features=0.3, random_state=seed)
    return {
        "forest": make_pipeline(filler(), RandomForestClassifier(200, random_state=seed)),
        "extra_trees": make_pipeline(filler(), ExtraTreesClassifier(200, random_state=seed)),
        "extra_trees_smooth": make_pipeline(filler(), smooth),
    }


def _boosters(n_labels: int, n_classes: int, is_sparse: bool, seed: int) -> dict[str, Any]:
    """Return boosted trees, without subsampling only if there are few labels and classes."""
    stochastic = GradientBoostingClassifier(subsample=0.7, max_features="sqrt", random_state=seed)
    boosters = {"boosting": make_pipeline(filler(), stochastic)}
    if n_labels * n_classes <= TOO_MANY_TO_SORT:
        whole = GradientBoostingClassifier(random_state=seed)
        boosters["boosting_plain"] = make_pipeline(filler(), whole)
    stumps = AdaBoostClassifier(n_estimators=100, random_state=seed)
    boosters["boosted_stumps"] = make_pipeline(filler(), stumps)
    if n_labels >= MANY_LABELS and not is_sparse:
        boosters["boosting_large"] = HistGradientBoostingClassifier(
            learning_rate=0.05, max_iter=200, l2_regularization=1.0, random_state=seed
        )
    return boosters


def _neighbors(views: Views, n_labels: int, seed: int) -> dict[str, Any]:
    n_neighbors = min(30, max(3, n_labels // 7))
    nearest = KNeighborsClassifier(n_neighbors, weights="distance")
    neighbors = {"neighbors": make_pipeline(views.components, nearest)}
    if n_labels <= TOO_MANY_LABELS:
        neighbors["support_vectors"] = make_pipeline(views.quantiles, SVC(random_state=seed))
    return neighbors


def _learning_from_all(views: Views, seed: int) -> dict[str, Any]:
    spreading = SmoothSpreading(kernel="knn", n_neighbors=10, alpha=0.8)
    self_trained = SelfTrainingClassifier(_regression(0.1), threshold=0.9)
    return {
        "self_trained": make_pipeline(views.components, self_trained),
        "spreading": make_pipeline(views.components, spreading),
        "hedgeclipper": HedgeClipperClassifier(random_state=seed),
    }


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
