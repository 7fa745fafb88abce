"""Labeled and unlabeled rows of files, ready for an estimator, and what was done to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.random import sample_without_replacement

from hedgeclipper.base.columns import ColumnEncoder, MixedColumnError
from hedgeclipper.cli.errors import CommandError
from hedgeclipper.cli.output import Output
from hedgeclipper.cli.row_names import RowNames
from hedgeclipper.cli.table_files import MISSING_WORDS, Files
from hedgeclipper.cli.targets import as_classes, clean_words, whole_numbers
from hedgeclipper.io import Source, missing_labels
from hedgeclipper.io.progress import row_reporter


@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows of files.

    Parameters
    ----------
    X : pandas.DataFrame or CSR matrix of shape (n_labeled, n_columns)
        Labeled rows, as the files have them.
    y : ndarray of shape (n_labeled,)
        Their labels.
    X_unlabeled : pandas.DataFrame, function that returns batches, or None
        Unlabeled rows; None if there are none.
    n_unlabeled : int
        Their number.
    preparation : ColumnEncoder or None
        What is done with the columns, fitted; None for LibSVM, whose columns are numbers.
    numbered : function that returns an iterator
        Reads batches of unlabeled rows, and the numbers of these among all rows of the files.
    names : RowNames
        What rows with these numbers are called.
    """

    X: Any
    y: np.ndarray
    X_unlabeled: Any
    n_unlabeled: int
    preparation: ColumnEncoder | None
    numbered: Callable[[], Iterator[tuple[Any, np.ndarray]]]
    names: RowNames

    @property
    def n_rows(self) -> int:
        """Number of all rows."""
        return self.y.size + self.n_unlabeled

    @property
    def in_memory(self) -> bool:
        """Whether the unlabeled rows are."""
        return not callable(self.X_unlabeled)

    def prepared(self) -> tuple[Any, Any]:
        """Return labeled and unlabeled rows as an estimator wants them."""
        if self.preparation is None:
            return self.X, self.X_unlabeled
        X = self.preparation.transform(self.X)
        if self.X_unlabeled is None or not self.in_memory:
            return X, self.X_unlabeled
        return X, self.preparation.transform(self.X_unlabeled)

    def sample(self, n_rows: int) -> tuple[Any, list[str]]:
        """Return at most so many unlabeled rows, drawn at random, and their names."""
        drawn = sample_without_replacement(
            self.n_unlabeled, min(n_rows, self.n_unlabeled), random_state=0
        )
        drawn.sort()
        start, parts, numbers = 0, [], []
        for rows, where in self.numbered():
            end = start + rows.shape[0]
            picked = drawn[slice(*np.searchsorted(drawn, [start, end]))] - start
            parts.append(_safe_indexing(rows, picked))
            numbers.append(where[picked])
            start = end
        columns = None if self.preparation is None else self.preparation.names_of("numbers")
        rows = parts[0] if self.in_memory else _stacked(parts, columns)
        return rows, self.names.of(np.concatenate(numbers))


def read_rows(
    data: Files,
    more: Files | None,
    target: str | None,
    output: Output,
    drop: Sequence[str] = (),
    preparation: ColumnEncoder | None = None,
) -> TableRows:
    """Return the rows of files, in batches where all columns are numbers.

    Parameters
    ----------
    data : Files
        Rows, of which those with a label are labeled.
    more : Files, optional
        Rows without labels.
    target : str or None
        Column of labels; None for LibSVM, where the label begins a line.
    output : Output
        Where to say how far it is, and what was taken as missing.
    drop : sequence of str
        Columns to leave out.
    preparation : ColumnEncoder, optional
        What is done with the columns, where a model knows already.
    """
    if target is None:
        width = max(files.source(None).n_columns for files in (data, more) if files)
        return _in_batches(data, more, None, width, None, None, output.verbose)
    if preparation is not None:
        names = [plan.name for plan in preparation.plans_]
    else:
        names = [name for name in data.names if name != target and name not in set(drop)]
    if not names:
        raise CommandError(f"{data.place} has no column but the target.", "Add columns.")
    if more is not None:
        more.require(names, "the unlabeled rows")
    tables = [files for files in (data, more) if files is not None]
    is_plain = preparation.is_plain_ if preparation else all(t.hold_numbers(names) for t in tables)
    labels = _text_labels(data, target, output)
    if is_plain:
        try:
            return _in_batches(data, more, names, None, target, labels, output.verbose)
        except ValueError:
            # words further down in a column of CSV that begins with numbers
            if all(files.kind != "CSV" for files in tables):
                raise
    return _in_memory(data, more, names, target, labels, preparation)


def _text_labels(data: Files, target: str, output: Output) -> np.ndarray | None:
    """Return the labels of CSV, read as text; None for other files."""
    words = data.words_of(target)
    if words is None:
        return None
    words = clean_words(words)
    told = [word for word in MISSING_WORDS if word]
    counts = {word: int(np.sum(words == word)) for word in told}
    found = [f"{word!r} ({count:,})" for word, count in counts.items() if count]
    if found:
        output.note(
            f"Taken as missing in {target!r}: {', '.join(found)}. Write it otherwise if it is a "
            "class."
        )
    words[np.isin(words.astype(str), told)] = None
    return whole_numbers(words)


def _in_batches(
    data: Files,
    more: Files | None,
    names: list[str] | None,
    width: int | None,
    target: str | None,
    text_labels: np.ndarray | None,
    verbose: int,
) -> TableRows:
    label = (target if names else True) if text_labels is None else None
    source = data.source(names, label, width)
    others = None if more is None else more.source(names, None, width)
    parts, labels, counts = [], [], _Counts(names)
    with row_reporter(verbose, "reading rows", None) as report:
        for rows, values in _labeled_batches(source, text_labels):
            known = ~missing_labels(values)
            parts.append(rows[known])
            labels.append(values[known])
            counts.add(rows, int(np.sum(~known)))
            report(counts.n_rows)
        for rows in others or ():
            counts.add(rows, rows.shape[0])
            report(counts.n_rows)
    if not parts:
        raise CommandError(f"{data.place} has no rows.", "Pass a file with rows.")
    preparation = None
    if names is not None:
        preparation = _encoder(target).fit_plain(names, counts.missing())
    numbered = _numbered_batches(source, text_labels, others)
    n_read = [_n_rows(read) for read in (source, others) if read is not None]
    y = as_classes(np.concatenate(labels), names is not None and data.is_boolean(str(target)))
    return TableRows(
        _stacked(parts, names),
        y,
        (lambda: (rows for rows, _ in numbered())) if counts.n_unlabeled else None,
        counts.n_unlabeled,
        preparation,
        numbered,
        _names(data, more, n_read),
    )


def _encoder(target: str | None) -> ColumnEncoder:
    return ColumnEncoder(target).set_output(transform="pandas")


def _n_rows(source: Any) -> dict[str, int]:
    """Return how many rows each file had in the pass before."""
    return {str(place): count.n_rows for place, count in source.counts.items()}


def _names(data: Files, more: Files | None, n_rows: Sequence[dict[str, int]]) -> RowNames:
    tables = [files for files in (data, more) if files is not None]
    found = [
        (path, counts[str(path)], 2 if files.kind == "CSV" else 1)
        for files, counts in zip(tables, n_rows, strict=True)
        for path in files.paths
    ]
    return RowNames(*zip(*found, strict=True))


class _Counts:
    """Rows, rows without labels, and missing values of each column."""

    def __init__(self, names: list[str] | None) -> None:
        self.names = names
        self.n_rows = self.n_unlabeled = 0
        self._missing: Any = 0

    def add(self, rows: Any, n_unlabeled: int) -> None:
        """Count a batch."""
        self.n_rows += rows.shape[0]
        self.n_unlabeled += n_unlabeled
        if self.names is not None:
            _check_finite(rows, self.names)
            self._missing = self._missing + np.isnan(rows).sum(axis=0)

    def missing(self) -> list[int]:
        """Return the number of missing values of each column."""
        return np.asarray(self._missing).tolist()


def _check_finite(rows: np.ndarray, names: Sequence[str]) -> None:
    infinite = np.isinf(rows).any(axis=0)
    if infinite.any():
        raise CommandError(
            f"Column {names[int(infinite.argmax())]!r} has an infinite number, or one too large.",
            "Rescale the column, or leave the place empty.",
        )


def _labeled_batches(
    source: Source, text_labels: np.ndarray | None
) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield rows and labels, the latter from their own array where that was read before."""
    if text_labels is None:
        yield from ((rows, clean_words(labels)) for rows, labels in source.labeled_batches())
        return
    start = 0
    for rows in source:
        yield rows, text_labels[start : start + rows.shape[0]]
        start += rows.shape[0]


def _numbered_batches(
    source: Source, text_labels: np.ndarray | None, others: Source | None
) -> Callable[[], Iterator[tuple[Any, np.ndarray]]]:
    """Return a function that reads all unlabeled rows anew, with their numbers."""

    def batches() -> Iterator[tuple[Any, np.ndarray]]:
        start = 0
        for rows, values in _labeled_batches(source, text_labels):
            unknown = np.flatnonzero(missing_labels(values))
            if unknown.size:
                yield rows[unknown], start + unknown
            start += rows.shape[0]
        for rows in others or ():
            yield rows, start + np.arange(rows.shape[0])
            start += rows.shape[0]

    return batches


def _stacked(parts: list[Any], names: list[str] | None) -> Any:
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return pd.DataFrame(np.concatenate(parts), columns=names)


def _in_memory(
    data: Files,
    more: Files | None,
    names: list[str],
    target: str,
    text_labels: np.ndarray | None,
    preparation: ColumnEncoder | None,
) -> TableRows:
    frame = data.frame()
    labels = text_labels
    if labels is None:
        column = frame[target]
        labels = clean_words(column.astype(object).where(column.notna(), None).to_numpy())
    known = ~missing_labels(labels)
    y = as_classes(labels[known].tolist())
    others = None if more is None else more.frame()[names]
    if preparation is None:
        try:
            preparation = _encoder(target).fit(frame[names], X_unlabeled=others)
        except MixedColumnError as error:
            places = f"{data.place} and {more.place if more else ''}"
            raise MixedColumnError(error.column, places) from None
    unlabeled = pd.concat([frame[names][~known], others], ignore_index=True)
    n_more = len(unlabeled) - int(np.sum(~known))
    numbers = np.append(np.flatnonzero(~known), len(frame) + np.arange(n_more))
    n_read = [files.n_rows for files in (data, more) if files is not None]
    return TableRows(
        frame[names][known],
        y,
        unlabeled if len(unlabeled) else None,
        len(unlabeled),
        preparation,
        lambda: iter([(unlabeled, numbers)]),
        _names(data, more, n_read),
    )
