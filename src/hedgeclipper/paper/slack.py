"""Step 3: minimize the slack function on the unlabeled rows, reading them again on each pass.

In the paper's letters (Theorem 3, with the factor alpha of Theorem 2)

    gamma(sigma) = -b . sigma + alpha / n * sum_j max(abs([S' sigma]_j) - 1, 0),   sigma >= 0.

S is sparse: a row is in one leaf of each tree, so that [S' sigma]_j is a sum of one score per tree
(`Specialists.leaf_scores`). It is never stored: rows are read, their leaves are found, and the leaf
numbers are dropped after use. Memory depends on the number of trees and not on n.

**SGD**: minibatches of random rows, sigma <- max(sigma - step / sqrt(t) * gradient, 0). Rows in
memory are in a new random order on each pass. Rows of files come in the order of the files and
pass through a buffer from which they are drawn at random.

With noisy b the constraints often contradict each other; the slack then has no minimum, and only
stopping early keeps the weights of SGD finite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hedgeclipper.base.semi_supervised import RowSlices
from hedgeclipper.game.equations import Contradiction, find_contradiction
from hedgeclipper.io import is_in_memory
from hedgeclipper.paper.specialists import Specialists
from hedgeclipper.sklearn_private import _safe_indexing
from hedgeclipper.voters.trees import (
    ROWS_PER_BLOCK,
    PackedTrees,
    add_to_leaves,
    sum_leaf_scores,
)

ROWS_IN_BUFFER = 1 << 17


class ContradictoryCorrelationsWarning(UserWarning):
    """No labels of the unlabeled rows can have all correlations b: the game has no value."""


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
        batches = RowSlices(self.rows) if is_in_memory(self.rows) else self.rows
        for batch in batches:
            leaves = self.trees.apply(batch, self.n_jobs)
            for start in range(0, leaves.shape[1], ROWS_PER_BLOCK):
                yield np.ascontiguousarray(leaves[:, start : start + ROWS_PER_BLOCK])

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
            yield self.trees.apply(batch, self.n_jobs)


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
class SlackProblem:
    """The slack of one game: specialists, and the weight alpha of the rows."""

    specialists: Specialists
    alpha: float

    def gradient(self, leaves: np.ndarray, sigma: np.ndarray) -> np.ndarray:
        """Return the gradient of gamma on a minibatch: -b + alpha * mean of sgn(m) S, abs(m) > 1.

        The subgradient at the kinks abs(m) = 1 is that of the inside, 0.
        """
        own = self.specialists
        m = awake_predictions(leaves, own.tree_starts, own.leaf_scores(sigma))
        sums = np.zeros(own.n_leaves)
        add_in_leaves(leaves, own.tree_starts, np.where(np.abs(m) > 1.0, np.sign(m), 0.0), sums)
        return -own.b + self.alpha / leaves.shape[1] * own.from_leaves(sums)

    def project(self, sigma: np.ndarray) -> np.ndarray:
        """Return the nearest weights with 0 <= sigma."""
        return np.where(self.specialists.is_used, np.maximum(sigma, 0.0), 0.0)


@dataclass(frozen=True, eq=False)
class SlackSolution:
    """Weights sigma, the slack at them, the value V at alpha = 1, and whether they contradict b."""

    sigma: np.ndarray
    slack: float
    value: float
    contradiction: Contradiction | None


def minimize_by_sgd(
    problems: Sequence[SlackProblem],
    rows: LeafRows,
    *,
    n_passes: int,
    batch_size: int,
    step: float,
    rng: np.random.Generator,
) -> list[SlackSolution]:
    """Return the solution of each problem after passes of projected SGD from 0.

    All problems are solved in the same passes.
    """
    sigmas = [np.zeros(one.specialists.b.size) for one in problems]
    n_steps = 0
    for _ in range(n_passes):
        for minibatches in rows.minibatches(batch_size, rng):
            for leaves in map(np.ascontiguousarray, minibatches):
                n_steps += 1
                size = step / np.sqrt(n_steps)
                for k, problem in enumerate(problems):
                    moved = sigmas[k] - size * problem.gradient(leaves, sigmas[k])
                    sigmas[k] = problem.project(moved)
    pairs = zip(problems, sigmas, strict=True)
    return [solution_at(problem, rows, sigma) for problem, sigma in pairs]


def solution_at(problem: SlackProblem, rows: LeafRows, sigma: np.ndarray) -> SlackSolution:
    """Take one more pass and return the solution at these weights."""
    own, excess, size = problem.specialists, 0.0, 0.0
    scores = own.leaf_scores(sigma)
    for leaves in rows.blocks():
        sizes = np.abs(awake_predictions(leaves, own.tree_starts, scores))
        excess += float(np.maximum(sizes - 1.0, 0.0).sum())
        size += float(sizes.sum())
    excess, size = excess / rows.n_rows, size / rows.n_rows
    gained = float(own.b @ sigma)
    return SlackSolution(
        sigma=sigma,
        slack=problem.alpha * excess - gained,
        value=max(gained - excess, -1.0),
        contradiction=find_contradiction(gained - size, sigma),
    )
