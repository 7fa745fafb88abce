"""Rows as sources of batches: arrays, frames, batches that others make, and files.

Everything downstream reads rows batch by batch and more than once, so a source can be iterated
over again and again. `as_source` makes one of whatever a user passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from hedgeclipper.io.arrays import as_rows, rows_per_batch
from hedgeclipper.io.formats import SAY_ENCODING, TableFile, open_files
from hedgeclipper.io.frames import (
    are_names,
    as_frame,
    as_table,
    frame_arrays,
    frame_columns,
    frame_with,
    holds_numbers,
    index_names,
    is_frame,
    labels_of,
    listed,
    numbers_of,
    positions_of,
    pyarrow,
)

# rows, the labels beside them, and the names of the columns, where there are any
Block = tuple[Any, Any, list[str] | None]


@dataclass(frozen=True)
class Request:
    """What the caller of `as_source` asks for; its parameters of these names.

    Requests are equal if they ask for the same, of whatever data.
    """

    name: str = field(default="votes", compare=False)
    columns: list[str] | None = None
    label: str | None = None
    dtype: Any = None
    strings: bool | Sequence[str] = False
    frames: int = 0
    once: bool = field(default=False, compare=False)
    data: Any = field(default=None, compare=False, repr=False)

    def joined(self, more: Request) -> Request:
        """Return what this and another request ask for together; the later dtype holds."""
        asked: dict[str, Any] = {"dtype": more.dtype} if more.dtype is not None else {}
        for option in ("columns", "label"):
            had, wanted = getattr(self, option), getattr(more, option)
            if None not in (had, wanted) and had != wanted:
                raise ValueError(
                    f"{more.name} is a source that was made with {option}={had!r}. Here "
                    f"{option}={wanted!r} is wanted. Make the source with that, or without "
                    f"{option}."
                )
            asked[option] = had if wanted is None else wanted
        asked |= {"strings": self.strings or more.strings, "frames": more.frames or self.frames}
        return replace(self, name=more.name, once=more.once, **asked)


class Source:
    """Rows that can be read again and again, in the same order, a batch at a time.

    Attributes
    ----------
    request : Request
        What it was made with.
    """

    def __init__(
        self,
        request: Request,
        blocks: Callable[[bool], Iterable[Block]],
        names: list[str] | None = None,
    ) -> None:
        self.request = request
        self._blocks, self._names = blocks, names  # blocks are read with labels or without

    @property
    def column_names(self) -> list[str] | None:
        """Names of the columns of a batch, in order; None where they have none."""
        if self._names is not None:
            return self._names
        return next((names for _, _, names in self._blocks(False)), None)

    def __iter__(self) -> Iterator[Any]:
        """Yield batches of rows: arrays of shape (rows, columns), or CSR matrices."""
        return (rows for rows, _, _ in self._blocks(False))

    def labeled_batches(self) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield (rows, labels): float64 with NaN for a missing label, or str with None for one."""
        if self.request.label is None:
            raise ValueError(
                f"{self.request.name} has no labels: no column was named as the label. Pass label "
                "to as_source."
            )
        return ((rows, labels) for rows, labels, _ in self._blocks(True))


def as_source(
    data: Any,
    *,
    name: str = "votes",
    columns: Sequence[str] | None = None,
    label: str | None = None,
    dtype: Any = None,
    strings: bool | Sequence[str] = False,
    frames: int = 0,
    once: bool = False,
) -> Source:
    """Return a source of batches of rows, each a 2-d array or CSR matrix.

    Parameters
    ----------
    data : array-like, sparse matrix, frame, re-iterable of these, function, path, or source
        A function without arguments must return a fresh iterable of batches on each call. Frames
        are those of pandas, polars and Arrow. A path is that of a file, of a folder of files, a
        pattern like ``"rows/*.parquet"``, or a list of these; Parquet, CSV and Excel, which is
        read as a whole, are recognized by suffix. A memory map is read like a file. A source is
        returned as it is, or with what is asked for beyond what it was made with.
    name : str
        What to call the data in errors.
    columns : sequence of str, optional
        Names of the wanted columns, in the wanted order; others are not read. Rows without names
        must have just these columns. Default: all columns but the label.
    label : str, optional
        Name of the column with the labels, for `Source.labeled_batches`.
    dtype : dtype, optional
        Of the rows. Default: one that holds the columns of a batch; float64 for CSV.
    strings : bool or sequence of str, default=False
        Whether columns of frames and files may hold strings; rows are then arrays of objects if one
        does, with None or NaN for what is missing. With ``frames``, names of columns that hold
        strings whatever they look like.
    frames : int, default=0
        If not 0, frames and files stay frames, with columns of any kind, and the batches of files
        are of a size that suits so many columns.
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
    request = Request(name, names, label, dtype, strings, frames, once, data)
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
        block = _as_block(data, request, request.name)
        return Source(request, lambda with_labels: [block], block[2])
    if _are_files(data):
        return _table_source(open_files(data), request)
    if isinstance(data, np.ndarray):  # a memory map
        size = rows_per_batch(as_rows(data, name=request.name).shape[1])
        parts = [data[part] for part in gen_batches(len(data), size)]
        return Source(request, partial(_read_batches, parts, request, {}))
    if hasattr(data, "__next__") and not request.once:
        raise TypeError(
            f"{request.name} can be read only once: got {type(data).__name__}, an iterator, but "
            "several passes are needed. Pass a list of batches, an object with __iter__, or a "
            "function that returns a fresh iterator."
        )
    return Source(request, partial(_read_batches, data, request, {}))


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


def hold_numbers(data: Any, names: Sequence[str] | None = None, label: str | None = None) -> bool:
    """Return whether columns of frames or batches are numbers, as far as the first rows tell.

    ``names`` are those of the columns that count, by default all but the label.
    """
    if isinstance(data, Source):
        data = data.request.data
    if _are_files(data):
        fields = [field for file in open_files(data) for field in file.schema]
        kinds = {field.name: holds_numbers(field.type) for field in reversed(fields)}
    else:
        if is_batched(data) and not hasattr(data, "__next__"):
            data = next(iter(data() if callable(data) else data), None)
        if not is_frame(data):
            return True
        arrays = frame_arrays(data)
        kinds = {name: array.dtype.kind in "biuf" for name, array in arrays.items()}
    wanted = [name for name in kinds if name != label] if names is None else names
    return all(kinds.get(name, True) for name in wanted)


def _are_files(data: Any) -> bool:
    """Return whether the data is a path, or a list of paths or of files that are opened already."""
    entries = data if isinstance(data, (list, tuple)) else [data]
    return bool(entries) and all(isinstance(entry, (str, Path, TableFile)) for entry in entries)


def _read_batches(
    batches: Any, request: Request, counts: dict[str, int], labels: bool
) -> Iterator[Block]:
    """Yield the blocks of batches, or of those that a function returns.

    Where batches are frames, all must have the columns of the first one, in whatever order.
    """
    n_read = 0
    for number, batch in enumerate(batches() if callable(batches) else batches):
        # frames that were read from a file may say so
        place = getattr(batch, "attrs", {}).get("place", f"Batch {number} of {request.name}")
        block = _as_block(batch, request, place)
        if block[2] is not None:
            request = replace(request, columns=block[2])
        n_read += block[0].shape[0]
        yield block
    _check_count(counts, f"The batches of {request.name}", n_read)


def _table_source(files: Sequence[TableFile], request: Request) -> Source:
    """Look at the columns of every file, and return the rows of all of them."""
    first = files[0]
    if request.columns is None:
        first.check_heading()
    schemas = [file.schema for file in files]
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
    return Source(request, partial(_read_tables, files, names, request, {}), names)


def _read_tables(
    files: Sequence[TableFile],
    names: list[str],
    request: Request,
    counts: dict[str, int],
    labels: bool,
) -> Iterator[Block]:
    """Yield the blocks of files with named columns; only the wanted columns are read."""
    request = replace(request, columns=names, label=request.label if labels else None)
    for file in files:
        n_read = 0
        size = rows_per_batch(request.frames or len(names))
        strings = (request.strings or ()) if request.frames else bool(request.strings)
        for batch in file.batches(names, request.label, size, strings):
            rows = _file_frame(batch, file.place) if request.frames else batch
            yield _frame_block(rows, request, file.place)
            n_read += batch.num_rows
        _check_count(counts, file.place, n_read)


def _file_frame(batch: Any, place: str) -> Any:
    """Return a batch of a file as a pandas frame: decimals are floats, dates are dates."""
    table, types = as_table(batch), pyarrow("pyarrow.types")
    for position, column in enumerate(table.schema):
        if types.is_binary(column.type):
            raise ValueError(
                f"Column {column.name!r} of {place} is not text in UTF-8. {SAY_ENCODING}"
            )
        if types.is_decimal(column.type):
            table = table.set_column(position, column.name, table.column(position).cast("float64"))
    frame = table.to_pandas(date_as_object=False, ignore_metadata=True)
    frame.attrs["place"] = place
    return frame


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
    labels = None
    if label is not None:
        labels = labels_of(columns[label], f"Column {label!r} of {place}")
    if request.frames:
        return frame_with(as_frame(frame), wanted), labels, list(wanted)
    arrays = [
        numbers_of(columns[name], f"Column {name!r} of {place}", strings=bool(request.strings))
        for name in wanted
    ]
    dtype = request.dtype
    if dtype is None:
        dtype = np.result_type(*{array.dtype for array in arrays}) if arrays else np.float64
    rows = np.empty((frame.shape[0], len(wanted)), dtype=dtype)
    with np.errstate(over="ignore"):
        for position, array in enumerate(arrays):
            rows[:, position] = array
    return rows, labels, list(wanted) if are_names(found) else None


def _check_count(counts: dict[str, int], place: str, n_read: int) -> None:
    """Note how many rows a first whole pass had, and raise where a later one differs."""
    if n_read != (n_rows := counts.setdefault(place, n_read)):
        raise ValueError(
            f"{place} changed between passes: {n_rows} rows at first, then {n_read}. "
            "Leave the rows as they are while they are read, several times."
        )
