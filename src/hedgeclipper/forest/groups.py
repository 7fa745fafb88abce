"""Groups of trees as voters: ensembles on views, their leaves shrunk, and how much each counts.

A group's score of a row is the mean value of the row's leaves. Of a labeled row only trees count
that were grown without it. From these scores a game weighs the groups like members of a panel, and
`GroupPredictor` has all that new rows need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import expit

from hedgeclipper.base.evaluation import LEAST_PROBABILITY
from hedgeclipper.base.predictions import GamePredictor, ProbabilityScale
from hedgeclipper.base.threads import map_in_threads
from hedgeclipper.base.weighing import Aggregate, PanelScores, aggregate
from hedgeclipper.forest.growing import GrownTrees
from hedgeclipper.forest.trees import ROWS_PER_BLOCK, LeafFinder, TreeNodes
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

    def score(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the scores of rows as float32, shape (n_samples, n_groups, n_games)."""
        size = self.finder.n_block_rows
        blocks = (X[start : start + size] for start in range(0, max(X.shape[0], 1), size))
        n_jobs = 1 if self.finder.has_own_threads else n_jobs
        return np.concatenate(list(map_in_threads(self._score_block, blocks, n_jobs)))

    def _score_block(self, X: Any) -> np.ndarray:
        from hedgeclipper.forest.kernels import sum_leaf_scores

        leaves, offsets = self.finder.find(X, 1), self.finder.offsets
        ends = np.flatnonzero(np.diff(self.groups, prepend=-1, append=-1))
        sums = np.empty((ends.size - 1, self.leaf_values.shape[0], X.shape[0]))
        for group, (first, last) in zip(sums, pairwise(ends), strict=True):
            for out, values in zip(group, self.leaf_values, strict=True):
                sum_leaf_scores(leaves[first:last], offsets[first:last], values, out)
        scores = np.moveaxis(sums, 2, 0).astype(np.float32, order="C")
        return expit(scores) if self.are_log_odds else scores


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

    def reused(self, scores: np.ndarray) -> np.ndarray:
        """Return scores of labeled rows in place of unlabeled ones: out of bag, where known."""
        is_seen = np.isnan(self.out_of_bag).any(axis=(1, 2), keepdims=True)
        return np.where(is_seen, scores, self.out_of_bag)

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
    """The scorer, and the games of its groups: all that a new row needs."""

    scorer: GroupScorer

    @property
    def finder(self) -> LeafFinder:
        """Finds the leaves of rows."""
        return self.scorer.finder

    def raw_predictions(self, X: Any, n_jobs: int | None) -> np.ndarray:
        """Return the raw predictions for each game's class, shape (n_samples, n_games)."""
        X = X if self.prepare is None else self.prepare(X)
        return self.raw_of(self.scorer.score(X, n_jobs))

    def raw_of(self, scores: np.ndarray) -> np.ndarray:
        """Return raw predictions for scores of shape (n_samples, n_groups, n_games)."""
        starts = range(0, max(scores.shape[0], 1), ROWS_PER_BLOCK)
        blocks = (scores[start : start + ROWS_PER_BLOCK].astype(float) for start in starts)
        return np.concatenate([self.log_odds(block) for block in blocks])
