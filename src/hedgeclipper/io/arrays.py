"""Rows that are arrays, CSR matrices or frames in memory: checked, cut, drawn and stacked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from hedgeclipper.io.frames import is_frame, is_pandas
from hedgeclipper.sklearn_private import _safe_indexing

MOST_ROWS_PER_BATCH = 1 << 16
MAX_SEED = np.iinfo(np.int32).max
# tags (random numbers) of rows, positions, and the rows; those with the smallest tags are drawn
Draw = tuple[np.ndarray, np.ndarray, Any]


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
            f"{name} must be two-dimensional, (rows, columns). Got {type(data).__name__} of shape "
            f"{rows.shape}. Reshape one column with {name}[:, None] and one row with "
            f"{name}[None, :]."
        )
    return rows


def cut(n_rows: int, batch: Any) -> Iterator[slice]:
    """Yield slices that cut n_rows into blocks that fit into a cache, for rows like a batch's."""
    size = 1 << 14 if sparse.issparse(batch) else (1 << 18) // max(1, batch.shape[1]) or 1
    for start in range(0, max(n_rows, 1), size):
        yield slice(start, min(start + size, n_rows))


def rows_per_batch(n_columns: int) -> int:
    """Return the number of rows of a batch that is read from a file or a memory map.

    About 16 MB of float32: much longer to read than to hand over, and little beside the rest. At
    most 65,536 rows, since leaf numbers and the like take memory per row; at least 256, so that
    very wide rows still come in blocks.
    """
    return min(MOST_ROWS_PER_BATCH, max(256, (1 << 22) // max(1, n_columns)))


def is_in_memory(X: Any) -> bool:
    """Return whether rows are an array, and no memory map, a CSR matrix or a frame."""
    if isinstance(X, np.ndarray):
        return getattr(X, "_mmap", None) is None
    return sparse.issparse(X) or is_frame(X)


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


def draw_rows(X: Any, n_rows: int, random_state: np.random.RandomState) -> Any:
    """Return so many rows, each as likely as any other, or all where there are no more.

    X is an array, CSR matrix or frame, whose rows keep their order, or an iterable of these.
    """
    if hasattr(X, "shape"):
        if X.shape[0] <= n_rows:
            return X
        return _safe_indexing(X, np.sort(random_state.choice(X.shape[0], n_rows, replace=False)))
    drawn, seed, n_seen = None, random_state.randint(MAX_SEED), 0
    for batch in X:
        drawn = merge_draws(drawn, tag_rows(seed, n_seen, batch), n_rows)
        n_seen += batch.shape[0]
    return np.empty((0, 0)) if drawn is None else drawn[2]


def tag_rows(seed: int, start: int, rows: Any) -> Draw:
    """Return rows from position ``start`` on with their tags, the same however rows are cut up."""
    positions = np.arange(start, start + rows.shape[0])
    tags = np.random.Generator(np.random.PCG64(seed).advance(start)).random(positions.size)
    return tags, positions, rows


def merge_draws(one: Draw | None, other: Draw, n_rows: int) -> Draw:
    """Return the rows with the smallest tags of one draw and then another, at most ``n_rows``."""
    tags, positions, rows = other
    if one is not None and one[0].size == n_rows:  # few of many rows come in, and are copied
        small = np.flatnonzero(tags < one[0].max())
        tags, positions, rows = tags[small], positions[small], _safe_indexing(rows, small)
    if one is not None:
        tags, positions = np.append(one[0], tags), np.append(one[1], positions)
        rows = stack_rows(one[2], rows)
    if tags.size <= n_rows:
        return tags, positions, rows
    kept = np.sort(np.argpartition(tags, n_rows)[:n_rows])
    return tags[kept], positions[kept], _safe_indexing(rows, kept)


def is_array(array: Any, kinds: str, *shape: int | None) -> bool:
    """Return whether this is an array with a dtype of these kinds and this shape; None is any."""
    return (
        type(array) is np.ndarray
        and array.dtype.kind in kinds
        and array.ndim == len(shape)
        and all(want in (None, got) for want, got in zip(shape, array.shape, strict=True))
    )


def stack_rows(above: Any, below: Any) -> Any:
    """Return rows one below the other; CSR if one of them is, and frames make a frame."""
    if hasattr(above, "columns"):
        library = nw.get_native_namespace(above)
        options = {"ignore_index": True} if is_pandas(above) else {"how": "vertical_relaxed"}
        return library.concat([above, below], **options)
    if sparse.issparse(above) or sparse.issparse(below):
        return sparse.vstack([above, below], format="csr")
    return np.concatenate([above, below])
