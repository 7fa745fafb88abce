"""Checks of labels and predictions that are drawn; errors say which picture wants what."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, column_or_1d

from hedgeclipper.base.semi_supervised import is_unlabeled


def classes_of(estimator: Any, wanted_by: str) -> np.ndarray:
    """Return the classes of a fitted classifier."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise TypeError(
            f"{wanted_by} is for classifiers. Got {type(estimator).__name__}, which has no "
            "classes_."
        )
    return np.asarray(classes)


def check_against(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the labels if each is one of the classes, and all of them occur."""
    refuse_unlabeled(y, classes)
    found = np.unique(y)
    if not np.array_equal(found, classes):
        which = "both" if classes.size == 2 else "all"
        raise ValueError(
            f"y must have the labels {listed(classes)}, the classes of the estimator, and {which} "
            f"of them. Got {listed(found)}."
        )
    return y


def two_classes_in(y: np.ndarray, pos_label: Any) -> np.ndarray:
    """Return the two labels, the positive one last."""
    found = np.unique(y)
    if found.size > 2:
        refuse_unlabeled(y, found[~is_unlabeled(found)])
    if found.size != 2:
        raise ValueError(
            f"y_true must have two classes. Got {found.size} label{'s' * (found.size != 1)}, "
            f"{listed(found)}."
        )
    if pos_label is None or pos_label == found[1]:
        return found
    if pos_label != found[0]:
        raise ValueError(f"pos_label must be one of {listed(found)}. Got {pos_label!r}.")
    return found[::-1]


def refuse_unlabeled(y: np.ndarray, classes: np.ndarray) -> None:
    """Raise if -1 is not a class but occurs: it then marks rows whose class is not known."""
    n_marked = int(is_unlabeled(y).sum())
    if n_marked and not is_unlabeled(classes).any():
        raise ValueError(
            f"y has {n_marked} unlabeled row{'s' * (n_marked != 1)} (-1) of {y.size}; the classes "
            f"are {listed(classes)}. Their class must be known to be drawn: pass the others alone."
        )


def probabilities_of(
    estimator: Any, X: Any, y: Any, wanted_by: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return labels, probabilities and classes, for pictures that hold these against each other."""
    check_is_fitted(estimator)
    classes = classes_of(estimator, wanted_by)
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"{wanted_by} needs predict_proba. Got {type(estimator).__name__}, which has none."
        )
    return check_against(column_or_1d(y), classes), estimator.predict_proba(X), classes


def check_shares(y: np.ndarray, shares: Any, classes: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities of shape (n_samples, n_classes), and the classes.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels.
    shares : array-like of shape (n_samples, n_classes) or (n_samples,)
        Probabilities of all classes, or of the second one of two.
    classes : array-like or None
        Labels of the columns; None for the sorted labels in y.
    """
    classes = np.unique(y) if classes is None else np.asarray(classes)
    refuse_unlabeled(y, classes[~is_unlabeled(classes)] if classes.size > 2 else classes)
    shares = np.asarray(shares, dtype=float)
    if shares.ndim == 1:
        shares = np.column_stack([1.0 - shares, shares])
    check_consistent_length(y, shares)
    if shares.ndim != 2 or shares.shape[1] != classes.size:
        raise ValueError(
            f"y_prob must have a column for each of the {classes.size} classes {listed(classes)}, "
            f"or be the probability of the second of two. Got shape {shares.shape}."
        )
    if not (
        np.isfinite(shares).all() and shares.min(initial=0) >= 0 and shares.max(initial=0) <= 1
    ):
        raise ValueError(
            "y_prob must be probabilities, from 0 to 1. Got others: pass predict_proba."
        )
    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        raise ValueError(
            f"y_true must have labels among the classes {listed(classes)}. Got {listed(unknown)}."
        )
    return shares, classes


def listed(labels: Any) -> str:
    """Return a few labels as text."""
    shown = ", ".join(repr(label) for label in np.asarray(labels)[:5].tolist())
    return f"[{shown}{', ...' * (len(labels) > 5)}]"
