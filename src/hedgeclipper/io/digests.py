"""A number by which rows are recognized: the same rows have the same digest, others do not.

Each row is hashed to 64 bits, and the hashes are added up modulo 2**64. So the digest depends
neither on the order of the rows nor on how they are cut into batches, and that of some of the rows
can be subtracted. A hash is a sum over the columns whose value is not 0, so that dense and sparse
rows agree. It protects from mistakes, not from somebody who looks for a collision.

`digest_in_order` depends on the order, too, for rows that are known by their number.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any
from zlib import crc32

import numpy as np
from scipy import sparse

from hedgeclipper.io.frames import frame_arrays, is_float, is_frame, is_missing

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

    7, 7.0 and "007" are one value, so are true and "TRUE", and a day and its first second.

    Examples
    --------
    >>> plain_numbers(np.array(["7.50", "TRUE", "", None], object))
    array([7.5, 1. , nan, nan])
    >>> day = np.array(["2020-01-02"], "datetime64[s]")
    >>> bool(plain_numbers(day) == plain_numbers(np.array(["2020-01-02 00:00:00"], object)))
    True
    """
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind == "M":
        values = values.astype("datetime64[us]").astype(object)
    known = {value: _plain_number(value) for value in set(values.tolist())}
    return np.array([known[value] for value in values.tolist()], np.float64)


def _plain_number(value: Any) -> float:
    text = "" if is_missing(value) else str(value).strip().removesuffix(" 00:00:00")
    if text.lower() in ("", "true", "false"):
        return {"": np.nan, "true": 1.0, "false": 0.0}[text.lower()]
    return float(text) if is_float(text) else float(crc32(text.encode()))


def hash_rows(X: Any) -> np.ndarray:
    """Return a number of 64 bits for each row."""
    if is_frame(X):
        X = np.column_stack([plain_numbers(values) for values in frame_arrays(X).values()])
    # odd numbers, one for each column: as many as there are, the same ones in every process
    odd = np.random.PCG64(0).random_raw(X.shape[1]) | np.uint64(1)
    if sparse.issparse(X):
        cells = _mixed(_bits(X.data)) * odd[X.indices]
        products = sparse.csr_array((cells, X.indices, X.indptr), X.shape)
        hashes = np.asarray(products.sum(axis=1, dtype=np.uint64)).ravel()
    else:
        hashes = (_mixed(_bits(X)) * odd).sum(axis=1, dtype=np.uint64)
    # a number is added, since rows of zeros count too
    return _mixed((hashes + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64))


def _bits(values: np.ndarray) -> np.ndarray:
    """Return the bits of numbers; those of 0 are 0, and all missing values have the same."""
    values = np.asarray(values, dtype=np.float64) + 0.0  # -0.0 becomes 0.0, in a copy
    values[np.isnan(values)] = np.nan
    return values.view(np.uint64)


def _mixed(bits: np.ndarray) -> np.ndarray:
    """Return numbers with their bits mixed, one to one, as in SplitMix64; 0 stays 0.

    Small integers differ only in the first bits of their floats, which products with odd numbers
    would lose, and sums of rows are told apart by all bits.
    """
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))
