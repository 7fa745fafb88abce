"""Rows of tables on disk: Parquet, Arrow and CSV files, and data sets of pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from hedgeclipper.io.column_values import (
    TextLabels,
    fits_float32,
    holds_numbers,
    holds_strings,
    labels_of,
    not_labels,
    not_numbers,
    numbers_of,
    pyarrow,
    strings_of,
)
from hedgeclipper.io.formats import (
    FORMATS,
    CsvFile,
    TableFile,
    table_damage_named,
    with_label,
)
from hedgeclipper.io.frames import index_names, listed, positions_of
from hedgeclipper.io.source import Request, RowCount, overflow_named, rows_per_batch


@dataclass(frozen=True, eq=False)
class TableSource:
    """Rows of files with named columns, one file after the other.

    Only the wanted columns are read, about 16 MB at a time. When a pass ends, Arrow is asked to
    give back the memory that it keeps for later.
    """

    files: tuple[TableFile, ...]
    column_names: list[str]
    n_rows: int | None
    dtype: Any
    request: Request
    counts: dict[str, RowCount] = field(default_factory=dict)
    in_memory = False

    @property
    def label(self) -> Any:
        """Name of the column with the labels; None where none was asked for."""
        return self.request.label

    def __iter__(self) -> Iterator[np.ndarray]:
        for batch, place in self._record_batches(None):
            yield self._rows(batch, place)

    def labeled_batches(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (rows, labels), with NaN or None for a missing label."""
        if self.label is None:
            raise self.request.no_labels()
        text = TextLabels() if isinstance(self.files[0], CsvFile) else None
        for batch, place in self._record_batches(self.label):
            column = f"Column {self.label!r} of {place}"
            labels = labels_of(batch.column(self.label), column)
            yield self._rows(batch, place), text.read(labels, column) if text else labels

    def _record_batches(self, label: str | None) -> Iterator[tuple[Any, str]]:
        size = rows_per_batch(len(self.column_names))
        pool = pyarrow().default_memory_pool()
        try:
            for file in self.files:
                n_read = 0
                for batch in file.batches(self.column_names, label, size):
                    n_read += batch.num_rows
                    yield batch, file.place
                self.counts.setdefault(file.place, RowCount()).check(n_read, file.place)
        finally:
            pool.release_unused()

    def _rows(self, batch: Any, place: str) -> np.ndarray:
        rows = np.empty((batch.num_rows, len(self.column_names)), dtype=self.dtype)
        for position, name in enumerate(self.column_names):
            column = f"Column {name!r} of {place}"
            values = strings_of if self.dtype == object else numbers_of
            with overflow_named(column, self.dtype):
                rows[:, position] = values(batch.column(name), column)
        return rows


def file_source(kind: str, paths: list[Path], request: Request) -> TableSource:
    """Return the rows of files of one kind."""
    files = tuple(FORMATS[kind](path) for path in paths)
    if request.strings:
        files = tuple(replace(f, strings=True) if isinstance(f, CsvFile) else f for f in files)
    return table_source(files, request)


def table_source(files: tuple[TableFile, ...], request: Request) -> TableSource:
    """Look at the columns of every file, and return the rows of all of them."""
    if request.columns is None and isinstance(files[0], CsvFile):
        files[0].check_heading()
    schema, _ = files[0].head()
    columns = _Columns(_wanted(schema, request, files[0].place), files[0].place, request)
    counts = {}
    for file in files:
        schema, n_rows = file.head()
        columns.add(schema, file.place)
        counts[file.place] = RowCount(n_rows)
    known = [count.n_rows for count in counts.values() if count.n_rows is not None]
    return TableSource(
        files=files,
        column_names=columns.names,
        n_rows=sum(known) if len(known) == len(files) else None,
        dtype=columns.dtype if request.dtype is None else np.dtype(request.dtype),
        request=request,
        counts=counts,
    )


def _wanted(schema: Any, request: Request, place: str) -> list[str]:
    if request.columns is not None:
        return list(request.columns)
    names = _own_names(schema, request.label)
    if not names or "" in names:
        raise ValueError(
            f"{place} has {'a column without a name' if names else 'no columns for the rows'}. It "
            f"has {listed(schema.names)}. Write a pandas frame with index=False, or name the "
            "wanted columns with columns."
        )
    request.check_width(len(names), place)
    return names


def _own_names(schema: Any, label: str | None) -> list[str]:
    """Return the names of the columns but the label and the index of a pandas frame."""
    left_out = {label, *index_names(schema)}
    return [name for name in schema.names if name not in left_out]


class _Columns:
    """Checks that the columns of all files go together."""

    def __init__(self, names: list[str], first_place: str, request: Request) -> None:
        self.names = names
        self.dtype: np.dtype = np.dtype(np.float32)
        self._request = request
        self._first_place = first_place
        self._label: tuple[bool, Any, str] | None = None

    def add(self, schema: Any, place: str) -> None:
        """Check the columns of one more file."""
        if self._request.columns is None:
            self._check_no_others(schema, place)
        for position in positions_of(self.names, schema.names, place):
            column = schema.field(position)
            if self._request.strings and holds_strings(column.type):
                self.dtype = np.dtype(object)
                continue
            self._check_numbers(column.name, column.type, place)
            if not fits_float32(column.type) and self.dtype != object:
                self.dtype = np.dtype(np.float64)
        if self._request.label is not None:
            (position,) = positions_of([self._request.label], schema.names, place)
            self._check_label(schema.field(position).type, place)

    def _check_no_others(self, schema: Any, place: str) -> None:
        known = set(self.names)
        names = _own_names(schema, self._request.label)
        if others := [name for name in names if name not in known]:
            raise ValueError(
                f"{self._first_place} has no column {others[0]!r}, but {place} has. Make the "
                "columns of all files the same, or name the wanted ones with columns."
            )

    def _check_numbers(self, name: str, kind: Any, place: str) -> None:
        if not holds_numbers(kind):
            is_first = place == self._first_place
            but = "" if is_first else f", but numbers in {self._first_place}"
            raise not_numbers(f"Column {name!r} of {place}", f"{kind}{but}")

    def _check_label(self, kind: Any, place: str) -> None:
        column = f"Column {self._request.label!r} of {place}"
        if not holds_numbers(kind) and not holds_strings(kind):
            raise not_labels(column, kind)
        if str(kind) == "null":
            return
        if self._label is None:
            self._label = holds_strings(kind), kind, place
        elif self._label[0] != holds_strings(kind):
            _, other, other_place = self._label
            raise TypeError(
                f"{column} is {kind}, but {other} in {other_place}. Encode the classes in the same "
                "way in all files."
            )


@dataclass(frozen=True, eq=False)
class _DatasetPart(TableFile):
    """A whole data set of pyarrow in the place of a file.

    Its Scanner reads ahead as little as can be set, but decodes whole row groups.
    """

    dataset: Any
    place: str

    def head(self) -> tuple[Any, int | None]:
        """Return the schema, and the number of rows where the files have it."""
        kind = getattr(getattr(self.dataset, "format", None), "default_extname", "")
        is_counted = kind in ("parquet", "arrow", "feather")
        return self.dataset.schema, self.dataset.count_rows() if is_counted else None

    def _read(self, names: list[str], label: str | None, size: int) -> Iterator[Any]:
        scanner = self.dataset.scanner(
            columns=with_label(names, label),
            batch_size=size,
            batch_readahead=1,
            fragment_readahead=1,
            use_threads=False,
        )
        with table_damage_named(self.place):
            yield from scanner.to_batches()


def is_dataset(data: Any) -> bool:
    """Return whether the data is a data set of pyarrow."""
    if not type(data).__module__.startswith("pyarrow"):
        return False
    return isinstance(data, pyarrow("pyarrow.dataset").Dataset)


def dataset_source(dataset: Any, request: Request) -> TableSource:
    """Return the rows of a data set of pyarrow."""
    return table_source((_DatasetPart(dataset, request.name),), request)
