"""Rows as sources of batches: arrays, frames, batches that others make, and files.

Everything downstream reads rows batch by batch and more than once, so a source can be iterated
over again and again. `as_source` makes one of whatever a user passes. `open_files` opens files: a
format is a class with its suffixes.

Parquet is read with `pyarrow.parquet.ParquetFile.iter_batches` and not with `pyarrow.dataset`,
which decodes whole row groups: memory would grow with their size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from glob import glob, has_magic
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from hedgeclipper.io.arrays import as_rows, rows_per_batch
from hedgeclipper.io.csv_dialect import UNKNOWN_DIALECT, CsvDialect
from hedgeclipper.io.frames import (
    are_names,
    as_frame,
    as_table,
    as_text,
    check_columns,
    frame_arrays,
    frame_columns,
    frame_with,
    holds_numbers,
    index_names,
    is_float,
    is_frame,
    labels_of,
    listed,
    missing_labels,
    numbers_of,
    pyarrow,
)
from hedgeclipper.io.messages import import_extra

_BUFFER_BYTES = 1 << 16
CSV_BLOCK_BYTES = 1 << 20
# marks columns of CSV whose digits begin with 0
CODES = {b"hedgeclipper": b"codes"}
_LEADING_ZERO = r"^\s*[-+]?0\d"
# NaN and inf may be names of columns
_NUMERAL = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
_PACKS = ("", ".gz", ".bz2", ".zst")
_PACKED_MARKS = (b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd", b"PK\x03\x04")  # gzip, bz2, zstd, zip
# what Arrow takes a column of CSV for next if a value does not suit; else it holds strings
_WIDER = {"null": "int64", "int64": "float64", "date32[day]": "timestamp[s]"}
Batches = Iterator[Any]  # of record batches
SAY_ENCODING = "Write the file in UTF-8, or name its encoding, as in --encoding latin-1."


@contextmanager
def naming_damaged_file(place: str, *errors: type[Exception]) -> Iterator[None]:
    """Name the file that is gone, or that these errors show to be damaged."""
    damage: tuple[type[Exception], ...] = (*errors, OSError)
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{place} is gone. Keep files in place as long as they are read, several times."
        ) from error
    except damage as error:
        # Errors of the operating system have a number; those of damaged files do not.
        if getattr(error, "errno", None) is not None:
            raise
        raise OSError(
            f"{place} is damaged or cut short ({error}). Put a whole copy in its place."
        ) from error


@dataclass(frozen=True)
class TableFile:
    """A file with named columns, read with pyarrow; each format is a class of its own."""

    path: Path
    kind: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]

    @property
    def place(self) -> str:
        """What to call it in errors."""
        return str(self.path)

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns; of CSV what the first lines suggest."""
        raise NotImplementedError

    def check_heading(self) -> None:
        """Raise if names of columns cannot be read; only CSV may have none."""

    def _read(self, names: list[str], size: int, label: str | None, strings: Any) -> Batches:
        """Yield record batches of these columns, of which one may be the label."""
        raise NotImplementedError

    def batches(
        self,
        names: list[str],
        label: str | None = None,
        size: int | None = None,
        strings: Sequence[str] | None = None,
    ) -> Batches:
        """Yield checked record batches of these columns and the label, of at most so many rows.

        Columns hold numbers, unless ``strings`` are given: then they are of any kind, and those of
        these names hold strings. Only CSV has to know; columns have types that suit all rows.
        """
        size = size or rows_per_batch(len(names))
        wanted = names if label is None else [*names, label]
        check_columns(wanted, self.schema.names, self.place)
        with self._naming_damage():
            for batch in self._read(wanted, size, label, strings):
                # or strings that are no text would fail further on
                batch.validate(full=True)
                yield from (batch.slice(k, size) for k in range(0, batch.num_rows, size))

    def _naming_damage(self) -> Any:
        return naming_damaged_file(self.place, pyarrow().ArrowException)


class ParquetFile(TableFile):
    """Rows of a Parquet file."""

    kind, suffixes = "Parquet", (".parquet", ".pq")

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns."""
        with self._naming_damage(), self._open() as file:
            return file.schema_arrow

    def _read(self, names: list[str], size: int, label: str | None, strings: Any) -> Batches:
        with self._open() as file:
            yield from file.iter_batches(size, columns=names)

    def _open(self) -> Any:
        return pyarrow("pyarrow.parquet").ParquetFile(
            self.path, buffer_size=_BUFFER_BYTES, pre_buffer=False, page_checksum_verification=True
        )


@dataclass(frozen=True)
class CsvFile(TableFile):
    """Rows of a CSV file, compressed or not; how it is written is found in its first lines.

    In batches, numbers are read as float64 whatever the first lines look like, and labels as
    numbers if the first one is.
    Nothing, NA, NaN and null mark a missing value. With ``keep_zeros``, columns in which digits
    begin with 0, such as postal codes, are strings. Arrow reads up to 32 blocks of 1 MB ahead.
    """

    kind = "CSV"
    suffixes = tuple(f".{name}{pack}" for name in ("csv", "tsv") for pack in _PACKS)
    given: CsvDialect = UNKNOWN_DIALECT
    keep_zeros: bool = False

    @cached_property
    def dialect(self) -> CsvDialect:
        """How the file is written."""
        return self.given.found_in(self._start, ".tsv" in self.path.name.lower())

    @cached_property
    def _start(self) -> bytes:
        with self._naming_damage(), self._stream() as stream:
            return stream.read(_BUFFER_BYTES)

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns, as the first block of lines suggests."""
        if self._start.startswith(_PACKED_MARKS):
            raise ValueError(
                f"{self.path} is compressed, and its name does not say so. Give it a suffix such "
                "as .csv.gz, .csv.bz2 or .csv.zst, or unpack it."
            )
        if b"\0" in self._start and "16" not in str(self.dialect.encoding):
            raise ValueError(f"{self.path} is not text in UTF-8; it may be UTF-16. {SAY_ENCODING}")
        with self._open() as reader:
            schema = reader.schema
        whole = {field.name: pyarrow().string() for field in schema if str(field.type) == "int64"}
        if not self.keep_zeros or not whole or len(set(schema.names)) < len(schema.names):
            return schema
        with self._open(list(whole), whole) as reader:
            block = next(iter(reader), None)
        match = pyarrow("pyarrow.compute").match_substring_regex
        for name in whole:
            if block and match(block[name], _LEADING_ZERO).true_count:
                field = pyarrow().field(name, pyarrow().string(), metadata=CODES)
                schema = schema.set(schema.get_field_index(name), field)
        return schema

    def check_heading(self) -> None:
        """Raise where the file has no heading.

        Arrow would blame some line further down, or take a row of numbers for names.
        """
        try:
            names = self.schema.names
        except UnicodeDecodeError as error:
            encoding = str(self.dialect.encoding).replace("utf8", "UTF-8")
            raise ValueError(
                f"The heading of {self.path} is not text in {encoding}. {SAY_ENCODING}"
            ) from error
        is_numbered = names == [str(number) for number in range(len(names))]
        if not is_numbered and all(map(_NUMERAL.fullmatch, names)):
            raise ValueError(
                f"{self.path} has no header row: its first line is {','.join(names[:5])}. Put a "
                "line with the names of the columns first, or pass columns if these are their "
                "names."
            )

    def _read(self, names: list[str], size: int, label: str | None, strings: Any) -> Batches:
        schema, label_type, more = self.schema, None, {}
        types = {name: schema.field(name).type for name in names if name != label}
        if strings is not None:
            types = self._types_of_all_rows(schema, list(types), strings)
            more["null_values"] = missing_strings()
        for name, kind in types.items():
            if str(kind) != "bool" and holds_numbers(kind) and not more:
                types[name] = pyarrow().float64()
        if label is not None:
            types[label] = pyarrow().string()
        with self._open(names, types, schema.names, **more) as reader:
            for batch in reader:
                if label is not None:
                    labels = batch.column(label)
                    if label_type is None and (known := labels.drop_null()):
                        label_type = "float64" if is_float(known[0].as_py()) else "string"
                    labels = labels.cast(label_type or "float64")
                    batch = batch.set_column(len(names) - 1, label, labels)
                yield batch

    def _types_of_all_rows(
        self, schema: Any, names: list[str], strings: Sequence[str]
    ) -> dict[str, Any]:
        """Return types of columns that suit all rows: those of the first ones, or wider ones.

        They are found in a pass over the file, once.
        """
        known = self.__dict__.setdefault("_types", {})
        text = pyarrow().string()
        types = {name: text if name in strings else schema.field(name).type for name in names}
        key = tuple(types.items())
        while key not in known:
            try:
                with self._open(names, types, null_values=missing_strings()) as reader:
                    for _ in reader:
                        pass
                known[key] = types
            except ValueError as error:
                found = re.search(r"CSV column #(\d+): .*conversion error to", str(error))
                name = schema.names[int(found[1])] if found else None
                if name not in types or types[name] == text:
                    raise
                wider = _WIDER.get(str(types[name]))
                types = types | {name: pyarrow().type_for_alias(wider) if wider else text}
        return dict(known[key])

    def _stream(self) -> Any:
        return pyarrow().input_stream(str(self.path))  # unpacked, by its suffix

    @contextmanager
    def _open(
        self,
        names: list[str] | None = None,
        types: Any = None,
        heading: Sequence[str] = (),
        **more: Any,
    ) -> Iterator[Any]:
        csv, dialect = pyarrow("pyarrow.csv"), self.dialect
        options = (
            csv.ReadOptions(
                encoding=dialect.encoding, use_threads=False, block_size=CSV_BLOCK_BYTES
            ),
            csv.ParseOptions(delimiter=dialect.separator, newlines_in_values=True),
            csv.ConvertOptions(
                include_columns=names,
                column_types=types,
                strings_can_be_null=True,
                decimal_point=dialect.decimal,
                **more,
            ),
        )
        with (
            self._naming_damage(),
            self._naming_line(heading),
            self._stream() as stream,
            csv.open_csv(stream, *options) as reader,
        ):
            yield reader

    @contextmanager
    def _naming_line(self, heading: Sequence[str]) -> Iterator[None]:
        """Name the file, and the column if there is a heading, where a line cannot be read."""
        invalid = pyarrow().ArrowInvalid
        try:
            yield
        except invalid as error:
            if "Empty CSV file" in str(error):
                raise ValueError(
                    f"{self.place} is empty. Write a heading and rows, or leave it out."
                ) from error
            found = re.search(r"column #(\d+)", str(error))
            column = f" in column {heading[int(found[1])]!r}" if found and heading else ""
            raise ValueError(
                f"{self.place} cannot be read{column}: {error}. Correct that line; leave the place "
                "of a missing number empty."
            ) from error


def missing_strings() -> list[str]:
    """Return the strings that mean a missing value where a whole table is read."""
    return [*pyarrow("pyarrow.csv").ConvertOptions().null_values, "?"]


class ExcelFile(TableFile):
    """Rows of the first sheet of a workbook, which is read as a whole.

    Missing values are those of CSV; columns of several kinds, such as numbers and strings, are
    strings.
    """

    kind, suffixes = "Excel", (".xlsx", ".xls", ".ods")

    @cached_property
    def _sheet(self) -> Any:
        calamine = import_extra("python_calamine", "excel", "An Excel file")
        pandas = import_extra("pandas", "excel", "An Excel file")
        options = {"engine": "calamine", "keep_default_na": False, "na_values": missing_strings()}
        with naming_damaged_file(self.place, calamine.CalamineError, ValueError):
            frame = pandas.read_excel(self.path, **options).rename(columns=str)
        for name, column in frame.items():
            kind = pandas.api.types.infer_dtype(column)
            if kind.startswith("mixed") or kind in ("integer-na", "time"):
                texts = as_text(column.to_numpy(dtype=object))
                texts[missing_labels(column.to_numpy(dtype=object))] = None
                frame[name] = texts
        return pyarrow().Table.from_pandas(frame, preserve_index=False)

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns."""
        return self._sheet.schema

    def _read(self, names: list[str], size: int, label: str | None, strings: Any) -> Batches:
        yield from self._sheet.select(names).to_batches()


FORMATS = (ParquetFile, CsvFile, ExcelFile)
_KNOWN = "Files are recognized by their suffix: {}.".format(
    "; ".join(f"{one.kind} {', '.join(one.suffixes)}" for one in FORMATS)
)


def open_files(where: Any, dialect: CsvDialect = UNKNOWN_DIALECT, **csv: Any) -> list[Any]:
    """Return the files that paths, folders and patterns mean, all of one format.

    They are sorted, or as in a list that is passed. Files of folders and patterns that are hidden,
    or begin with ``_`` or ``~``, are left out. The dialect, and what else `CsvFile` takes, is for
    files of CSV.
    """
    entries = where if isinstance(where, (list, tuple)) else [where]
    if all(isinstance(entry, TableFile) for entry in entries):
        return list(entries)
    paths = [path for entry in entries for path in _expanded(entry)]
    kinds: dict[Any, Path] = {}
    for path in paths:
        # taken as CSV if they are named, but not looked for in folders
        may_be_csv = path.suffix.lower() in ("", ".txt", ".data")
        kind = _format_of(path) or (CsvFile if may_be_csv else None)
        if kind is None:
            raise ValueError(f"{path} has an unknown suffix. Save it as CSV or Parquet. {_KNOWN}")
        kinds.setdefault(kind, path)
    if len(kinds) > 1:
        (one, path), (other, other_path), *_ = kinds.items()
        raise ValueError(
            f"The files are of different kinds: {path} is {one.kind}, {other_path} is "
            f"{other.kind}. Pass files of one kind, for instance with a pattern like '*.parquet'."
        )
    (kind,) = kinds
    return [kind(path, dialect, **csv) if kind is CsvFile else kind(path) for path in paths]


def _expanded(entry: Any) -> list[Path]:
    """Return the files that a path, folder or pattern means, sorted."""
    path = Path(entry).expanduser()
    if path.is_dir():
        found = [file for file in path.iterdir() if _format_of(file) is not None]
        problem = (
            f"{path} has no data files in it. Files in folders below are not looked for; name "
            f"them with a pattern like '{path}/**/*.parquet'. {_KNOWN}"
        )
    elif path.exists():
        return [path]
    elif has_magic(str(path)):
        found = [Path(name) for name in glob(str(path), recursive=True)]
        problem = f"No file matches {str(path)!r}. Check the folder and the pattern."
    else:
        raise FileNotFoundError(f"{path} does not exist. Pass the path of a file or a folder.")
    visible = [
        file for file in found if file.is_file() and not file.name.startswith((".", "_", "~"))
    ]
    if not visible:
        raise FileNotFoundError(problem)
    return sorted(visible)


def _format_of(path: Path) -> Any:
    name = path.name.lower()
    return next((one for one in FORMATS if name.endswith(one.suffixes)), None)


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
    strings: Sequence[str] = ()
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
    strings: Sequence[str] = (),
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
    strings : sequence of str, default=()
        With ``frames``, names of columns that hold strings whatever they look like.
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
    data = request.data
    if not is_batched(data):
        block = _as_block(data, request, request.name)
        return Source(request, lambda with_labels: [block], block[2])
    if _are_files(data):
        return _table_source(open_files(data), request)
    if isinstance(data, np.ndarray):  # a memory map
        size = rows_per_batch(as_rows(data, name=request.name).shape[1])
        parts = [data[start : start + size] for start in range(0, len(data), size)]
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


def are_numbers(data: Any, names: Sequence[str] | None = None, label: str | None = None) -> bool:
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
        check_columns(names if label is None else [*names, label], schema.names, file.place)
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
        size = rows_per_batch(max(request.frames, len(names)))
        strings = request.strings if request.frames else None
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
    check_columns([] if label is None else [label], found, place)
    wanted = [name for name in found if name != label]
    if request.columns is not None and are_names(found):
        wanted = request.columns
        check_columns(wanted, found, place)
    labels = None
    if label is not None:
        labels = labels_of(columns[label], f"Column {label!r} of {place}")
    if request.frames:
        return frame_with(as_frame(frame), wanted), labels, list(wanted)
    arrays = [numbers_of(columns[name], f"Column {name!r} of {place}") for name in wanted]
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
