"""Files as tables: found by name, checked for the same columns, read whole or in batches."""

from __future__ import annotations

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

from hedgeclipper.cli.output import CommandError
from hedgeclipper.io import as_source, as_text, listed
from hedgeclipper.io.formats import (
    CODES,
    FORMATS,
    UNKNOWN_DIALECT,
    CsvDialect,
    CsvFile,
    find_files,
)
from hedgeclipper.io.frames import decoded, holds_numbers, index_names

# names that differ less are guessed; two letters of which one is wrong are as close as the latter
CLOSE, CLOSE_IF_SHORT, SHORT = 0.6, 0.5, 3
MISSING_STRINGS = [*pa.csv.ConvertOptions().null_values, "?"]


@dataclass(frozen=True)
class Files:
    """Files of one kind (Parquet, Arrow, CSV or LibSVM), with the same columns.

    ``n_rows`` has the number of rows by path, for files that were read to the end.
    """

    kind: str
    paths: list[Path]
    dialect: CsvDialect = UNKNOWN_DIALECT
    n_rows: dict[str, int] = field(default_factory=dict, init=False, compare=False)

    @classmethod
    def find(cls, where: Sequence[str], dialect: CsvDialect = UNKNOWN_DIALECT) -> Files:
        """Return the files of paths, folders and patterns; all must have the same columns.

        The dialect is what is known of how CSV files are written.
        """
        files = cls(*find_files(list(where)), dialect)
        for path in files.paths:
            if path.stat().st_size == 0:
                raise CommandError(f"{path} is empty.", "Pass a file with rows.")
        if not files.is_libsvm:
            files.schema  # noqa: B018 - checks the columns
        return files

    @cached_property
    def tables(self) -> list[Any]:
        """The files as tables, by columns; not for LibSVM."""
        if self.kind == "CSV":
            return [CsvFile(p, given=self.dialect, keep_zeros=True) for p in self.paths]
        return [FORMATS[self.kind](path) for path in self.paths]

    @property
    def readable(self) -> list[Any]:
        """What `as_source` takes for these files."""
        return list(self.paths) if self.is_libsvm else list(self.tables)

    @property
    def is_libsvm(self) -> bool:
        """Whether columns are numbered and each line begins with the label."""
        return self.kind == "LibSVM"

    @property
    def place(self) -> str:
        """What to call them in messages."""
        more = len(self.paths) - 1
        return f"{self.paths[0]} and {more} more" if more else str(self.paths[0])

    @property
    def no_rows(self) -> CommandError:
        """The error of files without rows."""
        return CommandError(f"{self.place} has no rows.", "Pass a file with rows.")

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns; types in CSV are those of the first lines."""
        schemas = [_schema_of(table) for table in self.tables]
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

    @property
    def codes(self) -> list[str]:
        """Names of columns of CSV whose digits begin with 0, so that they are strings."""
        return [field.name for field in self.schema if field.metadata == CODES]

    def require(self, names: Sequence[str], what: str, advice: str = "") -> None:
        """Raise unless there is a column of each name; ``what`` says what they are for."""
        missing = [name for name in names if name not in self.names]
        if not missing:
            return
        by_lower = {name.lower(): name for name in self.names}
        least = CLOSE_IF_SHORT if len(missing[0]) <= SHORT else CLOSE
        close = get_close_matches(missing[0].lower(), by_lower, 1, least)
        guess = f"Did you mean {by_lower[close[0]]!r}?" if close else advice or "Name one of these."
        columns = f"column {missing[0]!r}"
        if len(missing) > 1:
            columns = f"columns {listed(missing)}"
        raise CommandError(
            f"{self.place} has no {columns} for {what}. It has {listed(self.names)}.",
            f"{guess} {advice}".strip() if close else guess,
        )

    def hold_numbers(self, names: Sequence[str]) -> bool:
        """Return whether these columns hold numbers, as far as the first lines tell."""
        return all(holds_numbers(self.schema.field(name).type) for name in names)

    def source(self, names: list[str] | None, label: Any = None, width: int | None = None) -> Any:
        """Return columns of numbers in batches; LibSVM has a width and True as label, no names."""
        options = {"columns": names, "label": label, "n_columns": width}
        return as_source(self.readable, dtype=np.float32, **options)

    def column(self, name: str) -> np.ndarray:
        """Return a column of all rows as objects, None where it is missing; of CSV as text."""
        parts = [
            table.column_of_strings(name) if self.kind == "CSV" else table.table([name]).column(0)
            for table in self.tables
        ]
        return np.concatenate([_objects(part) for part in parts])

    def typed_column(self, name: str) -> Any:
        """Return a column of all rows as an array of Arrow, of its own type."""
        parts = [table.table([name]) for table in self.tables]
        return pa.concat_tables(parts, promote_options="permissive").column(0).combine_chunks()

    def keys(self, name: str) -> np.ndarray:
        """Return a column that names rows, as text: 7 in one file is 7 in another."""
        return as_text(self.column(name))

    def frames(self, strings: Sequence[str] = ()) -> Iterator[pd.DataFrame]:
        """Yield the rows of each file; of CSV these columns are read as strings."""
        types = {name: pa.string() for name in strings if name in self.names}
        more = {"types": types} if self.kind == "CSV" else {}
        for path, file in zip(self.paths, self.tables, strict=True):
            table = file.table(self.names, MISSING_STRINGS, **more)
            self.n_rows[str(path)] = table.num_rows
            yield _as_frame(table, path)

    def frame(self, strings: Sequence[str] = ()) -> pd.DataFrame:
        """Return all rows; of CSV these columns are read as strings."""
        frame = pd.concat(self.frames(strings), ignore_index=True)
        if frame.empty:
            raise self.no_rows
        return frame


def row_names(tables: Sequence[Files], numbers: np.ndarray) -> list[str]:
    """Return names like ``rows.csv:97`` of the rows with these numbers, counted through all files.

    Files must have been read to the end. Lines are counted from 1, the heading of CSV included.
    """
    found = [(path, files) for files in tables for path in files.paths]
    starts = np.cumsum([0] + [files.n_rows[str(path)] for path, files in found])
    firsts = [2 if files.kind == "CSV" else 1 for files in tables for _ in files.paths]
    places = np.searchsorted(starts, numbers, side="right") - 1
    return [
        f"{found[place][0]}:{number - starts[place] + firsts[place]}"
        for place, number in zip(places.tolist(), numbers.tolist(), strict=True)
    ]


def _schema_of(table: Any) -> Any:
    if isinstance(table, CsvFile):
        table.check_heading()
    schema, _ = table.head()
    twice = [name for name, count in Counter(schema.names).items() if count > 1]
    if twice:
        raise CommandError(
            f"{table.place} has more than one column with the name {twice[0]!r}.",
            "Give each its own name.",
        )
    return schema


def _objects(column: Any) -> np.ndarray:
    """Return a column of Arrow as objects, equal ones only once in memory."""
    column = decoded(column)
    if pa.types.is_decimal(column.type):
        column = column.cast("float64")
    encoded = column.combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_pandas(date_as_object=False).astype(object).tolist()
    codes = encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    return np.array([*values, None], dtype=object)[codes]


def _as_frame(table: Any, path: Path) -> pd.DataFrame:
    """Return a table as a frame: decimals are floats, dates are dates."""
    for position, column in enumerate(table.schema):
        if pa.types.is_binary(column.type):
            raise CommandError(
                f"Column {column.name!r} of {path} is not text in UTF-8.",
                "Write the file in UTF-8, or name its encoding, as in --encoding latin-1.",
            )
        if pa.types.is_decimal(column.type):
            table = table.set_column(position, column.name, table.column(position).cast("float64"))
    return table.to_pandas(date_as_object=False, ignore_metadata=True)
