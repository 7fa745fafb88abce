"""Tables of files: found by name, checked, read into frames, and written.

`Files` are the files of one table. `clean_labels` and `parse_classes` make classes of labels, and
`find_id_columns` finds columns that only number or name the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from hedgeclipper.cli.output import Output
from hedgeclipper.io import as_source, as_text, listed
from hedgeclipper.io.atomic import atomic_path, naming_output
from hedgeclipper.io.csv_dialect import UNKNOWN_DIALECT, CsvDialect
from hedgeclipper.io.frames import (
    check_columns,
    did_you_mean,
    index_names,
    plain_spelling,
    pyarrow,
)
from hedgeclipper.io.sources import CODES, CsvFile, ExcelFile, TableFile, open_files

TABLE_SUFFIXES = ".parquet", ".csv"
LEAST_DIFFERENT = 0.95  # of ids, since some rows may be there twice
_WHOLE_NUMBER = re.compile(r"0|-?[1-9]\d{0,14}")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_LIKELY_MARKS = {"-1", "-", "none", "unknown", "unlabeled", "unlabelled"}
# how pandas, R and spreadsheets call the index that they have written
_INDEX = re.compile(r"|unnamed: ?\d+|row_?names?", re.IGNORECASE)
# the last word of a name; words begin at a capital letter, too
_ID = re.compile(r"(^|[\W_])(?i:id|uid|uuid|guid|key)$|[a-z\d](Id|ID|Key)$|^(?i:index)$")


@dataclass(frozen=True)
class Files:
    """Files of one format that have the same columns: one table."""

    files: list[TableFile]
    # rows before each file, as far as they were read, for names of rows
    starts: list[int] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def find(
        cls, where: Sequence[str], output: Output, dialect: CsvDialect = UNKNOWN_DIALECT
    ) -> Files:
        """Return the files of paths, folders and patterns; all must have the same columns.

        The dialect is what is known of how CSV files are written; what is found out is noted.
        """
        found = cls(open_files(list(where), dialect, keep_zeros=True))
        first = found.files[0]
        found._check_columns()
        if isinstance(first, CsvFile) and dialect == UNKNOWN_DIALECT:
            unusual = first.dialect.describe()
            if unusual and ".tsv" not in first.path.name.lower():
                output.note(f"{found.place} is read with {unusual}.")
        return found

    @property
    def paths(self) -> list[Path]:
        """Whole paths of the files."""
        return [file.path.resolve() for file in self.files]

    @property
    def place(self) -> str:
        """What to call them in messages."""
        more = len(self.files) - 1
        return f"{self.files[0].path} and {more} more" if more else str(self.files[0].path)

    @cached_property
    def _schemas(self) -> list[Any]:
        return [file.schema for file in self.files]

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
        for file in self.files:
            file.check_heading()
        for file, schema in zip(self.files, self._schemas, strict=True):
            check_columns(schema.names, schema.names, file.place)
            if odd := set(schema.names) ^ set(self._schemas[0].names):
                raise ValueError(
                    f"{file.place} has other columns than {self.files[0].place}: "
                    f"{listed(sorted(odd), 5)}. Pass files with the same columns."
                )

    def require(self, names: Sequence[str], what: str, advice: str = "") -> None:
        """Raise unless there is a column of each name; ``what`` says what they are for."""
        missing = [name for name in names if name not in self.names]
        if missing:
            guess = did_you_mean(missing[0], self.names)
            columns = f"column{'s' * (len(missing) > 1)} {listed(missing)}"
            hint = (guess + advice).strip() or "Name one of these."
            raise ValueError(
                f"{self.place} has no {columns} for {what}. It has {listed(self.names)}. {hint}"
            )

    def frame(
        self, names: Sequence[str] | None = None, strings: Sequence[str] = ()
    ) -> pd.DataFrame:
        """Return all rows; ``names`` are the columns to read, by default all.

        Columns of CSV in ``strings`` are read as strings.
        """
        names = self.names if names is None else list(names)
        return pd.concat(self.batches(names, [name for name in strings if name in names]))

    def column(self, name: str) -> pd.Series:
        """Return a column of labels or keys, as strings if it is from CSV."""
        return self.frame([name], [name])[name]

    def batches(
        self, names: list[str], strings: Sequence[str] = (), width: int = 0
    ) -> Iterator[pd.DataFrame]:
        """Yield all rows as `frame` has them, numbered from 0, in batches for so many columns."""
        self.starts.clear()
        n_rows = 0
        for file in self.files:
            self.starts.append(n_rows)
            source = as_source(
                [file], columns=names, strings=list(strings), frames=width or len(names) or 1
            )
            for frame in source:
                frame.index = pd.RangeIndex(n_rows, n_rows := n_rows + len(frame))
                yield frame
        if n_rows == 0:
            raise ValueError(f"{self.place} has no rows. Pass a file with rows.")

    def row_names(self, rows: np.ndarray, key: str | None) -> list[str]:
        """Return names of rows that were read: their keys, if there are such, or file and line."""
        if key in self.names:
            return texts_of(self.column(key).iloc[rows]).tolist()
        first = 2 if isinstance(self.files[0], CsvFile | ExcelFile) else 1  # after a heading
        at = np.searchsorted(self.starts, rows, side="right") - 1
        return [
            f"{self.files[k].path}:{row - self.starts[k] + first}"
            for k, row in zip(at.tolist(), rows.tolist(), strict=True)
        ]

    def id_columns(self, names: list[str]) -> dict[str, str]:
        """Return which columns only tell rows apart, and why; as `find_id_columns`.

        The first 1,000 rows of each file rule out most columns, which need not be read to the end.
        """
        heads = [next(file.batches(names, size=1000), None) for file in self.files]
        first = pd.concat([head.to_pandas() for head in heads if head] or [self.frame(names)])
        likely = [n for n in names if _INDEX.fullmatch(n) or _are_different_whole_numbers(first[n])]
        return find_id_columns(self.frame(likely)) if likely else {}


def texts_of(column: Any) -> np.ndarray:
    """Return a column as text: 7 in one file is 7 in another, also beside missing numbers."""
    return as_text(pd.Series(column).to_numpy(dtype=object))


def clean_labels(column: pd.Series, marks: Sequence[str], output: Output) -> np.ndarray:
    """Return labels in one spelling, None where they are missing or a mark.

    Spellings that differ in case, or in blanks, are one class, which gets the most frequent one.
    """
    codes, labels = merge_spellings(column, output)
    texts = as_text(labels)
    for mark in marks:
        if not (texts == mark).any():
            output.note(f"No row has {mark!r} in {column.name!r}, which --unlabeled-value names.")
        labels[texts == mark] = None
    known = {text for text, label in zip(as_text(labels), labels, strict=True) if label is not None}
    for mark in sorted(text for text in known if text.lower() in _LIKELY_MARKS):
        if len(known) > 2:
            output.note(
                f"{mark!r} is a class of {column.name!r}. If it marks unlabeled rows, pass "
                f"--unlabeled-value {mark}."
            )
    return labels[codes]


def merge_spellings(column: pd.Series, output: Output) -> tuple[np.ndarray, np.ndarray]:
    """Return a number for each label, and the labels of the numbers in one spelling.

    Spellings that differ in case, or in blanks, get the most frequent one, with a note. Missing
    labels are None, and have the number -1.
    """
    codes, values = pd.factorize(column.to_numpy(dtype=object))
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    stripped = (x.strip() or None if isinstance(x, str) else x for x in values)
    labels = np.array([*stripped, None], dtype=object)
    groups: dict[str, list[int]] = {}
    for k in np.argsort(-counts, kind="stable"):
        if isinstance(labels[k], str):
            groups.setdefault(plain_spelling(labels[k]), []).append(k)
    for group in groups.values():
        labels[group] = labels[group[0]]
        if len(group) > 1:
            spellings = ", ".join(f"{values[k]!r} ({counts[k]:,})" for k in group)
            output.note(f"Read as one class {labels[group[0]]!r} of {column.name!r}: {spellings}.")
    return codes, labels


def parse_classes(labels: np.ndarray) -> np.ndarray:
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


def count_classes(y: np.ndarray, n_rows: int, target: str) -> dict[Any, int]:
    """Return the number of labels of each class, or say why nothing can be learned from them."""
    if y.size == 0:
        raise ValueError(
            f"None of the {n_rows:,} rows has a value in {target!r}. Label some rows of each class."
        )
    classes, counts = np.unique(y, return_counts=True)
    if classes.size == 1:
        raise ValueError(
            f"All {y.size:,} labeled rows are of one class, {classes.tolist()[0]!r}. Label some "
            "rows of another class; leave the label empty where it is not known."
        )
    texts = [str(label) for label in classes.tolist()]
    are_numbers = all(map(_NUMBER.fullmatch, texts))
    are_fractions = are_numbers and any(float(text) % 1 for text in texts)
    n_usual = 2 if are_fractions else 20
    # more than 50 different numbers are measured, counted, or codes of too many classes
    is_measured = are_numbers and classes.size > min(50, max(n_usual, y.size / 10))
    if is_measured or classes.size > max(n_usual, y.size / 3):
        raise ValueError(
            f"{target!r} has {classes.size:,} different values on {y.size:,} labeled rows, such as "
            f"{listed(classes.tolist(), 3)}. Only classes can be predicted: name another column, "
            "or make classes of it, such as low and high; write codes of classes as strings, such "
            "as 'c12'."
        )
    return dict(zip(classes.tolist(), counts.tolist(), strict=True))


def find_id_columns(frame: pd.DataFrame) -> dict[str, str]:
    """Return which columns only tell rows apart, and why that seems so.

    These are the index of a frame, numbers that count the rows up or down from 0 or 1, and whole
    numbers with the name of an id that differ, but for a few rows that are there twice. Strings are
    left to the encoder.
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
                nearly = "" if column.is_unique else "nearly "
                reasons[str(name)] = f"it is an id, different in {nearly}each row"
    return reasons


def _are_different_whole_numbers(column: pd.Series) -> bool:
    # fewer than 20 rows may be numbered by accident
    if column.dtype.kind not in "iuf" or len(column) < 20:
        return False
    if column.nunique(dropna=False) < LEAST_DIFFERENT * len(column):
        return False
    numbers = column.to_numpy()
    return numbers.dtype.kind != "f" or bool(
        np.all((np.abs(numbers) < 2.0**63) & (numbers == np.floor(numbers)))
    )


def write_table(parts: Iterable[Any], path: Path, force: bool) -> None:
    """Write tables or batches, one at least, to a file, as its suffix says.

    They are written one after the other, so that they need not be in memory at the same time.
    """
    parts = iter(parts)
    first = next(parts)
    is_parquet = path.suffix.lower() == ".parquet"
    module, name = ("parquet", "ParquetWriter") if is_parquet else ("csv", "CSVWriter")
    open_writer = getattr(pyarrow(f"pyarrow.{module}"), name)
    with (
        atomic_path(path, force=force) as draft,
        naming_output(path),
        open_writer(draft, first.schema) as writer,
    ):
        for part in chain([first], parts):
            writer.write(part)


def with_free_names(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Return a frame in which columns with names that are to be written have a "_" behind them."""
    for name in sorted(set(names).intersection(frame)):
        other = f"{name}_"
        while other in frame:
            other += "_"
        frame = frame.rename(columns={name: other})
    return frame


def write_frame(frame: pd.DataFrame, path: Path, force: bool) -> None:
    """Write a frame to a file, as its suffix says; in CSV, dates have no time that they lack."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if path.suffix.lower() == ".csv":
        for i, column in enumerate(table.columns):
            if pa.types.is_timestamp(column.type) and frame.iloc[:, i].dt.tz is None:
                table = table.set_column(i, table.field(i).name, _shortest_times(column))
    write_table([table], path, force)


def _shortest_times(times: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return dates if all times are midnight, else times without digits that are all zero."""
    for unit in ("s", "ms", "us"):
        try:
            shorter = times.cast(pa.timestamp(unit))
        except pa.ArrowInvalid:
            continue
        dates = shorter.cast(pa.date32())
        return dates if dates.cast(shorter.type).equals(shorter) else shorter
    return times
