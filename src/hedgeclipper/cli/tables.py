"""Tables of files: found by name, checked, read into frames, and written.

`Files` are the files of one table. `clean_labels` and `as_classes` make classes of a column, and
`find_id_columns` finds those that only number or name the rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from hedgeclipper.cli.output import CommandError, Output
from hedgeclipper.io import as_text, listed, missing_labels
from hedgeclipper.io.atomic import naming_output
from hedgeclipper.io.formats import (
    CODES,
    FORMATS,
    UNKNOWN_DIALECT,
    CsvDialect,
    CsvFile,
    find_files,
)
from hedgeclipper.io.frames import index_names

PARQUET, CSV = ".parquet", ".csv"
MISSING_STRINGS = [*pa.csv.ConvertOptions().null_values, "?"]
MANY_CLASSES = 20
# more different numbers than this are measured, counted, or codes of too many classes
MANY_NUMBERS = 50
# fewer rows may be numbered by accident
LEAST_ROWS = 20
_WHOLE_NUMBER = re.compile(r"0|-?[1-9]\d{0,14}")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_LIKELY_MARKS = {"-1", "-", "none", "unknown", "unlabeled", "unlabelled"}
# how pandas, R and spreadsheets call the index that they have written
_INDEX = re.compile(r"|unnamed: ?\d+|row_?names?", re.IGNORECASE)
# the last word of a name; words begin at a capital letter, too
_ID = re.compile(r"(^|[\W_])(?i:id|uid|uuid|guid|key)$|[a-z\d](Id|ID|Key)$|^(?i:index)$")


@dataclass(frozen=True)
class Files:
    """Files of one kind (Parquet, Arrow or CSV), with the same columns."""

    kind: str
    paths: list[Path]
    dialect: CsvDialect = UNKNOWN_DIALECT

    @classmethod
    def find(
        cls, where: Sequence[str], output: Output, dialect: CsvDialect = UNKNOWN_DIALECT
    ) -> Files:
        """Return the files of paths, folders and patterns; all must have the same columns.

        The dialect is what is known of how CSV files are written; what is found out is noted.
        """
        files = cls(*find_files(list(where)), dialect)
        if files.kind not in FORMATS:
            raise CommandError(
                f"{files.place} is {files.kind}, which has no names of columns.",
                f"Pass {', '.join(FORMATS)}, or fit to it from Python.",
            )
        for path in files.paths:
            if path.stat().st_size == 0:
                raise CommandError(f"{path} is empty.", "Pass a file with rows.")
        files._check_columns()
        if files.kind == "CSV" and dialect == UNKNOWN_DIALECT:
            found = files._tables[0].dialect.describe()
            if found and ".tsv" not in files.paths[0].name.lower():
                output.note(f"{files.place} is read with {found}.")
        return files

    @property
    def place(self) -> str:
        """What to call them in messages."""
        more = len(self.paths) - 1
        return f"{self.paths[0]} and {more} more" if more else str(self.paths[0])

    @cached_property
    def _tables(self) -> list[Any]:
        if self.kind == "CSV":
            return [CsvFile(p, given=self.dialect, keep_zeros=True) for p in self.paths]
        return [FORMATS[self.kind](path) for path in self.paths]

    @cached_property
    def _schemas(self) -> list[Any]:
        return [table.head()[0] for table in self._tables]

    @property
    def names(self) -> list[str]:
        """Names of the columns, without those in which pandas keeps an index."""
        hidden = index_names(self._schemas[0])
        return [name for name in self._schemas[0].names if name not in hidden]

    @property
    def codes(self) -> list[str]:
        """Names of columns of CSV whose digits begin with 0, so that they are strings."""
        return [field.name for field in self._schemas[0] if field.metadata == CODES]

    def _check_columns(self) -> None:
        """Raise unless all files have the same columns, each once."""
        for table in self._tables if self.kind == "CSV" else ():
            table.check_heading()
        for path, schema in zip(self.paths, self._schemas, strict=True):
            twice = [name for name, count in Counter(schema.names).items() if count > 1]
            if twice:
                raise CommandError(
                    f"{path} has more than one column with the name {twice[0]!r}.",
                    "Give each its own name.",
                )
            if odd := set(schema.names) ^ set(self._schemas[0].names):
                raise CommandError(
                    f"{path} has other columns than {self.paths[0]}: {listed(sorted(odd), 5)}.",
                    "Pass files with the same columns.",
                )

    def require(self, names: Sequence[str], what: str, advice: str = "") -> None:
        """Raise unless there is a column of each name; ``what`` says what they are for."""
        missing = [name for name in names if name not in self.names]
        if missing:
            by_lower = {name.lower(): name for name in self.names}
            close = get_close_matches(missing[0].lower(), by_lower, 1)
            guess = f"Did you mean {by_lower[close[0]]!r}? " if close else ""
            columns = f"column{'s' * (len(missing) > 1)} {listed(missing)}"
            raise CommandError(
                f"{self.place} has no {columns} for {what}. It has {listed(self.names)}.",
                (guess + advice).strip() or "Name one of these.",
            )

    def frames(self, strings: Sequence[str] = ()) -> Iterator[pd.DataFrame]:
        """Yield the rows of each file, named by file and line; of CSV these columns are strings."""
        types = {name: pa.string() for name in strings if name in self.names}
        more = {"types": types} if self.kind == "CSV" else {}
        for path, file in zip(self.paths, self._tables, strict=True):
            frame = _as_frame(file.table(self.names, MISSING_STRINGS, **more), path)
            # lines are counted from 1, the heading of CSV included
            first = 2 if self.kind == "CSV" else 1
            lines = range(first, first + len(frame))
            frame.index = pd.MultiIndex.from_product([[str(path)], lines])
            yield frame

    def frame(self, strings: Sequence[str] = ()) -> pd.DataFrame:
        """Return all rows; of CSV these columns are strings."""
        frame = pd.concat(self.frames(strings))
        if frame.empty:
            raise CommandError(f"{self.place} has no rows.", "Pass a file with rows.")
        return frame


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


def names_of_rows(frame: pd.DataFrame, key: str | None) -> list[str]:
    """Return names of rows: their keys, or like ``rows.csv:97``."""
    if key is not None and key in frame:
        return texts_of(frame[key])
    return [f"{path}:{line}" for path, line in frame.index]


def texts_of(column: Any) -> list[str]:
    """Return a column as text: 7 in one file is 7 in another, also beside missing numbers."""
    return as_text(pd.Series(column).to_numpy(dtype=object)).tolist()


def clean_labels(column: pd.Series, marks: Sequence[str], output: Output) -> np.ndarray:
    """Return labels without blanks around them, None where they are missing or a mark."""
    labels = column.to_numpy(dtype=object, copy=True)
    labels = np.array([x.strip() or None if isinstance(x, str) else x for x in labels], object)
    labels[missing_labels(labels)] = None
    texts = as_text(labels)
    for mark in marks:
        if not (texts == mark).any():
            output.note(f"No row has {mark!r} in {column.name!r}, which --unlabeled-value names.")
        labels[texts == mark] = None
    known = {text for text, label in zip(texts, labels, strict=True) if label is not None}
    for mark in sorted(text for text in known if text.lower() in _LIKELY_MARKS):
        if len(known) > 2:
            output.note(
                f"{mark!r} is a class of {column.name!r}. If it marks unlabeled rows, pass "
                f"--unlabeled-value {mark}."
            )
    return labels


def as_classes(labels: np.ndarray) -> np.ndarray:
    """Return labels of which none is missing as whole numbers, booleans or strings.

    1 and 1.0 are one class, and 007 and 7 are two.
    """
    texts = as_text(labels)
    if all(map(_WHOLE_NUMBER.fullmatch, texts)):
        return texts.astype(np.int64)
    lower = {text.lower() for text in texts}
    if lower <= {"true", "false"}:
        return np.array([text.lower() == "true" for text in texts])
    return texts.astype(str)


def check_classes(y: np.ndarray, n_rows: int, target: str) -> dict[Any, int]:
    """Return the number of labels of each class, or say why nothing can be learned from them."""
    if y.size == 0:
        raise CommandError(
            f"None of the {n_rows:,} rows has a value in {target!r}.",
            "Label some rows of each class.",
        )
    classes, counts = np.unique(y, return_counts=True)
    if classes.size == 1:
        raise CommandError(
            f"All {y.size:,} labeled rows are of one class, {classes.tolist()[0]!r}.",
            "Label some rows of another class; leave the label empty where it is not known.",
        )
    texts = [str(label) for label in classes.tolist()]
    are_numbers = all(map(_NUMBER.fullmatch, texts))
    are_fractions = are_numbers and any(float(text) % 1 for text in texts)
    n_usual = 2 if are_fractions else MANY_CLASSES
    is_measured = are_numbers and classes.size > min(MANY_NUMBERS, max(n_usual, y.size / 10))
    if is_measured or classes.size > max(n_usual, y.size / 3):
        raise CommandError(
            f"{target!r} has {classes.size:,} different values on {y.size:,} labeled rows, such "
            f"as {listed(classes.tolist(), 3)}.",
            "Only classes can be predicted: name another column, or make classes of it, such as "
            "low and high; write codes of classes as strings, such as 'c12'.",
        )
    return dict(zip(classes.tolist(), counts.tolist(), strict=True))


def find_id_columns(frame: pd.DataFrame) -> dict[str, str]:
    """Return which columns only tell rows apart, and why that seems so.

    These are the index of a frame, numbers that count the rows up or down from 0 or 1, and whole
    numbers with the name of an id of which none is there twice. Strings are left to the encoder.
    """
    reasons = {}
    for name, column in frame.items():
        if _INDEX.fullmatch(str(name)):
            reasons[str(name)] = "it is the index of the rows"
        elif _are_different_whole_numbers(column):
            steps = np.diff(column.astype(np.int64))
            if np.all(steps == steps[0]) and steps[0] in (-1, 1) and column.min() in (0, 1):
                reasons[str(name)] = "it numbers the rows"
            elif _ID.search(str(name)):
                reasons[str(name)] = "it is an id, different in each row"
    return reasons


def _are_different_whole_numbers(column: pd.Series) -> bool:
    if column.dtype.kind not in "iuf" or len(column) < LEAST_ROWS or not column.is_unique:
        return False
    numbers = column.to_numpy()
    return numbers.dtype.kind != "f" or bool(
        np.all((np.abs(numbers) < 2.0**53) & (numbers == np.floor(numbers)))
    )


def write_table(table: pa.Table, draft: Path, path: Path) -> None:
    """Write a table to a draft of a file, as the suffix of the path says."""
    with naming_output(path):
        if path.suffix.lower() == PARQUET:
            pa.parquet.write_table(table, draft)
        else:
            pa.csv.write_csv(table, draft)
