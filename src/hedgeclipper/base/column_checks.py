"""What is suspicious about columns: marks of missing values among numbers, copies of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_NINES = [sign * (10.0**n - 1) for n in range(2, 8) for sign in (-1, 1)]
LEAST_MARKS = 2


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
