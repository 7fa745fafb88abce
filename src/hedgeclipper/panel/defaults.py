"""The default panel: varied classifiers, some of which learn from unlabeled rows, too."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline

from hedgeclipper.forest.classifier import HedgeClipperClassifier
from hedgeclipper.panel.panel_views import filler, fit_views

# from so many on leaves of extra trees are larger, and there is a larger booster
MANY_LABELS, LABELS_FOR_LARGE = 1_000, 5_000
# in the order in which they are fitted, as far as a time limit allows
DEFAULT_MEMBERS = (
    "hedgeclipper",
    "linear",
    "components",
    "extra_trees",
    "class_means",
    "kernel",
    "boosting",
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
        Names, each with "default".

    Examples
    --------
    >>> from sklearn.neural_network import MLPClassifier
    >>> from hedgeclipper import HedgedVotingClassifier, default_members
    >>> default_members()[0]
    ('hedgeclipper', 'default')
    >>> few = [member for member in default_members() if member[0] not in ("kernel", "boosting")]
    >>> panel = HedgedVotingClassifier([*few, ("network", MLPClassifier())])
    """
    return [(name, "default") for name in DEFAULT_MEMBERS]


def default_panel(
    X: Any, n_labels: int, random_state: np.random.RandomState
) -> list[tuple[str, Any]]:
    """Return named classifiers that suit rows like these: labeled and unlabeled, or a sample.

    docs/ablations.md tells what each contributes.
    """
    views = fit_views(X, random_state)
    seed = random_state.randint(np.iinfo(np.int32).max)
    smooth = {"min_samples_leaf": 10 if n_labels >= MANY_LABELS else 4, "max_features": 0.3}
    stochastic = {"subsample": 0.7, "max_features": "sqrt"}
    large = {"learning_rate": 0.05, "max_iter": 200, "l2_regularization": 1.0}

    def linear(strength: float) -> LogisticRegression:
        return LogisticRegression(C=strength, max_iter=1000)

    steps: dict[str, tuple[Any, ...]] = {
        "linear": (views.quantiles, linear(0.1)),
        "components": (views.components, linear(0.1)),
        "class_means": (views.components, NearestCentroid()),
        "kernel": (views.kernel, linear(10.0)),
        "hedgeclipper": (HedgeClipperClassifier(n_estimators=400, random_state=seed),),
        "extra_trees": (filler(), ExtraTreesClassifier(100, **smooth, random_state=seed)),
        "boosting": (filler(), GradientBoostingClassifier(**stochastic, random_state=seed)),
    }
    if n_labels >= LABELS_FOR_LARGE and not sparse.issparse(X):
        steps["boosting_large"] = (HistGradientBoostingClassifier(**large, random_state=seed),)
    return [(name, make_pipeline(*own) if len(own) > 1 else own[0]) for name, own in steps.items()]
