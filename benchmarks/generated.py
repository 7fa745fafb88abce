"""Generated votes and rows.

Votes: a hidden label z, voters that are right with probability 0.55 to 0.8, or more;
the correlations b come from 2,000 labeled rows of the same kind. Rows: 18 columns, the shape of
SUSY, whose label is the sign of a sum of products of ten of them, with noise; made block by block,
so that there can be any number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

N_LABELED = 2_000


@dataclass(frozen=True)
class GeneratedVotes:
    """Votes on unlabeled rows, the hidden labels, and b from the labeled rows."""

    votes: Any
    labels: np.ndarray
    label_correlations: np.ndarray


def soft_votes(n_samples: int, n_voters: int, seed: int = 0) -> GeneratedVotes:
    """Dense votes: right with the voter's probability, uniform in size."""
    rng = np.random.default_rng(seed)
    accuracies = rng.uniform(0.55, 0.8, n_voters)
    votes, labels = _dense_batch(rng, accuracies, n_samples)
    known, known_labels = _dense_batch(rng, accuracies, N_LABELED)
    return GeneratedVotes(votes, labels, known_labels @ known / N_LABELED)


def sparse_votes(
    n_samples: int, n_voters: int, votes_per_row: int, seed: int = 0, best: float = 0.8
) -> GeneratedVotes:
    """Sparse votes of -1 or 1: voters form groups, and one of each is awake on a row."""
    rng = np.random.default_rng(seed)
    accuracies = rng.uniform(0.55, best, n_voters)
    votes, labels = _sparse_batch(rng, accuracies, n_samples, votes_per_row)
    known, known_labels = _sparse_batch(rng, accuracies, N_LABELED, votes_per_row)
    counts = np.bincount(known.indices, minlength=n_voters)
    # a voter without a labeled row claims nothing
    b = np.divide(known_labels @ known, counts, out=np.full(n_voters, -1.0), where=counts > 0)
    return GeneratedVotes(votes, labels, b)


N_COLUMNS, ROWS_PER_BLOCK = 18, 1_000_000


def rows_and_labels(block: int, n_rows: int = ROWS_PER_BLOCK) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows (float32) and labels (0 or 1) of a block, the same on every call."""
    rng = np.random.default_rng([1, block])
    X = rng.standard_normal((n_rows, N_COLUMNS), dtype=np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2] + X[:, 3] * X[:, 4] + 0.5 * X[:, 5:10].sum(axis=1)
    return X, (score + rng.standard_normal(n_rows, dtype=np.float32) > 0).astype(int)


def _dense_batch(rng, accuracies, n_rows):
    labels = rng.choice([-1.0, 1.0], n_rows)
    shape = (n_rows, accuracies.size)
    votes = rng.random(shape)
    votes[rng.random(shape) >= accuracies] *= -1.0
    votes *= labels[:, None]
    return votes, labels


def _sparse_batch(rng, accuracies, n_rows, votes_per_row):
    labels = rng.choice([-1.0, 1.0], n_rows)
    groups = np.arange(votes_per_row) * (accuracies.size // votes_per_row)
    places = rng.integers(0, accuracies.size // votes_per_row, (n_rows, votes_per_row))
    voters = (groups + places).astype(np.int32)
    right = rng.random(voters.shape) < accuracies[voters]
    values = np.where(right, labels[:, None], -labels[:, None])
    starts = np.arange(0, voters.size + 1, votes_per_row, dtype=np.int32)
    shape = (n_rows, accuracies.size)
    return sparse.csr_array((values.ravel(), voters.ravel(), starts), shape=shape), labels
