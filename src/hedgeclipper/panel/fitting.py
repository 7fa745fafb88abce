"""Fitting one member to some of the labeled rows, and to unlabeled rows if it takes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from hedgeclipper.base.semi_supervised import UNLABELED
from hedgeclipper.forest.classifier import HedgeClipperClassifier
from hedgeclipper.io.arrays import stack_rows

READS_MARKS = (SelfTrainingClassifier, LabelPropagation, LabelSpreading, HedgeClipperClassifier)


@dataclass(frozen=True, eq=False)
class MemberRows:
    """What members learn from.

    Parameters
    ----------
    X_labeled : array, CSR matrix or frame of shape (n_labeled, n_features)
        Labeled rows.
    codes : ndarray of shape (n_labeled,), int
        Their classes, from 0 to n_classes - 1.
    n_classes : int
        Number of classes.
    weights : ndarray of shape (n_labeled,) or None
        Their weights.
    X_unlabeled : like X_labeled, of shape (n_unlabeled, n_features), or None
        Unlabeled rows; there may be none.
    """

    X_labeled: Any
    codes: np.ndarray
    n_classes: int
    weights: np.ndarray | None = None
    X_unlabeled: Any = None

    @property
    def n_columns(self) -> int:
        """Number of columns of a member's scores: one for two classes, else one per class."""
        return 1 if self.n_classes == 2 else self.n_classes

    def select(self, labeled: np.ndarray) -> MemberRows:
        """Return the same with some of the labeled rows.

        Parameters
        ----------
        labeled : ndarray of int
            Their numbers.
        """
        weights = None if self.weights is None else self.weights[labeled]
        X = _safe_indexing(self.X_labeled, labeled)
        return replace(self, X_labeled=X, codes=self.codes[labeled], weights=weights)

    def unlabeled_beside(self, train: np.ndarray) -> Any:
        """Return the unlabeled rows, and those labeled ones that are not in ``train``.

        A member that learns from the rows it predicts is then judged on such rows too. None where
        there are no unlabeled rows: it will then learn from none.

        Parameters
        ----------
        train : ndarray of int
            Numbers of the labeled rows whose labels are used.
        """
        if self.X_unlabeled is None or self.X_unlabeled.shape[0] == 0:
            return None
        held_out = np.setdiff1d(np.arange(self.codes.size), train)
        if held_out.size == 0:
            return self.X_unlabeled
        return stack_rows(self.X_unlabeled, _safe_indexing(self.X_labeled, held_out))


def fit_member(model: Any, rows: MemberRows, train: np.ndarray) -> np.ndarray:
    """Fit a model to some labeled rows and return the codes of its classes.

    Its classes are 0, 1, ... without a gap, as some classifiers demand, even where ``train`` lacks
    a class. Unlabeled rows go to a ``fit`` that takes ``X_unlabeled``, or stand among the rows,
    marked by -1, for an estimator that reads such marks. Weights go to a ``fit`` that takes them.

    Parameters
    ----------
    model : classifier
        What to fit.
    rows : MemberRows
        All rows.
    train : ndarray of int
        Numbers of the labeled rows to learn from.

    Returns
    -------
    ndarray of int
        Codes of the classes among the rows, in the order of the model's.
    """
    prefix, last = _last_step(model)
    part = rows.select(train)
    X, weights = part.X_labeled, part.weights
    codes, y = np.unique(part.codes, return_inverse=True)
    takes_rows = has_fit_parameter(model, "X_unlabeled")
    learns_from_all = takes_rows or isinstance(last, READS_MARKS)
    unlabeled = rows.unlabeled_beside(train) if learns_from_all else None
    options: dict[str, Any] = {}
    if unlabeled is not None and takes_rows:
        options["X_unlabeled"] = unlabeled
    elif unlabeled is not None:
        n_marked = unlabeled.shape[0]
        X, y = stack_rows(X, unlabeled), np.append(y, np.full(n_marked, UNLABELED))
        weights = None if weights is None else np.append(weights, np.ones(n_marked))
    if weights is not None and has_fit_parameter(last, "sample_weight"):
        options[f"{prefix}sample_weight"] = weights
    model.fit(X, y, **options)
    return codes


def _last_step(estimator: Any) -> tuple[str, Any]:
    """Return the prefix of a pipeline's parameters for its last step, and this step."""
    prefix = ""
    while isinstance(estimator, Pipeline):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return prefix, estimator
