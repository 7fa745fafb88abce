"""The paper's algorithm box: grow trees, estimate b on trees and leaves, minimize the slack.

**Step 1: specialists.** Every leaf of the forest is a specialist: it predicts the majority class of
its training rows, on the rows that fall into it, and abstains on all others. Every tree is a
specialist that never abstains. A leaf with as many training rows of one class as of the other has
no prediction. Numbers of specialists: all leaves, tree by tree, and then the trees. One that
nothing is known of (no labeled row to estimate b from, or asleep on all unlabeled rows) and one
with b <= 0 is not used; its weight stays 0.

**Step 2: b** comes from labeled rows that the tree was not grown from. The paper has three ways:

- "oob": the out-of-bag rows of each tree;
- "bootstrap": a bootstrap sample of the labeled rows estimates b, and the rows that were not drawn
  (about 37%) grow the trees;
- "holdout": a part of the labeled rows grows the trees ("a modicum"), and the others estimate b.

**Step 3: the slack**, in the paper's letters (Theorem 3, with the factor alpha of Theorem 2)

    gamma(sigma) = -b . sigma + alpha / n * sum_j max(abs([S' sigma]_j) - 1, 0),   sigma >= 0.

S is sparse: a row is in one leaf of each tree, so that [S' sigma]_j is a sum of one score per tree
(`Specialists.leaf_scores`). It is never stored: rows are read again on each pass, their leaves are
found, and the leaf numbers are dropped after use. Memory depends on the number of trees and not on
n. SGD takes minibatches of random rows, sigma <- max(sigma - step / sqrt(t) * gradient, 0). Rows in
memory are in a new random order on each pass. Rows of files come in the order of the files and
pass through a buffer from which they are drawn at random.

With noisy b the constraints often contradict each other; the slack then has no minimum, and only
stopping early keeps the weights of SGD finite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestClassifier

from hedgeclipper.base.row_reader import row_slices
from hedgeclipper.bounds.intervals import proportion_bounds
from hedgeclipper.game.equations import Contradiction, find_contradiction
from hedgeclipper.io import is_in_memory
from hedgeclipper.sklearn_private import _safe_indexing
from hedgeclipper.voters.trees import (
    ROWS_PER_BLOCK,
    PackedTrees,
    add_to_leaves,
    leaf_proportions,
    n_workers,
    pack_trees,
    sum_leaf_scores,
)

ROWS_IN_BUFFER = 1 << 17


class ContradictoryCorrelationsWarning(UserWarning):
    """No labels of the unlabeled rows can have all correlations b: the game has no value."""


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
    return GrownForest(forest, trees, y, trees.apply(X), counts, is_large)


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
class LeafRows:
    """Unlabeled rows as leaf numbers, found anew on each pass.

    Parameters
    ----------
    trees : PackedTrees
        The forest's trees.
    rows : array, CSR matrix, or re-iterable of batches of these
        The unlabeled rows.
    n_jobs : int or None
        Threads that find leaves.
    """

    trees: PackedTrees
    rows: Any
    n_jobs: int | None = None

    @cached_property
    def leaf_counts(self) -> np.ndarray:
        """Number of rows in each leaf of all trees, shape (all leaves,)."""
        counts = np.zeros(int(self.trees.n_leaves.sum()))
        for leaves in self.blocks():
            add_in_leaves(leaves, self.trees.offsets, np.ones(leaves.shape[1]), counts)
        return counts

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.leaf_counts[: self.trees.n_leaves[0]].sum())

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield leaf numbers in blocks of shape (n_trees, rows), rows in their order."""
        threads = Parallel(n_workers(self.n_jobs), require="sharedmem", return_as="generator")
        for batch in row_slices(self.rows) if is_in_memory(self.rows) else self.rows:
            starts = range(0, batch.shape[0], ROWS_PER_BLOCK)
            blocks = (batch[start : start + ROWS_PER_BLOCK] for start in starts)
            yield from threads(delayed(self.trees.apply)(block) for block in blocks)

    def minibatches(self, size: int, rng: np.random.Generator) -> Iterator[list[np.ndarray]]:
        """Yield lists of minibatches, each of shape (n_trees, size), that hold all rows once.

        Rows of a list are in random order. For rows in memory that is an order of all rows; others
        are drawn from a buffer of ``ROWS_IN_BUFFER`` rows.
        """
        buffer: list[np.ndarray] = []
        least = ROWS_IN_BUFFER
        for leaves in self._in_random_order(rng) if is_in_memory(self.rows) else self.blocks():
            buffer.append(leaves)
            if sum(part.shape[1] for part in buffer) >= least:
                shuffled = _shuffled(buffer, rng)
                # half of the rows stay, to be mixed with those to come
                yield _cut(shuffled[:, : least // 2], size)
                buffer = [shuffled[:, least // 2 :]]
        if buffer:
            yield _cut(_shuffled(buffer, rng), size)

    def _in_random_order(self, rng: np.random.Generator) -> Iterator[np.ndarray]:
        order = rng.permutation(self.rows.shape[0])
        for start in range(0, order.size, ROWS_PER_BLOCK):
            batch = _safe_indexing(self.rows, order[start : start + ROWS_PER_BLOCK])
            yield self.trees.apply(batch)


def _shuffled(parts: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    leaves = np.concatenate(parts, axis=1)
    return leaves[:, rng.permutation(leaves.shape[1])]


def _cut(leaves: np.ndarray, size: int) -> list[np.ndarray]:
    n_parts = max(1, -(-leaves.shape[1] // size))
    return np.array_split(leaves, n_parts, axis=1)


def awake_predictions(leaves: np.ndarray, offsets: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return [S' sigma] of rows with these leaves: the sum of the scores of their leaves."""
    out = np.empty(leaves.shape[1])
    sum_leaf_scores(leaves, offsets, scores, out)
    return out


def add_in_leaves(
    leaves: np.ndarray, offsets: np.ndarray, values: np.ndarray, out: np.ndarray
) -> None:
    """Add the value of each row to each leaf that it is in; rows with a 0 cost nothing."""
    rows = np.flatnonzero(values)
    add_to_leaves(leaves, offsets, rows, values[rows], out)


@dataclass(frozen=True, eq=False)
class Specialists:
    """Leaves and trees in the game of one class against the rest, and the slack of their weights.

    ``alpha`` is the weight of the unlabeled rows.
    """

    votes: np.ndarray  # (all leaves,): the prediction of a leaf, 1, -1, or 0 for none
    b: np.ndarray  # (n_specialists,): label correlation [b_S]
    coverage: np.ndarray  # (n_specialists,): proportion of the unlabeled rows it is awake on
    is_used: np.ndarray  # (n_specialists,)
    tree_starts: np.ndarray  # (n_trees,): number of the first leaf of each tree
    alpha: float

    def leaf_scores(self, sigma: np.ndarray) -> np.ndarray:
        """Return what each leaf, and its tree, add to the awake prediction of a row in it.

        That is the sum of S_ij sigma_i over the specialists i of that tree, with
        S_ij = h_i(x_j) v_i(x_j) / coverage_i.
        """
        leaves, trees = np.split(sigma / self.coverage, [self.votes.size])
        sizes = np.diff(np.append(self.tree_starts, self.votes.size))
        return self.votes * (leaves + np.repeat(trees, sizes))

    def gradient(self, leaves: np.ndarray, sigma: np.ndarray) -> np.ndarray:
        """Return the gradient of gamma on a minibatch: -b + alpha * mean of sgn(m) S, abs(m) > 1.

        The subgradient at the kinks abs(m) = 1 is that of the inside, 0.
        """
        m = awake_predictions(leaves, self.tree_starts, self.leaf_scores(sigma))
        sums = np.zeros(self.votes.size)
        add_in_leaves(leaves, self.tree_starts, np.where(np.abs(m) > 1.0, np.sign(m), 0.0), sums)
        in_leaves = self.votes * sums
        in_trees = np.add.reduceat(in_leaves, self.tree_starts)
        mean = np.append(in_leaves, in_trees) / self.coverage / leaves.shape[1]
        return self.alpha * mean - self.b

    def project(self, sigma: np.ndarray) -> np.ndarray:
        """Return the nearest weights with 0 <= sigma."""
        return np.where(self.is_used, np.maximum(sigma, 0.0), 0.0)


def set_up_specialists(
    grown: GrownForest, game: int, leaf_counts: np.ndarray, delta: float | None, alpha: float
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
    alpha : float
        Weight of the unlabeled rows.
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
    return Specialists(votes, b, coverage, is_used, starts, float(alpha))


@dataclass(frozen=True, eq=False)
class SlackSolution:
    """Weights sigma, the slack at them, the value V at alpha = 1, and whether they contradict b."""

    sigma: np.ndarray
    slack: float
    value: float
    contradiction: Contradiction | None


def minimize_by_sgd(
    games: Sequence[Specialists],
    rows: LeafRows,
    *,
    n_passes: int,
    rng: np.random.Generator,
    batch_size: int = 1024,
    step: float = 0.01,
) -> list[SlackSolution]:
    """Return the solution of each game after passes of projected SGD from 0.

    All games are solved in the same passes. The length of step t is ``step`` / sqrt(t).
    """
    sigmas = [np.zeros(own.b.size) for own in games]
    n_steps = 0
    for _ in range(n_passes):
        for minibatches in rows.minibatches(batch_size, rng):
            for leaves in map(np.ascontiguousarray, minibatches):
                n_steps += 1
                size = step / np.sqrt(n_steps)
                for k, own in enumerate(games):
                    sigmas[k] = own.project(sigmas[k] - size * own.gradient(leaves, sigmas[k]))
    return [solution_at(own, rows, sigma) for own, sigma in zip(games, sigmas, strict=True)]


def solution_at(own: Specialists, rows: LeafRows, sigma: np.ndarray) -> SlackSolution:
    """Take one more pass and return the solution at these weights."""
    excess, size, scores = 0.0, 0.0, own.leaf_scores(sigma)
    for leaves in rows.blocks():
        sizes = np.abs(awake_predictions(leaves, own.tree_starts, scores))
        excess += float(np.maximum(sizes - 1.0, 0.0).sum())
        size += float(sizes.sum())
    excess, size = excess / rows.n_rows, size / rows.n_rows
    gained = float(own.b @ sigma)
    return SlackSolution(
        sigma=sigma,
        slack=own.alpha * excess - gained,
        value=max(gained - excess, -1.0),
        contradiction=find_contradiction(gained - size, sigma),
    )
