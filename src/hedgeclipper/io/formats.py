"""Table files, one class each: what columns a file has, how many rows, and its rows in batches.

Parquet is read with `pyarrow.parquet.ParquetFile.iter_batches` and not with a Scanner of
`pyarrow.dataset`, which decodes whole row groups: memory would grow with their size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hedgeclipper.io.arrow_columns import holds_numbers, holds_words, pyarrow
from hedgeclipper.io.column_names import positions_of
from hedgeclipper.io.source import damage_named

_STREAM_BYTES = 1 << 16
_CSV_BLOCK_BYTES = 1 << 20
_CSV_LINES_PER_BLOCK = 4
_ARROW_FILE_MAGIC = b"ARROW1"
_PACKINGS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}


class TableFile(Protocol):
    """A file with named columns."""

    @property
    def place(self) -> str:
        """What to call it in errors."""

    def head(self) -> tuple[Any, int | None]:
        """Return its schema, and its number of rows where that is cheap."""

    def batches(self, names: list[str], label: str | None, size: int) -> Iterator[Any]:
        """Yield record batches of these columns and the label, of at most so many rows."""


@dataclass(frozen=True)
class ParquetFile:
    """Rows of a Parquet file."""

    path: Path

    @property
    def place(self) -> str:
        """The path."""
        return str(self.path)

    def head(self) -> tuple[Any, int | None]:
        """Return schema and number of rows, which the footer has."""
        with table_damage_named(self.place), self._open() as file:
            return file.schema_arrow, file.metadata.num_rows

    def batches(self, names: list[str], label: str | None, size: int) -> Iterator[Any]:
        """Yield record batches; a damaged page is placed by its row groups."""
        n_read, metadata = 0, None
        with (
            table_damage_named(self.place, lambda: _row_groups(metadata, n_read, size)),
            self._open() as file,
        ):
            metadata = file.metadata
            wanted = with_label(names, label)
            positions_of(wanted, file.schema_arrow.names, self.place)
            for batch in file.iter_batches(size, columns=wanted):
                yield batch
                n_read += batch.num_rows

    def _open(self) -> Any:
        return pyarrow("pyarrow.parquet").ParquetFile(
            self.path,
            buffer_size=_STREAM_BYTES,
            pre_buffer=False,
            page_checksum_verification=True,
        )


def _row_groups(metadata: Any, first_row: int, size: int) -> str:
    """Say which row groups hold the rows of the batch that begins here."""
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


@dataclass(frozen=True)
class ArrowFile:
    """Rows of an Arrow (Feather) file or stream, which is mapped into memory."""

    path: Path

    @property
    def place(self) -> str:
        """The path."""
        return str(self.path)

    def head(self) -> tuple[Any, int | None]:
        """Return the schema, and the number of rows unless the file is a stream."""
        with self._open() as reader:
            schema = reader.schema
            if not hasattr(reader, "num_record_batches"):
                return schema, None
        # Counted in a file that is closed here: a dataset's own threads close theirs later.
        with table_damage_named(self.place), pyarrow().memory_map(str(self.path)) as file:
            fragment = pyarrow("pyarrow.dataset").IpcFileFormat().make_fragment(file)
            return schema, fragment.count_rows()

    def batches(self, names: list[str], label: str | None, size: int) -> Iterator[Any]:
        """Yield slices of its record batches, with nothing but these columns unpacked."""
        schema, _ = self.head()
        fields = positions_of(with_label(names, label), schema.names, self.place)
        with self._open(fields) as reader:
            for batch in _record_batches(reader):
                yield from _slices(batch, size)

    @contextmanager
    def _open(self, fields: list[int] | None = None) -> Iterator[Any]:
        ipc = pyarrow("pyarrow.ipc")
        options = ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        with table_damage_named(self.place), pyarrow().memory_map(str(self.path)) as file:
            is_file = file.read(len(_ARROW_FILE_MAGIC)) == _ARROW_FILE_MAGIC
            file.seek(0)
            with (ipc.open_file if is_file else ipc.open_stream)(file, options=options) as reader:
                yield reader


def _record_batches(reader: Any) -> Iterator[Any]:
    if hasattr(reader, "num_record_batches"):
        return (reader.get_batch(number) for number in range(reader.num_record_batches))
    return iter(reader)


def _slices(batch: Any, size: int) -> Iterator[Any]:
    return (batch.slice(start, size) for start in range(0, batch.num_rows, size))


def with_label(names: list[str], label: str | None) -> list[str]:
    """Return the names of the columns to read."""
    return names if label is None else [*names, label]


@dataclass(frozen=True)
class CsvFile:
    """Rows of a CSV file with a heading, plain or packed; tabs between values in a .tsv file.

    Numbers are read as float64 whatever the first lines look like, and labels as text; where
    ``words`` are allowed and a column has some, all but booleans is text. Nothing, NA, NaN and null
    stand for a missing one. Arrow reads up to 32 blocks of 1 MB ahead, larger ones where the first
    lines are longer.
    """

    path: Path
    words: bool = False

    @property
    def place(self) -> str:
        """The path."""
        return str(self.path)

    def head(self) -> tuple[Any, int | None]:
        """Return the schema that the first block of lines suggests."""
        with self._open({}) as reader:
            return reader.schema, None

    def batches(self, names: list[str], label: str | None, size: int) -> Iterator[Any]:
        """Yield the rows of each block of lines, in slices."""
        csv = pyarrow("pyarrow.csv")
        schema, _ = self.head()
        wanted = with_label(names, label)
        positions_of(wanted, schema.names, self.place)
        options = csv.ConvertOptions(
            include_columns=wanted,
            column_types=_column_types(schema, names, label, self.words),
            strings_can_be_null=True,
        )
        with self._open({"convert_options": options}, schema.names) as reader:
            for batch in reader:
                yield from _slices(batch, size)

    @contextmanager
    def _open(self, options: dict[str, Any], names: list[str] | None = None) -> Iterator[Any]:
        csv = pyarrow("pyarrow.csv")
        tabs = ".tsv" in self.path.name.lower()
        parse = csv.ParseOptions(delimiter="\t" if tabs else ",", newlines_in_values=True)
        with table_damage_named(self.place), _values_named(self.place, names or []):
            read = csv.ReadOptions(use_threads=False, block_size=self._block_bytes())
            with (
                self._unpacked() as stream,
                csv.open_csv(stream, read_options=read, parse_options=parse, **options) as reader,
            ):
                yield reader

    def _block_bytes(self) -> int:
        """Return the size of a block that holds the first lines, however long they are."""
        size = _CSV_BLOCK_BYTES
        while not self._holds_lines(size):
            size *= 2
        return size

    def _holds_lines(self, size: int) -> bool:
        """Return whether the first so many bytes hold some lines, or the whole file."""
        start = self.start(size)
        text = start.lstrip()
        n_lines = max(text.count(b"\n"), text.count(b"\r"))
        return len(start) < size or n_lines >= _CSV_LINES_PER_BLOCK

    def start(self, size: int) -> bytes:
        """Return the first so many bytes, unpacked."""
        with table_damage_named(self.place), self._unpacked() as stream:
            return stream.read(size)

    def _unpacked(self) -> Any:
        packing = _PACKINGS.get(self.path.suffix.lower())
        return pyarrow().input_stream(str(self.path), compression=packing)


def _column_types(schema: Any, names: list[str], label: str | None, words: bool) -> dict[str, Any]:
    pa = pyarrow()
    kinds = {name: schema.field(name).type for name in names}
    # the first lines of a column of words may be empty, or look like numbers
    has_words = words and any(map(holds_words, kinds.values()))
    of_numbers = pa.string() if has_words else pa.float64()
    types = {
        name: kind if str(kind) == "bool" or not holds_numbers(kind) else of_numbers
        for name, kind in kinds.items()
    }
    return types if label is None else {**types, label: pa.string()}


def check_heading(place: str, names: list[str]) -> None:
    """Raise where the first line looks like a row, whose numbers would pass for names."""
    if all(map(_is_numeral, names)) and names != [str(number) for number in range(len(names))]:
        raise ValueError(
            f"{place} has no heading: its first line is {','.join(names[:5])}. Put a line with the "
            "names of the columns first, or pass columns if these are their names."
        )


def _is_numeral(text: str) -> bool:
    """Return whether a heading is digits; NaN and inf may be names."""
    return re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", text) is not None


@contextmanager
def _values_named(place: str, names: list[str]) -> Iterator[None]:
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


def table_damage_named(
    place: str, where: Callable[[], str] = lambda: ""
) -> AbstractContextManager[None]:
    """Name the file that Arrow cannot read, and the place in it."""
    return damage_named(place, pyarrow().ArrowException, where=where)


FORMATS: dict[str, Callable[[Path], TableFile]] = {
    "Parquet": ParquetFile,
    "Arrow": ArrowFile,
    "CSV": CsvFile,
}
