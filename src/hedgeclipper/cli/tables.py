"""Tables of files: found by name, checked, read into frames, and written.

`Files` are the files of one table. `matched_labels` are those of another table, `clean_labels` and
`parse_classes` make classes of labels, and `find_id_columns` finds columns that only number or name
the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from hedgeclipper.cli.output import CommandError, ExitCode, Output
from hedgeclipper.io import as_text, listed
from hedgeclipper.io.arrays import rows_per_batch
from hedgeclipper.io.atomic import naming_output
from hedgeclipper.io.formats import (
    CODES,
    SAY_ENCODING,
    UNKNOWN_DIALECT,
    CsvDialect,
    CsvFile,
    ExcelFile,
    TableFile,
    open_files,
)
from hedgeclipper.io.frames import did_you_mean, index_names, positions_of

TABLE_SUFFIXES = ".parquet", ".csv"
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
        return [file.head()[0] for file in self.files]

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
            positions_of(schema.names, schema.names, file.place)
            if odd := set(schema.names) ^ set(self._schemas[0].names):
                raise CommandError(
                    f"{file.place} has other columns than {self.files[0].place}: "
                    f"{listed(sorted(odd), 5)}.",
                    "Pass files with the same columns.",
                )

    def require(self, names: Sequence[str], what: str, advice: str = "") -> None:
        """Raise unless there is a column of each name; ``what`` says what they are for."""
        missing = [name for name in names if name not in self.names]
        if missing:
            guess = did_you_mean(missing[0], self.names)
            columns = f"column{'s' * (len(missing) > 1)} {listed(missing)}"
            raise CommandError(
                f"{self.place} has no {columns} for {what}. It has {listed(self.names)}.",
                (guess + advice).strip() or "Name one of these.",
            )

    def frame(
        self, names: Sequence[str] | None = None, strings: Sequence[str] = ()
    ) -> pd.DataFrame:
        """Return all rows, named by file and line.

        ``names`` are the columns to read, by default all; of CSV ``strings`` are read as strings.
        """
        names, frames = self.names if names is None else list(names), []
        for file in self.files:
            frame = _as_frame(file.table(names, [name for name in strings if name in names]), file)
            frames.append(frame.set_index(_lines(file, 0, len(frame))))
        return pd.concat(self._not_empty(frames))

    def column(self, name: str) -> pd.Series:
        """Return a column of labels or keys, as strings if it is from CSV."""
        return self.frame([name], [name])[name]

    def batches(
        self, names: list[str], strings: Sequence[str] = (), width: int = 0
    ) -> Iterator[pd.DataFrame]:
        """Yield all rows as `frame` has them, in batches that suit so many columns."""
        size = rows_per_batch(width or len(names))

        def read(file: TableFile) -> Iterator[pd.DataFrame]:
            start = 0
            for batch in file.batches(names, size=size, of_any_kind=strings):
                frame = _as_frame(pa.Table.from_batches([batch]), file)
                yield frame.set_index(_lines(file, start, len(frame)))
                start += len(frame)

        return self._not_empty(frame for file in self.files for frame in read(file))

    def _not_empty(self, frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        n_rows = 0
        for frame in frames:
            n_rows += len(frame)
            yield frame
        if n_rows == 0:
            raise CommandError(f"{self.place} has no rows.", "Pass a file with rows.")

    def id_columns(self, names: list[str]) -> dict[str, str]:
        """Return which columns only tell rows apart, and why; as `find_id_columns`.

        The first 1,000 rows of each file rule out most columns, which need not be read to the end.
        """
        heads = [next(file.batches(names, size=1000), None) for file in self.files]
        first = pd.concat(self._not_empty(head.to_pandas() for head in heads if head))
        likely = [n for n in names if _INDEX.fullmatch(n) or _are_different_whole_numbers(first[n])]
        return find_id_columns(self.frame(likely)) if likely else {}


def _lines(file: TableFile, start: int, n_rows: int) -> pd.MultiIndex:
    """Return names of rows: their file and line, counted from 1, a heading included."""
    first = start + (2 if isinstance(file, CsvFile | ExcelFile) else 1)
    return pd.MultiIndex.from_product([[str(file.path)], range(first, first + n_rows)])


def _as_frame(table: Any, file: TableFile) -> pd.DataFrame:
    """Return a table as a frame: decimals are floats, dates are dates."""
    for position, column in enumerate(table.schema):
        if pa.types.is_binary(column.type):
            raise CommandError(
                f"Column {column.name!r} of {file.place} is not text in UTF-8.",
                SAY_ENCODING,
            )
        if pa.types.is_decimal(column.type):
            table = table.set_column(position, column.name, table.column(position).cast("float64"))
    return table.to_pandas(date_as_object=False, ignore_metadata=True)


def names_of_rows(tables: Sequence[Files], frame: pd.DataFrame, key: str | None) -> list[str]:
    """Return names of some rows of tables: their keys if all have such, or like ``rows.csv:97``."""
    if key is None or any(key not in files.names for files in tables):
        return [f"{path}:{line}" for path, line in frame.index]
    keys = pd.concat([files.column(key) for files in tables])
    return texts_of(keys.reindex(frame.index))


def texts_of(column: Any) -> list[str]:
    """Return a column as text: 7 in one file is 7 in another, also beside missing numbers."""
    return as_text(pd.Series(column).to_numpy(dtype=object)).tolist()


def key_of_labels(data: Files, labels: Files, key: str | None, target: str) -> str:
    """Return the column that names rows in both tables: the one that is given, or they share."""
    labels.require([target], "--target")
    if target in data.names:
        raise CommandError(
            f"{data.place} has a column {target!r} too, beside the one of --labels.",
            "Leave out --labels, or rename one of the two.",
            ExitCode.USAGE,
        )
    shared = [name for name in labels.names if name in data.names]
    if key is None and len(shared) != 1:
        raise CommandError(
            f"{data.place} and {labels.place} share {listed(shared, 5)}.",
            "Name the column that tells which label belongs to which row with --key.",
            ExitCode.USAGE,
        )
    key = key or shared[0]
    for files in (data, labels):
        files.require([key], "--key")
    return key


def labels_by_key(table: pd.DataFrame, key: str, target: str, place: str) -> pd.Series:
    """Return the label of each key that has one."""
    known = pd.Series(table[target].to_numpy(object), texts_of(table[key]), name=target).dropna()
    per_key = known.groupby(level=0).nunique()
    if (per_key > 1).any():
        raise CommandError(
            f"{place} has different labels for the {key or 'row'} {per_key.idxmax()!r}.",
            "Keep one of them.",
        )
    return known[~known.index.duplicated()]


def matched_labels(data: Files, labels: Files, key: str, target: str, output: Output) -> pd.Series:
    """Return the label of each row that a table of labels has for the same key."""
    known = labels_by_key(labels.frame([key, target], [key, target]), key, target, labels.place)
    advice = "Name a column with --key that is different in each row."
    keys = unique_keys(data.column(key), key, data.place, advice)
    advice = "Name the column that both have with --key."
    return match_labels(known, keys, key, (labels.place, data.place), advice, output)


def unique_keys(column: pd.Series, key: str, place: str, advice: str) -> pd.Index:
    """Return the keys of rows as text; one that is there twice is an error."""
    keys = pd.Index(texts_of(column))
    if keys.has_duplicates:
        twice = keys[keys.duplicated()][0]
        raise CommandError(f"{place} has more than one row with the {key} {twice!r}.", advice)
    return keys


def match_labels(
    known: pd.Series, keys: pd.Index, key: str, places: Sequence[str], advice: str, output: Output
) -> pd.Series:
    """Return the label of each row by its key, None where there is none; note labels of no row.

    ``places`` are what to call labels and rows in messages.
    """
    lost, (labels, rows) = known.index.difference(keys).tolist(), places
    if len(lost) == len(known):
        raise CommandError(
            f"No {key or 'key'} of {labels} is in {rows}: the first are {listed(lost, 1)} and "
            f"{keys[0]!r}.",
            advice,
        )
    if lost:
        output.note(
            f"{len(lost):,} labels of {labels} belong to no row of {rows}, such as that of {key} "
            f"{lost[0]!r}."
        )
    return known.reindex(keys, fill_value=None)


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
        if isinstance(labels[k], str) and len(labels[k]) > 1:  # A and a may be two classes
            groups.setdefault(" ".join(labels[k].casefold().split()), []).append(k)
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
    n_usual = 2 if are_fractions else 20
    # more than 50 different numbers are measured, counted, or codes of too many classes
    is_measured = are_numbers and classes.size > min(50, max(n_usual, y.size / 10))
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
    # fewer than 20 rows may be numbered by accident
    if column.dtype.kind not in "iuf" or len(column) < 20 or not column.is_unique:
        return False
    numbers = column.to_numpy()
    return numbers.dtype.kind != "f" or bool(
        np.all((np.abs(numbers) < 2.0**63) & (numbers == np.floor(numbers)))
    )


def write_table(parts: Iterable[Any], draft: Path, path: Path) -> None:
    """Write tables or batches, one at least, to a draft of a file, as the suffix of the path says.

    They are written one after the other, so that they need not be in memory at the same time.
    """
    parts = iter(parts)
    first = next(parts)
    is_parquet = path.suffix.lower() == ".parquet"
    open_writer = pa.parquet.ParquetWriter if is_parquet else pa.csv.CSVWriter
    with naming_output(path), open_writer(draft, first.schema) as writer:
        for part in chain([first], parts):
            writer.write(part)
