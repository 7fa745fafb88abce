"""Games that go on: unlabeled rows that keep coming move the weights and are then forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace

import numpy as np

from hedgeclipper.forest.leaf_game import LeafKnowledge, LeafSolution, play_leaf_game
from hedgeclipper.forest.leaf_rows import LeafRows, Reservoir
from hedgeclipper.forest.leaves import count_in_leaves


class LeafStream:
    """The games of all classes, and a random sample of all rows so far on which they are played.

    Each game starts from the weights before, and neither its time nor its memory grows with the
    number of rows.

    Parameters
    ----------
    known : list of LeafKnowledge
        What is known of each class.
    leaves : LeafRows or None
        Leaf numbers of the first rows; None where there were none without labels.
    solutions : list of LeafSolution
        The games on these.
    """

    def __init__(
        self, known: list[LeafKnowledge], leaves: LeafRows | None, solutions: list[LeafSolution]
    ):
        self.known = [replace(k, options=replace(k.options, is_guarantee=False)) for k in known]
        self.reservoir = Reservoir(leaves, np.random.default_rng(known[0].options.seed))
        self.weights = [np.full(k.table.own_leaf.size, np.nan) for k in known]
        self._keep_weights(solutions)

    @property
    def n_seen(self) -> int:
        """Number of unlabeled rows so far."""
        return self.reservoir.n_seen

    def grown(self, parts: Iterable[np.ndarray]) -> LeafStream:
        """Return a stream that has taken in new rows, leaf numbers of shape (n_trees, rows).

        This one stays as it is, so that nothing is counted twice where reading them fails.
        """
        stream = copy(self)
        stream.reservoir = self.reservoir.copy()
        stream.weights = [weights.copy() for weights in self.weights]
        for leaves in parts:
            stream.reservoir.add(leaves)
        if stream.n_seen == 0:
            raise ValueError("There are no rows to take in: X_unlabeled is empty.")
        return stream

    def play(self, report: Callable[..., None] | None = None) -> list[LeafSolution]:
        """Return the solutions of the games as they stand now."""
        leaves, first = self.reservoir.leaves, self.known[0]
        counts = count_in_leaves(
            leaves, first.finder.offsets, first.labeled.n_leaves, first.options.n_jobs
        )
        solutions = [
            play_leaf_game(knowledge, leaves, counts, start, report)
            for knowledge, start in zip(self.known, self.weights, strict=True)
        ]
        self._keep_weights(solutions)
        return solutions

    def _keep_weights(self, solutions: list[LeafSolution]) -> None:
        for weights, solution in zip(self.weights, solutions, strict=True):
            weights[solution.setting.keep] = solution.game.weights
