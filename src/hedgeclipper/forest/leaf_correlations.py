"""What labeled rows say about leaves: votes, correlations and the forest's own vote.

Everything here is a sum over labeled rows within leaves. A row speaks for tree t only if the tree
has not seen it (`Labeled.unseen`): out of bag, held out, or new to a model fitted elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hedgeclipper.bounds.intervals import mean_bounds
from hedgeclipper.forest.leaves import LeafTable

SHRINKAGE = 4.0
LEAST_SCALE, LARGEST_SCALE = 0.5, 3.0
LEAST_IN_CELL = 5


@dataclass(frozen=True, eq=False)
class Labeled:
    """Labeled rows as the leaves see them.

    Parameters
    ----------
    leaves : ndarray of shape (n_trees, n_labeled)
        Leaf numbers, counted in each tree.
    offsets : ndarray of shape (n_trees,)
        Number of the first leaf of each tree.
    n_leaves : int
        Leaves of all trees.
    signs : ndarray of shape (n_labeled,)
        Labels, -1 or 1.
    weights : ndarray of shape (n_labeled,)
        Sample weights.
    unseen : ndarray of shape (n_trees, n_labeled), bool
        Whether the tree was grown without the row.
    bags : ndarray of shape (n_trees, n_labeled)
        How often the row is in the tree's sample.
    """

    leaves: np.ndarray
    offsets: np.ndarray
    n_leaves: int
    signs: np.ndarray
    weights: np.ndarray
    unseen: np.ndarray
    bags: np.ndarray

    @property
    def share(self) -> float:
        """Weighted share of positive labels."""
        return float(self.weights[self.signs > 0].sum() / self.weights.sum())

    @property
    def n_rare(self) -> int:
        """Number of labels of the rarer class."""
        return int(min((self.signs > 0).sum(), (self.signs < 0).sum()))

    @property
    def balanced(self) -> np.ndarray:
        """Sample weights that give both classes half of the whole."""
        share = self.share
        per_class = np.where(self.signs > 0, 0.5 / share, 0.5 / (1.0 - share))
        return self.weights * per_class * (self.weights.size / self.weights.sum())

    def sum_in_leaves(self, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return for each leaf the sum of values[j] * rows[t, j] over the rows j in it."""
        out = np.zeros(self.n_leaves)
        for tree, offset in enumerate(self.offsets):
            found = np.bincount(self.leaves[tree], values * rows[tree])
            out[offset : offset + found.size] += found
        return out

    def unseen_vote(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return each row's mean score over trees that have not seen it, and if any have not."""
        total, n_trees = np.zeros(self.signs.size), np.zeros(self.signs.size)
        for tree, offset in enumerate(self.offsets):
            unseen = self.unseen[tree]
            total[unseen] += scores[offset + self.leaves[tree, unseen].astype(np.int64)]
            n_trees += unseen
        return total / np.maximum(n_trees, 1), n_trees > 0


@dataclass(frozen=True, eq=False)
class LeafValues:
    """What the model says in each leaf about one class.

    Parameters
    ----------
    values : ndarray of shape (all leaves,)
        Share of the class among the rows in the bag, or a booster's output, centered.
    are_shares : bool
        Which of the two.
    """

    values: np.ndarray
    are_shares: bool

    def plain(self) -> np.ndarray:
        """Return scores whose signs are the leaves' votes: 2 p - 1, or the output."""
        return 2.0 * self.values - 1.0 if self.are_shares else self.values


@dataclass(frozen=True, eq=False)
class ForestVote:
    """The vote of the forest as leaf scores, in the scale of balanced labels.

    Parameters
    ----------
    in_bag : ndarray of shape (all leaves,)
        Scores by the rows in the bag alone, whose signs are the leaves' votes.
    scores : ndarray of shape (all leaves,)
        Scores with some say for unseen rows; their mean over the trees is the vote, 0 where a row
        is as likely positive as any.
    on_labeled : ndarray of shape (n_labeled,)
        Vote of the trees that have not seen the row, by in-bag scores, clipped to [-1, 1].
    has_vote : ndarray of shape (n_labeled,), bool
        Whether there is any such tree.
    """

    in_bag: np.ndarray
    scores: np.ndarray
    on_labeled: np.ndarray
    has_vote: np.ndarray


def balanced_vote(labeled: Labeled, leaf_values: LeafValues, out_of_bag: float) -> ForestVote:
    """Return the forest's vote, scaled so that it predicts unseen balanced labels best.

    Parameters
    ----------
    labeled : Labeled
        Labeled rows.
    leaf_values : LeafValues
        What the model says in each leaf.
    out_of_bag : float
        Weight of unseen rows beside those in the bag, where values are shares of these.
    """
    if leaf_values.are_shares:
        in_bag = _in_balanced_scale(labeled, leaf_values.values)
        mixed = _in_balanced_scale(labeled, _with_unseen(labeled, leaf_values.values, out_of_bag))
        least, largest = LEAST_SCALE, LARGEST_SCALE
    else:
        in_bag = mixed = leaf_values.values
        least, largest = 1e-6, np.inf
    vote, has_vote = labeled.unseen_vote(in_bag)
    weights = labeled.balanced * has_vote
    norm = float(weights @ vote**2)
    scale = float(weights @ (vote * labeled.signs)) / norm if norm > 0 else 1.0
    scale = float(np.clip(scale, least, largest))
    return ForestVote(scale * in_bag, scale * mixed, np.clip(scale * vote, -1.0, 1.0), has_vote)


def _in_balanced_scale(labeled: Labeled, shares: np.ndarray) -> np.ndarray:
    """Return (p - pi) / (2 pi (1 - pi)) of each leaf, p its share of positives and pi that of all.

    At p near pi it is 2 q - 1, q the share of positives with balanced labels, and it ranks rows as
    the forest's own probabilities do.
    """
    pi = labeled.share
    return (shares - pi) / (2.0 * pi * (1.0 - pi))


def _with_unseen(labeled: Labeled, shares: np.ndarray, out_of_bag: float) -> np.ndarray:
    """Return the shares with unseen rows counted as so much of a row in the bag each."""
    weights = labeled.weights / labeled.weights.mean()
    in_bag = labeled.sum_in_leaves(np.ones(weights.size), labeled.bags)
    unseen = out_of_bag * labeled.sum_in_leaves(weights, labeled.unseen)
    positive = out_of_bag * labeled.sum_in_leaves(weights * (labeled.signs > 0), labeled.unseen)
    total = in_bag + unseen
    mixed = shares * in_bag + positive
    return np.divide(mixed, total, out=shares.copy(), where=in_bag > 0)


def residual_correlations(
    labeled: Labeled,
    vote: ForestVote,
    table: LeafTable,
    says: sparse.csr_array,
    mean_vote: np.ndarray,
) -> np.ndarray:
    """Return b: the vote's mean where a specialist is awake, corrected by what it gets wrong there.

    The unlabeled rows tell the vote's mean exactly, so that labels are needed for the residual
    alone, which varies less than the label itself; it is shrunk towards 0, which claims that the
    vote is right.

    Parameters
    ----------
    labeled, vote, table
        Labeled rows, the forest's vote, and who is awake in which leaf.
    says : CSR matrix of shape (all leaves, n_specialists)
        Vote of each specialist in each leaf.
    mean_vote : ndarray of shape (n_specialists,)
        Mean over the unlabeled rows a specialist is awake on of its vote times the forest's.
    """
    weights = labeled.balanced * vote.has_vote
    errors = labeled.sum_in_leaves(weights * (labeled.signs - vote.on_labeled), labeled.unseen)
    counts = labeled.sum_in_leaves(weights, labeled.unseen)
    residual = (says.T @ errors) / (table.sum_leaves(counts) + SHRINKAGE)
    return np.clip(mean_vote + residual, -1.0, 1.0)


def natural_correlations(
    labeled: Labeled,
    table: LeafTable,
    says: sparse.csr_array,
    bound: str,
    delta: float,
    n_awake: np.ndarray,
    n_compared: int,
) -> np.ndarray:
    """Return b in natural proportions: plug-in, Wilson's or the transductive lower bound.

    A specialist without an unseen labeled row gets -1, which claims nothing.

    Parameters
    ----------
    labeled, table, says
        As in `residual_correlations`.
    bound : {"plug_in", "wilson", "transductive"}
        Which value.
    delta : float
        Probability of failure of the bounds.
    n_awake : ndarray of shape (n_specialists,)
        Unlabeled rows each specialist is awake on.
    n_compared : int
        Number of things the simultaneous bound has to cover: all specialists there ever were, and
        the class balance.
    """
    sums = says.T @ labeled.sum_in_leaves(labeled.weights * labeled.signs, labeled.unseen)
    weights = table.sum_leaves(labeled.sum_in_leaves(labeled.weights, labeled.unseen))
    counts = table.sum_leaves(labeled.sum_in_leaves(np.ones(labeled.signs.size), labeled.unseen))
    known = weights > 0
    mean = np.divide(sums, weights, out=np.full_like(sums, np.nan), where=known)
    lower, _ = mean_bounds(mean, counts, n_awake, bound, delta, n_compared)
    return lower


def shift_score(
    labeled: np.ndarray, counts: np.ndarray, n_leaves: np.ndarray, unseen: np.ndarray
) -> float:
    """Return how far the leaf shares of unlabeled rows are from those of unseen labeled ones.

    The median over the trees of the chi-square statistic of two samples, in standard deviations
    from what chance gives; leaves with few rows of either kind are taken together.

    Parameters
    ----------
    labeled : ndarray of shape (n_trees, n_labeled)
        Leaf numbers of the labeled rows.
    counts : ndarray of shape (all leaves,)
        Number of unlabeled rows in each leaf.
    n_leaves : ndarray of shape (n_trees,)
        Leaves of each tree.
    unseen : ndarray of shape (n_trees, n_labeled), bool
        Which labeled rows count; a tree's own rows are spread evenly over its leaves by design.
    """
    scores = []
    per_tree = np.split(counts, np.cumsum(n_leaves)[:-1])
    for tree, own_counts in enumerate(per_tree):
        rows = labeled[tree, unseen[tree]]
        found = np.array([np.bincount(rows, minlength=own_counts.size), own_counts])
        large = found.sum(axis=0) >= LEAST_IN_CELL
        cells = np.column_stack([found[:, large], found[:, ~large].sum(axis=1)])
        cells = cells[:, cells.sum(axis=0) > 0]
        degrees = cells.shape[1] - 1
        if degrees < 1 or rows.size == 0:
            continue
        ratio = np.sqrt(own_counts.sum() / rows.size)
        statistic = np.sum((ratio * cells[0] - cells[1] / ratio) ** 2 / cells.sum(axis=0))
        scores.append((statistic - degrees) / np.sqrt(2.0 * degrees))
    return float(np.median(scores)) if scores else 0.0
