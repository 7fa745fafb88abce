"""Table files, one class each: what columns a file has, how many rows, and its rows in batches.

Parquet is read with `pyarrow.parquet.ParquetFile.iter_batches` and not with a Scanner of
`pyarrow.dataset`, which decodes whole row groups: memory would grow with their size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from hedgeclipper.io.csv_dialect import COMMENT, UNKNOWN_DIALECT, CsvDialect
from hedgeclipper.io.extras import import_extra
from hedgeclipper.io.frames import holds_numbers, holds_strings, positions_of, pyarrow
from hedgeclipper.io.libsvm import open_packed
from hedgeclipper.io.source import naming_damaged_file

_STREAM_BYTES = 1 << 16
_CSV_BLOCK_BYTES = 1 << 20
_CSV_LINES_PER_BLOCK = 4
_HEADING_BYTES = 1 << 16
_ROWS_PER_BATCH = 1 << 16
# NaN and inf may be names of columns
_NUMERAL = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
_LEADING_ZERO = r"^\s*[-+]?0\d"
# marks columns whose digits begin with 0
CODES = {b"hedgeclipper": b"codes"}
_SAY_ENCODING = "Write the file in UTF-8, or name its encoding, as in --encoding latin-1."
_ARROW_FILE_MAGIC = b"ARROW1"
_PACKINGS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}


class TableFile:
    """A table with named columns; ``place`` is what to call it in errors."""

    place: str

    def head(self) -> tuple[Any, int | None]:
        """Return the schema, and the number of rows where that is cheap."""
        raise NotImplementedError

    def _read(self, names: list[str], label: str | None, size: int) -> Iterator[Any]:
        """Yield record batches of these columns, the label among them."""
        raise NotImplementedError

    def batches(self, names: list[str], label: str | None, size: int) -> Iterator[Any]:
        """Yield checked record batches of these columns and the label, of at most so many rows."""
        wanted = names if label is None else [*names, label]
        for batch in self._read(wanted, label, size):
            self._check(batch)
            yield batch

    def table(self, names: list[str], missing: Sequence[str] | None = None) -> Any:
        """Return all rows in one table; in CSV the strings of ``missing`` mean a missing value."""
        schema, _ = self.head()
        schema = pyarrow().schema([schema.field(name) for name in names])
        batches = self.batches(names, None, _ROWS_PER_BATCH)
        return pyarrow().Table.from_batches((batch.select(names) for batch in batches), schema)

    def _check(self, data: Any) -> None:
        with naming_damaged_table(self.place):
            # or a damaged string would be read from wherever its offset points to
            data.validate(full=True)


@dataclass(frozen=True)
class _File(TableFile):
    path: Path

    @property
    def place(self) -> str:  # type: ignore[override]
        """The path."""
        return str(self.path)


class ParquetFile(_File):
    """Rows of a Parquet file."""

    def head(self) -> tuple[Any, int | None]:
        """Return schema and number of rows, which the footer has."""
        with naming_damaged_table(self.place), self._open() as file:
            return file.schema_arrow, file.metadata.num_rows

    def _read(self, names: list[str], label: str | None, size: int) -> Iterator[Any]:
        n_read, metadata = 0, None
        with (
            naming_damaged_table(self.place, lambda: _row_groups(metadata, n_read, size)),
            self._open() as file,
        ):
            metadata = file.metadata
            positions_of(names, file.schema_arrow.names, self.place)
            for batch in file.iter_batches(size, columns=names):
                yield batch
                n_read += batch.num_rows

    def _open(self) -> Any:
        return pyarrow("pyarrow.parquet").ParquetFile(
            self.path, buffer_size=_STREAM_BYTES, pre_buffer=False, page_checksum_verification=True
        )


def _row_groups(metadata: Any, first_row: int, size: int) -> str:
    """Return which row groups hold the rows of the batch that begins here."""
    if metadata is None:
        return ""
    start, groups = 0, []
    for group in range(metadata.num_row_groups):
        end = start + metadata.row_group(group).num_rows
        if start < first_row + size and end > first_row:
            groups.append(group)
        start = end
    last = f" to {groups[-1]}" if len(groups) > 1 else ""
    return f"in row group {groups[0]}{last}, from row {first_row:,} on" if groups else ""


class ArrowFile(_File):
    """Rows of an Arrow (Feather) file or stream, which is mapped into memory."""

    def head(self) -> tuple[Any, int | None]:
        """Return the schema, and the number of rows unless the file is a stream."""
        with self._open() as reader:
            schema = reader.schema
            if not hasattr(reader, "num_record_batches"):
                return schema, None
        # Counted in a file that is closed here: a dataset's own threads close theirs later.
        with naming_damaged_table(self.place), pyarrow().memory_map(str(self.path)) as file:
            fragment = pyarrow("pyarrow.dataset").IpcFileFormat().make_fragment(file)
            return schema, fragment.count_rows()

    def _read(self, names: list[str], label: str | None, size: int) -> Iterator[Any]:
        schema, _ = self.head()
        fields = positions_of(names, schema.names, self.place)
        with self._open(fields) as reader:
            is_file = hasattr(reader, "num_record_batches")
            numbers = range(reader.num_record_batches if is_file else 0)
            for batch in map(reader.get_batch, numbers) if is_file else reader:
                yield from _slices(batch, size)

    @contextmanager
    def _open(self, fields: list[int] | None = None) -> Iterator[Any]:
        ipc = pyarrow("pyarrow.ipc")
        options = ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        with naming_damaged_table(self.place), pyarrow().memory_map(str(self.path)) as file:
            is_file = file.read(len(_ARROW_FILE_MAGIC)) == _ARROW_FILE_MAGIC
            file.seek(0)
            with (ipc.open_file if is_file else ipc.open_stream)(file, options=options) as reader:
                yield reader


def _slices(batch: Any, size: int) -> Iterator[Any]:
    return (batch.slice(start, size) for start in range(0, batch.num_rows, size))


@dataclass(frozen=True)
class CsvFile(_File):
    """Rows of a CSV file, compressed or not; how it is written is found in its first lines.

    In batches, numbers are read as float64 whatever the first lines look like, and labels as
    strings; where ``strings`` are allowed and a column has some, all but booleans are strings.
    Nothing, NA, NaN and null mark a missing value. With ``keep_zeros``, columns in which digits
    begin with 0, such as postal codes, are strings. Arrow reads up to 32 blocks of 1 MB ahead,
    larger ones where the first lines are longer.
    """

    strings: bool = False
    given: CsvDialect = UNKNOWN_DIALECT
    keep_zeros: bool = False

    @cached_property
    def dialect(self) -> CsvDialect:
        """How the file is written."""
        is_tsv = ".tsv" in self.path.name.lower()
        return self.given.found_in(self._start(_HEADING_BYTES), is_tsv)

    def head(self) -> tuple[Any, int | None]:
        """Return the schema that the first block of lines suggests."""
        with self._open() as reader:
            schema = reader.schema
        if self.keep_zeros:
            for name in self._with_leading_zeros(schema):
                field = pyarrow().field(name, pyarrow().string(), metadata=CODES)
                schema = schema.set(schema.get_field_index(name), field)
        return schema, None

    def _with_leading_zeros(self, schema: Any) -> list[str]:
        """Return columns of whole numbers of which one begins with 0, in the first block."""
        whole = {f.name: pyarrow().string() for f in schema if str(f.type) == "int64"}
        if not whole or len(set(schema.names)) < len(schema.names):
            return []
        with self._open(self._convert_options(list(whole), whole)) as reader:
            block = next(iter(reader), None)
        match = pyarrow("pyarrow.compute").match_substring_regex
        return [n for n in whole if block and match(block[n], _LEADING_ZERO).true_count]

    def check_heading(self) -> None:
        """Raise where the file is not text with a heading.

        Arrow would blame some line further down, or take a row of numbers for names.
        """
        if b"\0" in self._start(_HEADING_BYTES) and "16" not in str(self.dialect.encoding):
            raise ValueError(f"{self.path} is not text in UTF-8; it may be UTF-16. {_SAY_ENCODING}")
        try:
            names = self.head()[0].names
        except UnicodeDecodeError as error:
            encoding = str(self.dialect.encoding).replace("utf8", "UTF-8")
            raise ValueError(
                f"The heading of {self.path} is not text in {encoding}. {_SAY_ENCODING}"
            ) from error
        numbered = [str(number) for number in range(len(names))]
        if names != numbered and all(map(_NUMERAL.fullmatch, names)):
            raise ValueError(
                f"{self.path} has no header row: its first line is {','.join(names[:5])}. Put a "
                "line with the names of the columns first, or pass columns if these are their "
                "names."
            )

    def table(
        self, names: list[str], missing: Sequence[str] | None = None, types: Any = None
    ) -> Any:
        """Return all rows in one table; types of columns that are not given suit all rows."""
        csv = pyarrow("pyarrow.csv")
        kept = self.head()[0] if self.keep_zeros else ()
        types = {f.name: f.type for f in kept if f.metadata == CODES} | dict(types or {})
        convert = self._convert_options(names, types, null_values=missing)
        with naming_damaged_table(self.place), self._unpacked() as stream:
            table = csv.read_csv(stream, self._read_options(), self._parse_options(), convert)
        self._check(table)
        return table

    def column_of_strings(self, name: str) -> Any:
        """Return a column as the file has it, with null for empty ones."""
        return self.table([name], [""], {name: pyarrow().string()}).column(0)

    def _read(self, names: list[str], label: str | None, size: int) -> Iterator[Any]:
        schema, _ = self.head()
        positions_of(names, schema.names, self.place)
        types = {name: schema.field(name).type for name in names if name != label}
        # the first lines of a column of strings may be empty, or look like numbers
        has_strings = self.strings and any(map(holds_strings, types.values()))
        for name, kind in types.items():
            if str(kind) != "bool" and holds_numbers(kind):
                types[name] = pyarrow().string() if has_strings else pyarrow().float64()
        if label is not None:
            types[label] = pyarrow().string()
        options = self._convert_options(names, types)
        with self._open(options, schema.names) as reader:
            for batch in reader:
                yield from _slices(batch, size)

    @contextmanager
    def _open(self, convert: Any = None, names: Sequence[str] = ()) -> Iterator[Any]:
        csv = pyarrow("pyarrow.csv")
        with naming_damaged_table(self.place), _naming_csv_column(self.place, names):
            read = self._read_options(use_threads=False, block_size=self._block_bytes())
            options = self._convert_options() if convert is None else convert
            with (
                self._unpacked() as stream,
                csv.open_csv(stream, read, self._parse_options(), options) as reader,
            ):
                yield reader

    def _convert_options(
        self, names: list[str] | None = None, types: Any = None, **more: Any
    ) -> Any:
        return pyarrow("pyarrow.csv").ConvertOptions(
            include_columns=names,
            column_types=types,
            strings_can_be_null=True,
            decimal_point=self.dialect.decimal,
            **more,
        )

    def _read_options(self, **more: Any) -> Any:
        return pyarrow("pyarrow.csv").ReadOptions(
            encoding=self.dialect.encoding,
            skip_rows=self.dialect.n_comments,
            **more,
        )

    def _parse_options(self) -> Any:
        def skip_comments(row: Any) -> str:
            return "skip" if row.text.startswith(COMMENT) else "error"

        # Arrow prints a traceback if it cannot decode a row for the handler
        has_comments = re.search(rb"^\0?#", self._start(_HEADING_BYTES), re.MULTILINE)
        return pyarrow("pyarrow.csv").ParseOptions(
            delimiter=self.dialect.separator,
            newlines_in_values=True,
            invalid_row_handler=skip_comments if has_comments else None,
        )

    def _block_bytes(self) -> int:
        """Return the size of a block that holds the first lines, however long they are."""
        size = _CSV_BLOCK_BYTES
        while True:
            start = self._start(size)
            text = start.lstrip()
            n_lines = max(text.count(b"\n"), text.count(b"\r"))
            if len(start) < size or n_lines >= _CSV_LINES_PER_BLOCK:
                return size
            size *= 2

    def _start(self, size: int) -> bytes:
        """Return the first so many bytes, unpacked."""
        with naming_damaged_table(self.place), self._unpacked() as stream:
            return stream.read(size)

    def _unpacked(self) -> Any:
        suffix = self.path.suffix.lower()
        if suffix == ".xz":  # which Arrow does not know
            return pyarrow().input_stream(open_packed(self.path))
        if suffix == ".zip":
            return pyarrow().input_stream(_open_zipped(self.path))
        return pyarrow().input_stream(str(self.path), compression=_PACKINGS.get(suffix))


def _open_zipped(path: Path) -> Any:
    """Return the one file of an archive, open to be read."""
    archive = ZipFile(path)
    names = [n for n in archive.namelist() if not n.endswith("/") and "__MACOSX" not in n]
    if len(names) != 1 or not names[0].lower().endswith((".csv", ".tsv", ".txt")):
        raise ValueError(
            f"{path} must have one CSV file in it. It has {len(names)}: {', '.join(names[:5])}. "
            "Unpack it, and pass the files of rows."
        )
    return archive.open(names[0])


@contextmanager
def _naming_csv_column(place: str, names: Sequence[str]) -> Iterator[None]:
    """Name the file and the column where a line of CSV cannot be read."""
    invalid = pyarrow().ArrowInvalid
    try:
        yield
    except invalid as error:
        if "Empty CSV file" in str(error):
            raise ValueError(
                f"{place} is empty. Write a heading and rows, or leave it out."
            ) from error
        found = re.search(r"column #(\d+)", str(error))
        column = f" in column {names[int(found[1])]!r}" if found and names else ""
        raise ValueError(
            f"{place} cannot be read{column}: {error}. Correct that line; leave the place of a "
            "missing number empty."
        ) from error


def naming_damaged_table(
    place: str, where: Callable[[], str] = lambda: ""
) -> AbstractContextManager[None]:
    """Name the file that Arrow cannot read, and the place in it."""
    return naming_damaged_file(place, pyarrow().ArrowException, BadZipFile, where=where)


@dataclass(frozen=True, eq=False)
class DatasetTable(TableFile):
    """A whole data set of pyarrow in the place of a file.

    Its Scanner reads ahead as little as can be set, but decodes whole row groups.
    """

    dataset: Any
    place: str

    def head(self) -> tuple[Any, int | None]:
        """Return the schema, and the number of rows where the files have it."""
        kind = getattr(getattr(self.dataset, "format", None), "default_extname", "")
        is_counted = kind in ("parquet", "arrow", "feather")
        return self.dataset.schema, self.dataset.count_rows() if is_counted else None

    def _read(self, names: list[str], label: str | None, size: int) -> Iterator[Any]:
        scanner = self.dataset.scanner(
            columns=names,
            batch_size=size,
            batch_readahead=1,
            fragment_readahead=1,
            use_threads=False,
        )
        with naming_damaged_table(self.place):
            yield from scanner.to_batches()


def is_dataset(data: Any) -> bool:
    """Return whether the data is a data set of pyarrow."""
    if not type(data).__module__.startswith("pyarrow"):
        return False
    return isinstance(data, pyarrow("pyarrow.dataset").Dataset)


class _WholeFile(_File):
    """Rows of a file that can only be read as a whole."""

    @cached_property
    def _table(self) -> Any:
        raise NotImplementedError

    def head(self) -> tuple[Any, int | None]:
        """Return schema and number of rows."""
        return self._table.schema, self._table.num_rows

    def _read(self, names: list[str], label: str | None, size: int) -> Iterator[Any]:
        positions_of(names, self._table.schema.names, self.place)
        yield from self._table.select(names).to_batches(max_chunksize=size)


class JsonLinesFile(_WholeFile):
    """Rows of a file that has one JSON object in each line."""

    @cached_property
    def _table(self) -> Any:
        with naming_damaged_table(self.place):
            return pyarrow("pyarrow.json").read_json(str(self.path))


class ExcelFile(_WholeFile):
    """Rows of the first sheet of a workbook, whose first line has the names.

    Cells of text are read as in CSV: as numbers if all cells of a column are numbers and none has
    digits that begin with 0, and else as strings.
    """

    @cached_property
    def _table(self) -> Any:
        pandas = import_extra("pandas", "io", "Reading a workbook")
        engine = "openpyxl" if find_spec("python_calamine") is None else "calamine"
        name = "python_calamine" if engine == "calamine" else engine
        reader = import_extra(name, "excel", "A workbook")
        damage = ValueError, KeyError, BadZipFile, getattr(reader, "CalamineError", ValueError)
        with naming_damaged_file(self.place, *damage):
            # as objects, or pandas would make numbers of postal codes
            frame = pandas.read_excel(self.path, engine=engine, dtype=object).infer_objects()
        frame.columns = frame.columns.astype(str)
        for name in frame.columns:
            frame[name] = _read_cells(frame[name], pandas.to_numeric)
        return pyarrow().Table.from_pandas(frame, preserve_index=False)


def _read_cells(column: Any, to_numeric: Any) -> Any:
    """Return cells of text, or of several kinds, as strings or numbers; others as they are."""
    is_text = column.dtype.kind == "O"
    if not is_text or column.dropna().map(lambda value: isinstance(value, bool)).all():
        return column
    missing = column.isna()
    texts = column.where(missing, column.astype(str))
    numbers = to_numeric(texts, errors="coerce")
    has_zeros = texts[~missing].str.match(_LEADING_ZERO).any()
    return texts if has_zeros or numbers[~missing].isna().any() else numbers


FORMATS: dict[str, type[_File]] = {
    "Parquet": ParquetFile,
    "Arrow": ArrowFile,
    "CSV": CsvFile,
    "JSON lines": JsonLinesFile,
    "Excel": ExcelFile,
}
