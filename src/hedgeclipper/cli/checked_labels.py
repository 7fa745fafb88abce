"""Labels that people gave to some rows of a table, read from files and matched to its rows.

Rows are matched by the record of a sample, by a key column, or by their number; a session of
`hedgeclipper label` has their numbers and the record of its tests. Two files of the same rows are
labels of two people, and a third one settles where these differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hedgeclipper.bounds.agreement import Agreement, settle_labels
from hedgeclipper.bounds.sample import POSITION, RECORD, RECORD_COLUMNS, ROW, Sample, read_record
from hedgeclipper.cli.output import Output, UsageError
from hedgeclipper.cli.tables import Files, texts_of
from hedgeclipper.io import listed
from hedgeclipper.io.arrays import digest_in_order, plain_numbers
from hedgeclipper.io.csv_dialect import CsvDialect
from hedgeclipper.io.label_studio import read_annotations

if TYPE_CHECKING:
    from hedgeclipper.labeling.session import Session

MOST_PEOPLE = 3


@dataclass(frozen=True, eq=False)
class PeoplesLabels:
    """Rows of a table that people have looked at, and their labels as text, None for undecided.

    With a ``sample`` these are all its rows, in the order of the draw. ``agreement`` is that of two
    people, ``column`` is what the labels are called, and ``key`` the column that named the rows.
    ``more`` are labels of a session for other rows: chosen ones, which train and never test;
    ``skipped`` are skipped rows, which its draw left out.
    """

    rows: np.ndarray
    labels: np.ndarray
    column: str
    sample: Sample | None = None
    key: str | None = None
    agreement: Agreement | None = None
    more: dict[int, str] = field(default_factory=dict)
    skipped: list[int] = field(default_factory=list)

    def decided(self) -> dict[int, str]:
        """Return all labels by row, without skipped rows."""
        pairs = zip(self.rows.tolist(), self.labels, strict=True)
        return self.more | {row: label for row, label in pairs if label is not None}


@dataclass(frozen=True, eq=False)
class LabelTable:
    """A table of labels as it was read: the name of its file, its columns, and that of the labels.

    Its lines are about rows of another table, which errors call ``place``.
    """

    name: str
    frame: pd.DataFrame
    column: str
    place: str

    @classmethod
    def read(
        cls,
        name: str,
        column: str | None,
        known: Sequence[str],
        place: str,
        dialect: CsvDialect,
        output: Output,
    ) -> LabelTable:
        """Read CSV, Parquet, Excel, JSON of Label Studio, or a session of `hedgeclipper label`.

        The column of labels is the one that is named, "label", or the only one that is not among
        those ``known`` of the other table.
        """
        if name.lower().endswith(".jsonl"):
            if not Path(name).is_file():
                raise ValueError(f"{name} does not exist. Pass the file of a session.")
            # imported here, since few need it
            from hedgeclipper.labeling.session import read_session

            session = read_session(name)
            found = column or session.target or "label"
            return SessionTable(name, pd.DataFrame(), found, place, session)
        if name.lower().endswith(".json"):
            frame = pd.DataFrame(read_annotations(Path(name)))
            # annotations are the labels, whatever is labeled
            frame[column or "label"] = frame.pop("label")
        else:
            frame = Files.find([name], output, dialect).frame()
        names = [str(one) for one in frame]
        new = [one for one in names if one not in (*known, *RECORD_COLUMNS)]
        found = column or ("label" if "label" in names or len(new) != 1 else new[0])
        if found not in names:
            raise ValueError(
                f"{name} has no column {found!r}. It has {listed(names)}. Name the column of "
                "labels with --label-column, or --target of fit."
            )
        return cls(name, frame, found, place)

    @property
    def is_sample(self) -> bool:
        """Whether it has the record of a sample."""
        return has_record(self.frame)

    @property
    def labels(self) -> np.ndarray:
        """The label of each line."""
        return clean_texts(self.frame[self.column])

    def shared(self, names: Sequence[str]) -> list[str]:
        """Return the columns beside the labels that another table has, too."""
        return [name for name in self.frame if name in names and name not in (ROW, self.column)]

    def match(self, frame: pd.DataFrame, key: str | None, output: Output | None) -> PeoplesLabels:
        """Return the labels of rows of the other table, of which ``frame`` has the shared columns.

        Rows are named by a key or by the column "row"; columns that both tables have must agree in
        these rows. Labels of no row are noted in ``output``, and an error without it.
        """
        if self.is_sample:
            sample, places = self.read_sample(frame, output)
            single = one_label_each(places, self.labels, self.name, sample.rows[places])
            every = np.array([single.get(place) for place in range(sample.n_drawn)], object)
            return PeoplesLabels(sample.rows, every, self.column, sample)
        key = self._find_key(frame) if key is None else key
        if key is None:
            numbers = pd.to_numeric(self.frame[ROW], errors="coerce")
            rows = pd.RangeIndex(len(frame)).get_indexer(numbers)
        else:
            rows = self._rows_of_keys(frame, key)
        kept = self._check_found(rows, key, output)
        given = LabelTable(self.name, self.frame[kept], self.column, self.place)
        rows = rows[kept]
        given.check_same(frame, [name for name in self.shared(list(frame)) if name != key], rows)
        names = rows if key is None else texts_of(given.frame[key])
        single = one_label_each(rows, given.labels, self.name, names, key or ROW)
        found, labels = np.array(list(single), np.int64), np.array([*single.values()], object)
        return PeoplesLabels(found, labels, self.column, None, key)

    def read_sample(self, frame: pd.DataFrame, output: Output | None) -> tuple[Sample, np.ndarray]:
        """Return the sample, and the place of each line in it.

        Raise unless it was drawn from the rows of the frame, as far as their columns can tell.
        """
        record = {name: self.frame[name].tolist() for name in RECORD_COLUMNS if name in self.frame}
        try:
            sample, places, n_columns = read_record(record, len(frame))
        except ValueError as error:
            raise ValueError(f"{self.name} is not as it was drawn: {error!s}") from error
        shared = [name for name in self.shared(list(frame)) if name not in RECORD_COLUMNS]
        self.check_same(frame, shared, np.asarray(self.frame[ROW], np.int64))
        if sample.digest and len(shared) == n_columns > 0:
            found = digest_in_order(frame[shared])
            # columns may have been moved in one of the two files
            moved = [name for name in frame if name in shared]
            if sample.digest != found and sample.digest != digest_in_order(frame[moved]):
                raise ValueError(
                    f"{self.place} is not the file that {self.name} was drawn from, or its rows "
                    f"are in another order (digest {found}, drawn from {sample.digest}). Pass the "
                    "rows as they were, or draw a new sample."
                )
        elif not shared and output is not None:
            output.note(
                f"{self.place} has none of the columns of the file that {self.name} was drawn "
                "from, so its rows are taken to be the same, in the same order."
            )
        return sample, places

    def check_same(self, frame: pd.DataFrame, columns: Sequence[str], rows: np.ndarray) -> None:
        """Raise unless these columns of all lines are those of their rows; say where not."""
        for name in columns:
            both = self.frame[name], frame[name].iloc[rows]
            one, other = (plain_numbers(column.to_numpy(object)) for column in both)
            differ = ~np.isclose(one, other, rtol=1e-9, atol=0.0, equal_nan=True)
            if differ.any():
                raise ValueError(
                    f"{self.name} and {self.place} differ in {name!r} of {differ.sum():,} rows, "
                    f"such as {listed_rows(rows[differ])}. One of them was changed or sorted in "
                    "between: pass the files as they were, or name the column that tells rows "
                    "apart with --key."
                )

    def _find_key(self, frame: pd.DataFrame) -> str | None:
        """Return the column that names rows in both tables; None if "row" numbers them."""
        if ROW in self.frame and self.column != ROW:
            return None
        shared = self.shared(list(frame))
        unique = [name for name in shared if frame[name].is_unique]
        found = shared if len(shared) == 1 else unique
        if len(found) != 1:
            raise UsageError(
                f"{self.name} does not say which rows it is about: it has neither a column 'row', "
                f"their numbers from 0, nor one column in common with {self.place} that names "
                "them. Name the column that is different in each row with --key."
            )
        return found[0]

    def _rows_of_keys(self, frame: pd.DataFrame, key: str) -> np.ndarray:
        for table, place in ((self.frame, self.name), (frame, self.place)):
            if key not in table:
                raise ValueError(
                    f"{place} has no column {key!r} for --key. It has {listed(list(table))}. Name "
                    "a column that both files have."
                )
        keys = pd.Index(texts_of(frame[key]))
        if keys.has_duplicates:
            twice = keys[keys.duplicated()][0]
            raise ValueError(
                f"{self.place} has more than one row with the {key} {twice!r}. Name a column with "
                "--key that is different in each row."
            )
        return keys.get_indexer(texts_of(self.frame[key]))

    def _check_found(self, rows: np.ndarray, key: str | None, output: Output | None) -> np.ndarray:
        """Return which lines are about a row of the other table."""
        kept, name = rows >= 0, ROW if key is None else key
        lost = texts_of(self.frame[name][~kept]).tolist()
        if lost and (output is None or not kept.any()):
            raise ValueError(
                f"{self.place} has no {name} {listed(lost, 5)}, which {self.name} has labels of. "
                "Pass labels of rows of this file, or name the column that both have with --key."
            )
        if lost and output is not None:
            output.note(
                f"{len(lost):,} labels of {self.name} belong to no row of {self.place}, such as "
                f"that of {name} {lost[0]!r}."
            )
        return kept


@dataclass(frozen=True, eq=False)
class SessionTable(LabelTable):
    """The labels of a session of `hedgeclipper label`.

    Its lines are read once the number of its rows is known to be that of the other table.
    """

    session: Session

    @property
    def is_sample(self) -> bool:
        """Whether it has the record of a sample: that of the rows that test."""
        return True

    def shared(self, names: Sequence[str]) -> list[str]:
        """Return the columns of its rows that another table has, too."""
        return [name for name in self.session.columns if name in names]

    def match(self, frame: pd.DataFrame, key: str | None, output: Output | None) -> PeoplesLabels:
        """Return the labels of rows that were drawn to test, and the others; it needs no key."""
        session = self.session
        if session.n_rows != len(frame):
            raise ValueError(
                f"{self.name} is a session of {session.n_rows:,} rows, and {self.place} has "
                f"{len(frame):,}. Pass all rows that were labeled, in their order."
            )
        shared = self.shared(list(frame))
        if len(shared) < len(session.columns) or digest_in_order(frame[shared]) != session.digest:
            raise ValueError(
                f"{self.place} has not the rows that {self.name} is a session of, or they are in "
                "another order. Pass the file that was labeled, as it was."
            )
        sample = session.sample
        texts = dict(zip(session.rows.tolist(), clean_texts(session.labels), strict=True))
        labels = np.array([texts.pop(row, None) for row in sample.rows.tolist()], object)
        more = {row: label for row, label in texts.items() if label is not None}
        n_open = sum(label is None for label in labels)
        if output is not None:
            output.say(
                f"{self.name}: {len(more):,} labels were chosen, reviewed or known before: they "
                f"train and never test. {sample.n_drawn - n_open:,} of {sample.n_drawn:,} rows "
                "that were drawn at random have a label; these can test."
            )
            output.result["session"] = {"n_chosen": len(more), "n_drawn": sample.n_drawn}
        skipped = [row for row in sample.excluded.tolist() if row not in more]
        return PeoplesLabels(sample.rows, labels, self.column, sample, more=more, skipped=skipped)


def one_label_each(
    places: np.ndarray, labels: np.ndarray, file: str, names: np.ndarray, key: str = ROW
) -> dict[int, Any]:
    """Return the label of each place; two different ones are an error that names the rows."""
    found: dict[int, Any] = {}
    twice = []
    for place, label, name in zip(places.tolist(), labels.tolist(), names.tolist(), strict=True):
        before = found.get(place)
        if before is None:  # a label of one person counts, where another one could not decide
            found[place] = label
        elif label is not None and label != before:
            twice.append(name)
    if twice:
        raise ValueError(
            f"{file} has different labels for {key} {listed(sorted(set(twice)), 5)}. Keep one of "
            "them; labels of two people go into two files."
        )
    return found


def settle_people(people: Sequence[PeoplesLabels], confidence_level: float) -> PeoplesLabels:
    """Return the labels of one person, or those that two agree on or a third one settles."""
    first, samples = people[0], [one.sample for one in people]
    if any(one is None for one in samples) and any(one is not None for one in samples):
        raise ValueError(
            "Some files of labels have the record of a sample, and others do not. Give all people "
            "the file that `hedgeclipper sample` has written."
        )
    digests = {(one.digest, one.rows.tobytes()) for one in samples if one is not None}
    if len(digests) > 1:
        raise ValueError(
            "The files of labels have records of different samples. Pass labels of the same rows."
        )
    if len(people) == 1:
        return first
    rows = pd.unique(np.concatenate([one.rows for one in people]))
    by_row = [pd.Series(one.labels, one.rows).reindex(rows).to_numpy(object) for one in people]
    by_row = [np.where(pd.isna(labels), None, labels) for labels in by_row]
    agreement = settle_labels(*by_row, confidence_level=confidence_level)
    return PeoplesLabels(rows, agreement.labels, first.column, first.sample, None, agreement)


def note_skipped(people: PeoplesLabels, output: Output) -> None:
    """Say what rows without a label mean."""
    n_open = sum(label is None for label in people.labels)
    if people.sample is not None and n_open:
        output.note(
            f"{n_open:,} of {people.rows.size:,} rows of the sample have no label: they count "
            "as skipped, which is wrong, and need review. Label them if they were forgotten."
        )
    elif n_open:
        output.note(
            f"{n_open:,} of {people.rows.size:,} rows have no label, and are left out. If somebody "
            "looked at them and could not decide, the others are no random sample, and nothing is "
            "guaranteed: draw rows with `hedgeclipper sample`, and such rows count as wrong."
        )


def has_record(names: Iterable[str]) -> bool:
    """Return whether columns hold the record of a sample."""
    return {ROW, POSITION, RECORD} <= set(names)


def clean_texts(column: Any) -> np.ndarray:
    """Return labels as text without blanks around them, None where there is none."""
    return np.array([text.strip() or None for text in texts_of(column)], object)


def listed_rows(rows: np.ndarray, most: int = 5) -> str:
    """Return numbers of rows for a message."""
    more = f" and {len(rows) - most:,} more" if len(rows) > most else ""
    return f"row{'s' * (len(rows) > 1)} {', '.join(f'{row:g}' for row in rows[:most])}{more}"
