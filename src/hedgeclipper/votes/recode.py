"""The same votes with other codes, other columns, or some of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.votes.distinct import BLOCK
from hedgeclipper.votes.vote_labels import small_integers


def with_codes(matrix: Any, codes: np.ndarray, n_classes: int) -> Any:
    """Return votes with new codes for old ones; entries are codes plus 1 on both sides.

    Parameters
    ----------
    matrix : csr_array of shape (n_rows, n_voters)
        Votes.
    codes : ndarray of shape (n_old_classes,)
        The new code of each old one.
    n_classes : int
        Number of classes from now on.
    """
    integers = small_integers(n_classes)
    if matrix.data.dtype == integers and np.array_equal(codes, np.arange(codes.size)):
        return matrix
    table = np.zeros(codes.size + 1, dtype=integers)
    table[1:] = codes + 1
    data = np.empty(matrix.data.size, dtype=table.dtype)
    for start in range(0, data.size, BLOCK):
        data[start : start + BLOCK] = table[matrix.data[start : start + BLOCK]]
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def with_columns(matrix: Any, positions: np.ndarray, n_columns: int) -> Any:
    """Return votes with each column at a new position; the others are empty.

    Parameters
    ----------
    matrix : csr_array of shape (n_rows, n_voters)
        Votes.
    positions : ndarray of shape (n_voters,)
        Where each column goes; no two to the same place.
    n_columns : int
        Number of columns from now on.
    """
    shape = (matrix.shape[0], n_columns)
    if np.array_equal(positions, np.arange(matrix.shape[1])):
        return sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=shape)
    indices = positions.astype(matrix.indices.dtype)[matrix.indices]
    moved = sparse.csr_array((matrix.data.copy(), indices, matrix.indptr), shape=shape)
    moved.sort_indices()
    return moved


def with_rows(matrix: Any, rows: slice | np.ndarray) -> Any:
    """Return votes on some rows; of rows in sequence, without a copy.

    Parameters
    ----------
    matrix : csr_array of shape (n_rows, n_voters)
        Votes.
    rows : slice or ndarray of int
        Which rows, and in which order.
    """
    if not isinstance(rows, slice) or rows.step not in (None, 1):
        return matrix[rows]
    start, stop, _ = rows.indices(matrix.shape[0])
    ends = matrix.indptr[start : max(start, stop) + 1]
    entries = slice(ends[0], ends[-1])
    parts = matrix.data[entries], matrix.indices[entries], ends - ends[0]
    return sparse.csr_array(parts, shape=(ends.size - 1, matrix.shape[1]))
