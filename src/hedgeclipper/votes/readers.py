"""Readers of tables with a column per voter, and how labels and names of voters become numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.io import (
    as_classes,
    as_plain_array,
    frame_columns,
    is_frame,
    is_missing,
    is_pandas,
    listed,
    positions_of,
)

# So many values are processed at once, so that temporary arrays stay small.
BLOCK = 1 << 20
_SHORT_TABLE = 1 << 16
_NO_VOTE = -1
# formats that tell a stored 0, which is a vote, from an entry that is not stored
_FORMATS_WITH_ZEROS = ("csr", "csc", "coo", "lil", "dok")
MANY_CLASSES = 1_000


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
            numbers = np.full(len(labels), _NO_VOTE)
            for place, label in enumerate(labels):
                if not (is_missing(label) or label in (self.abstain_label, self._abstain_string)):
                    numbers[place] = self._number_of.setdefault(label, len(self._number_of))
            small = np.min_scalar_type(-len(self._number_of) - 1)
            found.append(numbers.astype(small)[positions])
        return np.concatenate(found)

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


def first_seen(values: np.ndarray, place: str) -> tuple[list[Any], np.ndarray]:
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
        return first_seen(values, place)
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
    integers = np.min_scalar_type(-n_classes - 1)  # the smallest that hold -1 to n_classes
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


@dataclass(frozen=True, eq=False)
class Reading:
    """Votes as they were read: ``numbers``, in CSR, has the number of a label plus 1 per vote."""

    numbers: Any
    voters: VoterNames
    rows: np.ndarray | None = None


def read_wide(table: Any, labels: LabelNumbers, voters: Any) -> Reading:
    """Return the votes of a frame, sparse matrix or array-like with a column for each voter.

    ``voters`` are names of the columns; of a frame, those to use. None for all.
    """
    if is_frame(table):
        return _read_frame(table, labels, voters)
    return (_read_sparse if sparse.issparse(table) else _read_dense)(table, labels, voters)


def read_batches(batches: Iterable[Any], labels: LabelNumbers, voters: Any) -> Reading:
    """Return the votes of tables that come one after the other; see `Votes.from_batches`."""
    names = None if voters is None else list(voters)
    readings: list[Reading] = []
    for batch in batches:
        if hasattr(batch, "triplets"):
            raise TypeError("Got batches of Votes: put them below each other by Votes.stack.")
        readings.append(read_wide(batch, labels, names))
        if is_frame(batch) or readings[0].voters.given:
            names = readings[0].voters.names.tolist()
    if not readings:
        raise ValueError("The votes have no batches. Pass one table of votes at least.")
    widths = {reading.numbers.shape[1] for reading in readings}
    if len(widths) > 1:
        raise ValueError(
            f"Batches of votes must have a column for each voter. Got {min(widths)} to "
            f"{max(widths)} columns."
        )
    numbers = sparse.vstack([reading.numbers for reading in readings], format="csr")
    return Reading(numbers, readings[0].voters)


def count_snorkel_classes(L: Any, n_classes: int | None) -> int:
    """Return the number of classes of a matrix as Snorkel has it, given or as many as it needs.

    Raise if the matrix looks wrong.
    """
    values = L.tocoo().data if sparse.issparse(L) else np.asarray(L)
    if values.dtype.kind not in "iu":
        raise TypeError(
            f"Votes.from_snorkel takes integers. Got {type(L).__name__} of dtype "
            f"{values.dtype}. Votes.of takes other tables."
        )
    if sparse.issparse(L) and np.any(values == -1) and not np.any(values == 0):
        raise ValueError(
            "The sparse votes store -1, and no 0: made from a dense matrix, they have lost the "
            "votes for class 0. Pass the dense matrix, or store only votes."
        )
    if n_classes is not None:
        return n_classes
    n_classes = max(2, int(values.max()) + 1 if values.size else 0)
    # tables have the size of voters x classes^2, which one wrong label must not decide
    if n_classes > max(MANY_CLASSES, 10 * np.unique(values).size):
        raise ValueError(
            f"The largest label is {n_classes - 1}, which would make {n_classes:,} classes. "
            "Correct it, pass n_classes if there are so many, or use Votes.of, whose classes are "
            "the labels that appear."
        )
    return n_classes


def _read_dense(table: Any, labels: LabelNumbers, voters: Any) -> Reading:
    if hasattr(table, "collect"):
        raise TypeError(
            f"The votes must be in memory. Got {type(table).__name__}: pass what its collect() "
            "returns."
        )
    try:
        array = as_plain_array(table)
    except ValueError as error:
        raise ValueError(
            f"The votes must be a table, all rows of the same length. Got rows that differ: {error}"
        ) from error
    if array.ndim != 2:
        raise ValueError(
            "The votes must be a table with a row for each row and a column for each voter. Got "
            f"{type(table).__name__} of shape {array.shape}. For a single voter pass "
            "votes.reshape(-1, 1); for a table of task, worker and label use Votes.from_long."
        )
    check_shape(array.shape)
    step = max(1, BLOCK // array.shape[1])
    blocks = (array[start : start + step] for start in range(0, array.shape[0], step))
    matrix = sparse.csr_array(_compressed(blocks, labels), shape=array.shape)
    return Reading(matrix, VoterNames.of(voters, array.shape[1]))


def _read_frame(frame: Any, labels: LabelNumbers, voters: Any) -> Reading:
    columns = frame_columns(frame)
    names = [name for name, _ in columns]
    wanted = names if voters is None else list(voters)
    positions = positions_of(wanted, names, "The frame of votes")
    shape = (frame.shape[0], len(wanted))
    check_shape(shape)
    lines = (np.asarray(columns[position][1])[None, :] for position in positions)
    matrix = sparse.csc_array(_compressed(lines, labels), shape=shape).tocsr()
    rows = np.asarray(frame.index) if is_pandas(frame) else None
    return Reading(matrix, VoterNames.of(wanted, len(wanted)), rows)


def _compressed(
    blocks: Iterable[np.ndarray], labels: LabelNumbers
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return data, indices and indptr of the lines of blocks, which are rows or columns."""
    data, indices, counts = [], [], [np.zeros(1, dtype=np.int64)]
    for block in blocks:
        numbers = labels.number(block.ravel()).reshape(block.shape)
        line, entry = np.nonzero(numbers >= 0)
        data.append(numbers[line, entry] + 1)
        indices.append(entry.astype(np.int32))
        counts.append(np.bincount(line, minlength=block.shape[0]))
    return np.concatenate(data), np.concatenate(indices), np.cumsum(np.concatenate(counts))


def _read_sparse(matrix: Any, labels: LabelNumbers, voters: Any) -> Reading:
    """Return the votes that a sparse matrix stores; a stored 0 is one."""
    if matrix.format not in _FORMATS_WITH_ZEROS or matrix.ndim != 2:
        raise TypeError(
            "Sparse votes must have two dimensions and one of the formats "
            f"{', '.join(_FORMATS_WITH_ZEROS)}, which tell a stored 0 from nothing. Got "
            f"{matrix.format} of shape {matrix.shape}. Make a csr_array of row, voter and label."
        )
    check_shape(matrix.shape)
    names = VoterNames.of(voters, matrix.shape[1])
    if matrix.format == "csr" and matrix.has_canonical_format:  # only abstentions are taken out
        numbers = labels.number(matrix.data)
        numbers += 1
        parts = numbers, matrix.indices.copy(), matrix.indptr.copy()
        found = sparse.csr_array(parts, shape=matrix.shape)
        found.eliminate_zeros()
        return Reading(found, names)
    entries = matrix.tocoo()
    numbers = labels.number(entries.data)
    votes = numbers >= 0
    places = entries.row[votes], entries.col[votes]
    found = sparse.coo_array((numbers[votes] + 1, places), shape=matrix.shape).tocsr()
    if found.nnz < np.count_nonzero(votes):
        raise ValueError(
            "The sparse votes store some votes twice: the same voter on the same row. Store each "
            "vote once; scipy's sum_duplicates would add labels up."
        )
    return Reading(found, names)


def check_shape(shape: tuple[int, int]) -> None:
    """Raise if there are no rows or no voters."""
    if 0 in shape:
        raise ValueError(
            f"The votes must have one row and one voter at least. Got {shape[0]} rows and "
            f"{shape[1]} voters."
        )
