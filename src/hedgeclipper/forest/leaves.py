"""Leaves and trees as specialists, on leaf numbers alone, and what they predict.

A row is in one leaf of each tree, so the matrix of the game is an array of leaf numbers and a small
table: the vote of each specialist in each leaf. A leaf is awake in itself, a tree in all of its
leaves. The awake prediction is then a sum of leaf scores, table @ theta, and `LeafPredictor` makes
probabilities and classes of it.
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
from hedgeclipper.forest.leaf_rows import LeafRows
from hedgeclipper.forest.trees import ROWS_PER_BLOCK, LeafFinder
from hedgeclipper.game.losses import BinaryLoss

KINDS = ("leaves", "trees")
SOFT_EDGE = 0.05


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
    is_fractional = False

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
