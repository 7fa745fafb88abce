"""Games of a forest that can go on, and what labels tell of their predictions.

There are two kinds: `groups.GroupStream` weighs groups of trees, and `leaf_game.LeafStream` plays
the paper's game of leaves. Of each row a few numbers are kept, scores of groups or leaf numbers.

Without held-out labels a row is predicted by the trees that were grown without it, and by what
their own rows say in each leaf: the weights of the game were found with the row's label. Fewer
trees are less sure of themselves, so that in a game of leaves the doubts on unlabeled rows that
these predictions are compared with come from as few trees; for groups of trees it makes no
difference.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import rankdata

from hedgeclipper.base.inspection import VoterTable
from hedgeclipper.base.semi_supervised import BatchCheck
from hedgeclipper.forest.leaf_correlations import Labeled
from hedgeclipper.forest.leaf_rows import LeafArray, LeafRows, Reservoir
from hedgeclipper.forest.leaves import LeafPredictor
from hedgeclipper.forest.trees import RowFinder
from hedgeclipper.game.solution import GameSolution, PassRecord

Watch = Callable[[PassRecord, Any], None]
ROWS_FOR_DOUBTS = 20_000


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
    """Predictions of labeled rows without the use of their labels in the trees."""

    rows: np.ndarray  # numbers of the rows that have such predictions
    raw: np.ndarray  # (n_rows, n_games): raw predictions
    # mean probability of an error on unlabeled rows by as few trees; None: as by all
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


def out_of_bag(
    labeled: Sequence[Labeled], predictor: LeafPredictor, leaves: LeafRows, n_jobs: int | None
) -> OutOfBag:
    """Return predictions of labeled rows by trees grown without them, by their own leaf scores."""
    scores = [one.scores for one in labeled]
    found = [one.unseen_vote(own) for one, own in zip(labeled, scores, strict=True)]
    rows = np.flatnonzero(found[0][1])
    awake = np.column_stack([votes for votes, _ in found])[rows] + predictor.offset
    finder, unseen = predictor.finder, labeled[0].unseen
    n_few = max(1, round(float(unseen[:, rows].sum(axis=0).mean()))) if rows.size else 1
    few = np.linspace(0, finder.n_trees - 1, n_few).round().astype(int)
    in_few = np.zeros(int(finder.n_leaves.sum()))
    for tree in few:
        in_few[finder.offsets[tree] : finder.offsets[tree] + finder.n_leaves[tree]] = 1.0 / n_few
    weaker = replace(predictor, leaf_scores=np.column_stack(scores) * in_few[:, None])
    stride = leaves.n_samples // ROWS_FOR_DOUBTS
    some = leaves.thinned(stride) if stride > 1 else leaves
    mean = float(np.mean(doubts_in(leaves if some is None else some, weaker, n_jobs)))
    return OutOfBag(rows, awake, mean)


def ranked_among(predictions: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return others with the values that predictions of the same ranks have, game by game.

    Few trees, without the weights of the game, predict on another scale than all of them.
    """
    ranks = (rankdata(others, axis=0) - 0.5) / others.shape[0]
    pairs = zip(predictions.T, ranks.T, strict=True)
    return np.column_stack([np.quantile(own, rank) for own, rank in pairs])


def doubts_in(leaves: LeafRows, predictor: Any, n_jobs: int | None) -> np.ndarray:
    """Return the probability that the predicted class of each row is not the true one."""
    return predictor.doubts(predictor.raw_in(leaves, n_jobs))


def sum_of_doubts(leaves: LeafRows, predictor: Any, n_jobs: int | None) -> float:
    """Return the sum over all rows, added up where their leaf numbers are."""
    add_up = partial(_sum_block, predictor=replace(predictor, prepare=None))
    return float(leaves.sum_blocks(add_up, np.asarray, n_jobs)[0])


def _sum_block(leaves: np.ndarray, predictor: Any) -> np.ndarray:
    return doubts_in(LeafArray(leaves), predictor, None).sum(keepdims=True)
