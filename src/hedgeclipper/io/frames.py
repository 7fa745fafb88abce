"""Columns of frames, and their values: numbers, strings or labels, and what is missing.

Frames are those of pandas, polars and Arrow, read through narwhals. pyarrow is imported when it is
asked for and not before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import count
from numbers import Integral, Real
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_dataframe as is_pandas
from narwhals.dependencies import is_polars_dataframe
from scipy import sparse

from hedgeclipper.io.messages import import_extra

EXACT = 2.0**53


def is_frame(data: Any) -> bool:
    """Return whether the data is a table of pandas, polars or Arrow."""
    if isinstance(data, np.ndarray):
        return False
    return is_pandas(data) or is_polars_dataframe(data) or _is_arrow(data)


def is_in_memory(X: Any) -> bool:
    """Return whether rows are an array, and no memory map, a CSR matrix or a frame."""
    if isinstance(X, np.ndarray):
        return getattr(X, "_mmap", None) is None
    return sparse.issparse(X) or is_frame(X)


def _is_arrow(data: Any) -> bool:
    """Return whether the data is a table or a record batch of Arrow."""
    return type(data).__module__.startswith("pyarrow") and len(getattr(data, "shape", ())) == 2


def frame_names(data: Any) -> list[str] | None:
    """Return the names of a frame's columns; None where it has none, and for other data."""
    names = _names(data) if is_frame(data) else []
    return names if names and are_names(names) else None


def are_names(names: Sequence[Any]) -> bool:
    """Return whether columns can be picked by name: pandas may number them instead."""
    return all(isinstance(name, str) for name in names)


def frame_columns(frame: Any) -> list[tuple[Any, nw.Series[Any]]]:
    """Return the columns of a frame, each after its name, without those that hold an index.

    ``numpy.asarray`` makes an array of such a column, whatever the library. What is missing is
    None, NaN or ``pandas.NA`` in it.
    """
    names, hidden = _names(frame), []
    check_columns(names, names, "The frame")  # names may be there twice
    if _is_arrow(frame):
        hidden = index_names(frame.schema)
        columns = [column.cast(_value_type(column.type)) for column in frame.columns]
        frame = pyarrow().table(columns, names=names)
    table = nw.from_native(frame, eager_only=True)
    return [(name, table.get_column(name)) for name in table.columns if name not in hidden]


def frame_arrays(frame: Any, names: Sequence[Any] | None = None) -> dict[Any, np.ndarray]:
    """Return the columns of a frame as arrays by name.

    Numbers and booleans are numbers, as objects if some booleans are missing; dates are
    datetime64 in UTC; strings, and categories of whatever kind, are objects, as is all else.
    Of the wanted names, those that are not there are left out.
    """
    columns = frame_columns(frame)
    return {name: _array(column) for name, column in columns if names is None or name in names}


def _array(column: nw.Series[Any]) -> np.ndarray:
    values = np.asarray(column)
    if column.dtype in (nw.Categorical, nw.Enum) and values.dtype.kind != "O":
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


def unique_values(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different values of a column as they first appear, and the number of each entry.

    Of strings there are few, so that what takes long is done for these alone. A NaN may be among
    the different ones more than once.
    """
    numbers: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(numbers.__getitem__, values.tolist()), np.intp, values.size)
    different = np.empty(len(numbers), dtype=object)
    different[:] = list(numbers)
    return different, codes


def frame_with(frame: Any, names: Sequence[str]) -> Any:
    """Return these columns of a frame, in this order; rows without names as they are."""
    found = frame_names(frame)
    if found is None or found == list(names):
        return frame
    check_columns(names, found, "X_unlabeled")
    return frame.select(list(names)) if hasattr(frame, "select") else frame[list(names)]


def split_target(X: Any, y: Any) -> tuple[Any, Any]:
    """Return rows and labels; where y is the name of a column of a frame, these are taken apart."""
    if not isinstance(y, str) or not is_frame(X):
        return X, y
    check_columns([y], _names(X), "X")
    X = as_table(X)
    rows = nw.from_native(X, eager_only=True).drop(y).to_native()
    return rows, frame_arrays(X, [y])[y]


def as_table(data: Any) -> Any:
    """Return a record batch of Arrow as a table, whose names scikit-learn sees; else the data."""
    if type(data).__name__ == "RecordBatch" and _is_arrow(data):
        return pyarrow().Table.from_batches([data])
    return data


def as_frame(frame: Any) -> Any:
    """Return a frame whose rows can be picked by number: a table of Arrow becomes one of pandas."""
    return as_table(frame).to_pandas(date_as_object=False) if _is_arrow(frame) else frame


def check_columns(wanted: Sequence[str], names: Sequence[Any], place: str) -> None:
    """Raise unless each of these columns is there exactly once."""
    counts = Counter(names)
    for name in wanted:
        if name not in counts:
            guess = did_you_mean(name, names)
            raise ValueError(
                f"{place} has no column {name!r}. It has {listed(names)}. {guess}Add the column, "
                "or name another one."
            )
        if counts[name] > 1:
            raise ValueError(
                f"{place} has {counts[name]} columns with the name {name!r}. Give each its own "
                "name."
            )


def did_you_mean(name: str, names: Sequence[Any]) -> str:
    """Return a question with the name that is most like the wrong one; nothing if none is."""
    by_lower = {str(one).lower(): one for one in names}
    close = get_close_matches(name.lower(), by_lower, 1)
    return f"Did you mean {by_lower[close[0]]!r}? " if close else ""


def plain_spelling(label: str) -> str:
    """Return a label without what spellings differ in; A and a may be two classes, and stay."""
    return " ".join(label.casefold().split()) if len(label) > 1 else label


def listed(names: Sequence[Any], most: int = 10) -> str:
    """Return the first few names for an error."""
    shown = ", ".join(repr(name) for name in names[:most])
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown or "no columns"


def _names(frame: Any) -> list[Any]:
    return list(frame.schema.names if _is_arrow(frame) else frame.columns)


def index_names(schema: Any) -> list[str]:
    """Return the names of the columns in which pandas keeps the index of a frame."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in schema.names if name in index]


def pyarrow(module: str = "pyarrow") -> Any:
    """Return pyarrow or a part of it, or say how to install it."""
    return import_extra(module, "io", "Reading and writing tables")


def holds_numbers(kind: Any) -> bool:
    """Return whether a column of this Arrow type can be read as numbers."""
    types, kind = pyarrow("pyarrow.types"), _value_type(kind)
    checks = (types.is_boolean, types.is_integer, types.is_floating, types.is_null)
    return any(check(kind) for check in checks)


def _value_type(kind: Any) -> Any:
    """Return the Arrow type of a column's values: that of its dictionary if it has one."""
    return kind.value_type if pyarrow("pyarrow.types").is_dictionary(kind) else kind


def numbers_of(column: Any, place: str) -> np.ndarray:
    """Return a column as numbers of its own type, or as floats where it has missing values."""
    values = np.asarray(column)
    if values.dtype.kind == "O":
        missing = missing_labels(values)
        if all(isinstance(value, (bool, np.bool_)) for value in values[~missing]):
            return np.where(missing, np.nan, values).astype(np.float64)
    if values.dtype.kind not in "biuf":
        raise TypeError(
            f"{place} must hold numbers. Got type {_type(column)}. Encode it as numbers in all "
            "rows, or leave it out of all of them."
        )
    return values


def labels_of(column: Any, place: str) -> np.ndarray:
    """Return a column as labels: float64 with NaN for a missing one, or str with None for one."""
    values = np.asarray(column)
    if values.dtype.kind not in "biufOUT":
        raise TypeError(
            f"{place} is the label and must hold numbers, booleans or strings. Got type "
            f"{_type(column)}. Encode the classes, or name another column as the label."
        )
    missing = missing_labels(values)
    known = as_classes(values[~missing], place)
    if known.dtype.kind in "iu" and np.any(np.abs(known.astype(float)) >= EXACT):
        raise ValueError(
            f"{place} holds whole numbers beyond 2**53, which float64 cannot tell apart. Encode "
            "the classes as small numbers or as strings."
        )
    nothing, dtype = (None, object) if known.dtype.kind == "U" else (np.nan, float)
    labels = np.full(values.shape, nothing, dtype)
    labels[~missing] = known
    return labels


def _type(column: Any) -> Any:
    native = column.to_native()
    return native.type if hasattr(native, "type") else native.dtype


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
        array = values.data.astype(object)
        array[np.ma.getmaskarray(values)] = None  # to ``filled``, None is the default of the type
        return array
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
    if array.dtype.kind == "f" and np.all((array == np.floor(array)) & (np.abs(array) < EXACT)):
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


def is_float(text: str) -> bool:
    """Return whether a string can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
