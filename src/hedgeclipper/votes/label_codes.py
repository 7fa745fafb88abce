"""Codes of class labels and of names of voters and rows, as votes are read, and sparse matrices."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from hedgeclipper.io import as_classes, as_plain_array, is_missing, listed

# So many values are processed at once, so that temporary arrays stay small.
BLOCK = 1 << 20
_SHORT_TABLE = 1 << 16
_NO_VOTE = -1


class LabelNumbers:
    """Numbers of labels, in the order in which these first appear, while votes are read.

    ``abstain_label`` means no vote, as a missing label always does; None for no other. Among
    strings it is a string: "-1" means no vote where -1 does. ``place`` names the labels in errors.
    """

    def __init__(self, abstain_label: Any, place: str):
        self.abstain_label = None if is_missing(abstain_label) else abstain_label
        self.place = place
        self._abstain_string = None if self.abstain_label is None else str(abstain_label)
        self._number_of: dict[Any, int] = {}

    def number(self, values: np.ndarray) -> np.ndarray:
        """Return the number of each label, -1 where it means no vote; shape (n,)."""
        found = []
        for start in range(0, max(values.size, 1), BLOCK):
            labels, positions = _distinct(values[start : start + BLOCK], self.place)
            numbers = np.array([self._number(label) for label in labels], dtype=np.intp)
            found.append(numbers.astype(small_integers(len(self._number_of)))[positions])
        return np.concatenate(found)

    def _number(self, label: Any) -> int:
        if is_missing(label) or label in (self.abstain_label, self._abstain_string):
            return _NO_VOTE
        return self._number_of.setdefault(label, len(self._number_of))

    def label(self, number: int) -> Any:
        """Return the label of a number."""
        return list(self._number_of)[number]

    def classes(self, given: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the given classes, or the labels seen, sorted; and the code of each number."""
        labels = list(self._number_of)
        if given is None:
            classes = seen_classes(labels, self.place)
        else:
            classes = given_classes(given)
            if any(label == self.abstain_label for label in classes.tolist()):
                raise ValueError(
                    f"The label {self.abstain_label!r} is both one of the classes and "
                    "abstain_label. Pass abstain_label=None if only missing votes abstain."
                )
        return classes, class_codes(labels, classes, self.place)


def small_integers(n_classes: int) -> np.dtype:
    """Return the smallest signed integers that hold -1 to ``n_classes``."""
    return np.min_scalar_type(-n_classes - 1)


def seen_classes(labels: Iterable[Any], place: str, *, in_order: bool = False) -> np.ndarray:
    """Return different labels as an array, int64, bool or str, sorted or ``in_order`` as given."""
    classes = as_classes(list(labels), place)
    classes = _whole_numbers(classes, place) if classes.dtype.kind == "f" else classes
    return classes if in_order else np.sort(classes)


def given_classes(classes: Any) -> np.ndarray:
    """Return the labels of classes as the user orders them, checked."""
    array = as_plain_array(classes)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            "The 'classes' parameter must be a list of one label or more. Got an array of shape "
            f"{array.shape}."
        )
    labels = array.tolist()
    twice = _first_repeated(labels)
    if twice is not None:
        raise ValueError(f"The 'classes' parameter has the label {twice!r} twice.")
    return seen_classes(labels, "The 'classes' parameter", in_order=True)


def class_codes(labels: Sequence[Any], classes: np.ndarray, place: str) -> np.ndarray:
    """Return the position of each label among the classes; ``place`` names the labels in errors."""
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    unknown = [label for label in labels if label not in code_of]
    if unknown:
        raise ValueError(
            f"{place} has the class {unknown[0]!r}, which is none of the classes "
            f"{listed(classes.tolist())}. Correct these votes, or add the class to the others."
        )
    return np.array([code_of[label] for label in labels], dtype=np.intp)


def _first_repeated(values: Iterable[Any]) -> Any:
    """Return the first value that appears again; None if there is none."""
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


def as_names(names: Iterable[Any]) -> np.ndarray:
    """Return names as an array: int64 if all are whole numbers, and else objects."""
    plain = names.tolist() if isinstance(names, np.ndarray) else list(names)
    if all(isinstance(name, (int, np.integer)) for name in plain):
        return np.array(plain, dtype=np.int64)
    return np.fromiter(plain, dtype=object, count=len(plain))


@dataclass(frozen=True, eq=False)
class VoterNames:
    """Names of the voters, and whether they were given or are only the numbers of the columns."""

    names: np.ndarray
    given: bool

    @classmethod
    def of(cls, names: Any, n_voters: int, given: bool | None = None) -> VoterNames:
        """Return the checked names of columns; the numbers of the columns if there are none.

        By default names count as given unless they are 0, 1, 2, ..., as a frame without names of
        columns has them.
        """
        if names is None:
            return cls(np.arange(n_voters), False)
        array = as_names(names)
        if array.size != n_voters:
            raise ValueError(
                f"The 'voters' parameter must have one name for each of the {n_voters} columns. "
                f"Got {array.size}."
            )
        twice = _first_repeated(array.tolist())
        if twice is not None:
            raise ValueError(
                f"Two voters have the name {twice!r}. Give each of them a name of its own."
            )
        if given is None:
            given = array.dtype.kind != "i" or not np.array_equal(array, np.arange(array.size))
        return cls(array, given)

    def positions_in(self, others: VoterNames) -> np.ndarray:
        """Return the position of each voter among others, by name or else by number."""
        voters, numbers = others.names, np.arange(others.names.size)
        same_count = self.names.size == voters.size
        if not self.given and same_count:
            is_same_set = voters.dtype.kind == "i" and np.array_equal(np.sort(voters), numbers)
            if is_same_set and not np.array_equal(voters, numbers):
                raise ValueError(
                    f"Voters are named by numbers, {listed(voters.tolist())}, and these columns by "
                    "their places, so that either order may be meant. Give the voters other names, "
                    "or the columns the same order."
                )
            return numbers
        if not self.given:
            raise ValueError(
                f"The votes have {self.names.size} voters without names, and {voters.size} are "
                "expected. Pass a column for each of them in the same order, or name the voters."
            )
        position_of = {name: position for position, name in enumerate(voters.tolist())}
        unknown = [name for name in self.names.tolist() if name not in position_of]
        if len(unknown) == voters.size and same_count and not others.given:
            return numbers
        if unknown:
            raise ValueError(
                f"{len(unknown)} of {self.names.size} voters are not known: {listed(unknown)}. "
                f"Known are {listed(voters.tolist())}. Leave the others out, or rename them."
            )
        return np.array([position_of[name] for name in self.names.tolist()], dtype=np.intp)


def number_names(column: Any, place: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the different names in a column as they first appear, and the number of each entry."""
    different, numbers = _factorized(column, place)
    missing = np.array([is_missing(name) for name in different] + [True])
    if missing[numbers].any():
        raise ValueError(
            f"{place} must not have missing values. Got one in row {np.argmax(missing[numbers])} "
            "of the table. Drop these rows."
        )
    return as_names(different), numbers


def _factorized(column: Any, place: str) -> tuple[list[Any], np.ndarray]:
    """Return different names and numbers, by the library of the column where it can.

    A missing name may be among the different ones or have the number -1.
    """
    column = nw.to_native(column, pass_through=True)
    if hasattr(column, "factorize"):  # pandas
        numbers, different = column.factorize()
        return different.tolist(), numbers
    if hasattr(column, "replace_strict"):  # polars
        different = column.unique(maintain_order=True)
        numbers = column.replace_strict(different, np.arange(len(different)))
        return different.to_list(), numbers.to_numpy()
    if hasattr(column, "dictionary_encode"):  # Arrow
        encoded = column.dictionary_encode().combine_chunks()
        return encoded.dictionary.to_pylist(), np.asarray(encoded.indices.fill_null(-1))
    return _first_seen(column, place)


def _first_seen(values: np.ndarray, place: str) -> tuple[list[Any], np.ndarray]:
    """Return the different values in the order in which they appear, and the number of each entry.

    A NaN may be among the different ones more than once.
    """
    if values.dtype.kind in "iu":
        distinct, numbers = _distinct_integers(values)
        first = np.empty(distinct.size, dtype=np.intp)
        first[numbers[::-1]] = np.arange(values.size)[::-1]  # the last one to be written stays
        order = np.argsort(first)
        return distinct[order].tolist(), np.argsort(order)[numbers]
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


def _distinct(values: np.ndarray, place: str) -> tuple[list[Any], np.ndarray]:
    """Return the different values in any order, as Python has them, and the number of each entry.

    Floats must be whole or NaN.
    """
    kind = values.dtype.kind
    if kind in "biu":
        different, numbers = _distinct_integers(values)
        return different.astype(bool if kind == "b" else different.dtype).tolist(), numbers
    if kind == "f":
        present = ~np.isnan(values)
        different, found = _distinct_integers(_whole_numbers(values[present], place))
        numbers = np.full(values.shape, different.size, dtype=np.intp)
        numbers[present] = found
        return [*different.tolist(), None], numbers
    if kind in "OUT":
        return _first_seen(values, place)
    raise TypeError(
        f"{place} must hold numbers, booleans or strings. Got dtype {values.dtype}. Encode the "
        "classes in one of these ways."
    )


def _whole_numbers(values: np.ndarray, place: str) -> np.ndarray:
    """Return floats as int64, or raise if one of them is not a whole number."""
    bad = (values != np.floor(values)) | (np.abs(values) > 2.0**53)
    if bad.any():
        raise ValueError(
            f"{place} must hold class labels, and those that are numbers must be whole. Got "
            f"{values[bad][0]:g}. Pass the classes that voters vote for, not probabilities."
        )
    return values.astype(np.int64)


def _distinct_integers(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different integers or booleans, sorted, and the number of each entry."""
    if values.size == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.intp)
    low, high = int(values.min()), int(values.max())
    if high > np.iinfo(np.int64).max or high - low >= max(_SHORT_TABLE, values.size):
        return np.unique(values, return_inverse=True)
    offsets = values.astype(np.int64) - low
    seen = np.zeros(high - low + 1, dtype=bool)
    seen[offsets] = True
    return np.flatnonzero(seen) + low, (np.cumsum(seen) - 1)[offsets]


def with_codes(matrix: Any, codes: np.ndarray, n_classes: int) -> Any:
    """Return votes with new codes for old ones; entries are codes plus 1 on both sides."""
    integers = small_integers(n_classes)
    if matrix.data.dtype == integers and np.array_equal(codes, np.arange(codes.size)):
        return matrix
    table = np.zeros(codes.size + 1, dtype=integers)
    table[1:] = codes + 1
    data = np.empty(matrix.data.size, dtype=table.dtype)
    for start in range(0, data.size, BLOCK):
        data[start : start + BLOCK] = table[matrix.data[start : start + BLOCK]]
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def with_columns(matrix: Any, positions: np.ndarray, n_columns: int) -> Any:
    """Return votes with each column at a new position; the other columns are empty."""
    shape = (matrix.shape[0], n_columns)
    if np.array_equal(positions, np.arange(matrix.shape[1])):
        return sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=shape)
    indices = positions.astype(matrix.indices.dtype)[matrix.indices]
    moved = sparse.csr_array((matrix.data.copy(), indices, matrix.indptr), shape=shape)
    moved.sort_indices()
    return moved
