"""Sums and maxima over the columns of each row, quick where columns are few and rows are many.

Tables with a row for each row of votes, and a column for each class, have each column in one piece
(order "F"): what is done with a row is done by column, over all rows at once.
"""

from __future__ import annotations

from functools import reduce

import numpy as np


def row_sums(values: np.ndarray) -> np.ndarray:
    """Return the sum of each row, shape (n_rows,)."""
    return reduce(np.add, values.T)


def row_maxima(values: np.ndarray) -> np.ndarray:
    """Return the largest value of each row, shape (n_rows,)."""
    return reduce(np.maximum, values.T)


def row_favorites(values: np.ndarray) -> np.ndarray:
    """Return the column of the largest value of each row, the first of several; shape (n_rows,)."""
    best, favorites = values[:, 0], np.zeros(len(values), dtype=np.intp)
    for number in range(1, values.shape[1]):
        favorites[values[:, number] > best] = number
        best = np.maximum(best, values[:, number])
    return favorites


def soft_maximum(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the logarithm of the summed exponentials of each row, and its slopes."""
    most = row_maxima(scores)
    shares = np.exp(scores - most[:, None])
    total = row_sums(shares)
    shares /= total[:, None]
    return most + np.log(total), shares
