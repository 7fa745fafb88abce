"""What labeled rows tell of the leaves: their votes, their correlations, and if rows have shifted.

Everything here is a sum over labeled rows within leaves. A row counts for a tree only if the tree
was grown without it (`Labeled.unseen`): out of bag, held out, or new to a model fitted elsewhere.

The worst case is that of whole trees: a tree is awake on all rows, so that far more labeled rows
tell its correlation than a leaf's; the class balance is one more voter, which always votes +. What
is known of them are estimates, and so is the bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.base.semi_supervised import ShiftWarning
from hedgeclipper.bounds.certificate import largest_error
from hedgeclipper.bounds.intervals import mean_bounds, wilson_bounds
from hedgeclipper.forest.growing import GrownTrees
from hedgeclipper.forest.leaves import LeafBlock, LeafSpecialists, LeafTable, leaf_table, sum_scores
from hedgeclipper.forest.trees import LeafFinder
from hedgeclipper.io.progress import warn_user

LEAST_IN_CELL = 5
SHIFT_THRESHOLD = 8.0
ROUNDING = 1e-12
MAX_ITER = 12


@dataclass(frozen=True, eq=False)
class Labeled:
    """Labeled rows in the leaves of the trees, one class against the rest.

    ``scores`` is what each leaf predicts, its sign being the leaf's vote: 2 p - 1, p the (shrunk)
    proportion of the class among the rows in the bag, or a booster's output, centered.
    """

    finder: LeafFinder
    leaves: np.ndarray  # (n_trees, n_labeled): leaf numbers, counted in each tree
    signs: np.ndarray  # (n_labeled,): labels, -1 or 1
    weights: np.ndarray  # (n_labeled,): sample weights
    unseen: np.ndarray  # (n_trees, n_labeled): whether the tree was grown without the row
    bags: np.ndarray  # (n_trees, n_labeled): how often the row is in the tree's sample
    scores: np.ndarray  # (all leaves,)

    @property
    def n_rare(self) -> int:
        """Number of labels of the rarer class."""
        return int(min((self.signs > 0).sum(), (self.signs < 0).sum()))

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


def labeled_in_leaves(
    grown: GrownTrees,
    leaves: np.ndarray,
    values: np.ndarray,
    is_positive: np.ndarray,
    weights: np.ndarray | None,
) -> Labeled:
    """Return the labeled rows in their leaves, whose values are proportions or outputs.

    Trees that were fitted elsewhere, and those of boosters, are centered: each one's values on the
    labeled rows, without those that are held out, have the mean 0.
    """
    finder, scores = grown.finder, values.copy()
    if grown.predicts_proportions:
        scores = 2.0 * values - 1.0
        scores[np.abs(scores) < ROUNDING] = 0.0  # a leaf with as much of both classes has no vote
    else:
        for tree, offset in enumerate(finder.offsets):
            own = slice(offset, offset + finder.n_leaves[tree])
            rows = grown.bags[tree] > 0 if grown.source == "half" else slice(None)
            if np.any(scores[own]):  # not all 0, as of a tree for another class
                scores[own] -= scores[offset + leaves[tree, rows].astype(np.int64)].mean()
    return Labeled(
        finder=finder,
        leaves=leaves,
        signs=np.where(is_positive, 1.0, -1.0),
        weights=np.ones(is_positive.size) if weights is None else weights,
        unseen=grown.unseen,
        bags=grown.bags,
        scores=scores,
    )


def label_correlations(
    labeled: Labeled,
    table: LeafTable,
    votes: sparse.csr_array,
    bound: str,
    delta: float,
) -> np.ndarray:
    """Return b of each specialist: plug-in, or Wilson's lower bound.

    A specialist without an unseen labeled row gets -1, the least value.
    """
    sums = votes.T @ labeled.sum_in_leaves(labeled.weights * labeled.signs, labeled.unseen)
    weights = table.sum_leaves(labeled.sum_in_leaves(labeled.weights, labeled.unseen))
    counts = table.sum_leaves(labeled.sum_in_leaves(np.ones(labeled.signs.size), labeled.unseen))
    known = weights > 0
    mean = np.divide(sums, weights, out=np.full_like(sums, np.nan), where=known)
    lower, _ = mean_bounds(mean, counts, bound, delta)
    return lower


def check_shift(
    grown: GrownTrees, leaves: np.ndarray, some: Any | None, n_jobs: int | None
) -> float:
    """Return how far unlabeled rows are from labeled ones in the leaves, and warn if it is far.

    The median over the trees of the chi-square statistic of two samples, in standard deviations
    from its mean under no shift; leaves with few rows of either kind are taken together. Of the
    labeled rows only unseen ones count: a tree's own rows are spread evenly over its leaves by
    design. ``leaves`` are those of labeled rows, and ``some`` unlabeled rows; None if there are
    none.
    """
    if some is None:
        return 0.0
    scores, unlabeled = [], grown.finder.find(some, n_jobs)
    for tree, n_leaves in enumerate(grown.finder.n_leaves):
        rows = leaves[tree, grown.unseen[tree]]
        own_counts = np.bincount(unlabeled[tree], minlength=n_leaves)
        found = np.array([np.bincount(rows, minlength=n_leaves), own_counts])
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


def worst_case_error(
    labeled: Labeled,
    specialists: LeafSpecialists,
    leaf_scores: np.ndarray,
    offset: float,
    delta: float,
) -> float:
    """Return a bound on the error of the sign of the summed leaf scores and the offset.

    ``delta`` is the probability that Wilson's bound on the correlation of a tree fails.
    """
    trees = leaf_table(labeled.finder, ["trees"])
    votes = trees.votes(labeled.scores)
    b = label_correlations(labeled, trees, votes, "wilson", delta)
    # every row is in one leaf of the first tree: a vote of + in all of these is + everywhere
    voters = replace(
        specialists,
        votes=sparse.hstack([votes, trees.awake[:, :1]], format="csr"),
        coverage=np.ones(b.size + 1),
    )

    def predict(block: LeafBlock) -> np.ndarray:
        awake = sum_scores(block.leaves, block.offsets, leaf_scores) + offset
        return np.where(awake > 0, 1.0, -1.0)

    return largest_error(voters, b, _class_balance(labeled, delta), predict, MAX_ITER)


def _class_balance(labeled: Labeled, delta: float) -> tuple[float, float]:
    """Return the mean label, and how far that of the unlabeled rows may be from it."""
    unseen = labeled.unseen.any(axis=0)
    mean = float(np.average(labeled.signs[unseen], weights=labeled.weights[unseen]))
    low, high = wilson_bounds(np.array([mean]), np.array([float(unseen.sum())]), delta / 2)
    return mean, float(max(high[0] - mean, mean - low[0]))
