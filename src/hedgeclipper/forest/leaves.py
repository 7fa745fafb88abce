"""Leaves and trees as specialists, what labeled rows tell of them, and what they predict.

A row is in one leaf of each tree, so the matrix of the game is an array of leaf numbers and a small
table: the vote of each specialist in each leaf. A leaf is awake in itself, a tree in all of its
leaves. The awake prediction is then a sum of leaf scores, table @ theta, and `LeafPredictor` makes
probabilities and classes of it.

What labels tell is a sum over labeled rows within leaves. A row counts for a tree only if the tree
was grown without it (`Labeled.unseen`): out of bag, held out, or new to a model fitted elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.base.predictions import GamePredictor
from hedgeclipper.base.semi_supervised import BatchCheck
from hedgeclipper.base.threads import map_in_threads
from hedgeclipper.bounds.intervals import mean_bounds
from hedgeclipper.forest.growing import GrownTrees
from hedgeclipper.forest.leaf_rows import LeafRows
from hedgeclipper.forest.trees import ROWS_PER_BLOCK, LeafFinder
from hedgeclipper.game.losses import BinaryLoss

KINDS = ("leaves", "trees")
SOFT_EDGE = 0.05
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class LeafTable:
    """Which specialist is awake in which leaf; in each it votes as the leaf does."""

    awake: sparse.csr_array  # (all leaves, n_specialists): 1 where it is awake
    own_leaf: np.ndarray  # (n_specialists,): the leaf that it is, -1 for trees
    offsets: np.ndarray  # (n_trees,): number of the first leaf of each tree

    def votes(self, scores: np.ndarray, *, are_hard: bool = True) -> sparse.csr_array:
        """Return the vote of each specialist in each leaf: the leaf's score, its sign if hard."""
        own = np.sign(scores) if are_hard else scores
        votes = sparse.csr_array(sparse.diags_array(own) @ self.awake)
        votes.eliminate_zeros()
        return votes

    def sum_leaves(self, per_leaf: np.ndarray) -> np.ndarray:
        """Return for each specialist the sum of a quantity over the leaves it is awake in."""
        return self.awake.T @ per_leaf

    def names(self, specialists: np.ndarray) -> list[str]:
        """Return a name for each of these specialists: its tree, and its leaf where it is one."""
        by_column = self.awake.tocsc()
        first_leaf = by_column.indices[by_column.indptr[specialists]]
        trees = np.searchsorted(self.offsets, first_leaf, side="right") - 1
        is_leaf, places = self.own_leaf[specialists] >= 0, first_leaf - self.offsets[trees]
        return [
            f"tree {tree}, leaf {place}" if own else f"tree {tree}"
            for tree, place, own in zip(trees, places, is_leaf, strict=True)
        ]


def leaf_table(finder: LeafFinder, kinds: str | Sequence[str]) -> LeafTable:
    """Return the table of the specialists of these kinds: "leaves", "trees"."""
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not kinds or not set(kinds) <= set(KINDS):
        raise ValueError(f"The 'specialists' parameter must name some of {KINDS}. Got {kinds!r}.")
    leaves = np.arange(int(finder.n_leaves.sum()))
    parts: list[tuple[sparse.csr_array, np.ndarray]] = []
    if "leaves" in kinds:
        parts.append((sparse.eye_array(leaves.size, format="csr"), leaves))
    if "trees" in kinds:
        tree_of = np.repeat(np.arange(finder.n_trees), finder.n_leaves)
        awake = sparse.csr_array((np.ones(leaves.size), (leaves, tree_of)))
        parts.append((awake, np.full(finder.n_trees, -1)))
    awake = sparse.hstack([awake for awake, _ in parts], format="csr")
    return LeafTable(awake, np.concatenate([own for _, own in parts]), finder.offsets)


@dataclass(frozen=True, eq=False)
class LeafSpecialists:
    """Specialists of a forest on rows whose leaf numbers are known."""

    leaves: LeafRows
    offsets: np.ndarray  # (n_trees,): number of the first leaf of each tree
    votes: sparse.csr_array  # (all leaves, n_specialists): awake vote in each leaf
    coverage: np.ndarray  # (n_specialists,): proportion of the rows each is awake on
    n_jobs: int | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.leaves.n_samples

    @property
    def in_memory(self) -> bool:
        """Whether a pass reads memory only."""
        return self.leaves.in_memory

    @property
    def n_voters(self) -> int:
        """Number of specialists."""
        return self.votes.shape[1]

    @cached_property
    def view(self) -> Callable[[np.ndarray], LeafBlock]:
        """Makes awake votes of the leaf numbers of a block; one object, sent to workers once."""
        by_specialist = self.votes.T.tocsr()
        return partial(
            LeafBlock, offsets=self.offsets, votes=self.votes, by_specialist=by_specialist
        )

    def blocks(self) -> Iterator[LeafBlock]:
        """Yield the rows in blocks."""
        return map(self.view, self.leaves.blocks())

    def sum_blocks(self, work: Callable[[Any], Any]) -> Any:
        """Return the sum of the results of the work on each block, blocks side by side."""
        return self.leaves.sum_blocks(self.view, work, self.n_jobs)

    def thinned(self, stride: int) -> LeafSpecialists | None:
        """Return about every stride-th row, or None where that would not be cheap."""
        leaves = self.leaves.thinned(stride)
        return None if leaves is None else replace(self, leaves=leaves)


@dataclass(frozen=True, eq=False)
class LeafBlock:
    """Awake votes on a block of rows: supports ``block @ theta``, ``z @ block``, ``block[a:b]``."""

    leaves: np.ndarray
    offsets: np.ndarray
    votes: sparse.csr_array
    by_specialist: sparse.csr_array
    __array_ufunc__ = None  # so that NumPy leaves ``z @ block`` to us

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and specialists."""
        return self.leaves.shape[1], self.votes.shape[1]

    def __matmul__(self, theta: np.ndarray) -> np.ndarray:
        return sum_scores(self.leaves, self.offsets, self.votes @ theta)

    def __rmatmul__(self, z: np.ndarray) -> np.ndarray:
        sums = sum_in_leaves(self.leaves, self.offsets, z, self.votes.shape[0])
        return self.by_specialist @ sums

    def __getitem__(self, rows: slice) -> LeafBlock:
        return replace(self, leaves=self.leaves[:, rows])


def sum_scores(leaves: np.ndarray, offsets: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return for each row the sum over the trees of the score of its leaf."""
    from hedgeclipper.forest.kernels import sum_leaf_scores

    out = np.empty(leaves.shape[1])
    for start in range(0, out.size, ROWS_PER_BLOCK):
        rows = slice(start, start + ROWS_PER_BLOCK)
        sum_leaf_scores(leaves[:, rows], offsets, scores, out[rows])
    return out


def sum_in_leaves(
    leaves: np.ndarray, offsets: np.ndarray, values: np.ndarray | None, n_leaves: int
) -> np.ndarray:
    """Return for each leaf the sum of the values of a block's rows in it; zeros cost little.

    Without values it is the number of the rows.
    """
    from hedgeclipper.forest.kernels import add_all_to_leaves, add_to_leaves

    values = np.ones(leaves.shape[1]) if values is None else values
    rows, out = np.flatnonzero(values), np.zeros(n_leaves)
    if 2 * rows.size > values.size:
        add_all_to_leaves(leaves, offsets, values, out)
    else:
        add_to_leaves(leaves, offsets, rows, values[rows], out)
    return out


def count_in_leaves(leaves: LeafRows, finder: LeafFinder, n_jobs: int | None = None) -> np.ndarray:
    """Return the number of rows in each leaf of all trees."""
    n_leaves = int(finder.n_leaves.sum())
    count = partial(sum_in_leaves, offsets=finder.offsets, values=None, n_leaves=n_leaves)
    return leaves.sum_blocks(count, np.asarray, n_jobs)


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
                scores[own] -= scores[offset + grown.leaves[tree, rows].astype(np.int64)].mean()
    return Labeled(
        finder=finder,
        leaves=grown.leaves,
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


@dataclass(frozen=True, eq=False)
class LeafPredictor(GamePredictor):
    """Leaf scores of one game (two classes) or of one per class: all that a new row needs.

    ``prepare`` makes arrays of frames whose columns are encoded.
    """

    finder: LeafFinder
    leaf_scores: np.ndarray  # (all leaves, n_games)
    loss: BinaryLoss
    prepare: BatchCheck | None = None

    @property
    def n_games(self) -> int:
        """Number of games: 1 for two classes."""
        return self.leaf_scores.shape[1]

    @property
    def offset(self) -> float:
        """What the costs of errors add to the awake prediction, so that its sign is the cheaper."""
        return -float(self.loss.awake_at(0.0))

    @property
    def hedged_range(self) -> tuple[float, float]:
        """Between which raw predictions a game hedges; infinite for log loss."""
        low, high = self.loss.hedged_range
        return low + self.offset, high + self.offset

    def raw_predictions(self, X: Any, n_jobs: int | None) -> np.ndarray:
        """Return the awake predictions of rows, shape (n_samples, n_games).

        Leaf numbers are not kept.
        """
        X = X if self.prepare is None else self.prepare(X)
        size = self.finder.n_block_rows
        blocks = (X[start : start + size] for start in range(0, X.shape[0], size))
        return self._sum_scores(self.finder.find, blocks, n_jobs)

    def raw_in(self, leaves: LeafRows, n_jobs: int | None) -> np.ndarray:
        """Return the awake predictions of rows in these leaves, shape (n_samples, n_games)."""
        return self._sum_scores(np.asarray, leaves.blocks(), n_jobs)

    def _sum_scores(
        self, find: Callable[[Any], np.ndarray], blocks: Iterable[Any], n_jobs: int | None
    ) -> np.ndarray:
        """Return the awake predictions of blocks of rows, whose leaves are to be found."""
        offsets = self.finder.offsets
        columns = [np.ascontiguousarray(column) for column in self.leaf_scores.T]

        def awake(block: Any) -> np.ndarray:
            leaves = find(block)
            return np.column_stack([sum_scores(leaves, offsets, column) for column in columns])

        parts = map_in_threads(awake, blocks, n_jobs)
        return np.concatenate([np.empty((0, self.n_games)), *parts]) + self.offset

    def raw_at(self, probability: float) -> float:
        """Return the awake prediction of rows whose class has this probability, and the offset."""
        return float(self.loss.awake_at(2.0 * probability - 1.0, SOFT_EDGE)) + self.offset

    def game_probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return the probability of each game's class, shape (n_samples, n_games)."""
        return (1.0 + self.loss.soft_link(raw - self.offset, np.array(SOFT_EDGE))) / 2.0


def describe_leaves(
    predictor: LeafPredictor,
    leaves: np.ndarray,
    games: np.ndarray,
    classes: np.ndarray,
    name: Callable[[int], str],
) -> dict[str, list]:
    """Return the class that each of these leaves votes for in its game, and its rows.

    It is empty if one of them is no leaf (-1), or its splits are not known. ``name`` returns that
    of a column, given its number.
    """
    if not leaves.size or leaves.min() < 0:
        return {}
    where = [predictor.finder.describe_leaf(leaf, name) for leaf in leaves]
    if None in where:
        return {}
    positive = [str(label) for label in classes[-predictor.n_games :]]
    negative = [str(classes[0])] if len(positive) == 1 else ["the rest"] * len(positive)
    scores = predictor.leaf_scores[leaves, games]
    return {
        "votes for": [
            (positive if score > 0 else negative)[game] if score else "nobody"
            for score, game in zip(scores, games, strict=True)
        ],
        "rows where": where,
    }
