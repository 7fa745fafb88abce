"""Rows of frames, and values of their columns: numbers, strings or labels, and what is missing.

Frames are those of pandas, polars and Arrow. Columns are picked by name and checked one by one; a
column is one of Arrow or of narwhals. pyarrow is imported when it is asked for and not before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_dataframe as is_pandas
from narwhals.dependencies import is_polars_dataframe

from hedgeclipper.io.extras import import_extra
from hedgeclipper.io.source import Request, naming_overflow

_FITS_FLOAT32 = {"bool", "int8", "int16", "uint8", "uint16", "halffloat", "float", "null"}
_NUMBERS = _FITS_FLOAT32 | {"int32", "int64", "uint32", "uint64", "double"}
_STRINGS = {"string", "large_string", "string_view"}
_EXACT = 2.0**53


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


def pyarrow(module: str = "pyarrow") -> Any:
    """Return pyarrow or a part of it, or say how to install it."""
    return import_extra(module, "io", "Reading and writing tables")


def fits_float32(kind: Any) -> bool:
    """Return whether float32 holds every number of this Arrow type exactly."""
    return _value_type(kind) in _FITS_FLOAT32


def holds_numbers(kind: Any) -> bool:
    """Return whether a column of this Arrow type can be read as numbers."""
    return _value_type(kind) in _NUMBERS


def holds_strings(kind: Any) -> bool:
    """Return whether a column of this Arrow type holds strings."""
    return _value_type(kind) in _STRINGS


def _value_type(kind: Any) -> str:
    """Return the name of a type; of a dictionary, that of its values."""
    return str(getattr(kind, "value_type", kind) if str(kind).startswith("dictionary") else kind)


def decoded(column: Any) -> Any:
    """Return a column of Arrow with a dictionary as one of its values; others as they are."""
    kind: Any = getattr(column, "type", None)
    return column.cast(kind.value_type) if str(kind).startswith("dictionary") else column


def numbers_of(column: Any, place: str) -> np.ndarray:
    """Return a column as numbers of its own type, or as floats where it has missing values."""
    values = np.asarray(column)
    if values.dtype.kind == "O":
        missing = missing_labels(values)
        if all(isinstance(value, (bool, np.bool_)) for value in values[~missing]):
            return np.where(missing, np.nan, values).astype(np.float64)
    if values.dtype.kind not in "biuf":
        raise not_numbers(place, _type(column))
    return values


def strings_of(column: Any, place: str) -> np.ndarray:
    """Return a column of strings as objects, or of numbers; a missing value is None or NaN."""
    values = np.asarray(column)
    return values if values.dtype.kind in "OUT" else numbers_of(column, place)


def labels_of(column: Any, place: str) -> np.ndarray:
    """Return a column as labels: float64 with NaN for a missing one, or str with None for one."""
    values = np.asarray(column)
    if values.dtype.kind not in "biufOUT":
        raise not_labels(place, _type(column))
    missing = missing_labels(values)
    known = values if values.dtype.kind in "biuf" else as_classes(values[~missing], place)
    if known.dtype.kind in "iu" and np.any(np.abs(known.astype(float)) >= _EXACT):
        raise ValueError(
            f"{place} holds whole numbers beyond 2**53, which float64 cannot tell apart. Encode "
            "the classes as small numbers or as strings."
        )
    if known is values:
        return values.astype(np.float64)
    are_strings = known.dtype.kind == "U"
    nothing, dtype = (None, object) if are_strings else (np.nan, float)
    labels = np.full(values.shape, nothing, dtype)
    labels[~missing] = known
    return labels


def _type(column: Any) -> Any:
    return column.type if hasattr(column, "type") else column.to_native().dtype


def not_numbers(column: str, kind: Any) -> TypeError:
    """Return the error for a wanted column that does not hold numbers."""
    return TypeError(
        f"{column} must hold numbers. Got type {kind}. Encode it as numbers, or leave it out with "
        "hedgeclipper.io.as_source(data, columns=[the names of the others])."
    )


def not_labels(column: str, kind: Any) -> TypeError:
    """Return the error for a label that is neither number nor string."""
    return TypeError(
        f"{column} is the label and must hold numbers, booleans or strings. Got type {kind}. "
        "Encode the classes, or name another column as the label."
    )


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, NaT or ``pandas.NA``."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA is neither true nor false, nor is an array
        return not hasattr(value, "__len__")


def missing_labels(labels: np.ndarray) -> np.ndarray:
    """Return whether each label is missing, as bool of the shape of the labels."""
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind in "mM":
        return np.isnat(labels)
    if labels.dtype.kind != "O":
        return np.zeros(labels.shape, dtype=bool)
    return np.array([is_missing(label) for label in labels.flat], dtype=bool).reshape(labels.shape)


def as_plain_array(values: Any) -> np.ndarray:
    """Return an array-like as an array in which each entry keeps its own type.

    In a list, a string beside numbers does not make strings of these, nor NaN or -1 numbers of
    booleans. What a masked array hides is None.
    """
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.filled(values.astype(object), None)
    array = np.asarray(values)
    is_changed = array.dtype.kind in "US" or (array.dtype.kind in "if" and array.ndim == 1)
    if is_changed and not hasattr(values, "dtype"):
        return np.asarray(values, dtype=object)
    return array


def as_classes(labels: Any, place: str) -> np.ndarray:
    """Return labels as an array of bool, int64, str, or of float64 if some number is not whole.

    None of the labels is missing; ``place`` is what to call them in errors.
    """
    array = as_plain_array(labels)
    if array.dtype.kind == "O":
        try:
            array = array.astype(_class_type(array, place))
        except OverflowError as error:
            raise ValueError(
                f"{place} must hold numbers of classes that fit into 64 bits. Got "
                f"{max(labels, key=abs)}. Pass such labels as strings."
            ) from error
    if array.dtype.kind == "f" and np.all((array == np.floor(array)) & (np.abs(array) < _EXACT)):
        return array.astype(np.int64)
    return array


def _class_type(labels: np.ndarray, place: str) -> type:
    """Return the type that holds all labels, which are Python objects."""
    if all(isinstance(label, str) for label in labels) and labels.size:
        return str
    if all(isinstance(label, (bool, np.bool_)) for label in labels) and labels.size:
        return bool
    if all(isinstance(label, (Real, np.bool_)) for label in labels):
        is_whole = all(isinstance(label, (Integral, np.bool_)) for label in labels)
        return np.int64 if is_whole else np.float64
    found = ", ".join(sorted({type(label).__name__ for label in labels}))
    raise TypeError(
        f"{place} must hold either all numbers, all booleans or all strings. Got {found}. "
        "Encode the classes in one way."
    )


class TextLabels:
    """Labels of a text file, all of them numbers if the first one is, and else all of them strings.

    Which of the two is not known as long as all labels are missing: these are NaN.
    """

    def __init__(self) -> None:
        self._are_numbers: bool | None = None

    def read(self, strings: np.ndarray, place: str) -> np.ndarray:
        """Return strings, with None for a missing one, as labels, in the way of those before."""
        known = ~missing_labels(strings)
        if self._are_numbers is None and known.any():
            self._are_numbers = is_float(strings[known][0])
        if self._are_numbers is False:
            return strings
        labels = np.full(strings.shape, np.nan)
        if wrong := [text for text in strings[known] if not is_float(text)]:
            raise ValueError(
                f"{place} begins with numbers, and then there is {wrong[0]!r}. Encode all classes "
                "as numbers, or all as strings; leave the place of a missing label empty."
            )
        labels[known] = strings[known].astype(float)
        return labels


def is_float(text: str) -> bool:
    """Return whether a string can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
