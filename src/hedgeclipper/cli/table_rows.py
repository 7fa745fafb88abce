"""Labeled and unlabeled rows of files, ready for an estimator."""

from __future__ import annotations

import hashlib
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

from hedgeclipper.base.columns import ColumnEncoder
from hedgeclipper.cli.output import CommandError, Output
from hedgeclipper.cli.table_files import Files, row_names
from hedgeclipper.cli.table_labels import Roles, as_classes, read_labels
from hedgeclipper.io import as_text, missing_labels
from hedgeclipper.io.progress import row_reporter
from hedgeclipper.sklearn_private import _safe_indexing

# fewer rows may be numbered by accident
LEAST_ROWS = 20
_FIRST_ROWS = 1000
ADD_COLUMNS = "Add what is missing, empty where it is not known, or fit again without it (--drop)."
# how pandas, R and spreadsheets call the index that they have written
_INDEX = re.compile(r"|unnamed: ?\d+|row_?names?|(row|record)[ _.]?(index|id|number|no|nr)", re.I)
# the last word of a name is that of an id, or it is the number of something that has one; words
# begin at a capital letter, too
_ID_WORDS, _NUMBER = "id|uid|pid|uuid|guid|key|ssn|mrn|iban|isbn", "no|nr|num|number"
_NUMBERED = (
    "account|acct|card|case|client|contract|customer|document|employee|invoice|member|order|passport|"
    "patient|policy|receipt|record|serial|student|ticket|transaction|user"
)
_ID = re.compile(
    rf"index|row|account|acct|serial|{_NUMBER}|"
    rf"(.*[\W_])?({_ID_WORDS}|({_NUMBERED})[\W_]?({_NUMBER}))",
    re.I,
)
_NEW_WORD = re.compile(r"(?<=[a-z\d])(?=[A-Z])")


@dataclass(frozen=True, eq=False)
class TableRows:
    """Labeled rows of files, a frame or CSR matrix, with their labels, and unlabeled rows.

    ``X_unlabeled`` is a frame, a function that returns batches, or None if there are no such rows.
    The encoder is fitted; it is None for LibSVM, whose columns are numbers. ``numbered`` reads
    batches of unlabeled rows, and the numbers of these among all rows of the files. ``key`` is the
    column that names rows, if there is one.
    """

    X: Any
    y: np.ndarray
    X_unlabeled: Any
    n_unlabeled: int
    encoder: ColumnEncoder | None
    numbered: Callable[[], Iterator[tuple[Any, np.ndarray]]]
    tables: list[Files]
    key: str | None = None

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

    @property
    def _names(self) -> list[str] | None:
        return None if self.encoder is None else self.encoder.names_of("numbers")

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
        rows = parts[0] if self.in_memory else _stacked(parts, self._names)
        return rows, self._named(np.concatenate(numbers))

    def names_of(self, which: np.ndarray) -> list[str]:
        """Return the names of some of the unlabeled rows."""
        return self._named(np.concatenate([where for _, where in self.numbered()])[which])

    def _named(self, numbers: np.ndarray) -> list[str]:
        """Return the names of rows with these numbers among all rows of the files."""
        if self.key is None or any(self.key not in files.names for files in self.tables):
            return row_names(self.tables, numbers)
        keys = np.concatenate([files.keys(self.key) for files in self.tables])
        return keys[numbers].tolist()


def digest_of(X: Any, y: np.ndarray) -> str:
    """Return a SHA-256 of encoded rows and their labels, which depends on the order of the rows.

    Numbers count as float32, since rows in batches are, and labels as text.
    """
    digest = hashlib.sha256("\n".join(as_text(y)).encode())
    for column in np.asarray(X).T:
        numbers = column.astype(np.float32)
        digest.update(np.where(np.isnan(numbers), np.float32(np.nan), numbers).tobytes())
    return digest.hexdigest()


def read_rows(
    tables: list[Files], roles: Roles, output: Output, encoder: ColumnEncoder | None = None
) -> TableRows:
    """Return the rows of files, in batches where all columns are numbers.

    Rows of the first table that have a label are labeled; those of a second table are not. LibSVM
    has no target: each line begins with the label. The encoder is that of a fitted model.
    """
    if roles.target is None:
        width = max(files.source(None).rows.shape[1] for files in tables)
        return _in_batches(tables, None, width, None, output.verbose)
    data, *others = tables
    labels = read_labels(data, roles, output)
    if encoder is None:
        encoder, names = _new_encoder(data, roles, output)
    else:
        names = encoder.used_names
        data.require(names, "the model", ADD_COLUMNS)
    for files in others:
        files.require(names, "the unlabeled rows", ADD_COLUMNS)
    if getattr(encoder, "is_plain_", all(files.hold_numbers(names) for files in tables)):
        try:
            return _in_batches(tables, names, None, labels, output.verbose, encoder)
        except ValueError:
            # strings further down in a column of CSV that begins with numbers
            if all(files.kind != "CSV" for files in tables):
                raise
    return _in_memory(tables, names, labels, encoder)


def _new_encoder(data: Files, roles: Roles, output: Output) -> tuple[ColumnEncoder, list[str]]:
    """Return an encoder that is not fitted, but knows what is left out, and the other columns."""
    others = {roles.target, roles.key, *roles.drop} - set(roles.keep)
    names = [name for name in data.names if name not in others]
    left_out = find_id_columns(data, [name for name in names if name not in roles.keep])
    for name, reason in left_out.items():
        output.note(f"Column {name!r} is left out: {reason}. Pass --keep {name!r} to use it.")
    if roles.key is not None and roles.key not in roles.keep:
        left_out[roles.key] = "it names the rows"
    names = [name for name in names if name not in left_out]
    if not names:
        raise CommandError(f"{data.place} has no column but the target.", "Add columns.")
    encoder = ColumnEncoder(roles.target, roles.key, left_out).set_output(transform="pandas")
    return encoder, names


def _in_batches(
    tables: list[Files],
    names: list[str] | None,
    width: int | None,
    labels: np.ndarray | None,
    verbose: int,
    encoder: ColumnEncoder | None = None,
) -> TableRows:
    data, *more = tables
    source = data.source(names, labels is None, width)
    others = [files.source(names, None, width) for files in more]

    def numbered() -> Iterator[tuple[Any, np.ndarray]]:
        start = 0
        for rows, own in _batches(source, labels, others):
            unknown = np.flatnonzero(missing_labels(own))
            if unknown.size:
                yield rows if unknown.size == own.size else rows[unknown], start + unknown
            start += own.size

    parts: list[Any] = []
    found, n_rows, n_missing = [], 0, np.zeros(len(names or ()), dtype=int)
    with row_reporter(verbose, "reading rows", None) as report:
        for rows, own in _batches(source, labels, others):
            known = ~missing_labels(own)
            if known.any() or not parts:
                parts.append(rows[known])
                found.append(own[known])
            if names is not None:
                infinite = np.isinf(rows).any(axis=0)
                if infinite.any():
                    raise CommandError(
                        f"Column {names[int(infinite.argmax())]!r} has an infinite number, or one "
                        "too large.",
                        "Rescale the column, or leave the place empty.",
                    )
                n_missing += np.isnan(rows).sum(axis=0)
            n_rows += own.size
            report(n_rows)
    for files, read in zip(tables, (source, *others), strict=True):
        files.n_rows.update(read.counts)
    if not sum(data.n_rows.values()):
        raise data.no_rows
    y = as_classes(np.concatenate(found))
    if encoder is not None and not hasattr(encoder, "plans_"):
        encoder.fit_plain(names, n_missing.tolist())
    return TableRows(
        X=_stacked(parts, names),
        y=y,
        X_unlabeled=(lambda: (rows for rows, _ in numbered())) if n_rows > y.size else None,
        n_unlabeled=n_rows - y.size,
        encoder=encoder,
        numbered=numbered,
        tables=tables,
        key=None if encoder is None else encoder.key,
    )


def _batches(
    source: Any, labels: np.ndarray | None, others: list[Any]
) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield rows and labels, without these those of LibSVM; other rows have missing labels."""
    if labels is None:
        yield from source.labeled_batches()
    else:
        start = 0
        for rows in source:
            yield rows, labels[start : start + rows.shape[0]]
            start += rows.shape[0]
    for rows in chain(*others):
        yield rows, np.full(rows.shape[0], np.nan)


def _stacked(parts: list[Any], names: list[str] | None) -> Any:
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return pd.DataFrame(np.concatenate(parts), columns=names)


def _in_memory(
    tables: list[Files], names: list[str], labels: np.ndarray, encoder: ColumnEncoder
) -> TableRows:
    is_new = not hasattr(encoder, "plans_")
    strings = [n for files in tables for n in files.codes] if is_new else encoder.string_names
    frame, *more = [files.frame(strings) for files in tables]
    others = more[0][names] if more else None
    known = ~missing_labels(labels)
    if is_new:
        encoder.fit(frame[names], X_unlabeled=others)
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
        key=encoder.key,
    )


def find_id_columns(files: Files, names: Sequence[str]) -> dict[str, str]:
    """Return which of these columns only tell rows apart, and why that seems so.

    These are the index of a frame, numbers that count the rows up or down from 0 or 1, and whole
    numbers with the name of an id of which none is there twice. Strings are left to the encoder.
    """
    reasons = {name: "it is the index of the rows" for name in names if _INDEX.fullmatch(name)}
    numbers = [n for n in names if n not in reasons and _is_number(files.schema.field(n).type)]
    if not numbers:
        return reasons
    first = next(files.tables[0].batches(numbers, None, _FIRST_ROWS), None)
    for name in numbers:
        # most columns are known by their first rows to be none
        if first is not None and _reason(name, [first.column(name)]) is not None:
            parts = [table.table([name]).column(0) for table in files.tables]
            reason = _reason(name, parts)
            if reason is not None:
                reasons[name] = reason
    return {name: reasons[name] for name in names if name in reasons}


def _reason(name: str, parts: Sequence[pa.Array]) -> str | None:
    """Return why a column tells rows apart only, given its values in each file; None if not so."""
    parts = [part for part in parts if len(part)]
    if sum(map(len, parts)) < LEAST_ROWS or not all(map(_are_whole, parts)):
        return None
    numbers = [part.to_numpy().astype(np.int64) for part in parts]
    every = np.concatenate(numbers)
    if _counts(numbers) or _counts([every]):
        return "it numbers the rows"
    if _ID.fullmatch(_NEW_WORD.sub("_", name)) and np.unique(every).size == every.size:
        return "it is an id, different in each row"
    return None


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def _are_whole(part: pa.Array) -> bool:
    """Return whether all values are whole numbers; CSV may have strings after its first lines."""
    if part.null_count or not _is_number(part.type):
        return False
    numbers = part.to_numpy()
    if numbers.dtype.kind != "f":
        return True
    numbers = numbers.astype(np.float64)
    return bool(np.all((np.abs(numbers) < 2.0**63) & (numbers == np.floor(numbers))))


def _counts(parts: Sequence[np.ndarray]) -> bool:
    """Return whether numbers go up by one from 0 or 1 on, or down to there, in each of the files.

    Years and other grids are numbers too, so that other starts are left to the names of columns.
    """
    steps = np.concatenate([np.diff(part) for part in parts])
    if steps.size < LEAST_ROWS - 1 or steps[0] not in (-1, 1):
        return False
    return bool(np.all(steps == steps[0])) and all(part.min() in (0, 1) for part in parts)
