"""The files of a data set as arrays: NumPy archives, LibSVM text, CSV and MATLAB files.

Large text is read a block of lines at a time, so that memory holds the result and little else.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile
from zlib import error as ZlibError

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.io import loadmat
from scipy.io.matlab import MatReadError
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import OneHotEncoder

from benchmarks.data.sources import Dataset
from hedgeclipper.io.arrays import stack_rows
from hedgeclipper.io.formats import naming_damaged_file

DAMAGED = (EOFError, BadZipFile, lzma.LZMAError, ZlibError, MatReadError)
ANOTHER_FILE = (IndexError, KeyError, TypeError, ValueError)
LODGEPOLE_PINE = 2
N_SYMBOLS_SECSTR = 21
CSV_ROWS = 100_000
LIBSVM_BYTES = 1 << 24
PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
UNNAMED = "Unnamed: 0"  # row numbers, by the name that pandas gives them


@dataclass(frozen=True)
class Contents:
    """What the files of a data set hold."""

    data: Any  # float32 array or csr_array of shape (n_rows, n_columns)
    target: np.ndarray  # int64 of shape (n_rows,), 0 or 1
    n_train: int  # how many of the leading rows are training rows
    data_unlabeled: Any = None  # like data, rows without a label


def read_files(dataset: Dataset, paths: tuple[Path, ...]) -> Contents:
    """Return what the archives or the published files of a data set hold."""
    if paths[0].suffix == ".npz":
        return read_archive(*paths, n_test=dataset.n_test)
    return LAYOUTS[dataset.layout](dataset, paths)


def read_archive(path: Path, unlabeled_path: Path | None = None, *, n_test: int = 0) -> Contents:
    """Return the labeled rows of one archive, and unlabeled ones of the same or another."""
    unlabeled = None
    with _opened(path) as archive:
        if "y_train" in archive:
            data = stack_rows(_matrix(archive, "X_train"), _matrix(archive, "X_test"))
            target = _as_classes(np.concatenate([archive["y_train"], archive["y_test"]]))
            n_test = archive["y_test"].size
        elif "T" in archive:
            data, target = _one_hot(archive["T"]), _as_classes(archive["y"])
            unlabeled = _one_hot(archive["T_extra"])
        else:
            data, target = _matrix(archive, "X"), _as_classes(archive["y"])
    if unlabeled_path is not None:
        with _opened(unlabeled_path) as archive:
            unlabeled = _matrix(archive, "X")
    return Contents(data, target, target.size - n_test, unlabeled)


def _reading(path: Path) -> AbstractContextManager[None]:
    """Turn whatever goes wrong inside a damaged or wrong file into an OSError that names it."""
    return naming_damaged_file(str(path), *DAMAGED, *ANOTHER_FILE)


def _open_packed(path: Path) -> BinaryIO:
    """Return the file opened for reading, unpacked on the way."""
    return PACKED.get(path.suffix.lower(), open)(path, "rb")


def _as_csr(matrix: Any) -> sparse.csr_array:
    """Return a csr_array of float32 with sorted columns, and 32-bit indices where they fit."""
    matrix = sparse.csr_array(matrix, dtype=np.float32)
    matrix.sort_indices()
    if matrix.nnz <= np.iinfo(np.int32).max:
        # 64-bit indices take twice the room, and scikit-learn's trees do not take them.
        matrix.indices = matrix.indices.astype(np.int32, copy=False)
        matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
    return matrix


def _as_classes(labels: Any) -> np.ndarray:
    """Return 1 for each positive label and 0 for each other, as int64 of shape (n_rows,)."""
    return (np.asarray(labels).ravel() > 0).astype(np.int64)


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
    counts = dict.fromkeys(paths, 0)

    def blocks() -> Iterator[tuple[Any, np.ndarray]]:
        options = {"n_features": dataset.shape[1], "dtype": np.float32, "zero_based": False}
        for path in paths:
            with _reading(path), _open_packed(path) as file:
                while block := file.read(LIBSVM_BYTES):
                    block += file.readline()  # to the end of a line
                    rows, labels = load_svmlight_file(BytesIO(block), **options)
                    counts[path] += labels.size
                    yield _as_csr(rows), labels

    data, target = _stacked(dataset, blocks())
    return Contents(data, target, counts[paths[0]])


def _read_numbers(
    dataset: Dataset, paths: tuple[Path, ...], label_column: int, positive: int
) -> Contents:
    """Return the rows of CSV text without a heading; one column has the class."""

    def blocks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        options = {"header": None, "dtype": np.float32, "chunksize": CSV_ROWS}
        with _reading(paths[0]), pd.read_csv(paths[0], **options) as frames:
            for frame in frames:
                rows = frame.to_numpy()
                yield np.delete(rows, label_column, axis=1), rows[:, label_column] == positive

    data, target = _stacked(dataset, blocks())
    return Contents(data, target, target.size - dataset.n_test)


def _read_kaggle(dataset: Dataset, paths: tuple[Path, ...]) -> Contents:
    """Return the labeled rows of the first CSV file and the unlabeled ones of the second."""
    with _reading(paths[0]):
        frame = pd.read_csv(paths[0], dtype={dataset.label: np.int64})
        data = frame.drop(columns=[dataset.label, UNNAMED], errors="ignore")
        target = _as_classes(frame[dataset.label])
    with _reading(paths[1]):
        unlabeled = pd.read_csv(paths[1])[data.columns]
    return Contents(data.to_numpy(np.float32), target, target.size, unlabeled.to_numpy(np.float32))


def _read_ssl_text(dataset: Dataset, paths: tuple[Path, ...]) -> Contents:
    """Return the rows of a MATLAB file."""
    with _reading(paths[0]), _open_packed(paths[0]) as file:
        variables = loadmat(file, variable_names=["X", "y"])
        data, target = _as_csr(variables["X"]), _as_classes(variables["y"])
    return Contents(data, target, target.size)


LAYOUTS: dict[str, Callable[[Dataset, tuple[Path, ...]], Contents]] = {
    "libsvm": _read_libsvm,
    "label_first": partial(_read_numbers, label_column=0, positive=1),
    "covtype": partial(_read_numbers, label_column=-1, positive=LODGEPOLE_PINE),
    "kaggle": _read_kaggle,
    "ssl_text": _read_ssl_text,
}
