"""Which columns matter to a forest: what is lost out of bag if they are shuffled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.base.evaluation import placements
from hedgeclipper.forest.groups import ScoredGroups

MANY_COLUMNS, REPEATS = 100, 3


def permutation_importances(
    groups: ScoredGroups,
    predict: Callable[[np.ndarray], np.ndarray],
    X: Any,
    columns: Sequence[np.ndarray],
    n_jobs: int | None,
) -> np.ndarray:
    """Return by how much the out-of-bag AUC falls if columns of labeled rows are shuffled.

    Parameters
    ----------
    groups : ScoredGroups
        Groups of trees.
    predict : callable
        Returns log-odds of scores of shape (n_rows, n_groups, n_games).
    X : ndarray or CSR matrix of shape (n_labeled, n_columns)
        The labeled rows.
    columns : sequence of ndarray of int
        Columns that are shuffled together, for each entry of the result.
    n_jobs : int or None
        Threads that find leaves.

    Returns
    -------
    ndarray of shape (len(columns),)
        The difference in AUC, the mean over classes against the rest.
    """
    X = X.toarray() if sparse.issparse(X) else X
    is_positive = groups.codes[:, None] == np.asarray(groups.games)
    known = ~np.isnan(groups.out_of_bag).any(axis=(1, 2))

    def mean_auc(scores: np.ndarray) -> float:
        pairs = zip(is_positive[known].T, predict(scores[known]).T, strict=True)
        return float(np.mean([placements(own, raw)[0].mean() for own, raw in pairs]))

    rng, whole = np.random.default_rng(0), mean_auc(groups.out_of_bag)
    n_repeats = REPEATS if len(columns) <= MANY_COLUMNS else 1
    lost = np.zeros(len(columns))
    shuffled = X.copy()
    for number, own in enumerate(columns):
        for _ in range(n_repeats):
            shuffled[:, own] = X[np.ix_(rng.permutation(X.shape[0]), own)]
            leaves = groups.scorer.finder.find(shuffled, n_jobs)
            lost[number] += (whole - mean_auc(groups.unseen_scores(leaves))) / n_repeats
        shuffled[:, own] = X[:, own]
    return lost
