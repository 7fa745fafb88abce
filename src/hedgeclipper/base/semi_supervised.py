"""Labeled and unlabeled rows: telling them apart, and splitting them for cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, assert_all_finite, check_consistent_length
from sklearn.utils.validation import column_or_1d

from hedgeclipper.io import is_pandas

UNLABELED = -1


class NoUnlabeledRowsWarning(UserWarning):
    """There are no unlabeled rows, so that nothing is learned from any."""


class ShiftWarning(UserWarning):
    """Labeled and unlabeled rows, or the votes on them, differ significantly."""


@dataclass(frozen=True, eq=False)
class SemiSupervisedRows:
    """Rows with labels, rows without, and where the latter stand in what was passed.

    ``marked`` is the mask of the rows that were marked as unlabeled in y; None where unlabeled
    rows came as a set of their own.
    """

    X_labeled: Any
    y_labeled: np.ndarray
    weight_labeled: np.ndarray | None
    X_unlabeled: Any
    marked: np.ndarray | None

    @property
    def in_memory(self) -> bool:
        """Whether the unlabeled rows are an array, CSR matrix or frame."""
        X = self.X_unlabeled
        return isinstance(X, np.ndarray) or sparse.issparse(X) or is_pandas(X)

    @property
    def has_unlabeled(self) -> bool:
        """Whether there are unlabeled rows, or labeled ones stand in for them."""
        return self.marked is None or bool(self.marked.any())

    def without_weightless(self) -> SemiSupervisedRows:
        """Return the same without labeled rows of weight 0."""
        if self.weight_labeled is None or np.all(self.weight_labeled > 0):
            return self
        rows = np.flatnonzero(self.weight_labeled > 0)
        return replace(
            self,
            X_labeled=_safe_indexing(self.X_labeled, rows),
            y_labeled=self.y_labeled[rows],
            weight_labeled=self.weight_labeled[rows],
        )


def split_rows(X: Any, y: Any, X_unlabeled: Any, sample_weight: Any) -> SemiSupervisedRows:
    """Return labeled and unlabeled rows.

    Without ``X_unlabeled``, y = -1 marks unlabeled rows, as in ``sklearn.semi_supervised``. With
    it, -1 is a class like any other. Without unlabeled rows of either kind, the labeled ones take
    their place.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Rows, checked.
    y : array-like of shape (n_samples,)
        Labels.
    X_unlabeled : array or CSR matrix, optional
        Unlabeled rows, checked.
    sample_weight : ndarray of shape (n_samples,), optional
        Weights of the rows; those of unlabeled ones are not used.
    """
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    if X_unlabeled is not None:
        return SemiSupervisedRows(X, y, sample_weight, X_unlabeled, None)
    marked = is_unlabeled(y)
    if not marked.any():
        return labeled_only(X, y, sample_weight, "pass X_unlabeled, or mark them with y = -1")
    labeled, unlabeled = np.flatnonzero(~marked), np.flatnonzero(marked)
    _check_classes_left(y[labeled], y.size)
    weights = None if sample_weight is None else sample_weight[labeled]
    X_labeled, X_rest = _safe_indexing(X, labeled), _safe_indexing(X, unlabeled)
    return SemiSupervisedRows(X_labeled, y[labeled], weights, X_rest, marked)


def labeled_only(X: Any, y: np.ndarray, sample_weight: Any, advice: str) -> SemiSupervisedRows:
    """Warn that no row is unlabeled, and return labeled rows in the place of unlabeled ones.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Rows, all with labels.
    y : ndarray of shape (n_samples,)
        Labels; -1 is a class here.
    sample_weight : ndarray of shape (n_samples,), optional
        Weights of the rows.
    advice : str
        How the caller could have passed unlabeled rows.
    """
    warnings.warn(
        f"There are no unlabeled rows: {advice}. The labeled rows take their place, and nothing "
        "is learned beyond them.",
        NoUnlabeledRowsWarning,
        stacklevel=5,
    )
    return SemiSupervisedRows(X, y, sample_weight, X, np.zeros(y.shape, dtype=bool))


def is_unlabeled(y: np.ndarray) -> np.ndarray:
    """Return which labels are -1, the mark of an unlabeled row."""
    if y.dtype.kind in "US":
        return np.zeros(y.shape, dtype=bool)
    return np.asarray(y == UNLABELED, dtype=bool)


def _check_classes_left(y: np.ndarray, n_samples: int) -> None:
    classes = np.unique(y)
    if classes.size < 2:
        found = f"one class, {classes[0]}," if classes.size else "no class"
        raise ValueError(
            f"y has {found} once -1 is read as 'unlabeled' ({y.size} of {n_samples} rows are "
            "left). Encode the classes as 0 and 1, or pass the unlabeled rows as X_unlabeled, in "
            "which case -1 is a class."
        )


class SemiSupervisedSplit:
    """Cross-validation that scores labeled rows and trains on all unlabeled ones.

    Every split trains on some labeled rows and on all rows with y = -1, and tests on the other
    labeled rows, so that a grid search over a semi-supervised classifier does the right thing.

    Parameters
    ----------
    cv : int or cross-validator, default=5
        How to split the labeled rows; a number means stratified folds.
    shuffle : bool, default=True
        Whether to shuffle before cutting stratified folds.
    random_state : int, RandomState or None
        Seed of the shuffling.

    Examples
    --------
    >>> X, y = np.zeros((8, 1)), np.array([0, 1, -1, 0, 1, -1, 0, 1])
    >>> for train, test in SemiSupervisedSplit(cv=3, shuffle=False).split(X, y):
    ...     print(train.tolist(), test.tolist())
    [2, 3, 4, 5, 6, 7] [0, 1]
    [0, 1, 2, 5, 6, 7] [3, 4]
    [0, 1, 2, 3, 4, 5] [6, 7]
    """

    def __init__(self, cv: Any = 5, *, shuffle: bool = True, random_state: Any = None):
        self.cv = cv
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the numbers of training and test rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels, -1 for unlabeled rows.
        groups : array-like of shape (n_samples,), optional
            Groups of the rows, for a splitter that takes them.
        """
        y = column_or_1d(y)
        marked = is_unlabeled(y)
        labeled, unlabeled = np.flatnonzero(~marked), np.flatnonzero(marked)
        if labeled.size == 0:
            raise ValueError("All rows are unlabeled (y = -1): there is nothing to score.")
        own_groups = None if groups is None else np.asarray(groups)[labeled]
        placeholder = np.zeros((labeled.size, 1))
        for train, test in self._splitter(y[labeled]).split(placeholder, y[labeled], own_groups):
            yield np.sort(np.concatenate([labeled[train], unlabeled])), labeled[test]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        if isinstance(self.cv, int):
            return self.cv
        return self._splitter(y).get_n_splits(X, y, groups)

    def _splitter(self, y: Any) -> Any:
        if isinstance(self.cv, int):
            seed = self.random_state if self.shuffle else None
            return StratifiedKFold(self.cv, shuffle=self.shuffle, random_state=seed)
        return check_cv(self.cv, y, classifier=True)

    def __repr__(self) -> str:
        return f"SemiSupervisedSplit(cv={self.cv!r}, shuffle={self.shuffle})"
