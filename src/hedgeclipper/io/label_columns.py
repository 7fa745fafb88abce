"""Labels as arrays: which are missing, and the others as booleans, numbers or strings."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

_EXACT = 2.0**53


def is_missing(value: Any) -> bool:
    """Return whether a value stands for none: None, NaN, NaT or ``pandas.NA``."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA is neither true nor false, nor is an array
        return not hasattr(value, "__len__")


def missing_labels(labels: np.ndarray) -> np.ndarray:
    """Return whether each label is missing, as bool of the shape of the labels."""
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind in "mM":
        return np.isnat(labels)
    if labels.dtype.kind != "O":
        return np.zeros(labels.shape, dtype=bool)
    return np.array([is_missing(label) for label in labels.flat], dtype=bool).reshape(labels.shape)


def as_plain_array(values: Any) -> np.ndarray:
    """Return an array-like as an array in which each entry keeps its own type.

    In a list, a string beside numbers does not make strings of these, nor NaN or -1 numbers of
    booleans. What a masked array hides is None.
    """
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.filled(values.astype(object), None)
    array = np.asarray(values)
    is_changed = array.dtype.kind in "US" or (array.dtype.kind in "if" and array.ndim == 1)
    if is_changed and not hasattr(values, "dtype"):
        return np.asarray(values, dtype=object)
    return array


def as_classes(labels: Any, place: str) -> np.ndarray:
    """Return labels as an array of bool, int64, str, or of float64 if some number is not whole.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Labels, none of which is missing.
    place : str
        What to call them in errors.
    """
    array = as_plain_array(labels)
    if array.dtype.kind == "O":
        kinds = {_kind(label) for label in array}
        kind = "number" if kinds == {"boolean", "number"} else "/".join(kinds)
        if kind not in ("", "string", "boolean", "number"):
            found = ", ".join(sorted({type(label).__name__ for label in array}))
            raise TypeError(
                f"{place} must hold either all numbers, all booleans or all strings. Got {found}. "
                "Encode the classes in one way."
            )
        is_whole = all(isinstance(label, (Integral, np.bool_)) for label in array)
        numbers = np.int64 if is_whole else np.float64
        array = array.astype({"string": str, "boolean": bool}.get(kind, numbers))
    if array.dtype.kind == "f" and np.all((array == np.floor(array)) & (np.abs(array) < _EXACT)):
        return array.astype(np.int64)
    return array


def _kind(label: Any) -> str:
    if isinstance(label, str):
        return "string"
    if isinstance(label, (bool, np.bool_)):
        return "boolean"
    return "number" if isinstance(label, Real) else "other"


def as_labels(values: np.ndarray, place: str) -> np.ndarray:
    """Return labels as float64 with NaN for each missing one, or as str with None for each.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Numbers, booleans or strings; None, NaN, NaT and ``pandas.NA`` mark a missing label.
    place : str
        What to call the column in errors.
    """
    missing = missing_labels(values)
    known = values if values.dtype.kind in "biuf" else as_classes(values[~missing], place)
    if known.dtype.kind in "iu" and np.any(np.abs(known.astype(float)) >= _EXACT):
        raise ValueError(
            f"{place} holds whole numbers beyond 2**53, which float64 cannot tell apart. Encode "
            "the classes as small numbers or as strings."
        )
    if known is values:
        return values.astype(np.float64)
    are_words = known.dtype.kind == "U"
    labels = np.full(values.shape, None if are_words else np.nan, object if are_words else float)
    labels[~missing] = known
    return labels


class TextLabels:
    """Labels of a text file, all of them numbers if the first one is, and else all of them strings.

    Which of the two is not known as long as all labels are missing: these are NaN.
    """

    def __init__(self) -> None:
        self._are_numbers: bool | None = None

    def read(self, words: np.ndarray, place: str) -> np.ndarray:
        """Return str with None for a missing one as labels, in the way of those before."""
        present = words[~missing_labels(words)]
        if self._are_numbers is None and present.size:
            self._are_numbers = _is_float(present[0])
        if self._are_numbers is False:
            return words
        labels = np.full(words.shape, np.nan)
        labels[~missing_labels(words)] = [self._number(word, place) for word in present]
        return labels

    def _number(self, word: str, place: str) -> float:
        if not _is_float(word):
            raise ValueError(
                f"{place} begins with numbers, and then there is {word!r}. Encode all classes as "
                "numbers, or all as words; leave the place of a missing label empty."
            )
        return float(word)


def _is_float(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
