"""Rows that a model is fitted to, and their labels, as they are read from files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.random import sample_without_replacement

from hedgeclipper.cli.app import Fit, WriteReport
from hedgeclipper.cli.checked_labels import (
    LabelTable,
    PeoplesLabels,
    clean_texts,
    listed_rows,
    note_skipped,
)
from hedgeclipper.cli.output import Output, UsageError
from hedgeclipper.cli.tables import Files, clean_labels, parse_classes
from hedgeclipper.io import as_text, missing_labels
from hedgeclipper.io.arrays import digest_rows

ADD_COLUMNS = "Add what is missing, empty where it is not known, or fit again without it (--drop)."


def find_tables(options: Fit | WriteReport, output: Output) -> list[Files]:
    """Return the files of rows, and of unlabeled rows if there are such."""
    if options.key is not None and options.labels is None:
        raise UsageError("--key is given without --labels. Pass both.")
    where = [options.data], options.unlabeled
    tables = [Files.find(paths, output, options.dialect) for paths in where if paths]
    paths = [path for files in tables for path in files.paths]
    if len(set(paths)) < len(paths):
        raise UsageError(
            f"{tables[-1].place} is passed twice, as DATA and as --unlabeled. Leave out "
            "--unlabeled: rows of DATA without a target are unlabeled already."
        )
    return tables


def read_people(
    options: Fit | WriteReport, target: str | None, tables: list[Files], output: Output
) -> PeoplesLabels | None:
    """Return the labels of ``--labels``, matched to the rows; None without such."""
    data = tables[0]
    if options.labels is None:
        return None
    table = LabelTable.read(options.labels, target, data.names, data.place, options.dialect, output)
    if table.is_sample and len(tables) > 1:
        raise UsageError(
            f"{options.labels} is a sample of {data.place}, and tells nothing of the rows of "
            "--unlabeled. Put all rows into one file, and draw the sample from it."
        )
    if options.key is not None:
        data.require([options.key], "--key")
    shared = table.shared(data.names) or data.names[:1]
    people = table.match(data.frame(shared), options.key, output)
    note_skipped(people, output)
    if people.sample is not None and people.skipped:
        level = getattr(options, "confidence_level", None)
        if level is not None:
            raise ValueError(
                f"{listed_rows(np.array(people.skipped)).capitalize()} of {options.labels} were "
                "skipped before the tests were drawn, so that these cannot tell of them. Label "
                "them, or leave out --confidence: the error is then an estimate."
            )
        excluded = np.setdiff1d(people.sample.excluded, people.skipped)
        return replace(people, sample=replace(people.sample, excluded=excluded))
    return people


def read_target(
    data: Files, target: str, people: PeoplesLabels | None, marks: Sequence[str], output: Output
) -> np.ndarray:
    """Return the label of each row, None where there is none.

    Labels are those of a column, and those of people; ``marks`` are values that mean unlabeled.
    """
    if target in data.names:
        column = data.column(target).astype(object)
    else:
        column = pd.Series([None] * len(data.column(data.names[0])), name=target, dtype=object)
    if people is not None:
        rows = np.append(people.rows, np.array([*people.more], np.int64))
        before, after = clean_texts(column.iloc[rows]), [*people.labels, *people.more.values()]
        pairs = zip(before, after, strict=True)
        differ = np.array([x not in (None, *marks) and y not in (None, x) for x, y in pairs], bool)
        if differ.any():
            raise ValueError(
                f"Column {target!r} of {data.place} has other labels than --labels for "
                f"{differ.sum():,} rows, such as {listed_rows(rows[differ])}. Keep one label for "
                "each row."
            )
        column.iloc[rows] = after
    return clean_labels(column, marks, output)


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Labeled rows with their labels, and what reads the unlabeled ones in batches."""

    tables: list[Files]
    X: pd.DataFrame
    y: np.ndarray
    unlabeled: Callable[[], Iterator[pd.DataFrame]]
    n_unlabeled: int
    is_labeled: np.ndarray  # of the rows of the first table

    def sample(self, most: int, key: str | None) -> tuple[pd.DataFrame, list[str]]:
        """Return unlabeled rows and their names, at most so many, drawn at random."""
        n_drawn = min(most, self.n_unlabeled)
        drawn = np.sort(sample_without_replacement(self.n_unlabeled, n_drawn, random_state=0))
        start, parts = 0, []
        for frame in self.unlabeled():
            here = slice(*np.searchsorted(drawn, [start, start + len(frame)]))
            parts.append(frame.iloc[drawn[here] - start])
            start += len(frame)
        X, n_first = pd.concat(parts), self.is_labeled.size
        rows = X.index.to_numpy()
        names = self.tables[0].row_names(rows[rows < n_first], key)
        for more in self.tables[1:]:
            names += more.row_names(rows[rows >= n_first] - n_first, key)
        return X, names

    def in_order(self) -> tuple[pd.DataFrame, np.ndarray]:
        """Return all rows of one table, in its order, and their labels, None without one."""
        labels = np.full(self.is_labeled.size, None, object)
        labels[self.is_labeled] = self.y.tolist()
        return pd.concat([self.X, *self.unlabeled()]).sort_index(), labels


def digest_labeled(X: pd.DataFrame, y: Any) -> int:
    """Return a number by which labeled rows are recognized, in whatever order."""
    return digest_rows(X.assign(**{"": as_text(np.asarray(y))}))


def read_training_rows(
    tables: list[Files], labels: np.ndarray, names: list[str], strings: Sequence[str] | None = None
) -> TrainingRows:
    """Return the columns of these names in files; only labeled rows are kept in memory.

    Rows of the first table that have a label are labeled; those of a second table are not. Columns
    of CSV in ``strings`` are strings; by default those whose digits begin with 0.
    """
    for what, files in zip(("the model", "the unlabeled rows"), tables, strict=False):
        files.require(names, what, ADD_COLUMNS)
    known = ~missing_labels(labels)
    if strings is None:
        strings = sorted({name for files in tables for name in files.codes} & {*names})

    def parts() -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
        """Yield the labeled and the unlabeled rows of each batch; all are numbered."""
        for frame in map(check_finite, tables[0].batches(names, strings)):
            own = known[frame.index]
            yield frame[own], frame[~own]
        for files in tables[1:]:
            for frame in map(check_finite, files.batches(names, strings)):
                frame.index += known.size
                yield frame[:0], frame

    def unlabeled() -> Iterator[pd.DataFrame]:
        return (rows for _, rows in parts() if len(rows))

    labeled, n_unlabeled = [], 0
    for some, others in parts():
        n_unlabeled += len(others)
        labeled.append(some)
    X = pd.concat([some for some in labeled if len(some)] or labeled[:1])
    return TrainingRows(tables, X, parse_classes(labels[known]), unlabeled, n_unlabeled, known)


def columns_to_use(
    data: Files,
    target: str,
    drop: Sequence[str],
    keep: Sequence[str],
    names_rows: Sequence[str | None],
    output: Output,
) -> tuple[list[str], dict[str, str]]:
    """Return the columns to learn from, and those that are left out, with the reason, noted.

    ``names_rows`` are columns of keys, which name the rows; None is none.
    """
    keys = [name for name in names_rows if name is not None]
    for option, named in {"--drop": drop, "--keep": keep, "--id": keys}.items():
        data.require(named, option)
        if target in named:
            raise UsageError(
                f"{target!r} is both the target and a column of {option}. Take it out of {option}, "
                "or name another --target."
            )
    names = [name for name in data.names if name not in {target, *keys, *drop}]
    left_out = data.id_columns([name for name in names if name not in keep])
    for name, reason in left_out.items():
        output.note(f"Column {name!r} is left out: {reason}. Pass --keep {name!r} to use it.")
    names = [name for name in names if name not in left_out]
    if not names:
        raise ValueError(f"{data.place} has no column but the target. Add columns.")
    return names, left_out | dict.fromkeys(keys, "it names the rows")


def check_finite(X: pd.DataFrame) -> pd.DataFrame:
    """Return rows as they are, or name a column that has too large numbers."""
    infinite = (X.select_dtypes("number").abs() > np.finfo(np.float32).max).any()
    if infinite.any():
        raise ValueError(
            f"Column {infinite.idxmax()!r} of {X.attrs.get('place', 'the rows')} has an infinite "
            "number, or one too large. Rescale the column, or leave the place empty."
        )
    return X
