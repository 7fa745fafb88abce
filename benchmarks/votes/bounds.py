"""Certificates beside the true error; labeled rows are drawn from the rows that are scored."""

from __future__ import annotations

from typing import Any

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


def fit_labeled(
    L: np.ndarray, y: np.ndarray, is_labeled: np.ndarray, **settings: Any
) -> VoteAggregator:
    """Return a model that knows some of the labels."""
    model = VoteAggregator(random_state=0, **settings)
    return fit_quietly(model, L, np.where(is_labeled, y, -1))


def bound_result(
    model: VoteAggregator, y: np.ndarray, is_labeled: np.ndarray, name: str, seed: int, choice: str
) -> BoundResult:
    """Return the certificate on the rows without a label, and the true error there."""
    found, n_classes = model.certificate_, vote_set(name).n_classes
    error = float(np.mean(model.transduction_[~is_labeled] != y[~is_labeled]))
    figures = (round(float(f), 6) for f in (error, found.error_lower, found.error_upper))
    return BoundResult(
        name, int(is_labeled.sum()), seed, choice, *figures,
        found.kind, n_classes, int((~is_labeled).sum()), today(), versions(),
    )  # fmt: skip
