"""Labels of a table's rows: which are missing, and the others as classes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from hedgeclipper.cli.errors import CommandError
from hedgeclipper.io import as_classes as typed_labels
from hedgeclipper.io import listed

MANY_CLASSES = 20
_WHOLE_NUMBER = re.compile(r"(0|-?[1-9]\d{0,14})(\.0+)?")


def clean_words(labels: np.ndarray) -> np.ndarray:
    """Return labels with no blanks around words, and None for those that are nothing else.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Numbers, or objects of which some may be words.
    """
    if labels.dtype != object:
        return labels
    cleaned = [label.strip() or None if isinstance(label, str) else label for label in labels]
    return np.array(cleaned, dtype=object)


def whole_numbers(words: np.ndarray) -> np.ndarray:
    """Return words as float64 with NaN if all are whole numbers as one writes them, else as given.

    So 1 and 1.0 are the same class, and 007 is another one than 7.

    Parameters
    ----------
    words : ndarray of shape (n_rows,)
        Words, and None for a missing one.
    """
    present = {word for word in words if word is not None}
    if all(map(_WHOLE_NUMBER.fullmatch, present)):
        return np.array([np.nan if word is None else float(word) for word in words])
    return words


def as_classes(labels: Any, are_boolean: bool = False) -> np.ndarray:
    """Return labels of which none is missing as booleans, whole numbers or text.

    Numbers that are not whole are text, since classifiers would take them for measured ones.

    Parameters
    ----------
    labels : array-like of shape (n_labeled,)
        As a file has them; numbers may be floats and booleans may be text.
    are_boolean : bool
        Whether they are booleans that were read as numbers.
    """
    values = np.asarray(labels, dtype=object)
    if are_boolean:
        return values.astype(bool)
    try:
        classes = typed_labels(values, "The target")
    except TypeError:  # of several kinds
        classes = values.astype(str)
    if classes.dtype.kind == "U" and set(np.char.lower(classes)) <= {"true", "false"}:
        return np.char.lower(classes) == "true"
    return classes.astype(str) if classes.dtype.kind == "f" else classes


def check_classes(y: np.ndarray, n_rows: int, target: str) -> dict[Any, int]:
    """Return how many labels each class has, or say why nothing can be learned from them.

    Parameters
    ----------
    y : ndarray of shape (n_labeled,)
        Labels.
    n_rows : int
        Number of all rows of the table.
    target : str
        What to call the labels.
    """
    if y.size == 0:
        raise CommandError(
            f"None of the {n_rows:,} rows has a value in {target}.",
            "Label some rows of each class.",
        )
    classes, counts = np.unique(y, return_counts=True)
    found = dict(zip(classes.tolist(), counts.tolist(), strict=True))
    if classes.size == 1:
        raise CommandError(
            f"All {y.size:,} labeled rows are of one class, {classes.tolist()[0]!r}.",
            "Label some rows of another class; leave the label empty where it is not known.",
        )
    n_usual = 2 if _are_fractions(classes) else MANY_CLASSES
    if classes.size > max(n_usual, y.size / 3):
        raise CommandError(
            f"{target} has {classes.size:,} different values on {y.size:,} labeled rows, such as "
            f"{listed(classes.tolist(), 3)}.",
            "Only classes can be predicted: name another column, or make classes of it.",
        )
    return found


def _are_fractions(classes: np.ndarray) -> bool:
    """Return whether text is numbers, of which some are not whole."""
    if classes.dtype.kind != "U" or not all(re.fullmatch(r"-?\d+\.\d+", word) for word in classes):
        return False
    return any(float(word) % 1 for word in classes)
