"""Labels as arrays: numbers are float64 with NaN for a missing one, words str with None."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

_EXACT = 2.0**53


def as_labels(values: np.ndarray, place: str) -> np.ndarray:
    """Return labels as float64 with NaN for each missing one, or as str with None for each.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Numbers, booleans or strings; None and NaN mark a missing label.
    place : str
        What to call the column in errors.
    """
    if values.dtype.kind in "biuf":
        return _exact_floats(values, place)
    words = values.astype(object)
    missing = missing_labels(words)
    kinds = {type(word) for word in words[~missing]}
    if all(issubclass(kind, (Real, np.bool_)) for kind in kinds):
        words[missing] = np.nan
        return _exact_floats(words, place)
    if not all(issubclass(kind, str) for kind in kinds):
        raise TypeError(
            f"{place} must hold either numbers or strings. Got "
            f"{', '.join(sorted(kind.__name__ for kind in kinds))}. Encode the classes in one way."
        )
    words[missing] = None
    return words


def missing_labels(labels: np.ndarray) -> np.ndarray:
    """Return whether each label is missing, as bool of shape (n_rows,)."""
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind != "O":
        return np.zeros(labels.shape, dtype=bool)
    return np.array([word is None or word != word for word in labels], dtype=bool)


class TextLabels:
    """Labels of a text file, all of them numbers if the first one is, and else all of them words.

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


def _exact_floats(values: Any, place: str) -> np.ndarray:
    labels = values.astype(np.float64)
    if values.dtype.kind in "iu" and np.any(np.abs(labels) >= _EXACT):
        raise ValueError(
            f"{place} holds whole numbers beyond 2**53, which float64 cannot tell apart. Encode "
            "the classes as small numbers or as strings."
        )
    return labels
