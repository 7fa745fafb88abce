"""Rows of frames: columns of pandas, polars and Arrow, picked by name and checked one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.io import arrow_columns
from hedgeclipper.io.column_names import (
    are_names,
    not_labels,
    not_numbers,
    positions_of,
    wanted_positions,
)
from hedgeclipper.io.label_columns import as_labels
from hedgeclipper.io.source import Request, converted


@dataclass(frozen=True, eq=False)
class Block:
    """Rows, the labels beside them, and the names of their columns, where there are any."""

    rows: Any
    labels: np.ndarray | None = None
    column_names: list[str] | None = None


def is_frame(data: Any) -> bool:
    """Return whether the data is a table of pandas, polars or Arrow."""
    return _library(data) in _LIBRARIES and len(getattr(data, "shape", ())) == 2


def is_pandas(data: Any) -> bool:
    """Return whether the data is a frame of pandas."""
    return is_frame(data) and _library(data) == "pandas"


def frame_names(data: Any) -> list[str] | None:
    """Return the names of a frame's columns; None where it has none, and for other data."""
    names = list(_LIBRARIES[_library(data)].names(data)) if is_frame(data) else []
    return names if names and are_names(names) else None


def frame_columns(frame: Any) -> list[tuple[Any, Any]]:
    """Return the columns of a frame, each after its name, without those that hold an index.

    ``numpy.asarray`` makes an array of such a column, whatever the library. What is missing is
    None, NaN or ``pandas.NA`` in it.
    """
    library = _LIBRARIES[_library(frame)]
    hidden = library.hidden(frame)
    return [
        (name, library.plain(library.column(frame, position)))
        for position, name in enumerate(library.names(frame))
        if name not in hidden
    ]


def as_table(data: Any) -> Any:
    """Return a record batch of Arrow as a table, whose names scikit-learn sees; else the data."""
    if _library(data) != "pyarrow":
        return data
    pa = arrow_columns.pyarrow()
    return pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data


def frame_block(frame: Any, request: Request, place: str) -> Block:
    """Return the columns of a frame that were asked for, and its labels, as arrays."""
    library = _LIBRARIES[_library(frame)]
    names = library.names(frame)
    positions = wanted_positions(names, library.hidden(frame), request, place)
    request.check_width(len(positions), place)
    values = library.words if request.words else library.numbers
    columns = [
        values(library.column(frame, position), f"Column {names[position]!r} of {place}")
        for position in positions
    ]
    rows = converted(_side_by_side(columns, frame.shape[0]), request.dtype, place)
    labels = None
    if request.label is not None:
        column = library.column(frame, positions_of([request.label], names, place)[0])
        labels = library.labels(column, f"Column {request.label!r} of {place}")
    return Block(rows, labels, [names[p] for p in positions] if are_names(names) else None)


def _side_by_side(columns: list[np.ndarray], n_rows: int) -> np.ndarray:
    dtype = np.result_type(*{column.dtype for column in columns}) if columns else np.float64
    rows = np.empty((n_rows, len(columns)), dtype=dtype)
    for position, column in enumerate(columns):
        rows[:, position] = column
    return rows


def _library(data: Any) -> str:
    """Return the library of a frame, also where its class is derived from one; "" for others."""
    modules = (kind.__module__.partition(".")[0] for kind in type(data).__mro__)
    return next((module for module in modules if module in _LIBRARIES), "")


def _pandas_numbers(column: Any, place: str) -> np.ndarray:
    kind = getattr(column.dtype, "categories", column).dtype
    if kind.kind not in "biuf":
        raise not_numbers(place, column.dtype)
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy()
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _pandas_labels(column: Any, place: str) -> np.ndarray:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return as_labels(column.to_numpy(), place)
    if column.dtype.kind not in "biufO":
        raise not_labels(place, column.dtype)
    return as_labels(column.to_numpy(dtype=object, na_value=None), place)


def _polars_numbers(column: Any, place: str) -> np.ndarray:
    is_boolean = str(column.dtype) == "Boolean"
    if not is_boolean and (not column.dtype.is_numeric() or column.dtype.is_decimal()):
        raise not_numbers(place, column.dtype)
    return (column.cast(float) if is_boolean and column.has_nulls() else column).to_numpy()


def _polars_labels(column: Any, place: str) -> np.ndarray:
    if str(column.dtype).startswith(("String", "Categorical", "Enum")):
        return np.array(column.to_list(), dtype=object)
    if str(column.dtype) != "Boolean" and not column.dtype.is_numeric():
        raise not_labels(place, column.dtype)
    return as_labels(_polars_numbers(column, place), place)


def _words(column: Any, place: str) -> np.ndarray:
    return np.asarray(column)


@dataclass(frozen=True)
class _Library:
    names: Callable[[Any], list[Any]]
    hidden: Callable[[Any], list[str]]
    column: Callable[[Any, int], Any]
    plain: Callable[[Any], Any]
    numbers: Callable[[Any, str], np.ndarray]
    words: Callable[[Any, str], np.ndarray]
    labels: Callable[[Any, str], np.ndarray]


_LIBRARIES = {
    "pandas": _Library(
        names=lambda frame: list(frame.columns),
        hidden=lambda frame: [],
        column=lambda frame, position: frame.iloc[:, position],
        plain=lambda column: column,
        numbers=_pandas_numbers,
        words=_words,
        labels=_pandas_labels,
    ),
    "polars": _Library(
        names=lambda frame: list(frame.columns),
        hidden=lambda frame: [],
        column=lambda frame, position: frame.to_series(position),
        plain=lambda column: column,
        numbers=_polars_numbers,
        words=_words,
        labels=_polars_labels,
    ),
    "pyarrow": _Library(
        names=lambda table: table.schema.names,
        hidden=lambda table: arrow_columns.index_names(table.schema),
        column=lambda table, position: table.column(position),
        plain=arrow_columns.decoded,
        numbers=arrow_columns.numbers_of,
        words=arrow_columns.words_of,
        labels=arrow_columns.labels_of,
    ),
}
