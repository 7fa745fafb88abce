"""Columns of Arrow as arrays: nulls are NaN, booleans 0 and 1, dictionaries are decoded.

pyarrow is imported when it is asked for and not before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgeclipper.io.column_names import not_labels, not_numbers
from hedgeclipper.io.extras import import_extra
from hedgeclipper.io.label_columns import as_labels

_FITS_FLOAT32 = {"bool", "int8", "int16", "uint8", "uint16", "halffloat", "float", "null"}
_NUMBERS = _FITS_FLOAT32 | {"int32", "int64", "uint32", "uint64", "double"}
_WORDS = {"string", "large_string", "string_view"}


def pyarrow(module: str = "pyarrow") -> Any:
    """Return pyarrow or a part of it, or say how to install it."""
    return import_extra(module, "io", "Reading and writing tables")


def fits_float32(kind: Any) -> bool:
    """Return whether float32 holds every number of this Arrow type exactly."""
    return _plain(kind) in _FITS_FLOAT32


def holds_numbers(kind: Any) -> bool:
    """Return whether a column of this Arrow type can be read as numbers."""
    return _plain(kind) in _NUMBERS


def holds_words(kind: Any) -> bool:
    """Return whether a column of this Arrow type holds strings."""
    return _plain(kind) in _WORDS


def _plain(kind: Any) -> str:
    """Return the name of a type; of a dictionary, that of its values."""
    return str(getattr(kind, "value_type", kind) if str(kind).startswith("dictionary") else kind)


def numbers_of(column: Any, place: str) -> np.ndarray:
    """Return an Arrow column as numbers of its own type, or as floats where it has nulls."""
    if not holds_numbers(column.type):
        raise not_numbers(place, column.type)
    column = decoded(column)
    kind = str(column.type)
    if kind == "null":
        return np.full(len(column), np.nan, dtype=np.float32)
    if kind == "bool":
        column = column.cast("uint8")
    values = column.to_numpy(zero_copy_only=False) if _is_array(column) else column.to_numpy()
    return values.astype(bool) if kind == "bool" and values.dtype == np.uint8 else values


def labels_of(column: Any, place: str) -> np.ndarray:
    """Return an Arrow column as labels: float64 with NaN, or str with None."""
    if holds_numbers(column.type):
        return as_labels(numbers_of(column, place), place)
    if not holds_words(column.type):
        raise not_labels(place, column.type)
    column = decoded(column)
    return column.to_numpy(zero_copy_only=False) if _is_array(column) else column.to_numpy()


def words_of(column: Any, place: str) -> np.ndarray:
    """Return an Arrow column as objects: words, or numbers, with None or NaN for a missing one."""
    if not holds_words(column.type):
        return numbers_of(column, place).astype(object)
    return labels_of(column, place)


def decoded(column: Any) -> Any:
    """Return a column of plain values in the place of one with a dictionary."""
    is_dictionary = str(column.type).startswith("dictionary")
    return column.cast(column.type.value_type) if is_dictionary else column


def _is_array(column: Any) -> bool:
    """Return whether it is one array and not several chunks, which take no such options."""
    return not hasattr(column, "chunks")


def index_names(schema: Any) -> list[str]:
    """Return the names of the columns in which pandas keeps the index of a frame."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in schema.names if name in index]
