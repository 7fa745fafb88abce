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
    """Rows of one array or CSR matrix, a single batch."""

    rows: Any
    in_memory = True

    def __iter__(self) -> Iterator[Any]:
        yield self.rows

    def every(self, stride: int) -> ArraySource:
        """Return a source of a copy of every stride-th row."""
        rows = self.rows[::stride]
        return ArraySource(rows if sparse.issparse(rows) else np.ascontiguousarray(rows))


@dataclass(frozen=True)
class BatchSource:
    """Batches that somebody else makes, read anew on every pass."""

    batches: Callable[[], Iterable[Any]]
    name: str
    in_memory = False

    def __iter__(self) -> Iterator[Any]:
        for batch in self.batches():
            yield as_rows(batch, name=self.name)


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
        return BatchSource(data, name)
    if hasattr(data, "__next__"):
        raise TypeError(
            f"{name} can be read only once: got {type(data).__name__}, an iterator, but the game "
            "takes several passes. Pass a list of batches, an object with __iter__, or a function "
            "that returns a fresh iterator."
        )
    if _holds_batches(data):
        return BatchSource(lambda: data, name)
    return ArraySource(as_rows(data, name=name))


def as_rows(data: Any, *, name: str = "votes") -> Any:
    """Return one block of rows as a 2-d ndarray or a CSR matrix without duplicate entries."""
    if sparse.issparse(data):
        rows = sparse.csr_array(data)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
    elif isinstance(data, np.ma.MaskedArray):
        rows = np.ma.filled(data.astype(float), np.nan)
    else:
        rows = np.asarray(data)
    if rows.ndim != 2:
        raise ValueError(
            f"{name} must be two-dimensional, (n_samples, n_voters). Got {type(data).__name__} of "
            f"shape {rows.shape}. Reshape one voter with {name}[:, None] and one row with "
            f"{name}[None, :]."
        )
    return rows


def cut(n_rows: int, batch: Any) -> Iterator[slice]:
    """Yield slices that cut n_rows into blocks of a handy size for rows like those of a batch."""
    is_sparse = sparse.issparse(batch)
    size = ROWS_PER_SPARSE_BATCH if is_sparse else ENTRIES_PER_BATCH // max(1, batch.shape[1])
    size = max(1, size)
    for start in range(0, max(n_rows, 1), size):
        yield slice(start, min(start + size, n_rows))


def row_slice(rows: Any, part: slice) -> Any:
    """Return some rows of an array or CSR matrix, sharing its memory."""
    if not sparse.issparse(rows):
        return rows[part]
    first, last = rows.indptr[part.start], rows.indptr[part.stop]
    # set by hand, since the constructor copies parts of larger arrays
    block = sparse.csr_array((part.stop - part.start, rows.shape[1]), dtype=rows.dtype)
    block.data, block.indices = rows.data[first:last], rows.indices[first:last]
    block.indptr = rows.indptr[part.start : part.stop + 1] - first
    block.has_canonical_format = True
    return block


def _holds_batches(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return bool(data) and np.ndim(data[0]) == 2
    is_array = hasattr(data, "__array__") or hasattr(data, "shape") or sparse.issparse(data)
    return hasattr(data, "__iter__") and not is_array
