"""Sparse matrices of class codes plus 1, with other codes or other columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.votes.label_codes import BLOCK, small_integers


def with_codes(matrix: Any, codes: np.ndarray, n_classes: int) -> Any:
    """Return votes with new codes for old ones; entries are codes plus 1 on both sides."""
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
    """Return votes with each column at a new position; the other columns are empty."""
    shape = (matrix.shape[0], n_columns)
    if np.array_equal(positions, np.arange(matrix.shape[1])):
        return sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=shape)
    indices = positions.astype(matrix.indices.dtype)[matrix.indices]
    moved = sparse.csr_array((matrix.data.copy(), indices, matrix.indptr), shape=shape)
    moved.sort_indices()
    return moved
