"""Labels that people gave to some rows of a table, read from files and matched to its rows.

Rows are matched by the record of a sample, by a key column, or by their number. Two files of the
same rows are labels of two people, and a third one settles where these differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hedgeclipper.bounds.agreement import Agreement, settle_labels
from hedgeclipper.bounds.sample import POSITION, RECORD, RECORD_COLUMNS, ROW, Sample, read_record
from hedgeclipper.cli.labels_file import listed_rows
from hedgeclipper.cli.output import CommandError, ExitCode, Output
from hedgeclipper.cli.tables import Files, texts_of
from hedgeclipper.io import listed
from hedgeclipper.io.digests import digest_in_order, plain_numbers
from hedgeclipper.io.formats import CsvDialect
from hedgeclipper.io.label_studio import read_annotations

MOST_PEOPLE = 3


@dataclass(frozen=True, eq=False)
class PeoplesLabels:
    """Rows of a table that people have looked at, and their labels as text, None for undecided.

    With a ``sample`` these are all its rows, in the order of the draw. ``agreement`` is that of two
    people, and ``column`` is what the labels are called.
    """

    rows: np.ndarray
    labels: np.ndarray
    sample: Sample | None
    agreement: Agreement | None
    column: str


def read_labels(
    files: Sequence[str],
    table: Files,
    frame: pd.DataFrame,
    *,
    key: str | None,
    column: str | None,
    confidence_level: float,
    dialect: CsvDialect,
    output: Output,
) -> PeoplesLabels:
    """Return the labels in one to three files of rows of a table, whose columns are ``frame``."""
    if len(files) > MOST_PEOPLE:
        raise CommandError(
            f"--labels takes at most {MOST_PEOPLE} files: of one person, of a second one, and of "
            f"a third one who settles. Got {len(files)}.",
            "Put labels of one person into one file.",
            ExitCode.USAGE,
        )
    people = [_read_person(name, table, frame, key, column, dialect, output) for name in files]
    samples = [one.sample for one in people]
    if any(one is None for one in samples) and any(one is not None for one in samples):
        raise CommandError(
            "Some files of labels have the record of a sample, and others do not.",
            "Give all people the file that `hedgeclipper sample` has written.",
        )
    sample = samples[0]
    for other in samples[1:]:
        if sample is not None and other is not None and not _are_same(sample, other):
            raise CommandError(
                "The files of labels have records of different samples.",
                "Pass labels of the same rows.",
            )
    rows = pd.unique(np.concatenate([one.rows for one in people]))
    by_row = [pd.Series(one.labels, one.rows).reindex(rows).to_numpy(object) for one in people]
    by_row = [np.where(pd.isna(labels), None, labels) for labels in by_row]
    agreement, labels = None, by_row[0]
    if len(by_row) > 1:
        agreement = settle_labels(*by_row, confidence_level=confidence_level)
        labels = agreement.labels
    return PeoplesLabels(rows, labels, sample, agreement, people[0].column)


def _read_person(
    name: str,
    table: Files,
    frame: pd.DataFrame,
    key: str | None,
    column: str | None,
    dialect: CsvDialect,
    output: Output,
) -> PeoplesLabels:
    """Return the labels of one file."""
    given = read_table(name, dialect, output)
    column = label_column(given, column, list(frame), name)
    labels = clean_texts(given[column])
    if is_sample(given):
        sample, places, n_columns = read_record(
            {c: given[c].tolist() for c in RECORD_COLUMNS if c in given}
        )
        check_sample_rows(sample, n_columns, given, frame, column, (name, table.place), output)
        single = one_label_each(places, labels, sample.rows[places], name)
        every = np.array([single.get(place) for place in range(sample.n_drawn)], object)
        return PeoplesLabels(sample.rows, every, sample, None, column)
    rows = match_rows(given, frame, key, (name, table.place))
    single = one_label_each(rows, labels, rows, name)
    kept = np.array(list(single), np.int64)
    return PeoplesLabels(kept, np.array(list(single.values()), object), None, None, column)


def is_sample(given: pd.DataFrame) -> bool:
    """Return whether a table of labels has the record of a sample."""
    return {ROW, POSITION, RECORD} <= set(given)


def note_skipped(people: PeoplesLabels, output: Output) -> None:
    """Say what rows of the sample without a label mean."""
    n_open = sum(label is None for label in people.labels)
    if n_open:
        output.note(
            f"{n_open:,} of {people.rows.size:,} rows of the sample have no label: nobody could "
            "decide them, so that they count as wrong, and need review. Label them if they were "
            "only forgotten."
        )


def read_table(name: str, dialect: CsvDialect, output: Output) -> pd.DataFrame:
    """Return a table of labels: CSV, Parquet, Excel, or JSON of Label Studio."""
    if name.lower().endswith(".json"):
        return pd.DataFrame(read_annotations(Path(name)))
    return Files.find([name], output, dialect).frame().reset_index(drop=True)


def label_column(given: pd.DataFrame, wanted: str | None, known: list[str], place: str) -> str:
    """Return the column of the labels: the one that is named, "label", or the only new one."""
    names = [str(name) for name in given]
    if wanted is not None and wanted not in names:
        raise CommandError(
            f"{place} has no column {wanted!r}. It has {listed(names)}.",
            "Name the column of labels with --label-column.",
        )
    if wanted is not None or "label" in names:
        return wanted or "label"
    new = [name for name in names if name not in (*known, *RECORD_COLUMNS)]
    if len(new) != 1:
        raise CommandError(
            f"{place} has no column 'label'. It has {listed(names)}.",
            "Name the column of labels with --label-column.",
        )
    return new[0]


def clean_texts(column: pd.Series) -> np.ndarray:
    """Return labels as text without blanks around them, None where there is none."""
    texts = [text.strip() for text in texts_of(column)]
    return np.array([text or None for text in texts], object)


def match_rows(
    given: pd.DataFrame, frame: pd.DataFrame, key: str | None, places: tuple[str, str]
) -> np.ndarray:
    """Return the number of the row of each line, by a key or by the column "row".

    Columns that both tables have must agree in these rows: a file that was sorted or changed in
    between is an error that says which rows.
    """
    file, table = places
    shared = [name for name in given if name in frame and name != ROW]
    if key is None and ROW not in given:
        unique = [name for name in shared if frame[name].is_unique]
        if len(unique) != 1:
            raise CommandError(
                f"{file} does not say which rows it is about: it has neither a column 'row', their "
                f"numbers from 0, nor one column in common with {table} that names them.",
                "Name the column that is different in each row with --key.",
                ExitCode.USAGE,
            )
        key = unique[0]
    if key is None:
        rows = _row_numbers(given[ROW], len(frame), places)
    else:
        rows = _rows_of_keys(given, frame, key, places)
    check_same(given, frame.iloc[rows], [name for name in shared if name != key], rows, places)
    return rows


def check_same(
    given: pd.DataFrame,
    expected: pd.DataFrame,
    columns: Sequence[str],
    rows: np.ndarray,
    places: tuple[str, str],
) -> None:
    """Raise unless these columns of two tables agree in all lines; say in which rows not."""
    for name in columns:
        one, other = (plain_numbers(table[name].to_numpy(object)) for table in (given, expected))
        differ = ~np.isclose(one, other, rtol=1e-9, atol=0.0, equal_nan=True)
        if differ.any():
            at = rows[differ]
            raise CommandError(
                f"{places[0]} and {places[1]} differ in {name!r} of {at.size:,} rows, such as "
                f"{listed_rows(at)}.",
                "One of them was changed or sorted in between: pass the files as they were, or "
                "name the column that tells rows apart with --key.",
            )


def check_sample_rows(
    sample: Sample,
    n_columns: int,
    given: pd.DataFrame,
    frame: pd.DataFrame,
    column: str,
    places: tuple[str, str],
    output: Output,
) -> None:
    """Raise unless a sample was drawn from these rows, as far as their columns can tell."""
    if sample.n_rows != len(frame):
        raise CommandError(
            f"{places[0]} is a sample of {sample.n_rows:,} rows, and {places[1]} has "
            f"{len(frame):,}.",
            "Pass all rows of the file that the sample was drawn from, in their order.",
        )
    names = [name for name in given if name not in (*RECORD_COLUMNS, column)]
    shared = [name for name in names if name in frame]
    rows = np.asarray(given[ROW], np.int64)
    check_same(given, frame.iloc[rows], shared, rows, places)
    if sample.digest and len(shared) == n_columns > 0:
        found = digest_in_order(frame[shared])
        if found != sample.digest:
            raise CommandError(
                f"{places[1]} is not the file that {places[0]} was drawn from, or its rows are in "
                f"another order (digest {found}, drawn from {sample.digest}).",
                "Pass the rows as they were, or draw a new sample.",
            )
    elif not shared:
        output.note(
            f"{places[1]} has none of the columns of the file that {places[0]} was drawn from, so "
            "its rows are taken to be the same, in the same order."
        )


def one_label_each(
    places: np.ndarray, labels: np.ndarray, rows: np.ndarray, file: str
) -> dict[int, Any]:
    """Return the label of each place; two different ones are an error that names the rows."""
    found: dict[int, Any] = {}
    twice = []
    for place, label, row in zip(places.tolist(), labels.tolist(), rows.tolist(), strict=True):
        before = found.get(place)
        if before is None:  # a label of one person counts, where another one could not decide
            found[place] = label
        elif label is not None and label != before:
            twice.append(row)
    if twice:
        raise CommandError(
            f"{file} has different labels for {len(set(twice)):,} rows: "
            f"{listed_rows(np.unique(twice))}.",
            "Keep one of them; labels of two people go into two files.",
        )
    return found


def _are_same(one: Sample, other: Sample) -> bool:
    return one.digest == other.digest and np.array_equal(one.rows, other.rows)


def _row_numbers(column: pd.Series, n_rows: int, places: tuple[str, str]) -> np.ndarray:
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(float)
    bad = np.flatnonzero(~((numbers >= 0) & (numbers < n_rows) & (numbers == np.floor(numbers))))
    if bad.size:
        raise CommandError(
            f"{bad.size:,} rows of {places[0]} are not in {places[1]}, such as "
            f"{column.iloc[bad[0]]} in column 'row'; it has the rows 0 to {n_rows - 1}.",
            "Pass labels of these rows.",
        )
    return numbers.astype(np.int64)


def _rows_of_keys(
    given: pd.DataFrame, frame: pd.DataFrame, key: str, places: tuple[str, str]
) -> np.ndarray:
    for table, place in zip((given, frame), places, strict=True):
        if key not in table:
            raise CommandError(
                f"{place} has no column {key!r} for --key. It has {listed(list(table))}.",
                "Name a column that both files have.",
            )
    keys = pd.Index(texts_of(frame[key]))
    if keys.has_duplicates:
        twice = keys[keys.duplicated()][0]
        raise CommandError(
            f"{places[1]} has more than one row with the {key} {twice!r}.",
            "Name a column with --key that is different in each row.",
        )
    rows = keys.get_indexer(texts_of(given[key]))
    if (rows < 0).any():
        lost = [text for text, row in zip(texts_of(given[key]), rows, strict=True) if row < 0]
        raise CommandError(
            f"{len(lost):,} rows of {places[0]} are not in {places[1]}: the {key} "
            f"{listed(lost, 5)}.",
            "Pass labels of rows of this file.",
        )
    return rows
