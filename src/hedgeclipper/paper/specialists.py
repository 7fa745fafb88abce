"""Steps 1 and 2: grow the trees, and estimate the correlations b of trees and leaves.

Every leaf of the forest is a specialist: it predicts the majority class of its training rows, on
the rows that fall into it, and abstains on all others. Every tree is a specialist that never
abstains. A leaf with as many training rows of one class as of the other has no prediction.

Numbers of specialists: all leaves, tree by tree, and then the trees. One that nothing is known of
(no labeled row to estimate b from, or asleep on all unlabeled rows) and one with b <= 0 is not
used; its weight stays 0.

b comes from labeled rows that the tree was not grown from. The paper has three ways:

- "oob": the out-of-bag rows of each tree;
- "bootstrap": a bootstrap sample of the labeled rows estimates b, and the rows that were not drawn
  (about 37%) grow the trees;
- "holdout": a part of the labeled rows grows the trees ("a modicum"), and the others estimate b.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from hedgeclipper.bounds.intervals import proportion_bounds
from hedgeclipper.voters.trees import PackedTrees, leaf_proportions, pack_trees


@dataclass(frozen=True, eq=False)
class GrownForest:
    """A fitted forest, and how often each labeled row counts in the estimates of each tree."""

    forest: RandomForestClassifier
    trees: PackedTrees
    codes: np.ndarray  # (n_labeled,): number of the class of each labeled row
    leaves: np.ndarray  # (n_trees, n_labeled): leaf of each labeled row, counted in its tree
    counts: np.ndarray  # (n_trees, n_labeled): 0 for rows that the tree was grown from
    is_large: np.ndarray  # (all leaves,): whether the leaf may be a specialist

    def without(self, rows: np.ndarray) -> GrownForest:
        """Return the same forest, without these labeled rows (a mask) in the estimates of b."""
        return replace(self, counts=np.where(rows, 0.0, self.counts))

    @property
    def places(self) -> np.ndarray:
        """Leaf of each labeled row in each tree, all trees counted through."""
        return self.trees.offsets[:, None] + self.leaves.astype(np.int64)

    def sum_in_leaves(self, values: np.ndarray) -> np.ndarray:
        """Return for each leaf the sum of ``values[t, j]`` over the labeled rows j in it."""
        n_leaves = int(self.trees.n_leaves.sum())
        return np.bincount(self.places.ravel(), values.ravel(), minlength=n_leaves)

    def unseen_predictions(self, leaf_scores: np.ndarray) -> np.ndarray:
        """Return awake predictions of labeled rows by trees grown without them, or NaN.

        They are scaled to the number of all trees.
        """
        unseen = self.counts > 0
        sums = (leaf_scores[self.places] * unseen).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return sums * (self.trees.n_trees / unseen.sum(axis=0))


def grow_forest(
    X: Any,
    y: np.ndarray,
    *,
    n_estimators: int,
    min_leaf_size: int | str,
    filter_leaves: bool,
    b_from: str,
    train_size: float,
    is_for_bounds: bool,
    random_state: np.random.RandomState,
    n_jobs: int | None,
) -> GrownForest:
    """Grow a random forest on labeled rows and note which rows estimate b of which tree.

    Parameters are those of `PaperHedgeClipper`; y are numbers of classes, and ``is_for_bounds``
    tells whether b will be bounds, which need a simple random sample.
    """
    counts = _rows_for_estimates(y, b_from, train_size, is_for_bounds, random_state)
    grown = np.arange(y.size) if counts is None else np.flatnonzero(counts == 0)
    least = min_leaf_size
    if isinstance(least, str):
        least = 10 if y.size >= 1000 else 4  # the paper's appendix
    forest = RandomForestClassifier(
        n_estimators,
        min_samples_leaf=1 if filter_leaves else least,
        # as it is, so that these are the trees of scikit-learn's forest with the same seed
        random_state=random_state,
        n_jobs=n_jobs,
    ).fit(X[grown], y[grown])
    trees = pack_trees(forest.estimators_)
    if counts is None:
        samples = forest.estimators_samples_
        bags = np.array([np.bincount(sample, minlength=y.size) for sample in samples])
        counts = (bags == 0).astype(float)
    else:
        counts = np.tile(counts, (trees.n_trees, 1))
    is_large = trees.leaf_sizes >= (least if filter_leaves else 1)
    return GrownForest(forest, trees, y, trees.apply(X, n_jobs), counts, is_large)


def _rows_for_estimates(
    y: np.ndarray,
    b_from: str,
    train_size: float,
    is_for_bounds: bool,
    random_state: np.random.RandomState,
) -> np.ndarray | None:
    """Return how often each labeled row estimates b; None where each tree has its own rows.

    Rows with a 0 grow the trees. If a class has none, one of its rows is added to them.
    """
    if b_from == "oob":
        return None
    if b_from == "bootstrap":
        drawn = random_state.randint(y.size, size=y.size)
        counts = np.bincount(drawn, minlength=y.size).astype(float)
    else:
        # not by class: a bound needs a simple random sample
        n_grown = int(np.clip(round(train_size * y.size), 1, y.size - 1))
        counts = np.ones(y.size)
        counts[random_state.permutation(y.size)[:n_grown]] = 0
    for missing in np.setdiff1d(y, y[counts == 0]):
        # the other rows are then no simple random sample of their class, which a bound would need
        if is_for_bounds:
            raise ValueError(
                f"b_from={b_from!r} leaves {int(np.sum(counts == 0))} of the {y.size} labeled rows "
                f"to grow the trees, and none of class number {missing} is among them. Label more "
                "rows, raise train_size, use b_from='oob', or leave confidence_level out."
            )
        counts[random_state.choice(np.flatnonzero(y == missing))] = 0
    return counts


@dataclass(frozen=True, eq=False)
class Specialists:
    """Leaves and trees in the game of one class against the rest."""

    votes: np.ndarray  # (all leaves,): the prediction of a leaf, 1, -1, or 0 for none
    b: np.ndarray  # (n_specialists,): label correlation [b_S]
    coverage: np.ndarray  # (n_specialists,): proportion of the unlabeled rows it is awake on
    is_used: np.ndarray  # (n_specialists,)
    tree_starts: np.ndarray  # (n_trees,): number of the first leaf of each tree

    @property
    def n_leaves(self) -> int:
        """Number of leaves; the other specialists are trees."""
        return self.votes.size

    def leaf_scores(self, sigma: np.ndarray) -> np.ndarray:
        """Return what each leaf, and its tree, add to the awake prediction of a row in it.

        That is the sum of S_ij sigma_i over the specialists i of that tree, with
        S_ij = h_i(x_j) v_i(x_j) / coverage_i.
        """
        theta = sigma / self.coverage
        leaves, trees = np.split(theta, [self.n_leaves])
        sizes = np.diff(np.append(self.tree_starts, self.n_leaves))
        return self.votes * (leaves + np.repeat(trees, sizes))

    def from_leaves(self, sums: np.ndarray) -> np.ndarray:
        """Return sum_j z_j S_ij for each specialist i, given the sum of z over each leaf's rows."""
        in_leaves = self.votes * sums
        return np.append(in_leaves, np.add.reduceat(in_leaves, self.tree_starts)) / self.coverage


def set_up_specialists(
    grown: GrownForest, game: int, leaf_counts: np.ndarray, delta: float | None
) -> Specialists:
    """Return leaves and trees with their correlations b.

    Parameters
    ----------
    grown : GrownForest
        The forest.
    game : int
        Number of the class of this game.
    leaf_counts : ndarray of shape (all leaves,)
        Number of unlabeled rows in each leaf.
    delta : float or None
        Probability that any of the b is above the true correlation: half of it for the trees
        together and half for the leaves, as exact lower bounds. None: b are plug-in estimates.
    """
    proportions = leaf_proportions(grown.forest.estimators_)[:, [game]].toarray()[:, 0]
    votes = np.sign(np.round(2.0 * proportions - 1.0, 12))
    starts, n_trees = grown.trees.offsets, grown.trees.n_trees
    signs = np.where(grown.codes == game, 1.0, -1.0)

    def per_specialist(per_leaf: np.ndarray) -> np.ndarray:
        return np.append(per_leaf, np.add.reduceat(per_leaf, starts))

    # a row that was drawn twice into a bootstrap sample tells a bound no more than once
    rows = grown.counts if delta is None else np.sign(grown.counts)
    has_vote = votes != 0
    agreement = per_specialist(votes * grown.sum_in_leaves(rows * signs))
    n_rows = per_specialist(has_vote * grown.sum_in_leaves(rows))
    n_awake = per_specialist(has_vote * leaf_counts)
    if delta is None:
        b = np.divide(agreement, n_rows, out=np.zeros_like(n_rows), where=n_rows > 0)
    else:
        right, b = np.round((n_rows + agreement) / 2.0), np.empty(n_rows.size)
        for own, number in ((slice(votes.size), votes.size), (slice(votes.size, None), n_trees)):
            known = right[own], n_rows[own], n_awake[own]
            b[own] = 2.0 * proportion_bounds(*known, delta / 2.0 / number)[0] - 1.0
    may_be_used = np.append(grown.is_large, np.ones(n_trees, bool))
    is_used = may_be_used & (n_rows > 0) & (n_awake > 0) & (b > 0)
    n_unlabeled = float(leaf_counts[: grown.trees.n_leaves[0]].sum())
    # a specialist that is not used has weight 0, so that its coverage only must not be 0
    coverage = np.where(n_awake > 0, n_awake / n_unlabeled, 1.0)
    return Specialists(votes, b, coverage, is_used, starts)
