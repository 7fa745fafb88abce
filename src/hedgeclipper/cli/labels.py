"""Labels of a table's rows: which are missing, and the others as classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from hedgeclipper.batches import listed
from hedgeclipper.cli.errors import CommandError

MANY_CLASSES = 20


def as_classes(labels: Any, are_boolean: bool = False) -> np.ndarray:
    """Return labels of which none is missing as booleans, whole numbers, numbers or text.

    Parameters
    ----------
    labels : array-like of shape (n_labeled,)
        As a file has them; numbers may be floats and booleans may be text.
    are_boolean : bool
        Whether they are booleans that were read as numbers.
    """
    labels = pd.Series(labels).infer_objects()
    if are_boolean:
        return labels.to_numpy(dtype=bool)
    if labels.dtype.kind == "f" and (labels == labels.round()).all():
        return labels.astype(np.int64).to_numpy()
    if labels.dtype.kind in "biuf":
        return labels.to_numpy(labels.dtype.name.lower())
    words = labels.astype(str)
    truths = {"true": True, "false": False}
    if set(words.str.lower()) <= set(truths):
        return words.str.lower().map(truths).to_numpy(bool)
    return words.to_numpy(dtype=str)


def check_classes(y: np.ndarray, n_rows: int, target: str) -> dict[Any, int]:
    """Return how many labels each class has, or say why nothing can be learnt from them.

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
            f"All {y.size:,} labelled rows are of one class, {classes.tolist()[0]!r}.",
            "Label some rows of another class; leave the label empty where it is not known.",
        )
    is_measured = y.dtype.kind == "f" or classes.size > max(MANY_CLASSES, y.size / 3)
    if is_measured:
        raise CommandError(
            f"{target} has {classes.size:,} different values on {y.size:,} labelled rows, such as "
            f"{listed(classes.tolist(), 3)}.",
            "Only classes can be predicted: name another column, or make classes of it.",
        )
    return found
