"""Labeled and unlabeled rows: telling them apart, holding some out, and folds of the labeled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import assert_all_finite, check_consistent_length
from sklearn.utils.validation import column_or_1d

from hedgeclipper.bounds.sample import Sample
from hedgeclipper.io import (
    as_classes,
    as_plain_array,
    is_batched,
    is_in_memory,
    missing_labels,
    split_target,
)
from hedgeclipper.io.arrays import stack_rows
from hedgeclipper.io.messages import warn_user
from hedgeclipper.sklearn_private import _safe_indexing

UNLABELED = -1
NOTHING_TO_SCORE = (
    "All rows are unlabeled (y is -1 or missing): there is nothing to score. Pass rows that have "
    "labels, and in a cross-validation cv=SemiSupervisedSplit()."
)


class NoUnlabeledRowsWarning(UserWarning):
    """There are no unlabeled rows, so that nothing is learned from any."""


class ShiftWarning(UserWarning):
    """Labeled and unlabeled rows, or the votes on them, differ significantly."""


@dataclass(frozen=True, eq=False)
class SemiSupervisedRows:
    """Labeled rows, unlabeled rows, and the places of the latter among the rows that were passed.

    ``marked`` is the mask of the rows that y marks as unlabeled; None where unlabeled rows were
    passed as a set of their own.
    """

    X_labeled: Any
    y_labeled: np.ndarray
    X_unlabeled: Any
    marked: np.ndarray | None

    # numbers of the unlabeled and of the labeled rows in the table that both come from, if they do
    places: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def has_unlabeled(self) -> bool:
        """Whether there are unlabeled rows; if not, the labeled ones are reused in their place."""
        return self.marked is None or bool(self.marked.any())


def split_rows(
    X: Any, y: Any, X_unlabeled: Any, minus_one_is_class: bool = False
) -> SemiSupervisedRows:
    """Return labeled and unlabeled rows.

    Rows whose label is missing (None, NaN, NaT, ``pandas.NA``) are unlabeled. Without
    ``X_unlabeled`` so are those with y = -1, as in ``sklearn.semi_supervised``; with it, -1 is a
    class like any other. Without unlabeled rows of any kind, the labeled ones are reused in their
    place. Rows that y marks come before those of ``X_unlabeled``. ``minus_one_is_class`` makes -1
    a class also without ``X_unlabeled``.
    """
    y = label_values(y)
    check_consistent_length(X, y)
    marked = is_unlabeled(y, minus_one_is_class or X_unlabeled is not None)
    labeled, unlabeled = np.flatnonzero(~marked), np.flatnonzero(marked)
    known = y[labeled]
    if known.dtype.kind == "f":
        assert_all_finite(known, input_name="y")
    if known.dtype.kind == "O" or unlabeled.size:
        known = as_classes(known, "y")
    if unlabeled.size == 0:
        if X_unlabeled is not None:
            return SemiSupervisedRows(X, known, X_unlabeled, None)
        return labeled_only(X, known, "pass X_unlabeled, or mark them with y = -1")
    classes = np.unique(known)
    if classes.size < 2:
        found = f"one class, {classes[0]}," if classes.size else "no class"
        raise ValueError(
            f"y has {found} once -1 and missing labels are read as 'unlabeled' ({known.size} of "
            f"{y.size} rows are left). Encode the classes as 0 and 1, or pass the unlabeled rows "
            "as X_unlabeled, in which case -1 is a class."
        )
    X_labeled, rest = _safe_indexing(X, labeled), _safe_indexing(X, unlabeled)
    if X_unlabeled is None:
        return SemiSupervisedRows(X_labeled, known, rest, marked, (unlabeled, labeled))
    if not is_in_memory(X_unlabeled):
        raise ValueError(
            f"y has {unlabeled.size} missing labels, and X_unlabeled is not in memory "
            f"({type(X_unlabeled).__name__}), so that these rows cannot be added to it. Pass "
            "labeled rows only as X and y."
        )
    return SemiSupervisedRows(X_labeled, known, stack_rows(rest, X_unlabeled), None)


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Rows, in the form of the labeled ones, their labels, and their places among the pool.

    ``positions`` are those in the pool of unlabeled and held-out rows; None if they come last.
    """

    X: Any
    y: np.ndarray
    positions: np.ndarray | None = None

    def positions_in(self, n_pool: int) -> np.ndarray:
        """Return their positions in a pool of so many rows."""
        if self.positions is None:
            return np.arange(n_pool - self.y.size, n_pool)
        return self.positions


def hold_out_rows(
    rows: SemiSupervisedRows, held: np.ndarray | None, names: list[str] | None = None
) -> tuple[SemiSupervisedRows, HeldOutRows | None]:
    """Return the rows to fit to, and the held-out ones, which are also among the unlabeled rows.

    Rows of one table stay in its order, so that nothing can depend on which of them test. Rows of
    another one come last. ``names`` are those of the columns, for a Dask frame.
    """
    if held is None:
        return rows, None
    y, fitted = rows.y_labeled, np.setdiff1d(np.arange(rows.y_labeled.size), held)
    classes = np.unique(y[fitted])
    if classes.size < 2 <= np.unique(y).size:
        raise ValueError(
            f"A confidence_level holds {held.size} of the {y.size} labels out, and the "
            f"{fitted.size} to fit to are all of class {classes[0]}: at least two classes are "
            "needed. Label more rows, hold fewer out (holdout), or leave confidence_level out: the "
            "error is then an estimate."
        )
    out = HeldOutRows(_safe_indexing(rows.X_labeled, held), y[held])
    X_labeled = pool = _safe_indexing(rows.X_labeled, fitted)
    if rows.has_unlabeled:
        pool = _and_rows(rows.X_unlabeled, out.X, names)
    if rows.has_unlabeled and rows.places is not None:
        unlabeled, labeled = rows.places
        order = np.argsort(np.append(unlabeled, labeled[held]))
        pool = _safe_indexing(pool, order)
        out = replace(out, positions=np.flatnonzero(order >= unlabeled.size))
    return replace(rows, X_labeled=X_labeled, y_labeled=y[fitted], X_unlabeled=pool), out


def _and_rows(X: Any, more: Any, names: list[str] | None) -> Any:
    """Return unlabeled rows in any form with more rows after them."""
    if is_in_memory(X):
        return stack_rows(X, more)
    if is_dask(X):
        from hedgeclipper.io.distributed import append_rows

        return append_rows(X, more, names)
    return replace(X, more=more)  # of batches


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection; does not import Dask."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "dask")


def check_sampled_rows(sample: Sample, X: Any, y: Any, X_unlabeled: Any = None) -> None:
    """Raise unless X are all rows that a sample was drawn from, in the same order."""
    if not isinstance(sample, Sample):
        raise TypeError(f"sample must be what draw_sample returns. Got {type(sample).__name__}.")
    # an empty one says that -1 is a class
    if X_unlabeled is not None and not (is_in_memory(X_unlabeled) and X_unlabeled.shape[0] == 0):
        raise ValueError(
            "sample does not go with X_unlabeled. Pass all rows of the file as X, in its order, "
            "and y with missing labels (None) where there is none."
        )
    if is_dask(X) or is_batched(X):
        raise TypeError(
            f"With a sample, X must be all rows of the file, in memory. Got {type(X).__name__}."
        )
    sample.check(split_target(X, y)[0])


def labeled_only(X: Any, y: np.ndarray, advice: str) -> SemiSupervisedRows:
    """Warn that no row is unlabeled, and return labeled rows reused as unlabeled ones.

    ``advice`` is how the caller could have passed unlabeled rows.
    """
    warn_user(
        f"There are no unlabeled rows: {advice}. The labeled rows are reused as unlabeled ones, "
        "and nothing is learned beyond them.",
        NoUnlabeledRowsWarning,
    )
    return SemiSupervisedRows(X, y, X, np.zeros(y.shape, dtype=bool))


def label_values(y: Any) -> np.ndarray:
    """Return labels as an array of shape (n_samples,), in which missing ones are as they came."""
    return column_or_1d(as_plain_array(y), warn=True)


def is_unlabeled(y: Any, minus_one_is_class: bool = False) -> np.ndarray:
    """Return which rows are unlabeled: their label is missing, or -1.

    Missing labels are None, NaN, NaT and ``pandas.NA``. Among strings, "-1" counts as -1, since
    NumPy makes that of it where -1 is put into an array of strings. With ``minus_one_is_class``
    only missing labels count.
    """
    labels = label_values(y)
    unlabeled = missing_labels(labels)
    if not minus_one_is_class:
        known = labels[~unlabeled]
        if known.dtype.kind in "OUS":
            marks = [label in (UNLABELED, str(UNLABELED)) for label in known.tolist()]
        else:
            marks = known == UNLABELED
        unlabeled[~unlabeled] = marks
    return unlabeled


class SemiSupervisedSplit:
    """Cross-validation that scores labeled rows and trains on all unlabeled ones.

    Every split trains on some labeled rows and on all unlabeled ones, those with y = -1 or with a
    missing label, and tests on the other labeled rows, so that a grid search over a semi-supervised
    classifier does the right thing with any scorer.

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
            Labels; -1 or a missing one for unlabeled rows.
        groups : array-like of shape (n_samples,), optional
            Groups of the rows, for a splitter that takes them.
        """
        y = label_values(y)
        marked = is_unlabeled(y)
        labeled, unlabeled = np.flatnonzero(~marked), np.flatnonzero(marked)
        if labeled.size == 0:
            raise ValueError(NOTHING_TO_SCORE)
        known = as_classes(y[labeled], "y")
        own_groups = None if groups is None else np.asarray(groups)[labeled]
        placeholder = np.zeros((labeled.size, 1))
        for train, test in self._splitter(known).split(placeholder, known, own_groups):
            yield np.sort(np.concatenate([labeled[train], unlabeled])), labeled[test]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return self._splitter(y).get_n_splits(X, y, groups)

    def _splitter(self, y: Any) -> Any:
        if isinstance(self.cv, int):
            seed = self.random_state if self.shuffle else None
            return StratifiedKFold(self.cv, shuffle=self.shuffle, random_state=seed)
        return check_cv(self.cv, y, classifier=True)

    def __repr__(self) -> str:
        return f"SemiSupervisedSplit(cv={self.cv!r}, shuffle={self.shuffle})"
