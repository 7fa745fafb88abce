"""Rows as sources of batches: arrays, frames, batches that others make, and files.

Everything downstream reads rows batch by batch and more than once, so a source can be iterated
over again and again. `as_source` makes one of whatever a user passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from hedgeclipper.io.arrays import as_rows
from hedgeclipper.io.formats import FORMATS, CsvFile, TableFile, find_files, read_libsvm
from hedgeclipper.io.frames import (
    are_names,
    frame_columns,
    index_names,
    is_frame,
    labels_of,
    listed,
    numbers_of,
    positions_of,
)

_ENTRIES = 1 << 22
_MOST_ROWS = 1 << 16
_LEAST_ROWS = 256
# rows, the labels beside them, and the names of the columns, where there are any
Block = tuple[Any, np.ndarray | None, list[str] | None]


@dataclass(frozen=True)
class Request:
    """What the caller of `as_source` asks for; its parameters of these names.

    Requests are equal if they ask for the same, of whatever data.
    """

    name: str = field(default="votes", compare=False)
    columns: list[str] | None = None
    label: Any = None
    n_columns: int | None = None
    dtype: Any = None
    strings: bool = False
    once: bool = field(default=False, compare=False)
    data: Any = field(default=None, compare=False, repr=False)

    def joined(self, more: Request) -> Request:
        """Return what this and another request ask for together; the later dtype holds."""
        asked = {"dtype": more.dtype} if more.dtype is not None else {}
        for option in ("columns", "label", "n_columns"):
            had, wanted = getattr(self, option), getattr(more, option)
            if None not in (had, wanted) and had != wanted:
                raise ValueError(
                    f"{more.name} is a source that was made with {option}={had!r}. Here "
                    f"{option}={wanted!r} is wanted. Make the source with that, or without "
                    f"{option}."
                )
            asked[option] = had if wanted is None else wanted
        strings = self.strings or more.strings
        return replace(self, name=more.name, strings=strings, once=more.once, **asked)


class Source:
    """Rows that can be read again and again, in the same order, a batch at a time.

    Attributes
    ----------
    request : Request
        What it was made with.
    in_memory : bool
        Whether all rows are in memory, so that a pass is cheap and some rows may be copied.
    n_rows : int or None
        Number of rows; None where only a pass would tell.
    names : list of str or None
        Names of the columns that the rows have by themselves.
    counts : dict of str to int
        Number of rows of each file that was read to its end.
    """

    request: Request
    in_memory: bool = False
    n_rows: int | None = None
    names: list[str] | None = None
    counts: dict[str, int]

    @property
    def column_names(self) -> list[str] | None:
        """Names of the columns of a batch, in order; None where they have none."""
        return self.request.columns if self.names is None else self.names

    def __iter__(self) -> Iterator[Any]:
        """Yield batches of rows: arrays of shape (rows, columns), or CSR matrices."""
        return (rows for rows, _ in self._blocks(False))

    def labeled_batches(self) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield (rows, labels): float64 with NaN for a missing label, or str with None for one."""
        if self.request.label is None:
            raise ValueError(
                f"{self.request.name} has no labels: no column was named as the label. Pass label "
                "to as_source."
            )
        return self._blocks(True)

    def _blocks(self, with_labels: bool) -> Iterator[tuple[Any, Any]]:
        """Yield rows and their labels, or whatever where labels are not wanted."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ArraySource(Source):
    """Rows of one array or CSR matrix, a single batch."""

    rows: Any
    labels: np.ndarray | None = None
    names: list[str] | None = None
    request: Request = field(default_factory=Request)
    counts: dict[str, int] = field(default_factory=dict)
    in_memory = True

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows."""
        return self.rows.shape[0]

    def _blocks(self, with_labels: bool) -> Iterator[tuple[Any, Any]]:
        yield self.rows, self.labels

    def every(self, stride: int) -> ArraySource:
        """Return a source of a copy of every stride-th row, without labels."""
        rows = self.rows[::stride]
        return ArraySource(rows if sparse.issparse(rows) else np.ascontiguousarray(rows))


@dataclass(frozen=True, eq=False)
class BatchSource(Source):
    """Batches that somebody else makes, read again on every pass.

    Where batches are frames, all must have the columns of the first one, in whatever order.
    """

    batches: Callable[[], Iterable[Any]]
    request: Request
    n_rows: int | None = None
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def column_names(self) -> list[str] | None:
        """Names of the columns of a batch; the first batch is read to know them."""
        return next((names for _, _, names in self._read()), None)

    def _blocks(self, with_labels: bool) -> Iterator[tuple[Any, Any]]:
        return ((rows, labels) for rows, labels, _ in self._read())

    def _read(self) -> Iterator[Block]:
        n_read, request = 0, self.request
        for number, batch in enumerate(self.batches()):
            block = _as_block(batch, request, f"Batch {number} of {request.name}")
            if block[2] is not None:
                request = replace(request, columns=block[2])
            n_read += block[0].shape[0]
            yield block
        _check_count(self.counts, f"The batches of {self.request.name}", n_read)


@dataclass(frozen=True, eq=False)
class TableSource(Source):
    """Rows of files with named columns, one after the other; only the wanted columns are read."""

    files: Sequence[TableFile]
    request: Request
    names: list[str] = field(default_factory=list)
    n_rows: int | None = None
    counts: dict[str, int] = field(default_factory=dict)

    def _blocks(self, with_labels: bool) -> Iterator[tuple[np.ndarray, Any]]:
        label, size = self.request.label if with_labels else None, rows_per_batch(len(self.names))
        request = replace(self.request, columns=self.names, label=label)
        for file in self.files:
            n_read = 0
            for batch in file.batches(self.names, label, size, strings=request.strings):
                rows, labels, _ = _frame_block(batch, request, file.place)
                yield rows, labels
                n_read += batch.num_rows
            _check_count(self.counts, file.place, n_read)


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
        pattern like ``"rows/*.parquet"``, or a list of these; Parquet, Arrow, CSV and LibSVM
        are recognized by suffix; the last one is read as a whole. A memory map is read like a file.
        A source is returned as it is, or with what is asked for beyond what it was made with.
    name : str
        What to call the data in errors.
    columns : sequence of str, optional
        Names of the wanted columns, in the wanted order; others are not read. Rows without names
        (arrays, LibSVM) must have just these columns. Default: all columns but the label.
    label : str, optional
        Name of the column with the labels, for `Source.labeled_batches`. For LibSVM, any true
        value: the label is the number that begins a line, NaN where it is missing.
    n_columns : int, optional
        Number of columns of LibSVM files. Default: the largest index.
    dtype : dtype, optional
        Of the rows. Default: one that holds the columns of a batch; float64 for CSV and LibSVM.
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
    names = None if columns is None else [str(column) for column in columns]
    request = Request(name, names, label or None, n_columns, dtype, strings, once, data)
    if isinstance(data, Source):
        both = data.request.joined(request)
        if both == data.request:
            return data
        request = both
    if request.columns is not None and request.label in request.columns:
        raise ValueError(
            f"{request.label!r} is the label, and it is in columns too. Take it out there."
        )
    return _open(request.data, request)


def _open(data: Any, request: Request) -> Source:
    """Return the source for a request that is whole."""
    if not is_batched(data):
        return ArraySource(*_as_block(data, request, request.name), request)
    if _are_files(data):
        if isinstance(data, list) and isinstance(data[0], TableFile):
            return _table_source(data, request)
        kind, paths = find_files(data)
        if kind == "LibSVM":
            return _libsvm_source(paths, request)
        return _table_source([FORMATS[kind](path) for path in paths], request)
    if isinstance(data, np.ndarray):  # a memory map
        size = rows_per_batch(as_rows(data, name=request.name).shape[1])
        parts = list(gen_batches(len(data), size))
        return BatchSource(lambda: (data[part] for part in parts), request, len(data))
    if callable(data):
        return BatchSource(data, request)
    if hasattr(data, "__next__") and not request.once:
        raise TypeError(
            f"{request.name} can be read only once: got {type(data).__name__}, an iterator, but "
            "several passes are needed. Pass a list of batches, an object with __iter__, or a "
            "function that returns a fresh iterator."
        )
    return BatchSource(lambda: data, request)


def is_batched(data: Any) -> bool:
    """Return whether rows come a batch at a time: files, a memory map, or batches of others."""
    if isinstance(data, np.ndarray):
        return getattr(data, "_mmap", None) is not None  # a memory map, and no copy of one
    is_function = callable(data) and not hasattr(data, "__array__")
    if is_function or _are_files(data) or hasattr(data, "__next__"):
        return True
    if is_frame(data):
        return False
    if isinstance(data, (list, tuple)):
        return bool(data) and (is_frame(data[0]) or np.ndim(data[0]) == 2)
    is_array = hasattr(data, "__array__") or hasattr(data, "shape") or sparse.issparse(data)
    return hasattr(data, "__iter__") and not is_array


def _are_files(data: Any) -> bool:
    """Return whether the data is a path, or a list of paths or of files that are opened already."""
    entries = data if isinstance(data, (list, tuple)) else [data]
    return bool(entries) and all(isinstance(entry, (str, Path, TableFile)) for entry in entries)


def _table_source(files: Sequence[TableFile], request: Request) -> TableSource:
    """Look at the columns of every file, and return the rows of all of them."""
    first = files[0]
    if request.columns is None and isinstance(first, CsvFile):
        first.check_heading()
    schemas, n_rows = zip(*[file.head() for file in files], strict=True)
    names, label = request.columns, request.label
    if names is None:
        left_out = {label, *index_names(schemas[0])}
        names = [name for name in schemas[0].names if name not in left_out]
        if not names or "" in names:
            raise ValueError(
                f"{first.place} has {'a column without a name' if names else 'no columns'}. It "
                f"has {listed(schemas[0].names)}. Write a pandas frame with index=False, or name "
                "the wanted columns with columns."
            )
    for file, schema in zip(files, schemas, strict=True):
        positions_of(names if label is None else [*names, label], schema.names, file.place)
    n_all = None if None in n_rows else sum(n_rows)
    return TableSource(files, request, names, n_all)


def _libsvm_source(paths: list[Path], request: Request) -> ArraySource:
    """Return the rows and labels of LibSVM files, which are read as a whole."""
    width = request.n_columns if request.columns is None else len(request.columns)
    parts = [read_libsvm(path, width, request.dtype or np.float64) for path in paths]
    for rows, _ in parts:
        rows.resize(rows.shape[0], max(other.shape[1] for other, _ in parts))
    counts = {str(path): labels.size for path, (_, labels) in zip(paths, parts, strict=True)}
    rows = sparse.vstack([rows for rows, _ in parts], format="csr")
    labels = np.concatenate([labels for _, labels in parts])
    return ArraySource(rows, labels, request.columns, request, counts)


def _as_block(data: Any, request: Request, place: str) -> Block:
    """Return one block of rows, with the columns, labels and dtype that were asked for."""
    if is_frame(data):
        return _frame_block(data, request, place)
    if request.label is not None:
        raise TypeError(
            f"{place} has no column {request.label!r}: {type(data).__name__} has no names of "
            "columns. Pass a frame or a file, or rows and labels by themselves."
        )
    rows = as_rows(data, name=request.name)
    if request.dtype is not None and rows.dtype != request.dtype:
        with np.errstate(over="ignore"):  # infinite numbers are refused by who uses them
            rows = rows.astype(request.dtype)
    return rows, None, request.columns


def _frame_block(frame: Any, request: Request, place: str) -> Block:
    """Return the columns of a frame that were asked for, and its labels, as arrays."""
    columns = dict(frame_columns(frame))
    found, label = list(columns), request.label
    positions_of([] if label is None else [label], found, place)
    wanted = [name for name in found if name != label]
    if request.columns is not None and are_names(found):
        wanted = request.columns
        positions_of(wanted, found, place)
    arrays = [
        numbers_of(columns[name], f"Column {name!r} of {place}", strings=request.strings)
        for name in wanted
    ]
    dtype = request.dtype
    if dtype is None:
        dtype = np.result_type(*{array.dtype for array in arrays}) if arrays else np.float64
    rows = np.empty((frame.shape[0], len(wanted)), dtype=dtype)
    with np.errstate(over="ignore"):
        for position, array in enumerate(arrays):
            rows[:, position] = array
    labels = None
    if label is not None:
        labels = labels_of(columns[label], f"Column {label!r} of {place}")
    return rows, labels, list(wanted) if are_names(found) else None


def rows_per_batch(n_columns: int) -> int:
    """Return the number of rows of a batch that is read from a file or a memory map.

    About 16 MB of float32: much longer to read than to hand over, and little beside the rest. At
    most 65,536 rows, since leaf numbers and the like take memory per row; at least 256, so that
    very wide rows still come in blocks.
    """
    return min(_MOST_ROWS, max(_LEAST_ROWS, _ENTRIES // max(1, n_columns)))


def _check_count(counts: dict[str, int], place: str, n_read: int) -> None:
    """Note how many rows a first whole pass had, and raise where a later one differs."""
    if n_read != (n_rows := counts.setdefault(place, n_read)):
        raise ValueError(
            f"{place} changed between passes: {n_rows} rows at first, then {n_read}. "
            "Leave the rows as they are while they are read, several times."
        )
