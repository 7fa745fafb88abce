"""Files as published to arrays: LibSVM text, CSV, MATLAB.

Long files are read a block of lines at a time, so that memory holds the result and little else.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import loadmat

from hedgeclipper.datasets.contents import Contents, as_classes, as_csr, damage_named
from hedgeclipper.datasets.registry import Dataset
from hedgeclipper.io.libsvm import parse_libsvm
from hedgeclipper.io.text import blocks_of_lines, open_packed

_LODGEPOLE_PINE = 2


def read_originals(dataset: Dataset, paths: tuple[Path, ...]) -> Contents:
    """Return what the files hold, read in the way of the data set's layout."""
    return _READERS[dataset.layout](dataset, paths)


class _Rows:
    """Blocks of rows put below each other: dense ones in place, sparse ones at the end."""

    def __init__(self, dataset: Dataset) -> None:
        self.n_rows = 0
        self._dataset = dataset
        self._target = np.empty(dataset.n_rows, dtype=np.int64)
        self._blocks: list[sparse.csr_array] = []
        shape = (0 if dataset.is_sparse else dataset.n_rows, dataset.n_columns)
        self._dense = np.empty(shape, dtype=np.float32)

    def add(self, data: Any, target: np.ndarray) -> None:
        """Put a block of rows below those that are there."""
        rows = slice(self.n_rows, self.n_rows + target.size)
        self._check(data.shape[1], rows.stop)
        self._target[rows] = target
        self.n_rows = rows.stop
        if self._dataset.is_sparse:
            self._blocks.append(as_csr(data))
        else:
            self._dense[rows] = data.toarray() if sparse.issparse(data) else data

    def _check(self, n_columns: int, n_rows: int) -> None:
        dataset = self._dataset
        if n_columns != dataset.n_columns or n_rows > dataset.n_rows:
            raise ValueError(
                f"{dataset.name} should have {dataset.n_rows:,} rows x {dataset.n_columns:,} "
                f"columns, but its file has at least {n_rows:,} x {n_columns:,}. "
                "It is another file; put the right one in its place."
            )

    def contents(self, n_train: int) -> Contents:
        """Return all rows."""
        target = self._target[: self.n_rows]
        if not self._dataset.is_sparse:
            return Contents(self._dense[: self.n_rows], target, n_train)
        empty = sparse.csr_array(self._dense)
        return Contents(as_csr(sparse.vstack([empty, *self._blocks])), target, n_train)


def _read_libsvm(dataset: Dataset, paths: tuple[Path, ...]) -> Contents:
    """Return the rows of LibSVM text, the training file first."""
    rows = _Rows(dataset)
    ends = []
    for path in paths:
        for data, target in _libsvm_blocks(path, dataset.n_columns):
            rows.add(data, target)
        ends.append(rows.n_rows)
    return rows.contents(n_train=ends[0])


def _libsvm_blocks(path: Path, n_columns: int) -> Iterator[tuple[Any, np.ndarray]]:
    with damage_named(path):
        for block in blocks_of_lines(path):
            data, labels = parse_libsvm(block, n_columns, np.float32)
            yield data, as_classes(labels)


def _read_label_first(dataset: Dataset, paths: tuple[Path, ...]) -> Contents:
    """Return the rows of CSV text without a heading whose first column is the label."""
    rows = _Rows(dataset)
    for numbers in _csv_blocks(paths[0]):
        rows.add(numbers[:, 1:], as_classes(numbers[:, 0]))
    return rows.contents(dataset.n_train)


def _read_covtype(dataset: Dataset, paths: tuple[Path, ...]) -> Contents:
    """Return the rows of Covertype, class 2 against the others; the last column is the class."""
    rows = _Rows(dataset)
    for numbers in _csv_blocks(paths[0]):
        rows.add(numbers[:, :-1], as_classes(numbers[:, -1] == _LODGEPOLE_PINE))
    return rows.contents(dataset.n_train)


def _csv_blocks(path: Path) -> Iterator[np.ndarray]:
    """Yield float32 arrays of shape (rows of the block, columns of the file)."""
    with damage_named(path):
        for block in blocks_of_lines(path):
            lines = block.decode("ascii").splitlines()
            yield np.loadtxt(lines, delimiter=",", dtype=np.float32, ndmin=2)


def _read_kaggle(dataset: Dataset, paths: tuple[Path, ...]) -> Contents:
    """Return the labeled rows of the first CSV file and the unlabeled ones of the second."""
    names = [dataset.target_name, *dataset.feature_names]
    labeled = _named_columns(paths[0], names)
    unlabeled = _named_columns(paths[1], names[1:])
    return Contents(labeled[:, 1:], as_classes(labeled[:, 0]), len(labeled), unlabeled)


def _named_columns(path: Path, names: list[str]) -> np.ndarray:
    """Return these columns of a CSV file with a heading; NaN where it says NA."""
    with damage_named(path):
        heading, *lines = b"".join(blocks_of_lines(path)).decode("utf-8-sig").splitlines()
        position = {name: number for number, name in enumerate(next(csv.reader([heading])))}
        if missing := [name for name in names if name not in position]:
            raise ValueError(f"it has no column {missing[0]!r}")
        if not lines:
            raise ValueError("it has no rows")
        numbers = np.loadtxt(
            lines,
            delimiter=",",
            dtype=np.float32,
            usecols=[position[name] for name in names],
            converters=_number_or_nan,
            quotechar='"',
            encoding=None,
            ndmin=2,
        )
    return np.ascontiguousarray(numbers)


def _number_or_nan(text: str) -> float:
    return np.nan if text in ("NA", "") else float(text)


def _read_ssl_text(dataset: Dataset, paths: tuple[Path, ...]) -> Contents:
    """Return the rows of a MATLAB file and the splits of the others, counted from 0."""
    data, labels = _matlab(paths[0], "X", "y")
    splits = {}
    for path in paths[1:]:
        (rows,) = _matlab(path, "idxLabs")
        splits[rows.shape[1]] = rows.astype(np.int64) - 1
    return Contents(as_csr(data), as_classes(labels), dataset.n_train, None, splits)


def _matlab(path: Path, *names: str) -> list[Any]:
    with damage_named(path), open_packed(path) as file:
        variables = loadmat(file, variable_names=names)
        return [variables[name] for name in names]


_READERS: dict[str, Callable[[Dataset, tuple[Path, ...]], Contents]] = {
    "libsvm": _read_libsvm,
    "label_first": _read_label_first,
    "covtype": _read_covtype,
    "kaggle": _read_kaggle,
    "ssl_text": _read_ssl_text,
}
