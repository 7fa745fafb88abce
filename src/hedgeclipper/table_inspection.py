"""What matters to the trees, and what they gain from unlabeled rows, measured out of bag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hedgeclipper.bounds.intervals import placements
from hedgeclipper.voters.classifiers import LabeledRows
from hedgeclipper.voters.tree_groups import FittedTrees, see
from hedgeclipper.weighing import auc_differences


def permutation_importances(
    trees: FittedTrees,
    rows: LabeledRows,
    games: Sequence[int],
    columns: Sequence[np.ndarray],
) -> np.ndarray:
    """Return by how much the out-of-bag AUC falls if columns of the labeled rows are shuffled.

    Each entry is for columns that are shuffled together, and is the mean over classes against the
    rest. Trees count the same.
    """
    X = rows.X.toarray() if sparse.issparse(rows.X) else rows.X
    is_positive = rows.codes[:, None] == np.asarray(games)
    known = ~np.isnan(trees.out_of_bag).any(axis=(1, 2))
    sizes, components = trees.sizes, trees.scorer.components

    def mean_auc(scores: np.ndarray) -> float:
        means = _mean_of_trees(scores[known], sizes)
        pairs = zip(is_positive[known].T, means.T, strict=True)
        return float(np.mean([placements(own, mean)[0].mean() for own, mean in pairs]))

    rng, whole = np.random.default_rng(0), mean_auc(trees.out_of_bag)
    n_repeats = 3 if len(columns) <= 100 else 1
    lost = np.zeros(len(columns))
    shuffled = X.copy()
    for number, own in enumerate(columns):
        for _ in range(n_repeats if own.size else 0):
            shuffled[:, own] = X[np.ix_(rng.permutation(X.shape[0]), own)]
            scores = trees.out_of_bag_in(see(shuffled, components))
            lost[number] += (whole - mean_auc(scores)) / n_repeats
        shuffled[:, own] = X[:, own]
    return lost


def _mean_of_trees(scores: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the mean over all trees of scores by group, shape (n_rows, n_games)."""
    return np.einsum("rgk,g->rk", scores, sizes)


@dataclass(frozen=True)
class UnlabeledGain:
    """What the unlabeled rows have changed, as far as the labels tell.

    Trees are compared with those whose views were learned from the labeled rows alone; both predict
    labeled rows by trees grown without them, and all trees count the same.

    Parameters
    ----------
    auc : float
        Difference in AUC: the mean over classes against the rest, without those of fewer than two
        labels; NaN if there are no others.
    auc_error : float
        Its standard error.
    """

    auc: float
    auc_error: float

    @property
    def is_significant(self) -> bool:
        """Whether the gain in AUC is more than two standard errors."""
        return self.auc > 2.0 * self.auc_error

    def describe(self) -> str:
        """Return it in one sentence.

        Examples
        --------
        >>> UnlabeledGain(0.031, 0.011).describe()
        'unlabeled rows: +0.031 AUC (± 0.011)'
        >>> UnlabeledGain(0.001, 0.004).describe()
        'unlabeled rows: no significant gain (+0.001 AUC, ± 0.004)'
        >>> UnlabeledGain(-0.089, 0.033).describe()
        'unlabeled rows: a loss (-0.089 AUC, ± 0.033)'
        """
        if np.isnan(self.auc):
            return "unlabeled rows: too few labels to measure what they bring"
        if self.is_significant:
            return f"unlabeled rows: {self.auc:+.3f} AUC (± {self.auc_error:.3f})"
        what = "a loss" if self.auc < -2.0 * self.auc_error else "no significant gain"
        return f"unlabeled rows: {what} ({self.auc:+.3f} AUC, ± {self.auc_error:.3f})"


def unlabeled_gain(
    trees: FittedTrees, control: FittedTrees, rows: LabeledRows, games: Sequence[int]
) -> UnlabeledGain:
    """Return the gain of trees over those with components of the labeled rows alone."""
    pairs = [_mean_of_trees(own.out_of_bag, own.sizes) for own in (trees, control)]
    known = ~np.isnan(pairs).any(axis=(0, 2))
    ours, theirs = (scores[known] for scores in pairs)
    is_positive = (rows.codes[:, None] == np.asarray(games))[known]
    compared = [
        auc_differences(ours[:, [k]], theirs[:, k], own, prior_rows=0.0)
        for k, own in enumerate(is_positive.T)
        if 2 <= own.sum() <= own.size - 2
    ]
    # classes share their rows, so that their errors do not cancel
    gain, error = np.mean(compared, axis=0).ravel().tolist() if compared else (np.nan, np.nan)
    return UnlabeledGain(gain, error)
