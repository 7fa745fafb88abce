"""Labels of classes: numbers for them as votes are read, and arrays of them in the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hedgeclipper.io import as_classes, as_plain_array, is_missing, listed
from hedgeclipper.votes.distinct import BLOCK, distinct, whole_numbers

_NO_VOTE = -1


class LabelNumbers:
    """Numbers for labels, given as these are first met; known for good once all votes are read.

    Parameters
    ----------
    abstain_label : object
        A label that means no vote, as a missing one always does; None for no other. Among words
        it is a word: "-1" means no vote where -1 does.
    place : str
        What to call the labels in errors.
    """

    def __init__(self, abstain_label: Any, place: str):
        self.abstain_label = None if is_missing(abstain_label) else abstain_label
        self.place = place
        self._abstain_word = None if self.abstain_label is None else str(abstain_label)
        self._number_of: dict[Any, int] = {}

    def number(self, values: np.ndarray) -> np.ndarray:
        """Return the number of each label, -1 where it means no vote; shape (n,)."""
        starts = range(0, max(values.size, 1), BLOCK)
        return np.concatenate([self._numbers(values[start : start + BLOCK]) for start in starts])

    def _numbers(self, values: np.ndarray) -> np.ndarray:
        labels, positions = distinct(values, self.place)
        numbers = [self._number(label) for label in labels]
        return np.array(numbers, dtype=small_integers(len(self._number_of)))[positions]

    def _number(self, label: Any) -> int:
        if is_missing(label) or label in (self.abstain_label, self._abstain_word):
            return _NO_VOTE
        return self._number_of.setdefault(label, len(self._number_of))

    def label(self, number: int) -> Any:
        """Return the label of a number."""
        return list(self._number_of)[number]

    def classes(self, given: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the classes, and the code of each number.

        Parameters
        ----------
        given : array-like of shape (n_classes,), optional
            Labels of the classes in the order of their codes. By default the labels that were met,
            sorted.

        Returns
        -------
        classes : ndarray of shape (n_classes,)
            Their labels.
        codes : ndarray of shape (n_labels,)
            For each number the position of its label among them.
        """
        labels = list(self._number_of)
        if given is not None:
            classes = given_classes(given)
            self._check_no_class_abstains(classes)
        else:
            classes = seen_classes(labels, self.place)
        return classes, class_codes(labels, classes, self.place)

    def _check_no_class_abstains(self, classes: np.ndarray) -> None:
        if any(label == self.abstain_label for label in classes.tolist()):
            raise ValueError(
                f"The label {self.abstain_label!r} is both one of the classes and abstain_label. "
                "Pass abstain_label=None if only missing votes abstain."
            )


def small_integers(n_classes: int) -> np.dtype:
    """Return the smallest signed integers that hold -1 to ``n_classes``."""
    return np.min_scalar_type(-n_classes - 1)


def seen_classes(labels: Iterable[Any], place: str) -> np.ndarray:
    """Return different labels as a sorted array: int64, bool or str."""
    return np.sort(_label_array(list(labels), place))


def given_classes(classes: Any) -> np.ndarray:
    """Return the labels of classes as the user orders them, checked."""
    array = as_plain_array(classes)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            "The 'classes' parameter must be a list of one label or more. Got an array of shape "
            f"{array.shape}."
        )
    labels = array.tolist()
    twice = first_repeated(labels)
    if twice is not None:
        raise ValueError(f"The 'classes' parameter has the label {twice!r} twice.")
    return _label_array(labels, "The 'classes' parameter")


def _label_array(labels: list[Any], place: str) -> np.ndarray:
    classes = as_classes(labels, place)
    return whole_numbers(classes, place) if classes.dtype.kind == "f" else classes


def class_codes(labels: Sequence[Any], classes: np.ndarray, place: str) -> np.ndarray:
    """Return for each label its position among the classes, or say which one is not there.

    Parameters
    ----------
    labels : sequence
        Labels to look up.
    classes : ndarray of shape (n_classes,)
        Labels of the classes.
    place : str
        What to call those who have the labels in errors.
    """
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    unknown = [label for label in labels if label not in code_of]
    if unknown:
        raise ValueError(
            f"{place} has the class {unknown[0]!r}, which is none of the classes "
            f"{listed(classes.tolist())}. Correct these votes, or add the class to the others."
        )
    return np.array([code_of[label] for label in labels], dtype=np.intp)


def first_repeated(values: Iterable[Any]) -> Any:
    """Return the first value that has been there before; None if there is none."""
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None
