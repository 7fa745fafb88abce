"""Which rows to label next, so that the model learns most."""

from __future__ import annotations

import numpy as np

# rows are drawn at random among the most uncertain ones: this share of all, at most so many
CANDIDATE_SHARE, MOST_CANDIDATES = 0.1, 200
# this share is drawn from all rows: they show how far uncertainties are right, and find classes
# that the model does not know yet; without them, or drawn by uncertainty, files took more labels
EXPLORED = 0.2


def choose_rows(
    candidates: np.ndarray, uncertainties: np.ndarray, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Return rows to label: most of them at random among the most uncertain ones.

    Parameters
    ----------
    candidates : ndarray of int of shape (n_candidates,)
        Rows that may be chosen.
    uncertainties : ndarray of shape (n_rows,)
        Of all rows.
    n : int
        Number of rows to choose.
    rng : Generator
        Source of randomness.

    Examples
    --------
    >>> rows = choose_rows(np.arange(1000), np.arange(1000) / 2000, 20, np.random.default_rng(0))
    >>> rows.size, int(np.sum(rows >= 900))
    (20, 15)
    """
    n = min(n, candidates.size)
    n_explored = rng.binomial(n, EXPLORED)
    explored = rng.choice(candidates, n_explored, replace=False)
    rest = np.setdiff1d(candidates, explored)
    n_most = max(2 * n, min(int(CANDIDATE_SHARE * candidates.size), MOST_CANDIDATES))
    most = rest[np.argsort(-uncertainties[rest], kind="stable")[:n_most]]
    chosen = rng.choice(most, n - n_explored, replace=False)
    return rng.permutation(np.concatenate([explored, chosen]))
