"""Cross-validation where some rows are unlabeled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from hedgeclipper.base.row_reader import NOTHING_TO_SCORE, is_unlabeled, label_values
from hedgeclipper.io import as_classes


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
