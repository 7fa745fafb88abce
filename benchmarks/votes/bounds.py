"""Worst cases beside the true error; labeled rows are drawn from the rows that are scored."""

from __future__ import annotations

import numpy as np

from benchmarks.results_file import today, versions
from benchmarks.votes.data import vote_set
from benchmarks.votes.own.aggregator import fit_quietly
from benchmarks.votes.results import BoundResult
from hedgeclipper import VoteAggregator

MAX_ROWS = 5_000


def shuffled_rows(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return votes and labels of at most 5,000 rows with gold labels, drawn at random.

    For sets with a split these are the training rows; the validation rows have another class mix.
    """
    data = vote_set(name)
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(data.y >= 0))[:MAX_ROWS]
    return data.L[rows], data.y[rows]


def fit_labeled(L: np.ndarray, y: np.ndarray, is_labeled: np.ndarray) -> VoteAggregator:
    """Return a model that knows some of the labels."""
    return fit_quietly(VoteAggregator(random_state=0), L, np.where(is_labeled, y, -1))


def bound_result(
    model: VoteAggregator, y: np.ndarray, is_labeled: np.ndarray, name: str, seed: int, choice: str
) -> BoundResult:
    """Return bounds in the worst case on the rows without a label, and the true error there.

    They are 0 and 1, and void, if what the labels tell of the voters cannot all be true.
    """
    n_rows, n_classes = int((~is_labeled).sum()), vote_set(name).n_classes
    error = float(np.mean(model.transduction_[~is_labeled] != y[~is_labeled]))
    bounds = model.subgroup_bounds(np.ones(n_rows, bool)).error
    figures = (round(float(f), 6) for f in (error, *bounds))
    return BoundResult(
        name, int(is_labeled.sum()), seed, choice, *figures,
        "void" if bounds == (0.0, 1.0) else "estimate", n_classes, n_rows, today(), versions(),
    )  # fmt: skip
