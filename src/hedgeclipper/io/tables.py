"""Rows of tables on disk: files of one format, or a data set of pyarrow, with the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hedgeclipper.io.column_values import (
    TextLabels,
    fits_float32,
    holds_numbers,
    holds_strings,
    not_labels,
    not_numbers,
    pyarrow,
)
from hedgeclipper.io.formats import CsvFile, TableFile
from hedgeclipper.io.frames import frame_block, index_names, listed, positions_of
from hedgeclipper.io.source import Request, Source, check_count, rows_per_batch


@dataclass(frozen=True, eq=False)
class TableSource(Source):
    """Rows of tables with named columns, one file after the other.

    Only the wanted columns are read, about 16 MB at a time. When a pass ends, Arrow is asked to
    give back the memory that it keeps for later.
    """

    files: Sequence[TableFile]
    dtype: Any
    request: Request
    names: list[str] = field(default_factory=list)
    n_rows: int | None = None
    counts: dict[str, int] = field(default_factory=dict)

    def _blocks(self, with_labels: bool) -> Iterator[tuple[np.ndarray, Any]]:
        label = self.label if with_labels else None
        request = Request("", self.names, label, dtype=self.dtype, strings=self.dtype == object)
        text = TextLabels() if isinstance(self.files[0], CsvFile) else None
        size = rows_per_batch(len(self.names))
        pool = pyarrow().default_memory_pool()
        try:
            for file in self.files:
                n_read = 0
                for batch in file.batches(self.names, label, size):
                    block = frame_block(batch, request, file.place)
                    labels = block.labels
                    if text is not None and labels is not None:
                        labels = text.read(labels, f"Column {label!r} of {file.place}")
                    yield block.rows, labels
                    n_read += batch.num_rows
                check_count(self.counts, file.place, n_read)
        finally:
            pool.release_unused()


def table_source(files: Sequence[TableFile], request: Request) -> TableSource:
    """Look at the columns of every file, and return the rows of all of them."""
    if request.columns is None and isinstance(files[0], CsvFile) and files[0].has_heading:
        files[0].check_heading()
    if request.strings:
        files = [replace(f, strings=True) if isinstance(f, CsvFile) else f for f in files]
    heads = {file.place: file.head() for file in files}
    schemas = {place: schema for place, (schema, _) in heads.items()}
    names = _wanted(schemas[files[0].place], request, files[0].place)
    dtype = _common_dtype(schemas, names, request)
    _check_label_types(schemas, request.label)
    counts = {place: n_rows for place, (_, n_rows) in heads.items() if n_rows is not None}
    return TableSource(
        files=files,
        names=names,
        dtype=dtype if request.dtype is None else np.dtype(request.dtype),
        request=request,
        n_rows=sum(counts.values()) if len(counts) == len(heads) else None,
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


def _own_names(schema: Any, label: Any) -> list[str]:
    """Return the names of the columns but the label and the index of a pandas frame."""
    left_out = {label, *index_names(schema)}
    return [name for name in schema.names if name not in left_out]


def _common_dtype(schemas: dict[str, Any], names: list[str], request: Request) -> np.dtype:
    """Return the dtype that holds the columns of all files, which must go together."""
    dtype: np.dtype = np.dtype(np.float32)
    first, known = next(iter(schemas)), set(names)
    for place, schema in schemas.items():
        others = [name for name in _own_names(schema, request.label) if name not in known]
        if others and request.columns is None:
            raise ValueError(
                f"{first} has no column {others[0]!r}, but {place} has. Make the columns of all "
                "files the same, or name the wanted ones with columns."
            )
        for position in positions_of(names, schema.names, place):
            name, kind = schema.field(position).name, schema.field(position).type
            if request.strings and holds_strings(kind):
                dtype = np.dtype(object)
            elif not holds_numbers(kind):
                but = "" if place == first else f", but numbers in {first}"
                raise not_numbers(f"Column {name!r} of {place}", f"{kind}{but}")
            elif not fits_float32(kind) and dtype.kind != "O":
                dtype = np.dtype(np.float64)
    return dtype


def _check_label_types(schemas: dict[str, Any], label: Any) -> None:
    """Raise unless the labels of all files are numbers, or strings in all."""
    known: dict[bool, tuple[Any, str]] = {}
    for place, schema in schemas.items() if label is not None else ():
        (position,) = positions_of([label], schema.names, place)
        kind, column = schema.field(position).type, f"Column {label!r} of {place}"
        if not holds_numbers(kind) and not holds_strings(kind):
            raise not_labels(column, kind)
        if str(kind) != "null":
            known.setdefault(holds_strings(kind), (kind, place))
        if len(known) > 1:
            other, other_place = known[not holds_strings(kind)]
            raise TypeError(
                f"{column} is {kind}, but {other} in {other_place}. Encode the classes in the same "
                "way in all files."
            )
