"""Where rows come from: arrays, sparse matrices, frames, memory maps, or batches of these.

Everything downstream reads rows in batches and more than once, so a source is something that can
be iterated over again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

ENTRIES_PER_BATCH = 1 << 18
ROWS_PER_SPARSE_BATCH = 1 << 14


@dataclass(frozen=True)
class ArraySource:
    """Rows of one array or CSR matrix, handed out in slices that share its memory."""

    rows: Any
    batch_rows: int
    in_memory = True

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, self.rows.shape[0], self.batch_rows):
            yield _row_slice(self.rows, start, start + self.batch_rows)

    def every(self, stride: int) -> ArraySource:
        """Return a source of every stride-th row, copied."""
        return ArraySource(self.rows[::stride], self.batch_rows)


@dataclass(frozen=True)
class BatchSource:
    """Batches that somebody else makes, read anew on every pass."""

    batches: Callable[[], Iterable[Any]]
    in_memory = False

    def __iter__(self) -> Iterator[Any]:
        for batch in self.batches():
            yield as_rows(batch)


Source = ArraySource | BatchSource


def as_source(data: Any, *, name: str = "votes") -> Source:
    """Return a source of batches of rows, each a 2-d array or CSR matrix.

    Parameters
    ----------
    data : array-like, sparse matrix, frame, re-iterable of these, or function
        A function without arguments must return a fresh iterable of batches on each call.
    name : str
        What to call the data in errors.
    """
    if callable(data) and not hasattr(data, "__array__"):
        return BatchSource(data)
    if hasattr(data, "__next__"):
        raise TypeError(
            f"{name} can be read only once: got {type(data).__name__}, an iterator, but the game "
            "takes several passes. Pass a list of batches, an object with __iter__, or a function "
            "that returns a fresh iterator."
        )
    if _holds_batches(data):
        return BatchSource(lambda: data)
    rows = as_rows(data, name=name)
    return ArraySource(rows, _batch_rows(rows))


def as_rows(data: Any, *, name: str = "votes") -> Any:
    """Return one block of rows as a 2-d ndarray or a CSR matrix without duplicate entries."""
    if sparse.issparse(data):
        rows = sparse.csr_array(data)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
    else:
        rows = np.asarray(data)
    if rows.ndim != 2:
        raise ValueError(
            f"{name} must be two-dimensional, (n_samples, n_voters). Got shape {rows.shape}. "
            "Reshape one voter with votes[:, None] and one row with votes[None, :]."
        )
    return rows


def _holds_batches(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return bool(data) and np.ndim(data[0]) == 2
    is_array = hasattr(data, "__array__") or hasattr(data, "shape") or sparse.issparse(data)
    return hasattr(data, "__iter__") and not is_array


def _batch_rows(rows: Any) -> int:
    if sparse.issparse(rows):
        return ROWS_PER_SPARSE_BATCH
    return max(1, ENTRIES_PER_BATCH // max(1, rows.shape[1]))


def _row_slice(rows: Any, start: int, stop: int) -> Any:
    if not sparse.issparse(rows):
        return rows[start:stop]
    stop = min(stop, rows.shape[0])
    first, last = rows.indptr[start], rows.indptr[stop]
    # set by hand, since the constructor copies parts of larger arrays
    batch = sparse.csr_array((stop - start, rows.shape[1]), dtype=rows.dtype)
    batch.data, batch.indices = rows.data[first:last], rows.indices[first:last]
    batch.indptr = rows.indptr[start : stop + 1] - first
    batch.has_canonical_format = True
    return batch
