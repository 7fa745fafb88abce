"""as_source: rows of whatever kind as a source of batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.io.arrays import (
    ArraySource,
    BatchSource,
    MappedSource,
    as_block,
    is_mapped,
    mapped_source,
)
from hedgeclipper.io.files import find_files, names_files
from hedgeclipper.io.frames import is_frame, listed
from hedgeclipper.io.libsvm import LibsvmSource, libsvm_source
from hedgeclipper.io.source import Request, Source
from hedgeclipper.io.tables import TableSource, dataset_source, file_source, is_dataset

_SOURCES = (ArraySource, BatchSource, LibsvmSource, MappedSource, TableSource)


def as_source(
    data: Any,
    *,
    name: str = "votes",
    columns: Sequence[str] | None = None,
    label: Any = None,
    n_columns: int | None = None,
    dtype: Any = None,
    strings: bool = False,
    once: bool = False,
) -> Source:
    """Return a source of batches of rows, each a 2-d array or CSR matrix.

    Parameters
    ----------
    data : array-like, sparse matrix, frame, re-iterable of these, function, path, or source
        A function without arguments must return a fresh iterable of batches on each call. Frames
        are those of pandas, polars and Arrow. A path is that of a file, of a folder of files, a
        pattern like ``"rows/*.parquet"``, or a list of these; Parquet, Arrow, CSV and LibSVM are
        told apart by suffix. A memory map and a `pyarrow.dataset.Dataset` are read like files. A
        source is returned as it is, or with what is asked for beyond what it was made with.
    name : str
        What to call the data in errors.
    columns : sequence of str, optional
        Names of the wanted columns, in the wanted order; others are not read. Rows without names
        (arrays, LibSVM) must have just these columns. Default: all columns but the label.
    label : str, optional
        Name of the column with the labels, for `Source.labeled_batches`. For LibSVM, any true
        value: the label is the number that begins a line, NaN where it is missing.
    n_columns : int, optional
        Number of columns that rows must have. A LibSVM file that does not come with it is read
        once to find the largest index.
    dtype : dtype, optional
        Of the rows. Default: arrays and frames keep theirs; files give float32 if that holds all
        numbers of their columns' types exactly, and else float64.
    strings : bool, default=False
        Whether columns of frames and files may hold strings; rows are then arrays of objects if one
        does, with None or NaN for what is missing.
    once : bool, default=False
        Whether the rows are read only once, so that an iterator of batches will do.

    Examples
    --------
    >>> import numpy as np
    >>> source = as_source([np.ones((2, 3)), np.zeros((1, 3))])
    >>> [batch.shape for batch in source], [batch.shape for batch in source]
    ([(2, 3), (1, 3)], [(2, 3), (1, 3)])
    """
    request = Request(
        name, _as_names(columns), label or None, n_columns, dtype, strings, once, data
    )
    if not isinstance(data, _SOURCES):
        return _open(request)
    both = _joined(data.request, request)
    return data if both == data.request else _open(both)


def _joined(own: Request, more: Request) -> Request:
    """Return what a source was made with and what is asked for now; the later dtype holds."""
    asked = {option: getattr(more, option) for option in ("columns", "label", "n_columns", "dtype")}
    asked = {option: wanted for option, wanted in asked.items() if wanted is not None}
    for option, wanted in asked.items():
        had = getattr(own, option)
        if option != "dtype" and had is not None and had != wanted:
            raise ValueError(
                f"{more.name} is a source that was made with {option}={_shown(had)}. Here "
                f"{option}={_shown(wanted)} is wanted. Make the source with that, or without "
                f"{option}."
            )
    strings = own.strings or more.strings
    return replace(own, name=more.name, strings=strings, once=more.once, **asked)


def _shown(option: Any) -> str:
    return f"[{listed(option)}]" if isinstance(option, list) else repr(option)


def _open(request: Request) -> Source:
    """Return the source for a request that is whole."""
    data, name = request.data, request.name
    if request.columns is not None and request.label in request.columns:
        raise ValueError(
            f"{request.label!r} is the label, and it is in columns too. Take it out there."
        )
    if names_files(data):
        kind, paths = find_files(data)
        if kind == "LibSVM":
            return libsvm_source(paths, request)
        return file_source(kind, paths, request)
    if is_dataset(data):
        return dataset_source(data, request)
    if callable(data) and not hasattr(data, "__array__"):
        return BatchSource(data, request)
    if hasattr(data, "__next__") and not request.once:
        raise TypeError(
            f"{name} can be read only once: got {type(data).__name__}, an iterator, but the game "
            "takes several passes. Pass a list of batches, an object with __iter__, or a function "
            "that returns a fresh iterator."
        )
    if _holds_batches(data):
        return BatchSource(lambda: data, request)
    if is_mapped(data):
        return mapped_source(data, request)
    block = as_block(data, request, name)
    return ArraySource(block.rows, block.labels, block.column_names, request)


def is_batched(data: Any) -> bool:
    """Return whether rows come a batch at a time: files, a memory map, or batches of others."""
    is_function = callable(data) and not hasattr(data, "__array__")
    read_on_the_way = names_files(data) or is_dataset(data) or is_mapped(data) or is_function
    return read_on_the_way or hasattr(data, "__next__") or _holds_batches(data)


def _as_names(columns: Sequence[str] | None) -> list[str] | None:
    if columns is None:
        return None
    names = [str(name) for name in columns]
    if isinstance(columns, str) or len(set(names)) < len(names):
        raise ValueError(f"columns must be a list of different names. Got {columns!r}.")
    return names


def _holds_batches(data: Any) -> bool:
    if is_frame(data):
        return False
    if isinstance(data, (list, tuple)):
        return bool(data) and (is_frame(data[0]) or np.ndim(data[0]) == 2)
    is_array = hasattr(data, "__array__") or hasattr(data, "shape") or sparse.issparse(data)
    return hasattr(data, "__iter__") and not is_array
