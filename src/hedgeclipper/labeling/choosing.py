"""Which rows to label next, so that the model learns most."""

from __future__ import annotations

import numpy as np

# rows are drawn at random among the most uncertain ones: so many for each one that is drawn, and
# at least so many
CANDIDATES_PER_ROW, LEAST_CANDIDATES = 5, 200


def choose_rows(
    candidates: np.ndarray, uncertainties: np.ndarray, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Return rows to label: some of the most uncertain ones, at random.

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
    >>> rows = choose_rows(np.arange(1000), np.arange(1000) / 2000, 5, np.random.default_rng(0))
    >>> rows.size, bool(rows.min() >= 800)
    (5, True)
    """
    n_most = max(LEAST_CANDIDATES, CANDIDATES_PER_ROW * n)
    order = np.argsort(-uncertainties[candidates], kind="stable")
    most = candidates[order[:n_most]]
    return rng.choice(most, min(n, most.size), replace=False)
