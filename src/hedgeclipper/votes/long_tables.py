"""Readers of long tables: a vote, or a verdict of a judge, in each line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from hedgeclipper.io import (
    as_plain_array,
    as_table,
    frame_columns,
    is_frame,
    is_missing,
    listed,
    positions_of,
)
from hedgeclipper.votes.readers import (
    LabelNumbers,
    Reading,
    VoterNames,
    as_names,
    check_shape,
    first_seen,
)

_REPEATED = ("error", "first", "last")


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
    check_shape((len(task), len(worker)))
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


def _from_triplets(
    row: np.ndarray, voter: np.ndarray, numbers: np.ndarray, shape: tuple[int, int]
) -> Any:
    """Return votes in canonical CSR with numbers plus 1; those on the same place are added up."""
    return sparse.coo_array((numbers + 1, (row, voter)), shape=shape).tocsr()


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
    return first_seen(column, place)
