"""Rows of frames: columns of pandas, polars and Arrow, picked by name and checked one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_dataframe as is_pandas
from narwhals.dependencies import is_polars_dataframe

from hedgeclipper.io.column_values import (
    decoded,
    labels_of,
    missing_labels,
    numbers_of,
    pyarrow,
    strings_of,
)
from hedgeclipper.io.source import Request, naming_overflow


@dataclass(frozen=True, eq=False)
class Block:
    """Rows, the labels beside them, and the names of their columns, where there are any."""

    rows: Any
    labels: np.ndarray | None = None
    column_names: list[str] | None = None


def is_frame(data: Any) -> bool:
    """Return whether the data is a table of pandas, polars or Arrow."""
    return _is_arrow(data) or is_pandas(data) or is_polars_dataframe(data)


def _is_arrow(data: Any) -> bool:
    """Return whether the data is a table or a record batch of Arrow."""
    return type(data).__module__.startswith("pyarrow") and len(getattr(data, "shape", ())) == 2


def frame_names(data: Any) -> list[str] | None:
    """Return the names of a frame's columns; None where it has none, and for other data."""
    names = _names(data) if is_frame(data) else []
    return names if names and _are_names(names) else None


def frame_columns(frame: Any) -> list[tuple[Any, Any]]:
    """Return the columns of a frame, each after its name, without those that hold an index.

    ``numpy.asarray`` makes an array of such a column, whatever the library. What is missing is
    None, NaN or ``pandas.NA`` in it.
    """
    hidden = _hidden(frame)
    return [
        (name, _column(frame, position))
        for position, name in enumerate(_names(frame))
        if name not in hidden
    ]


def frame_arrays(frame: Any, names: Sequence[Any] | None = None) -> dict[Any, np.ndarray]:
    """Return the columns of a frame as arrays by name.

    Numbers and booleans are numbers, as objects if some booleans are missing; dates are
    datetime64 in UTC; strings, and categories of whatever kind, are objects, as is all else.
    Of the wanted names, those that are not there are left out.
    """
    columns = frame_columns(as_table(frame))
    return {name: _array(column) for name, column in columns if names is None or name in names}


def _array(column: Any) -> np.ndarray:
    values = np.asarray(column)
    if getattr(column, "dtype", None) in (nw.Categorical, nw.Enum) and values.dtype.kind != "O":
        missing, values = missing_labels(values), as_text(values)
        values[missing] = None
    return values.astype(object) if values.dtype.kind in "UST" else values


def as_text(values: np.ndarray) -> np.ndarray:
    """Return a column as strings, whole numbers without a point, and "" for what is missing."""
    texts = [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in np.where(missing_labels(values), "", values.astype(object))
    ]
    return np.array(texts, dtype=object)


def frame_with(frame: Any, names: Sequence[str]) -> Any:
    """Return these columns of a frame, in this order; rows without names as they are."""
    found = frame_names(frame)
    if found is None or found == list(names):
        return frame
    positions_of(names, found, "X_unlabeled")
    return frame.select(list(names)) if hasattr(frame, "select") else frame[list(names)]


def split_target(X: Any, y: Any) -> tuple[Any, Any]:
    """Return rows and labels; where y is the name of a column of a frame, these are taken apart."""
    if not isinstance(y, str) or not is_frame(X):
        return X, y
    positions_of([y], _names(X), "X")
    X = as_table(X)
    rows = nw.from_native(X, eager_only=True).drop(y).to_native()
    return rows, frame_arrays(X, [y])[y]


def check_columns(frame: Any) -> None:
    """Raise if a frame has no column, or two of the same name."""
    names = _names(frame)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice or not names:
        found = f"two columns with the name {twice[0]!r}" if twice else "no columns"
        raise ValueError(
            f"The frame must have columns, each with a name of its own. Got {found}. Rename or "
            "add columns."
        )


def as_table(data: Any) -> Any:
    """Return a record batch of Arrow as a table, whose names scikit-learn sees; else the data.

    Frames must have columns, each with a name of its own.
    """
    if is_frame(data):
        check_columns(data)
    if type(data).__name__ == "RecordBatch" and _is_arrow(data):
        return pyarrow().Table.from_batches([data])
    return data


def as_frame(frame: Any) -> Any:
    """Return a frame whose rows can be picked by number: a table of Arrow becomes one of pandas.

    It must have columns, each with a name of its own.
    """
    check_columns(frame)
    return as_table(frame).to_pandas(date_as_object=False) if _is_arrow(frame) else frame


def frame_block(frame: Any, request: Request, place: str) -> Block:
    """Return the columns of a frame that were asked for, and its labels, as arrays."""
    names = _names(frame)
    positions = _wanted_positions(names, frame, request, place)
    request.check_width(len(positions), place)
    read = strings_of if request.strings else numbers_of
    places = [f"Column {names[position]!r} of {place}" for position in positions]
    columns: Iterable[np.ndarray] = map(read, (_column(frame, p) for p in positions), places)
    dtype = request.dtype
    if dtype is None:
        columns = list(columns)
        dtype = np.result_type(*{column.dtype for column in columns}) if columns else np.float64
    rows = np.empty((frame.shape[0], len(positions)), dtype=dtype)
    for position, (column, values) in enumerate(zip(places, columns, strict=True)):
        with naming_overflow(column, dtype):
            rows[:, position] = values
    labels = None
    if request.label is not None:
        label = _column(frame, positions_of([request.label], names, place)[0])
        labels = labels_of(label, f"Column {request.label!r} of {place}")
    return Block(rows, labels, [names[p] for p in positions] if _are_names(names) else None)


def _wanted_positions(names: list[Any], frame: Any, request: Request, place: str) -> list[int]:
    """Return the positions of the columns asked for, or of all but the label and an index."""
    if request.columns is not None and _are_names(names):
        return positions_of(request.columns, names, place)
    left_out = set(positions_of([] if request.label is None else [request.label], names, place))
    left_out |= {names.index(name) for name in _hidden(frame)}
    return [position for position in range(len(names)) if position not in left_out]


def positions_of(wanted: Sequence[str], names: Sequence[Any], place: str) -> list[int]:
    """Return the positions of these columns; one that is not there exactly once is an error."""
    positions = {name: position for position, name in enumerate(names)}
    counts = Counter(names)
    for name in wanted:
        if name not in counts:
            raise ValueError(
                f"{place} has no column {name!r}. It has {listed(names)}. Add the column, or name "
                "another one."
            )
        if counts[name] > 1:
            raise ValueError(
                f"{place} has {counts[name]} columns with the name {name!r}. Give each its own "
                "name."
            )
    return [positions[name] for name in wanted]


def listed(names: Sequence[Any], most: int = 10) -> str:
    """Return the first few names for an error."""
    shown = ", ".join(repr(name) for name in names[:most])
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown or "no columns"


def _are_names(names: Sequence[Any]) -> bool:
    """Return whether columns can be picked by name: pandas may number them instead."""
    return all(isinstance(name, str) for name in names)


def _names(frame: Any) -> list[Any]:
    return list(frame.schema.names if _is_arrow(frame) else frame.columns)


def index_names(schema: Any) -> list[str]:
    """Return the names of the columns in which pandas keeps the index of a frame."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in schema.names if name in index]


def _hidden(frame: Any) -> list[str]:
    return index_names(frame.schema) if _is_arrow(frame) else []


def _column(frame: Any, position: int) -> Any:
    """Return a column by its place, since names may be there twice: of Arrow, or of narwhals."""
    if _is_arrow(frame):
        return decoded(frame.column(position))
    column = frame.iloc[:, position] if is_pandas(frame) else frame.to_series(position)
    return nw.from_native(column, series_only=True)
