"""as_source: rows of whatever kind as a source of batches, and which files a path means.

`TableSource` has rows of files of one format, or of a data set of pyarrow, with the same columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from glob import glob, has_magic
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.io.arrays import ArraySource, BatchSource, MappedSource, as_block
from hedgeclipper.io.formats import FORMATS, CsvFile, DatasetTable, TableFile, is_dataset
from hedgeclipper.io.frames import (
    TextLabels,
    fits_float32,
    frame_block,
    holds_numbers,
    holds_strings,
    index_names,
    is_frame,
    listed,
    not_labels,
    not_numbers,
    positions_of,
    pyarrow,
)
from hedgeclipper.io.libsvm import PACKED, libsvm_source
from hedgeclipper.io.source import Request, Source, check_count, rows_per_batch

_SUFFIXES = {
    "Parquet": (".parquet", ".pq"),
    "Arrow": (".arrow", ".feather", ".ipc"),
    "CSV": tuple(s + p for s in (".csv", ".tsv") for p in ("", ".gz", ".bz2", ".zst")),
    "LibSVM": tuple(s + p for s in (".svm", ".libsvm", ".svmlight") for p in ("", *PACKED)),
    "JSON lines": (".jsonl", ".ndjson"),
    "Excel": (".xlsx", ".xls"),
}
# taken as CSV if they are named, but not looked for in folders
_MAYBE_CSV = ("", ".txt", ".data", ".zip")
_KNOWN = "Files are recognized by their suffix: {}.".format(
    "; ".join(f"{kind} {', '.join(ends)}" for kind, ends in _SUFFIXES.items())
)


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
        pattern like ``"rows/*.parquet"``, or a list of these; Parquet, Arrow, CSV, LibSVM, JSON
        lines and Excel are recognized by suffix. A memory map and a `pyarrow.dataset.Dataset` are
        read like files. A source is returned as it is, or with what is asked for beyond what it
        was made with.
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
    names = None if columns is None else [str(column) for column in columns]
    if names is not None and (isinstance(columns, str) or len(set(names)) < len(names)):
        raise ValueError(f"columns must be a list of different names. Got {columns!r}.")
    request = Request(name, names, label or None, n_columns, dtype, strings, once, data)
    if not isinstance(data, Source):
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
            is_list = option == "columns"
            before, now = (f"[{listed(x)}]" if is_list else repr(x) for x in (had, wanted))
            raise ValueError(
                f"{more.name} is a source that was made with {option}={before}. Here "
                f"{option}={now} is wanted. Make the source with that, or without {option}."
            )
    strings = own.strings or more.strings
    return replace(own, name=more.name, strings=strings, once=more.once, **asked)


def _open(request: Request) -> Source:
    """Return the source for a request that is whole."""
    data, name = request.data, request.name
    if request.columns is not None and request.label in request.columns:
        raise ValueError(
            f"{request.label!r} is the label, and it is in columns too. Take it out there."
        )
    if not is_batched(data):
        block = as_block(data, request, name)
        return ArraySource(block.rows, block.labels, block.column_names, request)
    if isinstance(data, np.ndarray):  # a memory map, whose rows get their dtype when they are read
        return MappedSource(as_block(data, replace(request, dtype=None), name).rows, request)
    if _names_files(data):
        kind, paths = find_files(data)
        if kind == "LibSVM":
            return libsvm_source(paths, request)
        return table_source([FORMATS[kind](path) for path in paths], request)
    if _are_tables(data):
        return table_source(data, request)
    if is_dataset(data):
        return table_source([DatasetTable(data, name)], request)
    if callable(data):
        return BatchSource(data, request)
    if hasattr(data, "__next__") and not request.once:
        raise TypeError(
            f"{name} can be read only once: got {type(data).__name__}, an iterator, but the game "
            "takes several passes. Pass a list of batches, an object with __iter__, or a function "
            "that returns a fresh iterator."
        )
    return BatchSource(lambda: data, request)


def is_batched(data: Any) -> bool:
    """Return whether rows come a batch at a time: files, a memory map, or batches of others."""
    if isinstance(data, np.ndarray):
        base: Any = data
        while isinstance(base, np.ndarray):
            base = base.base
        return isinstance(base, mmap)
    is_function = callable(data) and not hasattr(data, "__array__")
    is_file = _names_files(data) or _are_tables(data) or is_dataset(data)
    if is_file or is_function or hasattr(data, "__next__"):
        return True
    if is_frame(data):
        return False
    if isinstance(data, (list, tuple)):
        return bool(data) and (is_frame(data[0]) or np.ndim(data[0]) == 2)
    is_array = hasattr(data, "__array__") or hasattr(data, "shape") or sparse.issparse(data)
    return hasattr(data, "__iter__") and not is_array


def _names_files(data: Any) -> bool:
    """Return whether the data is a path, or a list of paths."""
    if isinstance(data, (list, tuple)):
        return bool(data) and all(isinstance(entry, (str, Path)) for entry in data)
    return isinstance(data, (str, Path))


def _are_tables(data: Any) -> bool:
    """Return whether the data is a list of files that are opened as tables already."""
    return isinstance(data, list) and bool(data) and isinstance(data[0], TableFile)


def find_files(where: Any) -> tuple[str, list[Path]]:
    """Return the kind of the files and their paths: sorted, or as in a list that is passed.

    Files of folders and patterns that are hidden, or begin with ``_``, are left out.
    """
    entries = where if isinstance(where, (list, tuple)) else [where]
    paths = [path for entry in entries for path in _expanded(entry)]
    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise ValueError(f"{twice} is named twice. Name every file once.")
    kinds: dict[str, Path] = {}
    for path in paths:
        kind = _kind(path) or ("CSV" if path.suffix.lower() in _MAYBE_CSV else None)
        if kind is None:
            raise ValueError(f"{path} has an unknown suffix. {_KNOWN}")
        kinds.setdefault(kind, path)
    if len(kinds) > 1:
        (kind, path), (other, other_path), *_ = kinds.items()
        raise ValueError(
            f"The files are of different kinds: {path} is {kind}, {other_path} is {other}. Pass "
            "files of one kind, for instance with a pattern like '*.parquet'."
        )
    return next(iter(kinds)), paths


def _expanded(entry: Any) -> list[Path]:
    """Return the files that a path, folder or pattern means, sorted."""
    if "://" in str(entry):
        raise ValueError(
            f"{entry} is an address. Only files of this machine are read by their path: pass "
            "pyarrow.dataset.dataset(address), or a collection of Dask."
        )
    path = Path(entry).expanduser()
    if path.is_dir():
        found = [file for file in _visible(path.iterdir()) if _kind(file) is not None]
        problem = (
            f"{path} has no data files in it. Files in folders below are not looked for; name "
            f"them with a pattern like '{path}/**/*.parquet'. {_KNOWN}"
        )
    elif path.exists():
        return [path]
    elif has_magic(str(path)):
        found = _visible(map(Path, glob(str(path), recursive=True)))
        problem = f"No file matches {str(path)!r}. Check the folder and the pattern."
    else:
        raise FileNotFoundError(f"{path} does not exist. Pass the path of a file or a folder.")
    if not found:
        raise FileNotFoundError(problem)
    return sorted(found)


def _visible(paths: Iterable[Path]) -> list[Path]:
    return [path for path in paths if path.is_file() and not path.name.startswith((".", "_"))]


def _kind(path: Path) -> str | None:
    name = path.name.lower()
    return next((kind for kind, ends in _SUFFIXES.items() if name.endswith(ends)), None)


@dataclass(frozen=True, eq=False)
class TableSource(Source):
    """Rows of tables with named columns, one file after the other.

    Only the wanted columns are read, about 16 MB at a time. When a pass ends, Arrow is asked to
    give back the memory that it keeps for later.
    """

    files: Sequence[TableFile]
    dtype: Any
    request: Request
    names: list[str] = field(default_factory=list)
    n_rows: int | None = None
    counts: dict[str, int] = field(default_factory=dict)

    def _blocks(self, with_labels: bool) -> Iterator[tuple[np.ndarray, Any]]:
        label = self.label if with_labels else None
        request = Request("", self.names, label, dtype=self.dtype, strings=self.dtype == object)
        text = TextLabels() if isinstance(self.files[0], CsvFile) else None
        size = rows_per_batch(len(self.names))
        pool = pyarrow().default_memory_pool()
        try:
            for file in self.files:
                n_read = 0
                for batch in file.batches(self.names, label, size):
                    block = frame_block(batch, request, file.place)
                    labels = block.labels
                    if text is not None and labels is not None:
                        labels = text.read(labels, f"Column {label!r} of {file.place}")
                    yield block.rows, labels
                    n_read += batch.num_rows
                check_count(self.counts, file.place, n_read)
        finally:
            pool.release_unused()


def table_source(files: Sequence[TableFile], request: Request) -> TableSource:
    """Look at the columns of every file, and return the rows of all of them."""
    if request.columns is None and isinstance(files[0], CsvFile):
        files[0].check_heading()
    if request.strings:
        files = [replace(f, strings=True) if isinstance(f, CsvFile) else f for f in files]
    heads = {file.place: file.head() for file in files}
    schemas = {place: schema for place, (schema, _) in heads.items()}
    names = _wanted(schemas[files[0].place], request, files[0].place)
    dtype = _common_dtype(schemas, names, request)
    _check_label_types(schemas, request.label)
    counts = {place: n_rows for place, (_, n_rows) in heads.items() if n_rows is not None}
    return TableSource(
        files=files,
        names=names,
        dtype=dtype if request.dtype is None else np.dtype(request.dtype),
        request=request,
        n_rows=sum(counts.values()) if len(counts) == len(heads) else None,
        counts=counts,
    )


def _wanted(schema: Any, request: Request, place: str) -> list[str]:
    if request.columns is not None:
        return list(request.columns)
    names = _own_names(schema, request.label)
    if not names or "" in names:
        raise ValueError(
            f"{place} has {'a column without a name' if names else 'no columns for the rows'}. It "
            f"has {listed(schema.names)}. Write a pandas frame with index=False, or name the "
            "wanted columns with columns."
        )
    request.check_width(len(names), place)
    return names


def _own_names(schema: Any, label: Any) -> list[str]:
    """Return the names of the columns but the label and the index of a pandas frame."""
    left_out = {label, *index_names(schema)}
    return [name for name in schema.names if name not in left_out]


def _common_dtype(schemas: dict[str, Any], names: list[str], request: Request) -> np.dtype:
    """Return the dtype that holds the columns of all files, which must go together."""
    dtype: np.dtype = np.dtype(np.float32)
    first, known = next(iter(schemas)), set(names)
    for place, schema in schemas.items():
        others = [name for name in _own_names(schema, request.label) if name not in known]
        if others and request.columns is None:
            raise ValueError(
                f"{first} has no column {others[0]!r}, but {place} has. Make the columns of all "
                "files the same, or name the wanted ones with columns."
            )
        for position in positions_of(names, schema.names, place):
            name, kind = schema.field(position).name, schema.field(position).type
            if request.strings and holds_strings(kind):
                dtype = np.dtype(object)
            elif not holds_numbers(kind):
                but = "" if place == first else f", but numbers in {first}"
                raise not_numbers(f"Column {name!r} of {place}", f"{kind}{but}")
            elif not fits_float32(kind) and dtype.kind != "O":
                dtype = np.dtype(np.float64)
    return dtype


def _check_label_types(schemas: dict[str, Any], label: Any) -> None:
    """Raise unless the labels of all files are numbers, or strings in all."""
    known: dict[bool, tuple[Any, str]] = {}
    for place, schema in schemas.items() if label is not None else ():
        (position,) = positions_of([label], schema.names, place)
        kind, column = schema.field(position).type, f"Column {label!r} of {place}"
        if not holds_numbers(kind) and not holds_strings(kind):
            raise not_labels(column, kind)
        if str(kind) != "null":
            known.setdefault(holds_strings(kind), (kind, place))
        if len(known) > 1:
            other, other_place = known[not holds_strings(kind)]
            raise TypeError(
                f"{column} is {kind}, but {other} in {other_place}. Encode the classes in the same "
                "way in all files."
            )
