"""Labeled and unlabeled rows of files, ready for an estimator.

Unlabeled rows are read in batches, so that files may be larger than memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.random import sample_without_replacement

from hedgeclipper.base.columns import ColumnEncoder
from hedgeclipper.cli.app import Fit, WriteReport
from hedgeclipper.cli.checked_labels import PeoplesLabels, is_sample, read_labels, read_table
from hedgeclipper.cli.output import CommandError, ExitCode, Output
from hedgeclipper.cli.tables import (
    Files,
    clean_labels,
    matched_labels,
    names_of_rows,
    parse_classes,
)
from hedgeclipper.io import as_text, missing_labels
from hedgeclipper.io.digests import digest_rows

ADD_COLUMNS = "Add what is missing, empty where it is not known, or fit again without it (--drop)."


def find_tables(
    options: Fit | WriteReport, target: str | None, output: Output
) -> tuple[list[Files], Files | PeoplesLabels | None]:
    """Return the files of rows, and of unlabeled rows if any, and those of labels, or None.

    Labels of a sample that `hedgeclipper sample` has drawn are matched to the rows already.
    """
    if options.key is not None and options.labels is None:
        raise CommandError("--key is given without --labels.", "Pass both.", ExitCode.USAGE)
    where = [options.data], options.unlabeled
    tables = [Files.find(paths, output, options.dialect) for paths in where if paths]
    paths = [path for files in tables for path in files.paths]
    if len(set(paths)) < len(paths):
        raise CommandError(
            f"{tables[-1].place} is passed twice, as DATA and as --unlabeled.",
            "Leave out --unlabeled: rows of DATA without a target are unlabeled already.",
            ExitCode.USAGE,
        )
    if options.labels is None:
        return tables, None
    if not is_sample(read_table(options.labels, options.dialect, output)):
        return tables, Files.find([options.labels], output, options.dialect)
    if options.unlabeled:
        raise CommandError(
            f"{options.labels} is a sample of {tables[0].place}, and tells nothing of the rows of "
            "--unlabeled.",
            "Put all rows into one file, and draw the sample from it.",
            ExitCode.USAGE,
        )
    labels = read_labels(
        [options.labels],
        tables[0],
        tables[0].frame().reset_index(drop=True),
        key=None,
        column=target,
        confidence_level=0.95,
        dialect=options.dialect,
        output=output,
    )
    return tables, labels


@dataclass(frozen=True)
class Roles:
    """What columns are for: the target, the key that names rows, others to drop or to keep.

    ``labels`` are files that have the target by key, or labels of a sample, and ``marks`` values of
    it that mean unlabeled.
    """

    target: str
    key: str | None
    labels: Files | PeoplesLabels | None
    marks: Sequence[str]
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()

    def check(self, files: Files) -> None:
        """Raise unless the columns exist, and the target has no other role."""
        for option, names in {
            "--target": [self.target] if self.labels is None else [],
            "--drop": self.drop,
            "--keep": self.keep,
            "--id": [] if self.key is None else [self.key],
        }.items():
            files.require(names, option)
            if option != "--target" and self.target in names:
                raise CommandError(
                    f"{self.target!r} is both the target and a column of {option}.",
                    f"Take it out of {option}, or name another --target.",
                    ExitCode.USAGE,
                )

    def read_labels(self, files: Files, output: Output) -> np.ndarray:
        """Return the label of each row, None where there is none."""
        labels = self.labels
        if isinstance(labels, Files):
            column = matched_labels(files, labels, str(self.key), self.target, output)
        elif labels is None or self.target in files.names:
            column = files.column(self.target)
        else:
            n_rows = len(files.column(files.names[0]))
            column = pd.Series([None] * n_rows, name=self.target, dtype=object)
        if isinstance(labels, PeoplesLabels):
            column = column.astype(object)
            column.iloc[labels.rows] = labels.labels
        return clean_labels(column, self.marks, output)


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
        X = pd.concat(parts)
        return X, names_of_rows(self.tables, X, key)

    def in_order(self) -> tuple[pd.DataFrame, np.ndarray]:
        """Return all rows of one table, in its order, and their labels, None without one."""
        order = np.argsort(~self.is_labeled, kind="stable").argsort()
        labels = np.full(self.is_labeled.size, None, object)
        labels[self.is_labeled] = self.y.tolist()
        return pd.concat([self.X, *self.unlabeled()]).iloc[order], labels

    def digest(self) -> int:
        """Return a number by which the labeled rows are recognized, in whatever order."""
        return digest_labeled(self.X, self.y)


def digest_labeled(X: pd.DataFrame, y: Any) -> int:
    """Return a number by which labeled rows are recognized, in whatever order."""
    return digest_rows(X.assign(**{"": as_text(np.asarray(y))}))


def read_training_rows(
    tables: list[Files],
    roles: Roles,
    names: list[str],
    output: Output,
    encoder: ColumnEncoder | None = None,
) -> TrainingRows:
    """Return the columns of these names in files; only labeled rows are kept in memory.

    Rows of the first table that have a label are labeled; those of a second table are not. The
    encoder is that of a model that was fitted to the rows, if it has one.
    """
    labels = roles.read_labels(tables[0], output)
    for what, files in zip(("the model", "the unlabeled rows"), tables, strict=False):
        files.require(names, what, ADD_COLUMNS)
    known = ~missing_labels(labels)
    strings = {name for files in tables for name in files.codes}
    strings = strings & {*names} if encoder is None else {*encoder.string_names}

    def parts() -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
        """Yield the labeled and the unlabeled rows of each batch."""
        start = 0
        for frame in map(check_finite, tables[0].batches(names, sorted(strings))):
            own = known[start : start + len(frame)]
            yield frame[own], frame[~own]
            start += len(frame)
        for files in tables[1:]:
            more = map(check_finite, files.batches(names, sorted(strings)))
            yield from ((frame[:0], frame) for frame in more)

    def unlabeled() -> Iterator[pd.DataFrame]:
        return (rows for _, rows in parts() if len(rows))

    labeled, n_unlabeled = [], 0
    for some, others in parts():
        n_unlabeled += len(others)
        labeled.append(some)
    X = pd.concat([some for some in labeled if len(some)] or labeled[:1])
    return TrainingRows(tables, X, parse_classes(labels[known]), unlabeled, n_unlabeled, known)


def columns_to_use(data: Files, roles: Roles, output: Output) -> tuple[list[str], dict[str, str]]:
    """Return the columns to learn from, and those that are left out, with the reason, noted."""
    roles.check(data)
    others = {roles.target, roles.key, *roles.drop}
    names = [name for name in data.names if name not in others]
    left_out = data.id_columns([name for name in names if name not in roles.keep])
    for name, reason in left_out.items():
        output.note(f"Column {name!r} is left out: {reason}. Pass --keep {name!r} to use it.")
    names = [name for name in names if name not in left_out]
    if not names:
        raise CommandError(f"{data.place} has no column but the target.", "Add columns.")
    if roles.key is not None:
        left_out[roles.key] = "it names the rows"
    return names, left_out


def check_finite(X: pd.DataFrame) -> pd.DataFrame:
    """Return rows as they are, or name a column that has too large numbers."""
    infinite = (X.select_dtypes("number").abs() > np.finfo(np.float32).max).any()
    if infinite.any():
        raise CommandError(
            f"Column {infinite.idxmax()!r} has an infinite number, or one too large.",
            "Rescale the column, or leave the place empty.",
        )
    return X
