"""Games of a forest that can go on: what a fit keeps to take in more unlabeled rows later.

There are two kinds: `groups.GroupStream` weighs groups of trees, and `leaf_game.LeafStream` plays
the paper's game of leaves. Of each row a few numbers are kept, scores of groups or leaf numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.base.inspection import VoterTable
from hedgeclipper.base.semi_supervised import BatchCheck
from hedgeclipper.forest.leaf_rows import LeafRows, Reservoir
from hedgeclipper.forest.trees import RowFinder
from hedgeclipper.game.solution import GameSolution, PassRecord

Watch = Callable[[PassRecord, Any], None]


@dataclass(frozen=True, eq=False)
class Played:
    """The games of all classes, solved: one entry of each list for each game."""

    predictor: Any  # a GroupPredictor or a LeafPredictor
    games: list[GameSolution]
    worst_cases: list[float]
    hedged_ranges: list[tuple[float, float]]
    weights: list[np.ndarray]
    label_correlations: list[np.ndarray]
    coverage: list[np.ndarray]


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """Predictions of labeled rows without the use of their labels in the trees.

    Parameters
    ----------
    rows : ndarray
        Numbers of the rows that have such predictions.
    raw : ndarray of shape (n_rows, n_games)
        Raw predictions.
    mean_doubt : float or None
        Mean probability of an error on unlabeled rows by as few trees; None: as by all.
    """

    rows: np.ndarray
    raw: np.ndarray
    mean_doubt: float | None = None


class Stream(ABC):
    """Games that are played on a sample of all unlabeled rows so far.

    Neither time nor memory grows with the number of rows. The sample is drawn while the numbers of
    the first unlabeled rows are there, since a fit keeps neither these nor the rows.
    """

    reservoir: Reservoir

    @property
    @abstractmethod
    def finder(self) -> RowFinder:
        """Finds the numbers that are kept of each row."""

    @abstractmethod
    def play(
        self,
        rows: LeafRows,
        prepare: BatchCheck | None,
        report: Callable[..., None] | None = None,
        watchers: Sequence[Watch | None] | None = None,
    ) -> Played:
        """Solve the games on rows of which these numbers are kept.

        ``report`` is called after every pass with the record and the evaluation, and the watcher of
        a game with the record and the predictor as it is then.
        """

    @abstractmethod
    def out_of_bag(self, predictor: Any, rows: LeafRows, n_jobs: int | None) -> OutOfBag:
        """Return predictions of labeled rows by trees grown without them."""

    @abstractmethod
    def voters(self, model: Any) -> VoterTable:
        """Return the voters of a fitted classifier's games."""

    def describe_voters(self, model: Any, voters: np.ndarray) -> dict[str, list]:
        """Return more columns of the table of these voters."""
        return {}

    def grown(self, parts: Iterable[np.ndarray]) -> Stream:
        """Return a stream with more rows, numbers of shape (n_numbers, rows).

        This one stays as it is, so that no row is counted twice where reading them fails.
        """
        stream = copy(self)
        stream.reservoir = deepcopy(self.reservoir)  # which new rows change, and its generator
        for numbers in parts:
            stream.reservoir.add(numbers)
        if stream.reservoir.n_seen == 0:
            raise ValueError("There are no rows to add: X_unlabeled is empty.")
        return stream
