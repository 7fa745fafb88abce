"""Different values of an array: which ones there are, and where each of them stands."""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import Any

import numpy as np

# So many values are looked at together, so that what they need for a while stays small.
BLOCK = 1 << 20
_SHORT_TABLE = 1 << 16


def first_seen(values: np.ndarray, place: str) -> tuple[list[Any], np.ndarray]:
    """Return the different values in the order in which they appear, and the number of each.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Values of any kind that can be hashed.
    place : str
        What to call them in errors.

    Returns
    -------
    different : list
        The different values. A NaN may be there more than once.
    numbers : ndarray of shape (n,)
        For each value its position in that list.
    """
    if values.dtype.kind in "iu":
        return _first_seen_integers(values)
    number_of: defaultdict[Any, int] = defaultdict(count().__next__)
    numbers = np.empty(values.size, dtype=np.intp)
    for start in range(0, values.size, BLOCK):
        block = values[start : start + BLOCK].tolist()
        try:
            found = np.fromiter(map(number_of.__getitem__, block), np.intp, len(block))
        except TypeError as error:
            raise TypeError(
                f"{place} must hold numbers, booleans or strings. Got something else: {error}."
            ) from error
        numbers[start : start + BLOCK] = found
    return list(number_of), numbers


def _first_seen_integers(values: np.ndarray) -> tuple[list[Any], np.ndarray]:
    different, numbers = _distinct_integers(values)
    first = np.empty(different.size, dtype=np.intp)
    first[numbers[::-1]] = np.arange(values.size)[::-1]  # the last one to be written stays
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return different[order].tolist(), rank[numbers]


def distinct(values: np.ndarray, place: str) -> tuple[list[Any], np.ndarray]:
    """Return the different values in any order, and the number of each; quick with few of them.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers, of which floats must be whole or NaN, booleans, strings or objects.
    place : str
        What to call them in errors.

    Returns
    -------
    different : list
        The different values as Python has them.
    numbers : ndarray of shape (n,)
        For each value its position in that list.
    """
    kind = values.dtype.kind
    if kind in "biu":
        different, numbers = _distinct_integers(values)
        return different.astype(bool if kind == "b" else different.dtype).tolist(), numbers
    if kind == "f":
        return _distinct_floats(values, place)
    if kind in "OUT":
        return first_seen(values, place)
    raise TypeError(
        f"{place} must hold numbers, booleans or strings. Got dtype {values.dtype}. Encode the "
        "classes in one of these ways."
    )


def _distinct_floats(values: np.ndarray, place: str) -> tuple[list[Any], np.ndarray]:
    present = ~np.isnan(values)
    whole = whole_numbers(values[present], place)
    different, found = _distinct_integers(whole)
    numbers = np.full(values.shape, different.size, dtype=np.intp)
    numbers[present] = found
    return [*different.tolist(), None], numbers


def whole_numbers(values: np.ndarray, place: str) -> np.ndarray:
    """Return floats as int64, or say which one is not a whole number."""
    bad = (values != np.floor(values)) | (np.abs(values) > 2.0**53)
    if bad.any():
        raise ValueError(
            f"{place} must hold class labels, and those that are numbers must be whole. Got "
            f"{values[bad][0]:g}. Pass the classes that voters vote for, not probabilities."
        )
    return values.astype(np.int64)


def _distinct_integers(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different integers or booleans, sorted, and the number of each."""
    if values.size == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.intp)
    low, high = int(values.min()), int(values.max())
    if high - low >= max(_SHORT_TABLE, values.size):
        return np.unique(values, return_inverse=True)
    offsets = values.astype(np.int64) - low
    seen = np.zeros(high - low + 1, dtype=bool)
    seen[offsets] = True
    return np.flatnonzero(seen) + low, (np.cumsum(seen) - 1)[offsets]
