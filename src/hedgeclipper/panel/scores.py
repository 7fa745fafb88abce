"""What a fitted classifier says of rows, whatever methods it has: one column per class."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit


def member_scores(
    estimator: Any, X: Any, n_classes: int, classes: Any = None, *, name: str | None = None
) -> np.ndarray:
    """Return how much a fitted classifier takes rows to be of each class.

    Probabilities where it has them; else its decision function, squashed to (0, 1) class by class;
    else 1 for the class it predicts. A class that it does not know gets 0.

    Parameters
    ----------
    estimator : classifier
        A fitted one.
    X : array, CSR matrix or frame of shape (n_samples, n_features)
        Rows; there may be none.
    n_classes : int
        Number of classes.
    classes : array-like of shape (n_classes,), optional
        Labels of the classes as the estimator knows them. By default the codes 0, 1, ...
    name : str, optional
        What to call the estimator in an error.

    Returns
    -------
    ndarray of shape (n_samples, n_columns)
        One column, that of class code 1, for two classes; else one for each class.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> model = RidgeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> member_scores(model, np.array([[0.5]]), 2, ["no", "yes"])
    array([[0.5]])
    """
    name = name or type(estimator).__name__
    labels = np.arange(n_classes) if classes is None else np.asarray(classes)
    own = known_classes(estimator, labels)
    return scores_by_code(estimator, X, own, class_codes(own, labels, name), n_classes, name)


def known_classes(estimator: Any, default: np.ndarray) -> np.ndarray:
    """Return the labels of an estimator's classes in the order of its columns."""
    return np.asarray(getattr(estimator, "classes_", default))


def class_codes(own: np.ndarray, labels: np.ndarray, name: str) -> np.ndarray:
    """Return the code of each class that an estimator knows.

    Parameters
    ----------
    own : ndarray of shape (n_own,)
        Labels that the estimator knows.
    labels : ndarray of shape (n_classes,)
        Label of each code.
    name : str
        What to call the estimator in an error.
    """
    code_of = {label: code for code, label in enumerate(labels.tolist())}
    unknown = [label for label in own.tolist() if label not in code_of]
    if unknown:
        raise ValueError(
            f"{name} must know the classes {labels.tolist()} and no others. It also knows "
            f"{unknown}. Label rows of these classes too, or leave {name} out."
        )
    return np.array([code_of[label] for label in own.tolist()], dtype=np.intp)


def scores_by_code(
    estimator: Any, X: Any, own: np.ndarray, codes: np.ndarray, n_classes: int, name: str
) -> np.ndarray:
    """Return the scores of ``member_scores`` for an estimator whose classes have these codes.

    Parameters
    ----------
    estimator : classifier
        A fitted one.
    X : array, CSR matrix or frame of shape (n_samples, n_features)
        Rows.
    own, codes : ndarray of shape (n_own,)
        Its classes, as it knows them, and their codes.
    n_classes : int
        Number of classes.
    name : str
        What to call it in an error.
    """
    scores = np.zeros((X.shape[0], n_classes))
    if X.shape[0]:
        scores[:, codes] = _own_scores(estimator, X, own, name)
    if not np.isfinite(scores).all():
        n_bad = np.count_nonzero(~np.isfinite(scores).all(axis=1))
        raise ValueError(
            f"{name} must give finite scores. Got NaN or infinity for {n_bad} of {X.shape[0]} "
            "rows. Scale its features, or regularize it."
        )
    return scores[:, 1:] if n_classes == 2 else scores


def _own_scores(estimator: Any, X: Any, own: np.ndarray, name: str) -> np.ndarray:
    """Return scores of the classes an estimator knows, shape (n_samples, n_own)."""
    if own.size == 1:
        return np.ones((X.shape[0], 1))
    if hasattr(estimator, "predict_proba"):
        method = "predict_proba"
        scores = np.asarray(estimator.predict_proba(X), dtype=float)
    elif hasattr(estimator, "decision_function"):
        method = "decision_function"
        scores = expit(np.asarray(estimator.decision_function(X), dtype=float))
        if scores.ndim == 1:
            scores = np.column_stack([1.0 - scores, scores])
    else:
        return np.asarray(estimator.predict(X)).reshape(-1, 1) == own
    if scores.shape != (X.shape[0], own.size):
        raise ValueError(
            f"{method} of {name} must give one column for each of its {own.size} classes. Got an "
            f"array of shape {scores.shape} for {X.shape[0]} rows."
        )
    return scores
