"""What is suspicious about columns: marks of missing values among numbers, copies of the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import gammaln

_NINES = [sign * (10.0**n - 1) for n in range(2, 8) for sign in (-1, 1)]
LEAST_MARKS = 2
LARGEST_ACCIDENT = 1e-6
LEAST_OTHERS = 20
COPIES = "it has one value for each class"
ABSENT = "it tells their classes apart, and is empty or the same on the unlabeled rows"


class ColumnWarning(UserWarning):
    """A column is not used, or may not be what it seems."""


def mark_note(numbers: np.ndarray) -> str:
    """Return a note if numbers such as -999 seem to mark missing ones; else nothing.

    They are written in nines, are there twice or more, and lie beyond the others: below zero if no
    other number does, or farther away than the others are from each other.

    Examples
    --------
    >>> mark_note(np.array([3.0, 7.0, -999.0, 5.0, -999.0]))
    '-999 in 2 of 5 rows may mark missing values, and is used as a number; leave them empty'
    >>> mark_note(np.array([95.0, 97.0, 99.0, 99.0]))
    ''
    """
    numbers = numbers[np.isfinite(numbers)]
    for mark in {numbers.min(), numbers.max()} if numbers.size else ():
        others = numbers[numbers != mark]
        count = numbers.size - others.size
        is_marked = mark in _NINES
        if not is_marked or count < LEAST_MARKS or np.unique(others).size < 2:
            continue
        if (mark < 0 <= others.min()) or np.abs(others - mark).min() > np.ptp(others):
            return (
                f"{mark:.0f} in {count:,} of {numbers.size:,} rows may mark missing values, and is "
                "used as a number; leave them empty"
            )
    return ""


def notes_on_numbers(parts: Sequence[np.ndarray], scale: Any = None) -> dict[int, str]:
    """Return `mark_note` of the columns that have one, by position.

    Rows come in parts, arrays of the same columns; ``scale`` is what they were scaled by.
    """
    width = parts[0].shape[1]
    factor = np.ones(width) if scale is None else scale.factor
    center = np.zeros(width) if scale is None else scale.center
    ends = [end.reduce(part, axis=0) for part in parts for end in (np.fmin, np.fmax) if len(part)]
    is_likely = [np.isin((end / factor + center).round(6), _NINES) for end in ends]
    notes = {}
    for k in np.flatnonzero(np.any(is_likely, axis=0)):
        column = np.concatenate([part[:, k] for part in parts]).astype(float)
        notes[int(k)] = mark_note((column / factor[k] + center[k]).round(6))
    return {k: note for k, note in notes.items() if note}


def find_leaks(
    X: np.ndarray, codes: np.ndarray, others: np.ndarray | None, sources: np.ndarray
) -> dict[int, str]:
    """Return which columns seem to be made of the labels, and why.

    A column is one if it has one value for each class on the labeled rows. Or if each of its values
    there is of one class, or its numbers are in intervals that do not overlap, while it is missing
    or constant on the unlabeled rows. Labels in random order must be so with a probability of at
    most 1e-6: with two classes of the same size this takes 24 labels.

    Parameters
    ----------
    X : ndarray of shape (n_labeled, n_encoded)
        Labeled rows as numbers.
    codes : ndarray of shape (n_labeled,)
        Classes, numbered from 0.
    others : ndarray of shape (n_unlabeled, n_encoded) or None
        Unlabeled rows, or some of them.
    sources : ndarray of shape (n_encoded,)
        The column that each of them is made of.
    """
    counts = np.bincount(codes)
    n_classes = counts.size
    limit = np.log(LARGEST_ACCIDENT) - log_accident(counts)
    if gammaln(n_classes + 1) > limit:
        return {}
    starts = np.cumsum([0, *counts[:-1]])
    in_order = _filled(X)[np.argsort(codes, kind="stable")]
    low, high = (end.reduceat(in_order, starts) for end in (np.minimum, np.maximum))
    found = {}
    for k in _whole(sources, (low == high).all(axis=0)):
        if len(np.unique(low[:, sources == k], axis=0)) == n_classes:
            found[k] = COPIES
    if others is None or len(others) < LEAST_OTHERS:
        return found
    for k in _whole(sources, np.ptp(_filled(others), axis=0) == 0):
        own = sources == k
        groups = np.unique(in_order[:, own], axis=0, return_inverse=True)[1].ravel()
        pairs = np.unique(np.column_stack([groups, np.sort(codes)]), axis=0)
        n_groups = groups.max() + 1
        is_pure = len(pairs) == n_groups > 1 and n_groups * np.log(n_classes) <= limit
        if is_pure or _are_apart(low[:, own], high[:, own]):
            found.setdefault(k, ABSENT)
    return found


def log_accident(counts: np.ndarray) -> float:
    """Return the logarithm of the probability of one order of so many labels of each class."""
    return float(gammaln(counts + 1).sum() - gammaln(counts.sum() + 1))


def _filled(X: np.ndarray) -> np.ndarray:
    """Return numbers with one that is below all others in place of missing ones."""
    return np.where(np.isnan(X), np.float32(-3e38), X)


def _whole(sources: np.ndarray, is_so: np.ndarray) -> list[int]:
    """Return the columns all of whose encoded columns are so."""
    return sorted({*sources[is_so].tolist()} - {*sources[~is_so].tolist()})


def _are_apart(low: np.ndarray, high: np.ndarray) -> bool:
    """Return whether in some column the intervals of the classes, in rows, do not overlap."""
    order = np.argsort(low, axis=0)
    low, high = (np.take_along_axis(end, order, axis=0) for end in (low, high))
    return bool((high[:-1] < low[1:]).all(axis=0).any())


def refuse_leaks(found: Mapping[Any, str], n_labeled: int, keep: Sequence[Any], what: str) -> None:
    """Raise if columns or voters that are not to be kept seem to be made of the labels."""
    wrong = {name: why for name, why in found.items() if name not in keep}
    if wrong:
        name, why = next(iter(wrong.items()))
        raise ValueError(
            f"{what} {name!r} seems to be made of the labels: on all {n_labeled:,} labeled rows "
            f"where it is known {why}. Leave it out; or keep it, if it is known before the label: "
            f"keep={[*keep, *wrong]!r}, or --keep at the command line."
        )
