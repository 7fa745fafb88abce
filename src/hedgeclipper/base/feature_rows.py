"""Rows of features in any form: arrays, files and other batches, Dask collections.

Arrays are checked whole, as scikit-learn does. Batches are checked one by one, each time they
are read, and never held together. Dask collections stay lazy; what is done with them is in
`hedgeclipper.io.distributed`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing, check_array

from hedgeclipper.base.semi_supervised import UNLABELED
from hedgeclipper.io import as_classes, as_source, missing_labels

ROWS_PER_SLICE = 1 << 16


@dataclass(frozen=True, eq=False)
class RowBatches:
    """Batches of a source, each checked when it is read; all rows, or those without a label."""

    source: Any
    check: Callable[[Any], Any]
    only_unlabeled: bool = False

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where it is known without reading them."""
        return None if self.only_unlabeled else self.source.n_rows

    def __iter__(self) -> Iterator[Any]:
        if not self.only_unlabeled:
            yield from map(self.check, self.source)
            return
        for rows, labels in self.source.labeled_batches():
            missing = missing_labels(labels)
            if missing.any():
                yield self.check(rows[missing])


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection; does not import Dask."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "dask")


def with_short_indices(X: Any) -> Any:
    """Return a CSR matrix with indices of 32 bits if these will do, as trees demand; else X."""
    if not sparse.issparse(X) or X.indices.dtype == np.int32 or X.nnz > np.iinfo(np.int32).max:
        return X
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return type(X)((X.data, indices, indptr), shape=X.shape)


@dataclass(frozen=True)
class BatchCheck:
    """Encodes rows as numbers, checks them as scikit-learn would, and the number of columns.

    ``name`` is what errors call the rows, ``n_features`` the columns they must have in the end,
    ``checks`` are parameters of ``check_array``, and ``encoder`` is for frames in which not all
    columns are numbers.
    """

    name: str
    n_features: int
    checks: dict[str, Any]
    encoder: Any = None

    def __call__(self, batch: Any) -> Any:
        """Return the rows as an array or CSR matrix."""
        if self.encoder is not None:
            batch = self.encoder.transform(batch)
        rows = check_array(batch, input_name=self.name, ensure_min_samples=0, **self.checks)
        if rows.shape[1] != self.n_features:
            raise ValueError(
                f"{self.name} must have {self.n_features} columns, as the labeled rows have. Got "
                f"a batch with {rows.shape[1]}. Name the columns on both sides, so that they can "
                "be matched, or pass the same ones."
            )
        return with_short_indices(rows)


def read_labeled(X: Any, label: str) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return the rows with a label in the column of this name, the labels, and the whole source."""
    source = as_source(X, name="X", label=label, dtype=np.float32)
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
            f"No row has a label in the column {label!r}: all are missing. The forest needs some "
            "labeled rows of each class."
        )
    stack = sparse.vstack if sparse.issparse(rows[0]) else np.concatenate
    return stack(rows), as_classes(np.concatenate(labels), f"Column {label!r}"), source


def parse_bytes(size: int | str) -> int:
    """Return a number of bytes, given as such or as text like "2GB" or "512 MiB"."""
    if not isinstance(size, str):
        return int(size)
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([KMGT]?)(I?)B)?\s*", size.upper())
    if found is None or (found[3] and not found[2]):
        raise ValueError(
            "The 'memory_limit' parameter must be a number of bytes or text like '2GB' or "
            f"'512MiB'. Got {size!r}."
        )
    return int(float(found[1]) * (1024 if found[3] else 1000) ** " KMGT".index(found[2] or " "))


@dataclass(frozen=True, eq=False)
class RowSlices:
    """The rows of an array, CSR matrix or frame, in batches."""

    rows: Any

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.rows.shape[0]

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, self.n_rows, ROWS_PER_SLICE):
            yield _safe_indexing(self.rows, slice(start, start + ROWS_PER_SLICE))


Batches = RowBatches | RowSlices
