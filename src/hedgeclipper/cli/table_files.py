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
from hedgeclipper.io import as_source, listed
from hedgeclipper.io.as_source import find_files
from hedgeclipper.io.column_values import holds_numbers
from hedgeclipper.io.formats import FORMATS, CsvFile
from hedgeclipper.io.frames import index_names

MISSING_STRINGS = [*pa.csv.ConvertOptions().null_values, "?"]


@dataclass(frozen=True)
class Files:
    """Files of one kind (Parquet, Arrow, CSV or LibSVM), with the same columns.

    ``n_rows`` has the number of rows by path, for files that were read to the end.
    """

    kind: str
    paths: list[Path]
    n_rows: dict[str, int] = field(default_factory=dict, init=False, compare=False)

    @classmethod
    def find(cls, where: Sequence[str]) -> Files:
        """Return the files of paths, folders and patterns; all must have the same columns."""
        files = cls(*find_files(list(where)))
        for path in files.paths:
            if path.stat().st_size == 0:
                raise CommandError(f"{path} is empty.", "Pass a file with rows.")
        if not files.is_libsvm:
            files.schema  # noqa: B018 - checks the columns
        return files

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
        """Raise unless there is a column of each name; ``what`` says what they are for."""
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

    def source(self, names: list[str] | None, label: Any = None, width: int | None = None) -> Any:
        """Return columns of numbers in batches; LibSVM has a width and True as label, no names."""
        return as_source(self.paths, columns=names, label=label, n_columns=width, dtype=np.float32)

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the rows of each file."""
        for path in self.paths:
            table = FORMATS[self.kind](path).table(self.names, MISSING_STRINGS)
            self.n_rows[str(path)] = table.num_rows
            yield _as_frame(table, path)

    def frame(self) -> pd.DataFrame:
        """Return all rows."""
        frame = pd.concat(self.frames(), ignore_index=True)
        if frame.empty:
            raise self.no_rows
        return frame


def row_names(tables: Sequence[Files], numbers: np.ndarray) -> list[str]:
    """Return names like ``rows.csv:97`` of the rows with these numbers, counted through all files.

    Files must have been read to the end. Lines are counted from 1, the heading of CSV included.
    """
    found = [(path, files) for files in tables for path in files.paths]
    starts = np.cumsum([0] + [files.n_rows[str(path)] for path, files in found])
    firsts = [2 if files.kind == "CSV" else 1 for _, files in found]
    places = np.searchsorted(starts, numbers, side="right") - 1
    return [
        f"{found[place][0]}:{number - starts[place] + firsts[place]}"
        for place, number in zip(places.tolist(), numbers.tolist(), strict=True)
    ]


def _schema_of(kind: str, path: Path) -> Any:
    if kind == "CSV":
        CsvFile(path).check_heading()
    schema, _ = FORMATS[kind](path).head()
    twice = [name for name, count in Counter(schema.names).items() if count > 1]
    if twice:
        raise CommandError(
            f"{path} has more than one column with the name {twice[0]!r}.",
            "Give each its own name.",
        )
    return schema


def _as_frame(table: Any, path: Path) -> pd.DataFrame:
    """Return a table as a frame: decimals are floats, dates are dates."""
    for position, column in enumerate(table.schema):
        if pa.types.is_binary(column.type):
            raise CommandError(
                f"Column {column.name!r} of {path} is not text in UTF-8.",
                "Write the file in UTF-8.",
            )
        if pa.types.is_decimal(column.type):
            table = table.set_column(position, column.name, table.column(position).cast("float64"))
    return table.to_pandas(date_as_object=False, ignore_metadata=True)
