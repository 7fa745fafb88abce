"""How rows in any form become what voters score: arrays or CSR matrices, checked and scaled.

Arrays are checked whole, as scikit-learn does. Batches are checked one by one, each time they
are read, and never held together. Dask collections stay lazy; what is done with them is in
`hedgeclipper.io.distributed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any
from zlib import crc32

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from hedgeclipper.base.columns import ColumnEncoder, ColumnScale
from hedgeclipper.base.semi_supervised import UNLABELED, SemiSupervisedRows, is_dask
from hedgeclipper.io import as_classes, as_source, is_frame, is_in_memory, missing_labels
from hedgeclipper.io.arrays import draw_rows, stack_rows
from hedgeclipper.io.messages import import_extra
from hedgeclipper.sklearn_private import _safe_indexing

ROWS_PER_SLICE = 1 << 16
# labeled rows that show how columns are scaled, and unlabeled ones how they are encoded
ROWS_FOR_SCALE, ROWS_FOR_ENCODING = 1_000, 50_000
NO_UNLABELED_ROWS = (
    "X_unlabeled has no rows. The game needs unlabeled rows: pass some, or leave X_unlabeled out."
)


@dataclass(frozen=True, eq=False)
class RowSlices:
    """The rows of an array, CSR matrix or frame, in batches."""

    rows: Any

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, self.rows.shape[0], ROWS_PER_SLICE):
            yield _safe_indexing(self.rows, slice(start, start + ROWS_PER_SLICE))


@dataclass(frozen=True, eq=False)
class RowBatches:
    """Batches of a source, each read by ``read`` on each pass; all rows, or those without a label.

    ``more`` rows, in memory and read already, come after them. Without ``read`` batches are frames
    as they are in the source. ``checksums`` are those of the first pass: rows must be the same in
    all, but may be cut into batches in another way.
    """

    source: Any
    read: Callable[[Any], Any] | None
    only_unlabeled: bool = False
    more: Any = None
    checksums: list[tuple[int, ...]] = field(default_factory=list, repr=False)

    def __iter__(self) -> Iterator[Any]:
        if self.read is None:
            yield from self._batches()
        else:
            yield from self._unchanged(map(self.read, self._batches()))
        if self.more is not None:
            yield self.more

    def _batches(self) -> Iterator[Any]:
        if not self.only_unlabeled:
            return iter(self.source)
        pairs = self.source.labeled_batches()
        parts = ((rows, missing_labels(labels)) for rows, labels in pairs)
        return (rows[missing] for rows, missing in parts if missing.any())

    def _unchanged(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield batches; raise at their end if they were not those of the first pass."""
        checksum: tuple[int, ...] = (0, 0, 0)
        for batch in batches:
            is_sparse = sparse.issparse(batch)
            parts = (batch.data, batch.indices, np.diff(batch.indptr)) if is_sparse else (batch,)
            checksum = tuple(
                crc32(np.ascontiguousarray(part).data, before)
                for part, before in zip(parts, checksum, strict=False)
            )
            yield batch
        self.checksums[:] = self.checksums or [checksum]
        if self.checksums != [checksum]:
            raise ValueError(
                "The rows changed between passes. Pass a source that yields the same rows every "
                "time, and leave files as they are while they are read, several times."
            )


@dataclass(frozen=True)
class RowReader:
    """Makes of rows in any form what voters score: arrays or CSR matrices, checked and scaled.

    It is learned from the labeled rows, reads all others, and holds none.

    Parameters
    ----------
    checks : dict
        Parameters of scikit-learn's ``check_array``.
    n_columns : int
        Number of columns that voters see.
    names : list of str or None
        Names of the columns of rows, by which those of files and Dask frames are matched.
    frame_columns : list or None
        Columns of the frames that voters get in place of arrays; None if they get arrays.
    encodes : bool
        Whether an encoder makes numbers of frames; while it is learned they stay as they are.
    encoder : ColumnEncoder or None
        What makes numbers of frames whose columns are not all numbers.
    scale : ColumnScale or None
        What scales columns that float32 cannot hold as they are.
    """

    checks: dict[str, Any]
    n_columns: int = 0
    names: list[str] | None = None
    frame_columns: list[Any] | None = None
    encodes: bool = False
    encoder: ColumnEncoder | None = None
    scale: ColumnScale | None = None

    def __call__(self, rows: Any, name: str = "X") -> Any:
        """Return rows as voters score them; ``name`` is what errors call them."""
        if self.encoder is not None:
            rows = self.encoder.transform(rows)
        elif self.encodes or (self.frame_columns is not None and is_frame(rows)):
            return rows
        return self.finish(
            rows, check_array(rows, input_name=name, ensure_min_samples=0, **self.checks), name
        )

    def finish(self, given: Any, rows: Any, name: str = "X") -> Any:
        """Return rows that were checked as voters score them; those ``given`` are scaled."""
        if rows.shape[1] != self.n_columns:
            raise ValueError(
                f"{name} must have {self.n_columns} columns, as the labeled rows have. Got a "
                f"batch with {rows.shape[1]}. Name the columns on both sides, so that they can "
                "be matched, or pass the same ones."
            )
        rows = rows if self.scale is None else self.scale.transform(given)
        if self.frame_columns is not None:
            # classifiers that were passed with a frame may pick columns by name
            return import_extra("pandas", "io", "A frame").DataFrame(
                rows, columns=self.frame_columns
            )
        is_long = sparse.issparse(rows) and rows.indices.dtype != np.int32
        if is_long and rows.nnz <= np.iinfo(np.int32).max:  # trees demand indices of 32 bits
            indices, indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
            rows = type(rows)((rows.data, indices, indptr), shape=rows.shape)
        return rows

    def open_source(self, X: Any, name: str, once: bool) -> RowBatches:
        """Return batches of files and the like, which are read one by one.

        ``name`` is what errors call them; with ``once`` an iterator of batches will do.
        """
        options: dict[str, Any] = {"name": name, "columns": self.names, "once": once}
        if self.encoder is not None:
            options["columns"] = self.encoder.used_names
            options["strings"] = self.encoder.string_names
        if self.encodes:
            options["frames"] = self.n_columns
        else:
            options["dtype"] = np.float32 if self.scale is None else np.float64
        return RowBatches(as_source(X, **options), self.reads_as(name))

    def reads_as(self, name: str) -> Callable[[Any], Any] | None:
        """Return what reads batches of this name; None while the encoder is learned."""
        return None if self.encodes and self.encoder is None else partial(self, name=name)

    @property
    def sources(self) -> np.ndarray:
        """Number of the column of ``fit`` that each column which voters see is made of."""
        return np.arange(self.n_columns) if self.encoder is None else self.encoder.sources_

    @property
    def of_read_rows(self) -> RowReader:
        """What checks rows once more, if they were encoded and scaled already, on a cluster."""
        names = None if self.encodes else self.names
        return replace(self, names=names, encodes=False, encoder=None, scale=None)

    def read_collection(self, X: Any) -> Any:
        """Return a Dask collection whose rows are encoded and scaled where they are read."""
        if self.encoder is None and self.scale is None:
            return X
        from hedgeclipper.io.distributed import map_partitions

        columns = [f"x{k}" for k in range(self.n_columns)] if self.encodes else self.names
        columns = list(getattr(X, "columns", ())) if columns is None else columns
        nothing = np.empty((0, self.n_columns), np.float32)
        return map_partitions(self, nothing, X, self.names, columns)

    def draw(
        self, rows: SemiSupervisedRows, n_rows: int, random_state: np.random.RandomState
    ) -> Any | None:
        """Return so many of the unlabeled rows, or all of fewer; None if there are none.

        The same rows are drawn from memory, files and Dask collections.
        """
        X = rows.X_unlabeled
        if not rows.has_unlabeled:
            return None
        if is_dask(X):
            from hedgeclipper.io.distributed import draw_from

            check = self.of_read_rows if self.reads_as("X_unlabeled") else self
            some = draw_from(X, n_rows, check.names, check, random_state)
        else:
            some = draw_rows(RowSlices(X) if is_in_memory(X) else X, n_rows, random_state)
        if some.shape[0] == 0:
            raise ValueError(NO_UNLABELED_ROWS)
        return some

    def learn_encoding(self, rows: SemiSupervisedRows) -> tuple[RowReader, SemiSupervisedRows]:
        """Return a reader that encodes frames, and rows, which are frames yet, as it reads them.

        How columns are encoded is learned from labeled rows and a sample of the unlabeled ones.
        """
        some = self.draw(rows, ROWS_FOR_ENCODING, np.random.RandomState(0))
        encoder = ColumnEncoder().fit(rows.X_labeled, some)
        labeled = draw_rows(rows.X_labeled, ROWS_FOR_SCALE, np.random.RandomState(0))
        scale = ColumnScale.of(encoder.transform(labeled))
        reader = replace(self, encoder=encoder, scale=scale, n_columns=encoder.sources_.size)
        unlabeled = rows.X_unlabeled
        if isinstance(unlabeled, RowBatches):
            options = {"frames": reader.n_columns, "strings": encoder.string_names}
            source = as_source(unlabeled.source, name="X_unlabeled", **options)
            unlabeled = replace(unlabeled, source=source, read=reader)
        elif is_in_memory(unlabeled):
            parts = [reader(part) for part in RowSlices(unlabeled)]
            unlabeled = np.concatenate(parts) if parts else reader(unlabeled)
        else:
            unlabeled = reader.read_collection(unlabeled)
        labeled = reader(rows.X_labeled)
        return reader, replace(rows, X_labeled=labeled, X_unlabeled=unlabeled)


def read_labeled(X: Any, label: str, **options: Any) -> tuple[Any, np.ndarray, Any]:
    """Return the rows with a label in the column of this name, the labels, and the whole source.

    The options are those of `as_source`.
    """
    source = as_source(X, name="X", label=label, **options)
    rows, labels, classes = [], [], set()
    for batch, values in source.labeled_batches():
        known = ~missing_labels(values)
        if known.any():
            rows.append(batch[known])
            labels.append(values[known])
            classes |= set(values[known].tolist())
        if UNLABELED in classes and len(classes) > 2:
            raise ValueError(
                f"The column {label!r} has -1 beside two other classes. In files a row is "
                "unlabeled where its label is missing (null or NaN): write that in place of -1, "
                "or number the classes from 0 if -1 is one."
            )
    if not rows:
        raise ValueError(
            f"No row has a label in the column {label!r}: all are missing. Label some rows of "
            "each class."
        )
    found = reduce(stack_rows, rows) if is_frame(rows[0]) else np.concatenate(rows)
    return found, as_classes(np.concatenate(labels), f"Column {label!r}"), source
