"""Rows that are arrays, CSR matrices or frames in memory: checked, cut, drawn, stacked, recognized.

Rows are recognized by a digest: the same rows have the same, others do not. Each row is hashed to
64 bits, and the hashes are added up modulo 2**64. So the digest depends neither on the order of the
rows nor on how they are cut into batches, and that of some of the rows can be subtracted. A hash is
a sum over the columns whose value is not 0, so that dense and sparse rows agree. It protects from
mistakes, not from somebody who looks for a collision. `digest_in_order` depends on the order, too,
for rows that are known by their number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any
from zlib import crc32

import narwhals as nw
import numpy as np
from scipy import sparse

from hedgeclipper.io.frames import EXACT, frame_arrays, is_float, is_frame, is_missing, is_pandas
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
    """Return so many rows in their order, each as likely as any other, or all of no more."""
    if X.shape[0] <= n_rows:
        return X
    return _safe_indexing(X, np.sort(random_state.choice(X.shape[0], n_rows, replace=False)))


def draw_batches(
    batches: Iterable[Any], n_rows: int, random_state: np.random.RandomState, n_more: int = 0
) -> tuple[Any, np.ndarray]:
    """Return what `draw_rows` would of rows in batches, and numbers of ``n_more`` rows after them.

    Each of all these rows is as likely to be drawn as any other.
    """
    drawn, seed, n_seen = None, random_state.randint(MAX_SEED), 0
    for batch in batches:
        drawn = merge_draws(drawn, tag_rows(seed, n_seen, batch), n_rows)
        n_seen += batch.shape[0]
    if drawn is None:
        drawn = tag_rows(seed, 0, np.empty((0, 0)))
    return finish_draw(drawn, n_rows, seed, n_seen, n_more)


def finish_draw(
    drawn: Draw, n_rows: int, seed: int, n_seen: int, n_more: int
) -> tuple[Any, np.ndarray]:
    """Return the rows that stay if more come after the ``n_seen``, and the numbers of those."""
    tags, positions, rows = drawn
    after = tag_rows(seed, n_seen, np.arange(n_more))
    _, kept, _ = merge_draws((tags, positions, positions), (*after[:2], after[1]), n_rows)
    stay = np.flatnonzero(np.isin(positions, kept))
    rows = rows if stay.size == tags.size else _safe_indexing(rows, stay)
    return rows, kept[kept >= n_seen] - n_seen


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
    """Return rows one below the other; CSR if one is, and frames make one like the first."""
    if hasattr(above, "columns"):
        library = nw.get_native_namespace(above)
        if nw.get_native_namespace(below) is not library:
            table = nw.from_native(below, eager_only=True)
            below = table.to_pandas() if is_pandas(above) else table.to_polars()
        options = {"ignore_index": True} if is_pandas(above) else {"how": "vertical_relaxed"}
        return library.concat([above, below], **options)
    if sparse.issparse(above) or sparse.issparse(below):
        return sparse.vstack([above, below], format="csr")
    return np.concatenate([above, below])


MODULUS = 1 << 64


def digest_rows(X: Any) -> int:
    """Return the digest of rows: an array, a CSR matrix or a frame.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [0.0, 3.0], [4.0, 5.0]])
    >>> digest_rows(X) == digest_rows(X[::-1]) == digest_rows(sparse.csr_array(X))
    True
    >>> (digest_rows(X) - digest_rows(X[:1])) % MODULUS == digest_rows(X[1:])
    True
    >>> digest_rows(X) == digest_rows(X[[0, 1, 1]])
    False
    """
    return int(hash_rows(X).sum(dtype=np.uint64))


def digest_in_order(X: Any) -> str:
    """Return a text by which rows are recognized in this order: an array, CSR matrix or frame.

    It does not depend on the format of a file that a frame was read from (`plain_numbers`).

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [0.0, 3.0], [4.0, 5.0]])
    >>> digest_in_order(X) == digest_in_order(sparse.csr_array(X))
    True
    >>> digest_in_order(X) == digest_in_order(X[::-1])
    False
    """
    return sha256(hash_rows(X).astype("<u8").tobytes()).hexdigest()[:16]


def plain_numbers(values: np.ndarray) -> np.ndarray:
    """Return a column as numbers that are the same from CSV, Parquet and spreadsheets.

    7, 7.0 and "007" are one value, so are true and "TRUE", and a day and its first second. Whole
    numbers beyond 2**53, such as long ids, become checksums, since floats cannot tell them apart.

    Examples
    --------
    >>> plain_numbers(np.array(["7.50", "TRUE", "", None], object))
    array([7.5, 1. , nan, nan])
    >>> day = np.array(["2020-01-02"], "datetime64[s]")
    >>> bool(plain_numbers(day) == plain_numbers(np.array(["2020-01-02 00:00:00"], object)))
    True
    """
    if values.dtype.kind in "biuf":
        numbers = values.astype(np.float64)
        if values.dtype.kind in "iu" and (is_long := np.abs(numbers) >= EXACT).any():
            numbers[is_long] = plain_numbers(values[is_long].astype(object))
        return numbers
    if values.dtype.kind == "M":
        values = values.astype("datetime64[us]").astype(object)
    known = {value: _plain_number(value) for value in set(values.tolist())}
    return np.array([known[value] for value in values.tolist()], np.float64)


def _plain_number(value: Any) -> float:
    text = "" if is_missing(value) else str(value).strip().removesuffix(" 00:00:00")
    if text.lower() in ("", "true", "false"):
        return {"": np.nan, "true": 1.0, "false": 0.0}[text.lower()]
    is_long = text.removeprefix("-").isdecimal() and abs(float(text)) >= EXACT
    return float(text) if is_float(text) and not is_long else float(crc32(text.encode()))


def hash_rows(X: Any) -> np.ndarray:
    """Return a number of 64 bits for each row."""
    if is_frame(X):
        X = np.column_stack([plain_numbers(values) for values in frame_arrays(X).values()])
    # odd numbers, one for each column: as many as there are, the same ones in every process
    odd = np.random.PCG64(0).random_raw(X.shape[1]) | np.uint64(1)
    is_sparse = sparse.issparse(X)
    # bits of 0 are 0, -0.0 becomes 0.0, in a copy, and all missing values have the same bits
    values = plain_numbers(X.data if is_sparse else np.asarray(X)) + 0.0
    values[np.isnan(values)] = np.nan
    cells = _mixed(values.view(np.uint64))
    if is_sparse:
        products = sparse.csr_array((cells * odd[X.indices], X.indices, X.indptr), X.shape)
        hashes = np.asarray(products.sum(axis=1, dtype=np.uint64)).ravel()
    else:
        hashes = (cells * odd).sum(axis=1, dtype=np.uint64)
    # a number is added, since rows of zeros count too
    return _mixed((hashes + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64))


def _mixed(bits: np.ndarray) -> np.ndarray:
    """Return numbers with their bits mixed, one to one, as in SplitMix64; 0 stays 0.

    Small integers differ only in the first bits of their floats, which products with odd numbers
    would lose, and sums of rows are told apart by all bits.
    """
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))
