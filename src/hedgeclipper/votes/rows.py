"""Sums and maxima over the columns of each row, quick where columns are few and rows are many."""

from __future__ import annotations

from functools import reduce

import numpy as np


def row_sums(values: np.ndarray) -> np.ndarray:
    """Return the sum of each row, shape (n_rows,)."""
    return reduce(np.add, values.T)


def row_maxima(values: np.ndarray) -> np.ndarray:
    """Return the largest value of each row, shape (n_rows,)."""
    return reduce(np.maximum, values.T)


def soft_maximum(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the logarithm of the summed exponentials of each row, and its slopes."""
    most = row_maxima(scores)
    shares = np.exp(scores - most[:, None])
    total = row_sums(shares)
    shares /= total[:, None]
    return most + np.log(total), shares
