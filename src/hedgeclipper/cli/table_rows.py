"""Labeled and unlabeled rows of files, ready for an estimator, and their labels as classes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse
from sklearn.utils.random import sample_without_replacement

from hedgeclipper.base.columns import ColumnEncoder, MixedColumnError
from hedgeclipper.cli.output import CommandError, Output
from hedgeclipper.cli.table_files import MISSING_STRINGS, Files, row_names
from hedgeclipper.io import as_classes as typed_labels
from hedgeclipper.io import listed, missing_labels
from hedgeclipper.io.formats import CsvFile
from hedgeclipper.io.progress import row_reporter
from hedgeclipper.sklearn_private import _safe_indexing

MANY_CLASSES = 20
_WHOLE_NUMBER = re.compile(r"(0|-?[1-9]\d{0,14})(\.0+)?")


@dataclass(frozen=True, eq=False)
class TableRows:
    """Labeled rows of files, a frame or CSR matrix, with their labels, and unlabeled rows.

    ``X_unlabeled`` is a frame, a function that returns batches, or None if there are no such rows.
    The encoder is fitted; it is None for LibSVM, whose columns are numbers. ``numbered`` reads
    batches of unlabeled rows, and the numbers of these among all rows of the files.
    """

    X: Any
    y: np.ndarray
    X_unlabeled: Any
    n_unlabeled: int
    encoder: ColumnEncoder | None
    numbered: Callable[[], Iterator[tuple[Any, np.ndarray]]]
    tables: list[Files]

    @property
    def n_rows(self) -> int:
        """Number of all rows."""
        return self.y.size + self.n_unlabeled

    @property
    def in_memory(self) -> bool:
        """Whether the unlabeled rows are."""
        return not callable(self.X_unlabeled)

    def encoded(self) -> tuple[Any, Any]:
        """Return labeled and unlabeled rows as an estimator takes them."""
        if self.encoder is None:
            return self.X, self.X_unlabeled
        X = self.encoder.transform(self.X)
        if self.X_unlabeled is None or not self.in_memory:
            return X, self.X_unlabeled
        return X, self.encoder.transform(self.X_unlabeled)

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
        columns = None if self.encoder is None else self.encoder.names_of("numbers")
        rows = parts[0] if self.in_memory else _stacked(parts, columns)
        return rows, row_names(self.tables, np.concatenate(numbers))


def read_rows(
    tables: list[Files],
    target: str | None,
    output: Output,
    drop: Sequence[str] = (),
    encoder: ColumnEncoder | None = None,
) -> TableRows:
    """Return the rows of files, in batches where all columns are numbers.

    Rows of the first table that have a label are labeled; those of a second table are not. LibSVM
    has no target: each line begins with the label. The encoder is that of a fitted model.
    """
    if target is None:
        width = max(files.source(None).n_columns for files in tables)
        return _in_batches(tables, None, width, None, None, output.verbose)
    data, *others = tables
    if encoder is not None:
        names = encoder.used_names
        data.require(names, "the model")
    else:
        names = [name for name in data.names if name != target and name not in set(drop)]
    if not names:
        raise CommandError(f"{data.place} has no column but the target.", "Add columns.")
    for files in others:
        files.require(names, "the unlabeled rows")
    is_plain = encoder.is_plain_ if encoder else all(t.hold_numbers(names) for t in tables)
    labels = _text_labels(data, target, output)
    if is_plain:
        try:
            return _in_batches(tables, names, None, target, labels, output.verbose)
        except ValueError:
            # strings further down in a column of CSV that begins with numbers
            if all(files.kind != "CSV" for files in tables):
                raise
    return _in_memory(tables, names, target, labels, encoder)


def _text_labels(data: Files, target: str, output: Output) -> np.ndarray | None:
    """Return the labels of CSV, read as text; None for other files."""
    if data.kind != "CSV":
        return None
    columns = [CsvFile(path).column_of_strings(target) for path in data.paths]
    labels = _stripped(np.concatenate([column.to_numpy() for column in columns]))
    missing = [text for text in MISSING_STRINGS if text]
    counts = {text: int(np.sum(labels == text)) for text in missing}
    found = [f"{text!r} ({count:,})" for text, count in counts.items() if count]
    if found:
        output.note(
            f"Taken as missing in {target!r}: {', '.join(found)}. Write it otherwise if it is a "
            "class."
        )
    labels[np.isin(labels.astype(str), missing)] = None
    present = {label for label in labels if label is not None}
    if all(map(_WHOLE_NUMBER.fullmatch, present)):
        # so 1 and 1.0 are the same class, and 007 is not 7
        return np.array([np.nan if label is None else float(label) for label in labels])
    return labels


def _stripped(labels: np.ndarray) -> np.ndarray:
    """Return labels without blanks around strings, and None for empty ones."""
    if labels.dtype != object:
        return labels
    cleaned = [label.strip() or None if isinstance(label, str) else label for label in labels]
    return np.array(cleaned, dtype=object)


def _in_batches(
    tables: list[Files],
    names: list[str] | None,
    width: int | None,
    target: str | None,
    text_labels: np.ndarray | None,
    verbose: int,
) -> TableRows:
    data, *more = tables
    label = (target if names else True) if text_labels is None else None
    source = data.source(names, label, width)
    others = [files.source(names, None, width) for files in more]

    def numbered() -> Iterator[tuple[Any, np.ndarray]]:
        start = 0
        for rows, labels in _batches(source, text_labels, others):
            unknown = np.flatnonzero(missing_labels(labels))
            if unknown.size:
                yield rows if unknown.size == labels.size else rows[unknown], start + unknown
            start += labels.size

    parts: list[Any] = []
    found, n_rows, n_missing = [], 0, np.zeros(len(names or ()), dtype=int)
    with row_reporter(verbose, "reading rows", None) as report:
        for rows, labels in _batches(source, text_labels, others):
            known = ~missing_labels(labels)
            if known.any() or not parts:
                parts.append(rows[known])
                found.append(labels[known])
            if names is not None:
                infinite = np.isinf(rows).any(axis=0)
                if infinite.any():
                    raise CommandError(
                        f"Column {names[int(infinite.argmax())]!r} has an infinite number, or one "
                        "too large.",
                        "Rescale the column, or leave the place empty.",
                    )
                n_missing += np.isnan(rows).sum(axis=0)
            n_rows += labels.size
            report(n_rows)
    for files, read in zip(tables, (source, *others), strict=True):
        files.n_rows.update(read.counts)
    if not sum(data.n_rows.values()):
        raise data.no_rows
    knows_types = data.kind not in ("CSV", "LibSVM")
    are_boolean = knows_types and pa.types.is_boolean(data.schema.field(target).type)
    y = as_classes(np.concatenate(found), are_boolean)
    return TableRows(
        X=_stacked(parts, names),
        y=y,
        X_unlabeled=(lambda: (rows for rows, _ in numbered())) if n_rows > y.size else None,
        n_unlabeled=n_rows - y.size,
        encoder=None if names is None else _encoder(target).fit_plain(names, n_missing.tolist()),
        numbered=numbered,
        tables=tables,
    )


def _batches(
    source: Any, text_labels: np.ndarray | None, others: list[Any]
) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield rows and labels, those of CSV from their own array; others have missing labels."""
    if text_labels is None:
        yield from ((rows, _stripped(labels)) for rows, labels in source.labeled_batches())
    else:
        start = 0
        for rows in source:
            yield rows, text_labels[start : start + rows.shape[0]]
            start += rows.shape[0]
    for rows in chain(*others):
        yield rows, np.full(rows.shape[0], np.nan)


def _encoder(target: str | None) -> ColumnEncoder:
    return ColumnEncoder(target).set_output(transform="pandas")


def _stacked(parts: list[Any], names: list[str] | None) -> Any:
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return pd.DataFrame(np.concatenate(parts), columns=names)


def _in_memory(
    tables: list[Files],
    names: list[str],
    target: str,
    text_labels: np.ndarray | None,
    encoder: ColumnEncoder | None,
) -> TableRows:
    frame, *more = [files.frame() for files in tables]
    others = more[0][names] if more else None
    labels = text_labels
    if labels is None:
        column = frame[target]
        labels = _stripped(column.astype(object).where(column.notna(), None).to_numpy())
    known = ~missing_labels(labels)
    if encoder is None:
        try:
            encoder = _encoder(target).fit(frame[names], X_unlabeled=others)
        except MixedColumnError as error:
            places = " and ".join(files.place for files in tables)
            raise MixedColumnError(error.column, places) from None
    unlabeled = pd.concat([frame[names][~known], others], ignore_index=True)
    n_others = 0 if others is None else len(others)
    numbers = np.append(np.flatnonzero(~known), len(frame) + np.arange(n_others))
    return TableRows(
        X=frame[names][known],
        y=as_classes(labels[known].tolist()),
        X_unlabeled=unlabeled if len(unlabeled) else None,
        n_unlabeled=len(unlabeled),
        encoder=encoder,
        numbered=lambda: iter([(unlabeled, numbers)]),
        tables=tables,
    )


def as_classes(labels: Any, are_boolean: bool = False) -> np.ndarray:
    """Return labels of which none is missing as booleans, whole numbers or strings.

    Numbers that are not whole become strings, since classifiers would refuse them as continuous.
    Booleans may be strings, or numbers if ``are_boolean``.
    """
    values = np.asarray(labels, dtype=object)
    if are_boolean:
        return values.astype(bool)
    try:
        classes = typed_labels(values, "The target")
    except TypeError:  # of several kinds
        classes = values.astype(str)
    if classes.dtype.kind == "U" and set(np.char.lower(classes)) <= {"true", "false"}:
        return np.char.lower(classes) == "true"
    return classes.astype(str) if classes.dtype.kind == "f" else classes


def check_classes(y: np.ndarray, n_rows: int, target: str) -> dict[Any, int]:
    """Return the number of labels of each class, or say why nothing can be learned from them."""
    if y.size == 0:
        raise CommandError(
            f"None of the {n_rows:,} rows has a value in {target}.",
            "Label some rows of each class.",
        )
    classes, counts = np.unique(y, return_counts=True)
    if classes.size == 1:
        raise CommandError(
            f"All {y.size:,} labeled rows are of one class, {classes.tolist()[0]!r}.",
            "Label some rows of another class; leave the label empty where it is not known.",
        )
    is_text = classes.dtype.kind == "U"
    are_decimals = is_text and all(re.fullmatch(r"-?\d+\.\d+", text) for text in classes)
    are_fractions = are_decimals and any(float(text) % 1 for text in classes)
    n_usual = 2 if are_fractions else MANY_CLASSES
    if classes.size > max(n_usual, y.size / 3):
        raise CommandError(
            f"{target} has {classes.size:,} different values on {y.size:,} labeled rows, such as "
            f"{listed(classes.tolist(), 3)}.",
            "Only classes can be predicted: name another column, or make classes of it.",
        )
    return dict(zip(classes.tolist(), counts.tolist(), strict=True))
