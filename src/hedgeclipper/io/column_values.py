"""Values of columns as arrays: numbers, strings or labels, and which of them are missing.

A column is one of Arrow or of narwhals. pyarrow is imported when it is asked for and not before.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from hedgeclipper.io.extras import import_extra

_FITS_FLOAT32 = {"bool", "int8", "int16", "uint8", "uint16", "halffloat", "float", "null"}
_NUMBERS = _FITS_FLOAT32 | {"int32", "int64", "uint32", "uint64", "double"}
_STRINGS = {"string", "large_string", "string_view"}
_EXACT = 2.0**53


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

    Parameters
    ----------
    labels : array-like of shape (n,)
        Labels, none of which is missing.
    place : str
        What to call them in errors.
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
