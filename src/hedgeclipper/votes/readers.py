"""Readers of votes: a column per voter, or a vote or a verdict of a judge per line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.io import (
    as_plain_array,
    as_table,
    frame_columns,
    is_frame,
    is_missing,
    is_pandas,
    listed,
    positions_of,
)
from hedgeclipper.votes.label_codes import BLOCK, LabelNumbers, VoterNames, number_names

# formats that tell a stored 0, which is a vote, from an entry that is not stored
_FORMATS_WITH_ZEROS = ("csr", "csc", "coo", "lil", "dok")
_REPEATED = ("error", "first", "last")
MANY_CLASSES = 1_000


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


def check_snorkel(L: Any) -> None:
    """Raise unless L is a matrix of votes as Snorkel has it."""
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


def count_classes(L: Any) -> int:
    """Return the number of classes of a matrix as Snorkel has it; raise if it looks wrong."""
    values = L.tocoo().data if sparse.issparse(L) else np.asarray(L)
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
    _check_shape(array.shape)
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
    _check_shape(shape)
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
    _check_shape(matrix.shape)
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
    found = _from_triplets(entries.row[votes], entries.col[votes], numbers[votes], matrix.shape)
    if found.nnz < np.count_nonzero(votes):
        raise ValueError(
            "The sparse votes store some votes twice: the same voter on the same row. Store each "
            "vote once; scipy's sum_duplicates would add labels up."
        )
    return Reading(found, names)


def _from_triplets(
    row: np.ndarray, voter: np.ndarray, numbers: np.ndarray, shape: tuple[int, int]
) -> Any:
    """Return votes in canonical CSR with numbers plus 1; those on the same place are added up."""
    return sparse.coo_array((numbers + 1, (row, voter)), shape=shape).tocsr()


def _check_shape(shape: tuple[int, int]) -> None:
    if 0 in shape:
        raise ValueError(
            f"The votes must have one row and one voter at least. Got {shape[0]} rows and "
            f"{shape[1]} voters."
        )


def read_long(
    table: Any, columns: tuple[str, str, str], labels: LabelNumbers, repeated: str
) -> Reading:
    """Return the votes of a table with columns of tasks, workers and labels.

    ``repeated`` says which vote counts if a worker votes for different classes on the same task.
    """
    if repeated not in _REPEATED:
        raise ValueError(
            f"The 'repeated' parameter must be one of {', '.join(map(repr, _REPEATED))}. Got "
            f"{repeated!r} instead."
        )
    task, worker, label = columns_of(table, columns)
    _check_shape((len(task), len(worker)))
    rows, row = number_names(task, f"The column {columns[0]!r}")
    voters, voter = number_names(worker, f"The column {columns[1]!r}")
    numbers = labels.number(np.asarray(label))
    awake = numbers >= 0
    row, voter, numbers = row[awake], voter[awake], numbers[awake]
    shape = (rows.size, voters.size)
    matrix = _from_triplets(row, voter, numbers, shape)
    if matrix.nnz < row.size:
        first, last, earlier = _repeats(row.astype(np.int64) * voters.size + voter)
        clashes = np.flatnonzero(numbers != numbers[earlier])
        if repeated == "error" and clashes.size:
            one, other = earlier[clashes[0]], clashes[0]
            raise ValueError(
                f"Worker {voters.item(voter[one])!r} votes more than once on task "
                f"{rows.item(row[one])!r}: for {labels.label(numbers[one])!r} and for "
                f"{labels.label(numbers[other])!r}. Keep one of these votes, or pass "
                "repeated='first' or repeated='last'."
            )
        kept = last if repeated == "last" else first
        matrix = _from_triplets(row[kept], voter[kept], numbers[kept], shape)
    return Reading(matrix, VoterNames(voters, True), rows)


def _repeats(pair: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the first and the last line of each pair, and for each line the first of its pair."""
    order = np.argsort(pair, kind="stable")
    starts = np.flatnonzero(np.diff(pair[order], prepend=-1))
    ends = np.append(starts[1:], order.size)
    earlier = np.empty_like(order)
    earlier[order] = np.repeat(order[starts], ends - starts)
    return order[starts], order[ends - 1], earlier


def columns_of(table: Any, names: tuple[str, ...]) -> list[Any]:
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
    if is_frame(table):
        return found
    arrays = [as_plain_array(column) for column in found]
    shapes = [array.shape for array in arrays]
    if len(set(shapes)) > 1 or len(shapes[0]) != 1:
        raise ValueError(
            f"The columns {', '.join(map(repr, names))} must have one dimension and the same "
            f"length. Got the shapes {', '.join(map(str, shapes))}."
        )
    return arrays


def judged_table(
    table: Any,
    names: tuple[str, str, str],
    order: str | None,
    verdicts: Mapping[Any, Any] | None,
    cuts: int | None,
) -> dict[str, np.ndarray]:
    """Return lines of task, worker and label; arguments as in `Votes.from_judges`."""
    wanted = (*names, order) if order is not None else names
    items, judges, found, *orders = (_as_list(part) for part in columns_of(table, wanted))
    if orders:
        judges = [f"{judge} ({turn})" for judge, turn in zip(judges, orders[0], strict=True)]
    if verdicts is not None:
        found = _classes_of(found, verdicts)
    if cuts is not None:
        return _at_cuts(items, judges, found, cuts)
    return _lines(items, judges, found)


def _as_list(column: Any) -> list:
    return column.to_list() if hasattr(column, "to_list") else np.asarray(column).tolist()


def _lines(items: list, judges: list, labels: list) -> dict[str, np.ndarray]:
    columns = {"task": items, "worker": judges, "label": labels}
    return {
        name: np.fromiter(values, dtype=object, count=len(values))
        for name, values in columns.items()
    }


def _classes_of(found: list, verdicts: Mapping[Any, Any]) -> list:
    """Return the class of each verdict, None where it is no vote."""
    unknown = dict.fromkeys(v for v in found if not is_missing(v) and v not in verdicts)
    if unknown:
        raise ValueError(
            f"{len(unknown)} verdicts are not among those of the 'verdicts' parameter: "
            f"{listed(list(unknown), 5)}. Give each a class, or None for no vote."
        )
    return [None if is_missing(v) else verdicts[v] for v in found]


def _at_cuts(items: list, judges: list, scores: list, cuts: int) -> dict[str, np.ndarray]:
    """Return a vote for each score and each cut of its judge: whether it reaches the cut."""
    given = [line for line, score in enumerate(scores) if not is_missing(score)]
    try:
        values = np.array([scores[line] for line in given], dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"With cuts, verdicts must be numbers. {error}.") from error
    tasks, workers, labels = [], [], []
    names = np.fromiter((judges[line] for line in given), dtype=object, count=len(given))
    for judge in dict.fromkeys(judges):
        own = np.flatnonzero(names == judge)
        for cut in _cuts_of(values[own], cuts):
            tasks += [items[given[line]] for line in own]
            workers += [f"{judge} >= {cut:g}"] * own.size
            labels += (values[own] >= cut).tolist()
    return _lines(tasks, workers, labels)


def _cuts_of(values: np.ndarray, cuts: int) -> np.ndarray:
    """Return different quantiles of scores, those that some but not all scores reach."""
    if values.size == 0:
        return values
    levels = np.arange(1, cuts + 1) / (cuts + 1)
    found = np.unique(np.quantile(values, levels, method="higher"))
    return found[found > values.min()]
