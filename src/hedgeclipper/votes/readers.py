"""Readers of tables of votes: a column for each voter, or one vote in each line.

Labels get numbers in the order in which they first appear, -1 for no vote, and a reader returns a
CSR matrix that has the number plus 1 of each vote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.io import (
    as_classes,
    as_plain_array,
    as_table,
    cut,
    frame_arrays,
    frame_columns,
    is_frame,
    is_missing,
    listed,
)
from hedgeclipper.io.frames import unique_values


class LabelNumbers:
    """Numbers labels as votes are read.

    ``abstain_label`` means no vote, as a missing label always does; None for no other. Among
    strings it is a string: "-1" means no vote where -1 does. ``place`` names the labels in errors.
    Where labels ``may_be_mixed``, numbers beside strings are strings.
    """

    def __init__(self, abstain_label: Any, place: str):
        self.place, self.may_be_mixed = place, False
        self._no_votes = () if is_missing(abstain_label) else (abstain_label, str(abstain_label))
        self._number_of: dict[Any, int] = {}

    def number(self, values: np.ndarray) -> np.ndarray:
        """Return numbers in the shape of the values, -1 where a label means no vote."""
        labels, positions = _distinct(values.ravel(), self.place)
        numbers = np.array([self._number(label) for label in labels], dtype=np.intp)
        smallest = np.min_scalar_type(-len(self._number_of) - 1)
        return numbers.astype(smallest)[positions].reshape(values.shape)

    def _number(self, label: Any) -> int:
        if is_missing(label) or label in self._no_votes:
            return -1
        return self._number_of.setdefault(label, len(self._number_of))

    def classes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the labels seen, sorted, and the position there of each number."""
        found = list(self._number_of)
        if self.may_be_mixed and {type(label) for label in found} == {int, str}:
            found = [str(label) for label in found]
        classes = sort_classes(dict.fromkeys(found), self.place)
        return classes, class_codes(found, classes, self.place)


def sort_classes(labels: Iterable[Any], place: str) -> np.ndarray:
    """Return different labels as a sorted array, int64, bool or str."""
    classes = as_classes(list(labels), place)
    return np.sort(_whole_numbers(classes, place) if classes.dtype.kind == "f" else classes)


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


def as_names(names: Iterable[Any]) -> np.ndarray:
    """Return names as an array: int64 if all are whole numbers, and else objects."""
    plain = names.tolist() if isinstance(names, np.ndarray) else list(names)
    if all(isinstance(name, (int, np.integer)) for name in plain):
        return np.array(plain, dtype=np.int64)
    return np.fromiter(plain, dtype=object, count=len(plain))


def read_dense(table: Any, labels: LabelNumbers) -> sparse.csr_array:
    """Return the votes of an array-like."""
    array = as_plain_array(table)
    if array.ndim != 2:
        raise ValueError(
            "The votes must be a table with a row for each row and a column for each voter. Got "
            f"{type(table).__name__} of shape {array.shape}. For a single voter pass "
            "votes.reshape(-1, 1); for a table of task, worker and label use Votes.from_long."
        )
    check_shape(array.shape)
    # in blocks, so that temporary arrays stay small
    blocks = (array[rows] for rows in cut(array.shape[0], array))
    parts = [sparse.csr_array(labels.number(block) + 1) for block in blocks]
    return sparse.vstack(parts, format="csr")


def read_frame(frame: Any, labels: LabelNumbers) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the votes of a frame of pandas, polars or Arrow, and the names of its columns.

    Columns may be of different kinds: if some hold strings, the numbers of others are such, too.
    """
    columns, labels.may_be_mixed = frame_columns(as_table(frame)), True
    check_shape((frame.shape[0], len(columns)))
    numbers = np.column_stack([labels.number(np.asarray(column)) for _, column in columns])
    return sparse.csr_array(numbers + 1), as_names(name for name, _ in columns)


def read_sparse(matrix: Any, labels: LabelNumbers) -> sparse.csr_array:
    """Return the votes that a sparse matrix stores; a stored 0 is one."""
    if matrix.format not in ("csr", "csc", "coo") or matrix.ndim != 2:
        raise TypeError(
            "Sparse votes must have two dimensions and be csr, csc or coo, which tell a stored 0 "
            f"from nothing. Got {matrix.format} of shape {matrix.shape}. Make a csr_array of row, "
            "voter and label."
        )
    check_shape(matrix.shape)
    entries = matrix.tocoo()
    numbers = labels.number(entries.data)
    found = _from_triplets(entries.row, entries.col, numbers, matrix.shape)
    if found.nnz < np.count_nonzero(numbers >= 0):
        raise ValueError(
            "The sparse votes store some votes twice: the same voter on the same row. Store each "
            "vote once; scipy's sum_duplicates would add labels up."
        )
    return found


def read_long(
    table: Any, names: tuple[str, str, str], labels: LabelNumbers
) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """Return the votes of a table with these columns of tasks, workers and labels.

    The names of the voters and of the rows come with them.
    """
    task, worker, label = _long_columns(table, names)
    rows, row = _number_names(task, f"The column {names[0]!r}")
    voters, voter = _number_names(worker, f"The column {names[1]!r}")
    shape = (rows.size, voters.size)
    check_shape(shape)
    numbers = labels.number(label)
    row, voter, label, numbers = (part[numbers >= 0] for part in (row, voter, label, numbers))
    pairs = row * voters.size + voter
    _, first, pair = np.unique(pairs, return_index=True, return_inverse=True)
    clashes = np.flatnonzero(numbers != numbers[first][pair])
    if clashes.size:
        one, other = first[pair[clashes[0]]], clashes[0]
        raise ValueError(
            f"Worker {voters.item(voter[one])!r} votes more than once on task "
            f"{rows.item(row[one])!r}: for {label[one]} and for {label[other]}. Keep one of these "
            "votes, for instance by table.drop_duplicates of pandas."
        )
    # the same vote again counts once
    return _from_triplets(row[first], voter[first], numbers[first], shape), voters, rows


def _long_columns(table: Any, names: tuple[str, str, str]) -> list[np.ndarray]:
    """Return the columns of these names as arrays."""
    if is_frame(table):
        columns = frame_arrays(table, names)
    elif isinstance(table, Mapping):
        columns = {name: as_plain_array(table[name]) for name in names if name in table}
    else:
        raise TypeError(
            "A long table must be a frame of pandas, polars or Arrow, or a mapping of names to "
            f"columns. Got {type(table).__name__}. Pass for instance "
            "dict(task=..., worker=..., label=...)."
        )
    absent = [name for name in names if name not in columns]
    if absent:
        raise ValueError(
            f"The long table has no column {absent[0]!r}. Name the columns by the parameters task, "
            "worker and label."
        )
    arrays = [columns[name] for name in names]
    shapes = [array.shape for array in arrays]
    if len(set(shapes)) > 1 or len(shapes[0]) != 1:
        raise ValueError(
            f"The columns {', '.join(map(repr, names))} must have one dimension and the same "
            f"length. Got the shapes {', '.join(map(str, shapes))}."
        )
    return arrays


def _number_names(column: np.ndarray, place: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the different names in a column as they first appear, and the number of each entry."""
    names, numbers = _first_seen(column, place)
    missing = np.array([is_missing(name) for name in names], dtype=bool)
    if missing.any():
        raise ValueError(
            f"{place} must not have missing values. Got one in row {np.argmax(missing[numbers])} "
            "of the table. Drop these rows."
        )
    return as_names(names), numbers


def _from_triplets(
    row: np.ndarray, voter: np.ndarray, numbers: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    """Return votes in canonical CSR with numbers plus 1; those on the same place are added up."""
    votes = numbers >= 0
    places = row[votes], voter[votes]
    return sparse.coo_array((numbers[votes] + 1, places), shape=shape).tocsr()


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise if there are no rows or no voters."""
    if 0 in shape:
        raise ValueError(
            f"The votes must have one row and one voter at least. Got {shape[0]} rows and "
            f"{shape[1]} voters."
        )


def _distinct(values: np.ndarray, place: str) -> tuple[list[Any], np.ndarray]:
    """Return the different values in any order, as Python has them, and the number of each entry.

    Floats must be whole or NaN.
    """
    kind = values.dtype.kind
    if kind in "iu":
        different, numbers = _distinct_integers(values)
        return different.tolist(), numbers
    if kind == "f":
        present = ~np.isnan(values)
        different, found = _distinct_integers(_whole_numbers(values[present], place))
        numbers = np.full(values.shape, different.size, dtype=np.intp)
        numbers[present] = found
        return [*different.tolist(), None], numbers
    if kind in "bOUT":
        return _first_seen(values, place)
    raise TypeError(
        f"{place} must hold numbers, booleans or strings. Got dtype {values.dtype}. Encode the "
        "classes in one of these ways."
    )


def _distinct_integers(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different integers, sorted, and the number of each entry."""
    if values.size == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.intp)
    low, high = int(values.min()), int(values.max())
    if high > np.iinfo(np.int64).max or high - low >= max(1 << 16, values.size):
        return np.unique(values, return_inverse=True)
    offsets = values.astype(np.int64) - low  # a table is quicker than sorting, unless it is long
    seen = np.zeros(high - low + 1, dtype=bool)
    seen[offsets] = True
    return np.flatnonzero(seen) + low, (np.cumsum(seen) - 1)[offsets]


def _first_seen(values: np.ndarray, place: str) -> tuple[list[Any], np.ndarray]:
    """Return what `unique_values` does, as Python has it; ``place`` names the column in errors."""
    try:
        different, numbers = unique_values(values)
    except TypeError as error:
        raise TypeError(
            f"{place} must hold numbers, booleans or strings. Got something else: {error}."
        ) from error
    return different.tolist(), numbers


def _whole_numbers(values: np.ndarray, place: str) -> np.ndarray:
    """Return floats as int64, or raise if one of them is not a whole number."""
    bad = (values != np.floor(values)) | (np.abs(values) > 2.0**53)
    if bad.any():
        raise ValueError(
            f"{place} must hold class labels, and those that are numbers must be whole. Got "
            f"{values[bad][0]:g}. Pass the classes that voters vote for, not probabilities."
        )
    return values.astype(np.int64)
