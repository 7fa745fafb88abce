"""Groups of trees as voters: ensembles on views, their leaves shrunk, and how much each counts.

A group's score of a row is the mean value of the row's leaves. Of a labeled row only trees count
that were grown without it. From these scores a game weighs the groups like members of a panel, and
`GroupPredictor` has all that new rows need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from scipy.special import expit, logit
from threadpoolctl import threadpool_limits

from hedgeclipper.base.evaluation import LEAST_PROBABILITY
from hedgeclipper.base.inspection import VoterTable, voter_table
from hedgeclipper.base.predictions import GamePredictor, PanelGame, ProbabilityScale
from hedgeclipper.base.semi_supervised import BatchCheck
from hedgeclipper.base.threads import map_in_threads
from hedgeclipper.base.weighing import (
    Aggregate,
    PanelScores,
    aggregate,
    panel_scores,
    summarize,
)
from hedgeclipper.forest.growing import GrownTrees
from hedgeclipper.forest.leaf_rows import LeafBlocks, LeafRows, Reservoir
from hedgeclipper.forest.trees import LeafFinder, TreeNodes
from hedgeclipper.game.solution import GameSolution
from hedgeclipper.io.arrays import is_array

# Chosen on three draws of 31 rows of the benchmarks, with 10 to 1,000 labels and four groups. The
# strength of the pull to the prior weights, times the mean square of the vote they give; with fewer
# labels of the rarer class than FEW_LABELS it is larger still.
GROUP_RIDGE, FEW_LABELS = 60.0, 20.0
# from no shrinkage to one that leaves little but the first splits of a hundred rows
STRENGTHS = np.array([0.0, 2.0, 8.0, 30.0, 100.0, 300.0])


@dataclass(frozen=True, eq=False)
class GroupScorer:
    """Scores rows by groups of trees, for each class that has a game.

    A score is the sum of the values of a row's leaves in the trees of the group; where these are
    log-odds, as in boosters, it is the probability.
    """

    finder: LeafFinder
    groups: np.ndarray  # (n_trees,): number of each tree's group; trees of one are side by side
    leaf_values: np.ndarray  # (n_games, all leaves)
    are_log_odds: bool
    dtype = np.dtype(np.float32)  # of what is kept for each row

    def check_arrays(self) -> None:
        """Raise unless each tree is in a group, and each leaf has a value in each game."""
        finder, groups, values = self.finder, self.groups, self.leaf_values
        fits = isinstance(finder, LeafFinder) and is_array(groups, "i", finder.n_trees)
        fits = fits and groups[0] == 0 and set(np.diff(groups)) <= {0, 1}
        fits = fits and is_array(values, "f", None, finder.n_leaves.sum()) and values.size > 0
        if not (fits and np.isfinite(values).all()):
            raise ValueError("its groups do not fit their trees")

    @property
    def prior_weights(self) -> np.ndarray:
        """Weights before labels are looked at: the groups' parts of all trees; equal of boosters.

        Trees of a booster correct each other, so that their number does not count.
        """
        n_trees = np.bincount(self.groups)
        sizes = np.ones_like(n_trees) if self.are_log_odds else n_trees
        return sizes / sizes.sum()

    @property
    def n_numbers(self) -> int:
        """How many numbers are kept for each row: one for each group and game."""
        return (int(self.groups[-1]) + 1) * self.leaf_values.shape[0]

    def find(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the scores of rows, shape (n_numbers, n_samples), groups before games."""
        size = self.finder.n_block_rows
        blocks = (X[start : start + size] for start in range(0, X.shape[0], size))
        n_jobs = 1 if self.finder.has_own_threads else n_jobs
        parts = map_in_threads(self._score_block, blocks, n_jobs)
        return np.concatenate([np.empty((self.n_numbers, 0), self.dtype), *parts], axis=1)

    def _score_block(self, X: Any) -> np.ndarray:
        from hedgeclipper.forest.kernels import sum_leaf_scores

        leaves, offsets = self.finder.find(X, 1), self.finder.offsets
        sums = np.empty((self.n_numbers, X.shape[0]))
        ends = np.flatnonzero(np.diff(self.groups, prepend=-1, append=-1))
        pairs = product(pairwise(ends), self.leaf_values)
        for out, ((first, last), values) in zip(sums, pairs, strict=True):
            sum_leaf_scores(leaves[first:last], offsets[first:last], values, out)
        scores = sums.astype(self.dtype)
        return expit(scores) if self.are_log_odds else scores

    def by_group(self, numbers: np.ndarray) -> np.ndarray:
        """Return scores of shape (n_numbers, n_samples) as (n_samples, n_groups, n_games)."""
        n_games, (n_numbers, n_rows) = self.leaf_values.shape[0], numbers.shape
        return numbers.T.reshape(n_rows, n_numbers // n_games, n_games).astype(float)


@dataclass(frozen=True, eq=False)
class ScoredGroups:
    """Groups of trees with shrunk leaves, and what they predict for labeled rows.

    ``out_of_bag`` has the scores of labeled rows by trees grown without the row, NaN if some group
    has no such tree, and ``strengths`` the shrinkage of each group.
    """

    names: list[str]
    scorer: GroupScorer
    strengths: np.ndarray  # (n_groups,)
    out_of_bag: np.ndarray  # (n_labeled, n_groups, n_games)
    unseen: np.ndarray  # (n_trees, n_labeled): whether the tree was grown without the row
    codes: np.ndarray  # (n_labeled,): numbers of the classes
    weights: np.ndarray | None  # (n_labeled,)
    games: Sequence[int]

    @property
    def leaf_values(self) -> np.ndarray:
        """Shrunk values of the leaves as each tree predicts them, shape (n_games, all leaves)."""
        scorer = self.scorer
        if scorer.are_log_odds:
            return scorer.leaf_values
        n_trees = np.bincount(scorer.groups)[scorer.groups]
        return scorer.leaf_values * np.repeat(n_trees, scorer.finder.n_leaves)

    def unseen_scores(self, leaves: np.ndarray) -> np.ndarray:
        """Return what ``out_of_bag`` would be if labeled rows were in these leaves."""
        scorer = self.scorer
        tables, offsets = scorer.leaf_values[:, None], scorer.finder.offsets
        scores = _unseen_scores(leaves, self.unseen, scorer.groups, offsets, tables)[:, 0]
        return np.moveaxis(expit(scores) if scorer.are_log_odds else scores, 0, 1)


def weigh_groups(scores: PanelScores, prior: np.ndarray, **options: Any) -> Aggregate:
    """Return the weights of the groups: the prior ones, unless labels show better ones."""
    mean = scores.unlabeled @ prior
    scale = ProbabilityScale(float(mean.mean()))
    n_positive = int(scores.is_positive.sum())
    n_rare = max(1, min(n_positive, scores.is_positive.size - n_positive))
    size = float(np.mean(scale(mean) ** 2)) or 1.0
    return aggregate(
        scores,
        scales=[scale] * prior.size,
        prior=prior,
        ridge=GROUP_RIDGE * size * (1.0 + (FEW_LABELS / n_rare) ** 2),
        **options,
    )


def shrink(nodes: TreeNodes, values: np.ndarray, strengths: np.ndarray) -> np.ndarray:
    """Return the values of leaves, each drawn toward those of the nodes above it.

    A node's value is that of its parent plus (its own mean - the parent's mean) / (1 + lambda / n),
    lambda the strength and n the training rows in the parent, summed along the path [1]_. Every
    node votes, and splits of few rows count little. So trees can be grown freely.

    Parameters
    ----------
    nodes : TreeNodes
        The trees.
    values : ndarray of shape (all leaves,)
        The mean of the training rows in each leaf.
    strengths : ndarray of shape (n_strengths,)
        Rows of a parent at which what its children add is halved; 0 changes nothing.

    Returns
    -------
    ndarray of shape (n_strengths, all leaves)

    References
    ----------
    .. [1] A. Agarwal, Y. S. Tan, O. Ronen, C. Singh and B. Yu, "Hierarchical shrinkage: improving
       the accuracy and interpretability of tree-based methods", ICML 2022.

    Examples
    --------
    A root of 4 rows with the mean 1/2, whose leaves have the means 0 and 1:

    >>> nodes = TreeNodes(np.array([-1, 0, 0]), np.array([1, 2]), np.array([2.0, 2.0]))
    >>> shrink(nodes, np.array([0.0, 1.0]), np.array([0.0, 4.0]))
    array([[0.  , 1.  ],
           [0.25, 0.75]])
    """
    from hedgeclipper.forest.kernels import shrink_nodes

    means, sizes = nodes.means_and_sizes(values)
    out = np.empty((strengths.size, values.size))
    for number, strength in enumerate(strengths):
        shrunk = np.empty_like(means)
        shrink_nodes(nodes.parent, sizes, means, float(strength), shrunk)
        out[number] = shrunk[nodes.leaf_nodes]
    return out


def choose_strength(
    scores: np.ndarray, is_positive: np.ndarray, weights: np.ndarray | None = None
) -> int:
    """Return the number of the strength whose scores predict labels best, by log loss.

    Scores, of shape (n_strengths, n_labeled, n_games), are probabilities of each game's class, by
    trees that were grown without the row; NaN if there are none.
    """
    known = ~np.isnan(scores).any(axis=(0, 2))
    if not known.any():
        return 0
    p = np.clip(scores[:, known], LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
    losses = -np.where(is_positive[known], np.log(p), np.log1p(-p)).sum(axis=2)
    return int(
        np.argmin(np.average(losses, axis=1, weights=None if weights is None else weights[known]))
    )


def score_groups(
    grown: GrownTrees,
    codes: np.ndarray,
    weights: np.ndarray | None,
    games: Sequence[int],
    shrinkage: float | str | None,
) -> ScoredGroups:
    """Shrink the leaves of each group, and score the labeled rows, which have these class codes.

    Shrinkage is a strength, None for none, or "auto": the strength that predicts labels best out of
    bag, for each group.
    """
    finder, are_log_odds = grown.finder, grown.finder.tree_output is not None
    group_of_leaf = np.repeat(grown.groups, finder.n_leaves)
    columns = [0 if finder.leaf_values.shape[1] == 1 else k for k in games]
    strengths = STRENGTHS if shrinkage == "auto" else np.array([shrinkage or 0.0], float)
    nodes = finder.nodes
    tables = np.stack([shrink(nodes, finder.leaf_values[:, k], strengths) for k in columns])
    if not are_log_odds:
        tables /= np.bincount(grown.groups)[group_of_leaf]
    scores = _unseen_scores(grown.leaves, grown.unseen, grown.groups, finder.offsets, tables)
    scores = expit(scores) if are_log_odds else scores
    is_positive = codes[:, None] == np.asarray(games)
    chosen = [choose_strength(own, is_positive, weights) for own in scores]
    per_leaf = np.asarray(chosen)[group_of_leaf]
    return ScoredGroups(
        names=list(grown.models),
        scorer=GroupScorer(
            finder, grown.groups, tables[:, per_leaf, np.arange(per_leaf.size)], are_log_odds
        ),
        strengths=strengths[chosen],
        out_of_bag=np.stack([own[k] for own, k in zip(scores, chosen, strict=True)], axis=1),
        unseen=grown.unseen,
        codes=codes,
        weights=weights,
        games=games,
    )


def _unseen_scores(
    leaves: np.ndarray,
    unseen: np.ndarray,
    groups: np.ndarray,
    offsets: np.ndarray,
    tables: np.ndarray,
) -> np.ndarray:
    """Return sums of leaf values over the unseen trees of each group, scaled to all of its trees.

    Leaves are those of labeled rows, tables of shape (n_games, n_strengths, all leaves); the result
    has the shape (n_groups, n_strengths, n_labeled, n_games), NaN if no tree of a group is unseen.
    """
    n_trees, n_labeled = np.bincount(groups), leaves.shape[1]
    sums = np.zeros((n_trees.size, *tables.shape[:2], n_labeled))
    n_unseen = np.zeros((n_trees.size, n_labeled))
    for tree, (group, offset) in enumerate(zip(groups, offsets, strict=True)):
        rows = np.flatnonzero(unseen[tree])
        sums[group][:, :, rows] += tables[:, :, offset + leaves[tree, rows].astype(np.int64)]
        n_unseen[group, rows] += 1
    scale = np.full_like(n_unseen, np.nan)
    np.divide(n_trees[:, None], n_unseen, out=scale, where=n_unseen > 0)
    return np.moveaxis(sums * scale[:, None, None], 1, 3)


@dataclass(frozen=True, eq=False)
class GroupPredictor(GamePredictor):
    """The scorer, and the games of its groups: all that a new row needs.

    Raw predictions are log-odds and an ``offset``, which is that of the costs of errors: their sign
    is the cheaper class. ``prepare`` makes arrays of frames whose columns are encoded.
    """

    scorer: GroupScorer
    games: Sequence[PanelGame]
    offset: float = 0.0
    prepare: BatchCheck | None = None

    @property
    def n_games(self) -> int:
        """Number of games: 1 for two classes."""
        return len(self.games)

    @property
    def finder(self) -> LeafFinder:
        """Finds the leaves of rows."""
        return self.scorer.finder

    def raw_predictions(self, X: Any, n_jobs: int | None) -> np.ndarray:
        """Return the raw predictions for each game's class, shape (n_samples, n_games)."""
        X = X if self.prepare is None else self.prepare(X)
        return self.raw_of(self.scorer.by_group(self.scorer.find(X, n_jobs)))

    def raw_in(self, rows: LeafRows, n_jobs: int | None) -> np.ndarray:
        """Return raw predictions of rows whose scores are kept, shape (n_samples, n_games).

        A block takes less time than handing it to another thread would, so ``n_jobs`` is not used.
        """
        parts = [self.raw_of(self.scorer.by_group(block)) for block in rows.blocks()]
        return np.concatenate([np.empty((0, len(self.games))), *parts])

    def raw_of(self, scores: np.ndarray) -> np.ndarray:
        """Return raw predictions for scores of shape (n_samples, n_groups, n_games)."""
        found = [game.log_odds(scores[:, :, k]) for k, game in enumerate(self.games)]
        return np.column_stack(found) + self.offset

    def log_odds_of(self, raw: np.ndarray) -> np.ndarray:
        """Return the raw predictions as they are."""
        return raw

    def raw_at(self, probability: float) -> float:
        """Return the log-odds of a probability, and the offset."""
        return float(logit(probability)) + self.offset

    def game_probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return the probability of each game's class, shape (n_samples, n_games)."""
        return expit(raw - self.offset)


@dataclass(frozen=True, eq=False)
class Played:
    """The games of all classes, solved: one entry of each list for each game."""

    predictor: Any  # a GroupPredictor or a LeafPredictor
    games: list[GameSolution]
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


def sum_of_doubts(numbers: np.ndarray, predictor: Any) -> np.ndarray:
    """Return the sum of the probabilities of an error on rows of which these numbers are kept."""
    return predictor.doubts(predictor.raw_in(LeafBlocks([numbers]), None)).sum(keepdims=True)


@dataclass(eq=False)
class GroupStream:
    """The games of all classes on groups of trees, which can go on with more rows.

    They are played on a sample of all unlabeled rows so far, the reservoir, so that neither time
    nor memory grows with their number. ``options`` are those of `aggregate`. `LeafStream` has the
    same methods.
    """

    groups: ScoredGroups
    options: dict[str, Any]
    reservoir: Reservoir

    @property
    def finder(self) -> GroupScorer:
        """Scores rows by the groups."""
        return self.groups.scorer

    @threadpool_limits.wrap(limits=1, user_api="blas")
    def play(
        self,
        rows: LeafRows,
        prepare: BatchCheck | None,
    ) -> Played:
        """Solve the games on the sample of the rows.

        Without unlabeled rows there is no sample, and labeled ones are reused, with the scores of
        trees that have not seen them.
        """
        groups, scorer = self.groups, self.groups.scorer
        sample = self.reservoir.leaves if self.reservoir.n_seen else rows
        unlabeled = scorer.by_group(np.concatenate(list(sample.blocks()), axis=1))
        if not self.reservoir.n_seen:
            is_seen = np.isnan(groups.out_of_bag).any(axis=(1, 2), keepdims=True)
            unlabeled = np.where(is_seen, unlabeled, groups.out_of_bag)
        scores = panel_scores(
            groups.out_of_bag, unlabeled, groups.codes, groups.weights, groups.games
        )
        found = [weigh_groups(own, scorer.prior_weights, **self.options) for own in scores]
        self.summaries = [
            summarize(groups.names, *pair) for pair in zip(scores, found, strict=True)
        ]
        games = [one.solution.game for one in found]
        loss: Any = games[0].loss
        offset = float(logit((1.0 + loss.link(np.zeros(1))[0]) / 2.0))
        ranges = [one.game.hedged_range(loss) for one in found]
        return Played(
            predictor=GroupPredictor(scorer, [one.game for one in found], offset, prepare),
            games=games,
            hedged_ranges=[(low + offset, high + offset) for low, high in ranges],
            weights=[one.solution.weights for one in found],
            label_correlations=[one.solution.label_correlations for one in found],
            coverage=[np.ones(len(groups.names)) for _ in found],
        )

    def out_of_bag(self, predictor: GroupPredictor, rows: LeafRows, n_jobs: int | None) -> OutOfBag:
        """Return predictions of labeled rows by trees grown without them."""
        scores = self.groups.out_of_bag
        known = np.flatnonzero(~np.isnan(scores).any(axis=(1, 2)))
        return OutOfBag(known, predictor.raw_of(scores[known]))

    def voters(self, model: Any) -> VoterTable:
        """Return the groups in the games of a fitted classifier."""
        return voter_table("group", self.summaries, model.classes_)

    def describe_voters(self, model: Any, voters: np.ndarray) -> dict[str, list]:
        """Return no more columns of the table of voters."""
        return {}
