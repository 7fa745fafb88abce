"""What labels tell of a forest's predictions: held-out ones of the final rule, or out-of-bag ones.

Without held-out labels a row is predicted by the trees that were grown without it, and by what
their own rows say in each leaf: the weights of the game were found with the row's label. Fewer
trees are less sure of themselves, so that in a game of leaves the doubts on unlabeled rows that
these predictions are compared with come from as few trees; for groups of trees it makes no
difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import rankdata

from hedgeclipper.forest.leaf_correlations import Labeled
from hedgeclipper.forest.leaf_rows import LeafArray, LeafRows
from hedgeclipper.forest.leaves import LeafPredictor
from hedgeclipper.forest.streams import OutOfBag

ROWS_FOR_DOUBTS = 20_000


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
