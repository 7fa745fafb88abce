"""Files as rows: read in batches where all columns are numbers, else into memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from hedgeclipper.cli.errors import CommandError
from hedgeclipper.io import as_source, listed
from hedgeclipper.io.as_source import find_files
from hedgeclipper.io.column_values import holds_numbers
from hedgeclipper.io.formats import FORMATS, CsvFile, check_heading, table_damage_named
from hedgeclipper.io.frames import index_names

MISSING_WORDS = [*pa.csv.ConvertOptions().null_values, "?"]
HEADING_BYTES = 1 << 16
_OTHER_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True)
class Files:
    """Files of one kind, with the same columns.

    Parameters
    ----------
    kind : {"Parquet", "Arrow", "CSV", "LibSVM"}
        What they are.
    paths : list of Path
        Where they are.

    Attributes
    ----------
    n_rows : dict of str to int
        How many rows each has, once they were read.
    """

    kind: str
    paths: list[Path]
    n_rows: dict[str, int] = field(default_factory=dict, init=False, compare=False)

    @classmethod
    def find(cls, where: Sequence[str]) -> Files:
        """Return the files of paths, folders and patterns; all must have the same columns.

        Parameters
        ----------
        where : sequence of str
            Paths, folders or patterns.
        """
        kind, paths = find_files(list(where))
        files = cls(kind, paths)
        for path in paths:
            if path.stat().st_size == 0:
                raise CommandError(f"{path} is empty.", "Pass a file with rows.")
        if not files.is_libsvm:
            files.schema  # noqa: B018 - checks the columns
        return files

    @property
    def is_libsvm(self) -> bool:
        """Whether columns are numbered and the label begins a line."""
        return self.kind == "LibSVM"

    @property
    def place(self) -> str:
        """What to call them in messages."""
        more = len(self.paths) - 1
        return f"{self.paths[0]} and {more} more" if more else str(self.paths[0])

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns, as the first lines of a CSV file suggest them."""
        schemas = [_schema_of(self.kind, path) for path in self.paths]
        for path, schema in zip(self.paths, schemas, strict=True):
            if sorted(schema.names) != sorted(schemas[0].names):
                odd = sorted(set(schema.names) ^ set(schemas[0].names))
                raise CommandError(
                    f"{path} has other columns than {self.paths[0]}: {listed(odd, 5)}.",
                    "Pass files with the same columns.",
                )
        return schemas[0]

    @property
    def names(self) -> list[str]:
        """Names of the columns, without those in which pandas keeps an index."""
        hidden = index_names(self.schema)
        return [name for name in self.schema.names if name not in hidden]

    def require(self, names: Sequence[str], what: str) -> None:
        """Raise unless there is a column of each name.

        Parameters
        ----------
        names : sequence of str
            Wanted columns.
        what : str
            What they are for.
        """
        for name in names:
            if name not in self.names:
                close = get_close_matches(name, self.names, 1)
                guess = f"Did you mean {close[0]!r}?" if close else "Name one of these."
                raise CommandError(
                    f"{self.place} has no column {name!r} for {what}. It has {listed(self.names)}.",
                    guess,
                )

    def hold_numbers(self, names: Sequence[str]) -> bool:
        """Return whether these columns hold numbers, as far as the first lines tell."""
        return all(holds_numbers(self.schema.field(name).type) for name in names)

    def is_boolean(self, name: str) -> bool:
        """Return whether a column holds booleans that are kept as such, which CSV does not do."""
        return self.kind != "CSV" and pa.types.is_boolean(self.schema.field(name).type)

    def source(self, names: list[str] | None, label: Any = None, width: int | None = None) -> Any:
        """Return the rows in batches.

        Parameters
        ----------
        names : list of str or None
            Columns of numbers to read; None for LibSVM.
        label : str or True, optional
            Column of labels.
        width : int, optional
            Number of columns, for LibSVM.
        """
        return as_source(self.paths, columns=names, label=label, n_columns=width, dtype=np.float32)

    def words_of(self, name: str) -> np.ndarray | None:
        """Return a column of CSV as text of shape (n_rows,), None where there is nothing.

        Other files know the types of their columns: for these, None is returned.

        Parameters
        ----------
        name : str
            The column.
        """
        if self.kind != "CSV":
            return None
        options = {"include_columns": [name], "column_types": {name: pa.string()}}
        columns = [_read_csv(path, null_values=[""], **options) for path in self.paths]
        return np.concatenate([column.column(0).to_numpy() for column in columns])

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the rows of each file."""
        for path in self.paths:
            frame = _as_frame(_read(self.kind, path), str(path))
            self.n_rows[str(path)] = len(frame)
            yield frame[self.names]

    def frame(self) -> pd.DataFrame:
        """Return all rows."""
        frame = pd.concat(self.frames(), ignore_index=True)
        if frame.empty:
            raise CommandError(f"{self.place} has no rows.", "Pass a file with rows.")
        return frame


def _schema_of(kind: str, path: Path) -> Any:
    if kind == "CSV":
        _check_start(path, CsvFile(path).start(HEADING_BYTES))
    schema, _ = FORMATS[kind](path).head()
    try:
        names = schema.names
    except UnicodeDecodeError as error:
        raise CommandError(
            f"The heading of {path} is not text in UTF-8.", "Write the file in UTF-8."
        ) from error
    if kind == "CSV":
        check_heading(str(path), names)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise CommandError(
            f"{path} has more than one column with the name {twice[0]!r}.",
            "Give each its own name.",
        )
    return schema


def _check_start(path: Path, start: bytes) -> None:
    """Raise if a file of CSV begins in a way for which Arrow would blame some line further down."""
    if b"\0" in start:
        raise CommandError(
            f"{path} is not text in UTF-8; it may be UTF-16.", "Write the file in UTF-8."
        )
    heading = next(iter(start.decode("utf-8", "replace").strip().splitlines()), "")
    heading = re.sub('"[^"]*"', "", heading)
    if _delimiter(path) in heading:
        return
    for sign, called in _OTHER_DELIMITERS.items():
        if sign in heading:
            raise CommandError(
                f"{path} seems to have {called} between values, and not commas.",
                "Write it with commas between values, and points in numbers"
                + (", or call the file .tsv." if sign == "\t" else "."),
            )


def _read(kind: str, path: Path) -> Any:
    with table_damage_named(str(path)):
        if kind == "Parquet":
            return pa.parquet.read_table(path)
        if kind == "Arrow":
            return pa.feather.read_table(path)
        return _read_csv(path, null_values=MISSING_WORDS)


def _read_csv(path: Path, **options: Any) -> Any:
    with table_damage_named(str(path)):
        return pa.csv.read_csv(
            path,
            parse_options=pa.csv.ParseOptions(delimiter=_delimiter(path), newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(strings_can_be_null=True, **options),
        )


def _delimiter(path: Path) -> str:
    return "\t" if ".tsv" in path.name.lower() else ","


def _as_frame(table: Any, place: str) -> pd.DataFrame:
    """Return a table as a frame: decimals are floats, dates are dates."""
    for position, column in enumerate(table.schema):
        if pa.types.is_binary(column.type):
            raise CommandError(
                f"Column {column.name!r} of {place} is not text in UTF-8.",
                "Write the file in UTF-8.",
            )
        if pa.types.is_decimal(column.type):
            table = table.set_column(position, column.name, table.column(position).cast("float64"))
    return table.to_pandas(date_as_object=False, ignore_metadata=True)
