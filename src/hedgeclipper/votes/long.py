"""Long tables of votes, one vote in each line: task, worker, label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.io import as_plain_array, as_table, frame_columns, is_frame, positions_of
from hedgeclipper.votes.readers import Reading, check_shape, from_triplets
from hedgeclipper.votes.vote_labels import LabelNumbers
from hedgeclipper.votes.voter_names import VoterNames, number_names

_REPEATED = ("error", "first", "last")


def read_long(
    table: Any, columns: tuple[str, str, str], labels: LabelNumbers, repeated: str
) -> Reading:
    """Return the votes of a long table.

    Parameters
    ----------
    table : frame, or mapping of names to arrays
        One vote in each line.
    columns : (str, str, str)
        Names of the columns of tasks, workers and labels.
    labels : LabelNumbers
        Numbers the labels.
    repeated : {"error", "first", "last"}
        Which vote counts if a worker votes for different classes on the same task.
    """
    if repeated not in _REPEATED:
        raise ValueError(
            f"The 'repeated' parameter must be one of {', '.join(map(repr, _REPEATED))}. Got "
            f"{repeated!r} instead."
        )
    task, worker, label = _columns_of(table, columns)
    check_shape((len(task), len(worker)))
    rows, row = number_names(task, f"The column {columns[0]!r}")
    voters, voter = number_names(worker, f"The column {columns[1]!r}")
    shape = (rows.size, voters.size)
    numbers = labels.number(np.asarray(label))
    awake = numbers >= 0
    lines = _Lines(row[awake], voter[awake], numbers[awake])
    matrix = from_triplets(lines.row, lines.voter, lines.numbers, shape)
    if matrix.nnz < lines.row.size:
        repeats = _Repeats.of(lines)
        if repeated == "error":
            repeats.check_agreement(rows, voters, labels)
        kept = repeats.last if repeated == "last" else repeats.first
        matrix = from_triplets(lines.row[kept], lines.voter[kept], lines.numbers[kept], shape)
    return Reading(matrix, VoterNames(voters, True), rows)


def _columns_of(table: Any, names: tuple[str, str, str]) -> list[Any]:
    """Return the columns of these names, as a frame has them or as arrays."""
    if is_frame(table):
        columns = frame_columns(as_table(table))
    elif isinstance(table, Mapping):
        columns = list(table.items())
    else:
        raise TypeError(
            "A long table must be a frame of pandas, polars or Arrow, or a mapping of names to "
            f"columns. Got {type(table).__name__}. Pass for instance "
            "dict(task=..., worker=..., label=...)."
        )
    positions = positions_of(names, [name for name, _ in columns], "The long table")
    found = [columns[position][1] for position in positions]
    return found if is_frame(table) else _side_by_side(found, names)


def _side_by_side(columns: list[Any], names: tuple[str, str, str]) -> list[np.ndarray]:
    arrays = [as_plain_array(column) for column in columns]
    shapes = [array.shape for array in arrays]
    if len(set(shapes)) > 1 or len(shapes[0]) != 1:
        raise ValueError(
            f"The columns {', '.join(map(repr, names))} must have one dimension and the same "
            f"length. Got the shapes {', '.join(map(str, shapes))}."
        )
    return arrays


@dataclass(frozen=True, eq=False)
class _Lines:
    """The votes of a table, line by line: numbers of tasks, workers and labels."""

    row: np.ndarray
    voter: np.ndarray
    numbers: np.ndarray


@dataclass(frozen=True, eq=False)
class _Repeats:
    """Lines in the order of task and worker, so that those of the same pair are neighbors."""

    lines: _Lines
    order: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, lines: _Lines) -> _Repeats:
        pair = lines.row.astype(np.int64) * (int(lines.voter.max()) + 1) + lines.voter
        order = np.argsort(pair, kind="stable")
        return cls(lines, order, np.flatnonzero(np.diff(pair[order], prepend=-1)))

    @property
    def first(self) -> np.ndarray:
        """The first line of each pair."""
        return self.order[self.starts]

    @property
    def last(self) -> np.ndarray:
        """The last line of each pair."""
        return self.order[np.append(self.starts[1:], self.order.size) - 1]

    def check_agreement(self, rows: np.ndarray, voters: np.ndarray, labels: LabelNumbers) -> None:
        """Raise if some worker votes for different classes on the same task.

        Parameters
        ----------
        rows, voters : ndarray
            Names of tasks and workers.
        labels : LabelNumbers
            Knows the labels.
        """
        lengths = np.diff(np.append(self.starts, self.order.size))
        earlier = np.repeat(self.first, lengths)
        numbers = self.lines.numbers
        clashes = np.flatnonzero(numbers[self.order] != numbers[earlier])
        if clashes.size == 0:
            return
        at = clashes[np.argmin(self.order[clashes])]
        one, other = earlier[at], self.order[at]
        raise ValueError(
            f"Worker {voters.item(self.lines.voter[one])!r} votes more than once on task "
            f"{rows.item(self.lines.row[one])!r}: for {labels.label(numbers[one])!r} and for "
            f"{labels.label(numbers[other])!r}. Keep one of these votes, or pass repeated='first' "
            "or repeated='last'."
        )
