"""What labeled rows tell of the leaves: their votes, correlations, and the forest's own vote.

Everything here is a sum over labeled rows within leaves. A row counts for a tree only if the tree
was grown without it (`Labeled.unseen`): out of bag, held out, or new to a model fitted elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hedgeclipper.base.semi_supervised import ShiftWarning, warn_user
from hedgeclipper.bounds.intervals import mean_bounds
from hedgeclipper.forest.leaves import LeafTable
from hedgeclipper.forest.trees import LeafFinder

SHRINKAGE = 4.0
LEAST_SCALE, LARGEST_SCALE = 0.5, 3.0
LEAST_IN_CELL = 5
SHIFT_THRESHOLD = 8.0


@dataclass(frozen=True, eq=False)
class Labeled:
    """Labeled rows in the leaves of the trees, one class against the rest.

    ``values`` is what the model predicts in each leaf: the proportion of the class among the rows
    in the bag, or a booster's output, centered.
    """

    finder: LeafFinder
    leaves: np.ndarray  # (n_trees, n_labeled): leaf numbers, counted in each tree
    signs: np.ndarray  # (n_labeled,): labels, -1 or 1
    weights: np.ndarray  # (n_labeled,): sample weights
    unseen: np.ndarray  # (n_trees, n_labeled): whether the tree was grown without the row
    bags: np.ndarray  # (n_trees, n_labeled): how often the row is in the tree's sample
    values: np.ndarray  # (all leaves,)
    are_proportions: bool

    @property
    def prior(self) -> float:
        """Weighted proportion of positive labels."""
        return float(self.weights[self.signs > 0].sum() / self.weights.sum())

    @property
    def n_rare(self) -> int:
        """Number of labels of the rarer class."""
        return int(min((self.signs > 0).sum(), (self.signs < 0).sum()))

    @property
    def balanced(self) -> np.ndarray:
        """Sample weights that give both classes half of the total."""
        prior = self.prior
        per_class = np.where(self.signs > 0, 0.5 / prior, 0.5 / (1.0 - prior))
        return self.weights * per_class * (self.weights.size / self.weights.sum())

    @property
    def scores(self) -> np.ndarray:
        """Scores whose signs are the leaves' votes: 2 p - 1, or the output."""
        return 2.0 * self.values - 1.0 if self.are_proportions else self.values

    def sum_in_leaves(self, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return for each leaf the sum of values[j] * rows[t, j] over the rows j in it."""
        out = np.zeros(int(self.finder.n_leaves.sum()))
        for tree, offset in enumerate(self.finder.offsets):
            found = np.bincount(self.leaves[tree], values * rows[tree])
            out[offset : offset + found.size] += found
        return out

    def unseen_vote(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return each row's mean score over trees grown without it, and if there are any."""
        total, n_trees = np.zeros(self.signs.size), np.zeros(self.signs.size)
        for tree, offset in enumerate(self.finder.offsets):
            unseen = self.unseen[tree]
            total[unseen] += scores[offset + self.leaves[tree, unseen].astype(np.int64)]
            n_trees += unseen
        return total / np.maximum(n_trees, 1), n_trees > 0


@dataclass(frozen=True, eq=False)
class ForestVote:
    """The vote of the forest as leaf scores, in the scale of balanced labels.

    ``in_bag`` are scores by the rows in the bag alone, whose signs are the leaves' votes. The mean
    over the trees of ``scores``, which count unseen rows, too, is the vote: 0 where a row is as
    likely positive as the prior.
    """

    in_bag: np.ndarray  # (all leaves,)
    scores: np.ndarray  # (all leaves,)
    on_labeled: np.ndarray  # (n_labeled,): in-bag vote of trees grown without the row, clipped
    has_vote: np.ndarray  # (n_labeled,): whether there is any such tree


def balanced_vote(labeled: Labeled, out_of_bag: float) -> ForestVote:
    """Return the forest's vote, scaled so that it predicts unseen balanced labels best.

    An unseen row counts as ``out_of_bag`` of a row in the bag, where values are proportions.
    """
    if labeled.are_proportions:
        in_bag, mixed = labeled.values, _with_unseen(labeled, out_of_bag)
        # (p - pi) / (2 pi (1 - pi)), p the proportion of positives in the leaf: at p near pi it is
        # 2 q - 1, q that proportion with balanced labels, and it ranks rows as the forest does
        pi = labeled.prior
        in_bag, mixed = ((p - pi) / (2.0 * pi * (1.0 - pi)) for p in (in_bag, mixed))
        least, largest = LEAST_SCALE, LARGEST_SCALE
    else:
        in_bag = mixed = labeled.values
        least, largest = 1e-6, np.inf
    vote, has_vote = labeled.unseen_vote(in_bag)
    weights = labeled.balanced * has_vote
    norm = float(weights @ vote**2)
    scale = float(weights @ (vote * labeled.signs)) / norm if norm > 0 else 1.0
    scale = float(np.clip(scale, least, largest))
    return ForestVote(scale * in_bag, scale * mixed, np.clip(scale * vote, -1.0, 1.0), has_vote)


def _with_unseen(labeled: Labeled, out_of_bag: float) -> np.ndarray:
    """Return the proportions of positives with unseen rows counted, too."""
    weights = labeled.weights / labeled.weights.mean()
    in_bag = labeled.sum_in_leaves(np.ones(weights.size), labeled.bags)
    unseen = out_of_bag * labeled.sum_in_leaves(weights, labeled.unseen)
    positive = out_of_bag * labeled.sum_in_leaves(weights * (labeled.signs > 0), labeled.unseen)
    mixed = labeled.values * in_bag + positive
    return np.divide(mixed, in_bag + unseen, out=labeled.values.copy(), where=in_bag > 0)


def residual_correlations(
    labeled: Labeled,
    vote: ForestVote,
    table: LeafTable,
    votes: sparse.csr_array,
    mean_vote: np.ndarray,
) -> np.ndarray:
    """Return b: the forest's mean vote where a specialist is awake, plus its residual there.

    The mean over the unlabeled rows is known exactly, so that labels are needed for the residual
    alone, which varies less than the label itself; it is shrunk towards 0. ``mean_vote`` is, for
    each specialist, the mean over the unlabeled rows it is awake on of its vote times the forest's.
    """
    weights = labeled.balanced * vote.has_vote
    errors = labeled.sum_in_leaves(weights * (labeled.signs - vote.on_labeled), labeled.unseen)
    counts = labeled.sum_in_leaves(weights, labeled.unseen)
    residual = (votes.T @ errors) / (table.sum_leaves(counts) + SHRINKAGE)
    return np.clip(mean_vote + residual, -1.0, 1.0)


def natural_correlations(
    labeled: Labeled,
    table: LeafTable,
    votes: sparse.csr_array,
    bound: str,
    delta: float,
    n_awake: np.ndarray,
    n_compared: int,
) -> np.ndarray:
    """Return b without balancing the labels: plug-in, Wilson's or the transductive lower bound.

    A specialist without an unseen labeled row gets -1, the least value.
    ``n_awake`` unlabeled rows are where each is awake, and ``n_compared`` is the number of means
    that a simultaneous bound has to cover: all specialists, also those that are dropped, and the
    class balance.
    """
    sums = votes.T @ labeled.sum_in_leaves(labeled.weights * labeled.signs, labeled.unseen)
    weights = table.sum_leaves(labeled.sum_in_leaves(labeled.weights, labeled.unseen))
    counts = table.sum_leaves(labeled.sum_in_leaves(np.ones(labeled.signs.size), labeled.unseen))
    known = weights > 0
    mean = np.divide(sums, weights, out=np.full_like(sums, np.nan), where=known)
    lower, _ = mean_bounds(mean, counts, n_awake, bound, delta, n_compared)
    return lower


def check_shift(labeled: Labeled, counts: np.ndarray) -> float:
    """Return how far unlabeled rows are from labeled ones in the leaves, and warn if it is far.

    The median over the trees of the chi-square statistic of two samples, in standard deviations
    from its mean under no shift; leaves with few rows of either kind are taken together. Of the
    labeled rows only unseen ones count: a tree's own rows are spread evenly over its leaves by
    design. ``counts`` are the numbers of unlabeled rows in all leaves.
    """
    scores = []
    for tree, own_counts in enumerate(np.split(counts, labeled.finder.offsets[1:])):
        rows = labeled.leaves[tree, labeled.unseen[tree]]
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
    score = float(np.median(scores)) if scores else 0.0
    if score > SHIFT_THRESHOLD:
        warn_user(
            "The unlabeled rows look unlike the labeled ones: they fall into the leaves of the "
            f"trees in significantly different proportions (score {score:.0f}, up to 3 is usual). "
            "What the labels tell of a leaf may not hold for them.",
            ShiftWarning,
        )
    return score
