"""Columns of Arrow, or of narwhals, as arrays: what is missing is NaN, dictionaries are decoded.

pyarrow is imported when it is asked for and not before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgeclipper.io.column_names import not_labels, not_numbers
from hedgeclipper.io.extras import import_extra
from hedgeclipper.io.label_columns import as_labels, missing_labels

_FITS_FLOAT32 = {"bool", "int8", "int16", "uint8", "uint16", "halffloat", "float", "null"}
_NUMBERS = _FITS_FLOAT32 | {"int32", "int64", "uint32", "uint64", "double"}
_STRINGS = {"string", "large_string", "string_view"}


def pyarrow(module: str = "pyarrow") -> Any:
    """Return pyarrow or a part of it, or say how to install it."""
    return import_extra(module, "io", "Reading and writing tables")


def fits_float32(kind: Any) -> bool:
    """Return whether float32 holds every number of this Arrow type exactly."""
    return _plain(kind) in _FITS_FLOAT32


def holds_numbers(kind: Any) -> bool:
    """Return whether a column of this Arrow type can be read as numbers."""
    return _plain(kind) in _NUMBERS


def holds_strings(kind: Any) -> bool:
    """Return whether a column of this Arrow type holds strings."""
    return _plain(kind) in _STRINGS


def _plain(kind: Any) -> str:
    """Return the name of a type; of a dictionary, that of its values."""
    return str(getattr(kind, "value_type", kind) if str(kind).startswith("dictionary") else kind)


def numbers_of(column: Any, place: str) -> np.ndarray:
    """Return a column as numbers of its own type, or as floats where it has missing values."""
    values = np.asarray(decoded(column))
    if values.dtype.kind == "O":
        missing = missing_labels(values)
        if all(isinstance(value, (bool, np.bool_)) for value in values[~missing]):
            return np.where(missing, np.nan, values).astype(np.float64)
    if values.dtype.kind not in "biuf":
        raise not_numbers(place, _type(column))
    return values


def labels_of(column: Any, place: str) -> np.ndarray:
    """Return a column as labels: float64 with NaN, or str with None."""
    values = np.asarray(decoded(column))
    if values.dtype.kind not in "biufOUT":
        raise not_labels(place, _type(column))
    return as_labels(values, place)


def words_of(column: Any, place: str) -> np.ndarray:
    """Return a column of strings as objects, or of numbers; a missing value is None or NaN."""
    values = np.asarray(decoded(column))
    return values if values.dtype.kind in "OUT" else numbers_of(column, place)


def decoded(column: Any) -> Any:
    """Return a column of plain values in the place of one of Arrow with a dictionary."""
    kind: Any = getattr(column, "type", None)
    return column.cast(kind.value_type) if str(kind).startswith("dictionary") else column


def _type(column: Any) -> Any:
    return column.type if hasattr(column, "type") else column.to_native().dtype


def index_names(schema: Any) -> list[str]:
    """Return the names of the columns in which pandas keeps the index of a frame."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in schema.names if name in index]
