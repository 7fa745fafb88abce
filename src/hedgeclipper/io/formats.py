"""Files of rows: which files a path means, and what is read of each format in batches.

`open_files` opens any of them; a format is a class with its suffixes.

Parquet is read with `pyarrow.parquet.ParquetFile.iter_batches` and not with `pyarrow.dataset`,
which decodes whole row groups: memory would grow with their size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path
from typing import Any, ClassVar

from hedgeclipper.io.arrays import rows_per_batch
from hedgeclipper.io.frames import (
    as_text,
    holds_numbers,
    holds_strings,
    is_float,
    missing_labels,
    positions_of,
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
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_PACKS = ("", ".gz", ".bz2", ".zst")
_PACKED_MARKS = (b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd", b"PK\x03\x04")  # gzip, bz2, zstd, zip
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
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
        strings: bool | Sequence[str] = False,
    ) -> Batches:
        """Yield checked record batches of these columns and the label, of at most so many rows.

        Only CSV has to know whether columns may hold ``strings``. A list of names says that columns
        are of any kind: they have types that suit all rows, and those in the list hold strings.
        """
        size = size or rows_per_batch(len(names))
        wanted = names if label is None else [*names, label]
        positions_of(wanted, self.schema.names, self.place)
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
class CsvDialect:
    """How a CSV file is written; what is None is found in its first lines."""

    separator: str | None = None  # between values: one character
    decimal: str | None = None  # point or comma in numbers
    encoding: str | None = None  # UTF-8 if not found, or UTF-16 if the file begins with its mark

    def found_in(self, start: bytes, is_tsv: bool = False) -> CsvDialect:
        """Return the same with all that the first bytes of a file tell of what is not given."""
        encoding = self.encoding or ("utf-16" if start.startswith(_UTF16_MARKS) else "utf8")
        text = start.decode(encoding, "replace").removeprefix("\ufeff")
        lines = re.sub('"[^"]*"', "", text).splitlines()
        lines = [line for line in lines if line.strip()][:20]
        separator = self.separator or ("\t" if is_tsv else _separator(lines))
        return CsvDialect(separator, self.decimal or _decimal(lines, separator), encoding)

    def describe(self) -> str:
        """Return what is unusual about it, for a note; nothing if all is as in most files."""
        unusual = []
        if self.separator not in (None, ","):
            unusual.append(f"{_SEPARATORS.get(str(self.separator), 'others')} between values")
        if self.decimal == ",":
            unusual.append("commas in numbers")
        if self.encoding not in (None, "utf8"):
            unusual.append(f"text in {self.encoding}")
        return ", ".join(unusual)


UNKNOWN_DIALECT = CsvDialect()


def _separator(lines: Sequence[str]) -> str:
    """Return what is as often in each line as in the heading, the most frequent if several are."""

    def rank(sign: str) -> tuple[bool, int]:
        counts = [line.count(sign) for line in lines]
        return counts[0] > 0 and len(set(counts)) == 1, counts[0]

    return max(_SEPARATORS, key=rank) if lines else ","


def _decimal(lines: Sequence[str], separator: str) -> str:
    """Return a comma if numbers have one, and none has a point, where commas do not separate."""
    if separator == ",":
        return "."
    values = [value.strip() for line in lines[1:] for value in line.split(separator)]
    has_point, has_comma = (
        any(re.fullmatch(rf"[-+]?\d+{sign}\d+", value) for value in values) for sign in (r"\.", ",")
    )
    return "," if has_comma and not has_point else "."


@dataclass(frozen=True)
class CsvFile(TableFile):
    """Rows of a CSV file, compressed or not; how it is written is found in its first lines.

    In batches, numbers are read as float64 whatever the first lines look like, and labels as
    numbers if the first one is; where strings are allowed and a column has some, all but booleans
    are strings.
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
        """Raise where the file is not text with a heading.

        Arrow would blame some line further down, or take a row of numbers for names.
        """
        if self._start.startswith(_PACKED_MARKS):
            raise ValueError(
                f"{self.path} is compressed, and its name does not say so. Give it a suffix such "
                "as .csv.gz, .csv.bz2 or .csv.zst, or unpack it."
            )
        if b"\0" in self._start and "16" not in str(self.dialect.encoding):
            raise ValueError(f"{self.path} is not text in UTF-8; it may be UTF-16. {SAY_ENCODING}")
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
        if not isinstance(strings, bool):
            types = self._types_of_all_rows(schema, list(types), strings)
            more["null_values"] = missing_strings()
        # the first lines of a column of strings may be empty, or look like numbers
        has_strings = strings is True and any(map(holds_strings, types.values()))
        for name, kind in types.items():
            if str(kind) != "bool" and holds_numbers(kind) and not more:
                types[name] = pyarrow().string() if has_strings else pyarrow().float64()
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
