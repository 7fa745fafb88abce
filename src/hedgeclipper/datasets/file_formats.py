"""The files of a data set as arrays: NumPy archives, LibSVM text, CSV and MATLAB files.

LibSVM text and CSV are read with the readers of `hedgeclipper.io`, a block of lines at a time, so
that memory holds the result and little else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from lzma import LZMAError
from pathlib import Path
from typing import Any
from zipfile import BadZipFile
from zlib import error as ZlibError

import numpy as np
from scipy import sparse
from scipy.io import loadmat
from scipy.io.matlab import MatReadError
from sklearn.preprocessing import OneHotEncoder

from hedgeclipper.datasets.registry import N_SYMBOLS_SECSTR, Dataset
from hedgeclipper.io.arrays import stack_rows
from hedgeclipper.io.as_source import table_source
from hedgeclipper.io.formats import CsvFile
from hedgeclipper.io.libsvm import as_csr, libsvm_source, open_packed
from hedgeclipper.io.source import Request, naming_damaged_file

_DAMAGED = (EOFError, BadZipFile, LZMAError, ZlibError, MatReadError)
_ANOTHER_FILE = (IndexError, KeyError, TypeError, ValueError)
_LODGEPOLE_PINE = 2
_SPLIT = "idxlab"
_as_csr = partial(as_csr, dtype=np.float32)


@dataclass(frozen=True)
class Contents:
    """What the files of a data set hold."""

    data: Any  # float32 array or csr_array of shape (n_rows, n_columns)
    target: np.ndarray  # int64 of shape (n_rows,), 0 or 1
    n_train: int  # how many of the leading rows are training rows
    data_unlabeled: Any = None  # like data, rows without a label
    # By the number of labels: the rows whose labels may be used, of shape (n_splits, n_labels).
    labeled_splits: dict[int, np.ndarray] = field(default_factory=dict)


def read_files(dataset: Dataset, paths: tuple[Path, ...]) -> Contents:
    """Return what the archives or the published files of a data set hold."""
    read = _read_archives if paths[0].suffix == ".npz" else LAYOUTS[dataset.layout]
    return read(dataset, paths)


def _reading(path: Path) -> AbstractContextManager[None]:
    """Turn whatever goes wrong inside a damaged or wrong file into an OSError that names it."""
    errors = (*_DAMAGED, *_ANOTHER_FILE)
    return naming_damaged_file(str(path), *errors, where=lambda: "or not the file it should be")


def _as_classes(labels: Any) -> np.ndarray:
    """Return 1 for each positive label and 0 for each other, as int64 of shape (n_rows,)."""
    return (np.asarray(labels).ravel() > 0).astype(np.int64)


def _read_archives(dataset: Dataset, paths: tuple[Path, ...]) -> Contents:
    """Return the labeled rows of the first archive and the unlabeled ones of the second."""
    unlabeled, splits = None, {}
    with _opened(paths[0]) as archive:
        if "y_train" in archive:
            data = stack_rows(_matrix(archive, "X_train"), _matrix(archive, "X_test"))
            target = _as_classes(np.concatenate([archive["y_train"], archive["y_test"]]))
            n_train = archive["y_train"].size
        else:
            target = _as_classes(archive["y"])
            n_train = target.size - dataset.n_test
            splits = {
                int(name.removeprefix(_SPLIT)): archive[name].astype(np.int64)
                for name in archive
                if name.startswith(_SPLIT)
            }
            if "T" in archive:
                data, unlabeled = _one_hot(archive["T"]), _one_hot(archive["T_extra"])
            else:
                data = _matrix(archive, "X")
    if len(paths) > 1:
        with _opened(paths[1]) as archive:
            unlabeled = _matrix(archive, "X")
    return Contents(data, target, n_train, unlabeled, splits)


@contextmanager
def _opened(path: Path) -> Iterator[Mapping[str, np.ndarray]]:
    # np.load would leave a damaged file open if it had to open it itself.
    with _reading(path), path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        yield archive


def _matrix(archive: Mapping[str, np.ndarray], name: str) -> Any:
    """Return the matrix of this name, a csr_array where the archive has the parts of one."""
    if name in archive:
        return archive[name].astype(np.float32, copy=False)
    values, indices, starts = (archive[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    shape = tuple(int(length) for length in archive[f"{name}_shape"])
    return _as_csr(sparse.csr_array((values, indices, starts), shape=shape))


def _one_hot(symbols: np.ndarray) -> sparse.csr_array:
    """Return rows where column ``place * N_SYMBOLS_SECSTR + symbol`` is 1 for each place."""
    categories = [np.arange(N_SYMBOLS_SECSTR)] * symbols.shape[1]
    return _as_csr(OneHotEncoder(categories=categories, dtype=np.float32).fit_transform(symbols))


def _stacked(dataset: Dataset, blocks: Iterable[tuple[Any, np.ndarray]]) -> tuple[Any, np.ndarray]:
    """Return rows and labels of all blocks; dense rows are filled in place, to be there once."""
    n_rows, n_columns = dataset.shape
    dense = np.empty((0 if dataset.is_sparse else n_rows, n_columns), dtype=np.float32)
    parts, target, n_read = [sparse.csr_array(dense[:0])], np.empty(n_rows, dtype=np.int64), 0
    for rows, labels in blocks:
        block = slice(n_read, n_read + labels.size)
        if rows.shape[1] != n_columns or block.stop > n_rows:
            raise ValueError(
                f"{dataset.name} should have {n_rows:,} rows x {n_columns:,} columns, but its file "
                f"has at least {block.stop:,} x {rows.shape[1]:,}. "
                "It is another file; put the right one in its place."
            )
        target[block], n_read = labels > 0, block.stop
        if dataset.is_sparse:
            parts.append(rows)
        else:
            dense[block] = rows.toarray() if sparse.issparse(rows) else rows
    data = _as_csr(sparse.vstack(parts)) if dataset.is_sparse else dense[:n_read]
    return data, target[:n_read]


def _read_libsvm(dataset: Dataset, paths: tuple[Path, ...]) -> Contents:
    """Return the rows of LibSVM text, the training file first."""
    request = Request(dataset.name, label=True, n_columns=dataset.shape[1], dtype=np.float32)
    sources = {path: libsvm_source([path], request) for path in paths}

    def blocks() -> Iterator[tuple[Any, np.ndarray]]:
        for path, source in sources.items():
            with _reading(path):
                yield from source.labeled_batches()

    data, target = _stacked(dataset, blocks())
    return Contents(data, target, sources[paths[0]].counts[str(paths[0])])


def _csv_blocks(path: Path, names: list[str] | None = None) -> Iterator[np.ndarray]:
    """Yield the rows of CSV text: these columns, or all of a file without a heading."""
    with _reading(path):
        file = CsvFile(path, has_heading=names is not None)
        source = table_source([file], Request(str(path), names, dtype=np.float32))
        yield from source
        if source.counts[str(path)] == 0:
            raise ValueError("it has no rows")


def _read_numbers(
    dataset: Dataset, paths: tuple[Path, ...], label_column: int, positive: int
) -> Contents:
    """Return the rows of CSV text without a heading; one column has the class."""
    blocks = (
        (np.delete(rows, label_column, axis=1), rows[:, label_column] == positive)
        for rows in _csv_blocks(paths[0])
    )
    data, target = _stacked(dataset, blocks)
    return Contents(data, target, target.size - dataset.n_test)


def _read_kaggle(dataset: Dataset, paths: tuple[Path, ...]) -> Contents:
    """Return the labeled rows of the first CSV file and the unlabeled ones of the second."""
    names = [dataset.target_name, *dataset.feature_names]
    labeled = np.concatenate(list(_csv_blocks(paths[0], names)))
    unlabeled = np.concatenate(list(_csv_blocks(paths[1], names[1:])))
    return Contents(labeled[:, 1:], _as_classes(labeled[:, 0]), len(labeled), unlabeled)


def _read_ssl_text(dataset: Dataset, paths: tuple[Path, ...]) -> Contents:
    """Return the rows of a MATLAB file and the splits of the others, counted from 0."""
    data, labels = _matlab(paths[0], "X", "y")
    target = _as_classes(labels)
    splits = [_matlab(path, "idxLabs")[0].astype(np.int64) - 1 for path in paths[1:]]
    by_budget = {rows.shape[1]: rows for rows in splits}
    return Contents(_as_csr(data), target, target.size, labeled_splits=by_budget)


def _matlab(path: Path, *names: str) -> list[Any]:
    with _reading(path), open_packed(path) as file:
        variables = loadmat(file, variable_names=names)
        return [variables[name] for name in names]


LAYOUTS: dict[str, Callable[[Dataset, tuple[Path, ...]], Contents]] = {
    "libsvm": _read_libsvm,
    "label_first": partial(_read_numbers, label_column=0, positive=1),
    "covtype": partial(_read_numbers, label_column=-1, positive=_LODGEPOLE_PINE),
    "kaggle": _read_kaggle,
    "ssl_text": _read_ssl_text,
}
