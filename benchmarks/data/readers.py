"""The files of a data set as arrays: NumPy archives, LibSVM text, CSV and MATLAB files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.io import loadmat
from sklearn.datasets import load_svmlight_files
from sklearn.preprocessing import OneHotEncoder

LODGEPOLE_PINE = 2
N_SYMBOLS_SECSTR = 21
UNNAMED = "Unnamed: 0"  # row numbers, by the name that pandas gives them


@dataclass(frozen=True)
class Contents:
    """What the files of a data set hold."""

    data: Any  # float32 array or csr_array of shape (n_rows, n_columns)
    target: np.ndarray  # int64 of shape (n_rows,), 0 or 1
    n_train: int  # how many of the leading rows are training rows
    data_unlabeled: Any = None  # like data, rows without a label


def read_archive(path: Path, unlabeled_path: Path | None = None) -> Contents:
    """Return the labeled rows of one archive, and unlabeled ones of the same or another."""
    unlabeled, n_test = None, 0
    # np.load would leave a damaged file open if it had to open it itself
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        if "y_train" in archive:
            data = _stacked([_matrix(archive, "X_train"), _matrix(archive, "X_test")])
            target = _as_classes(np.concatenate([archive["y_train"], archive["y_test"]]))
            n_test = archive["y_test"].size
        elif "T" in archive:
            data, target = _one_hot(archive["T"]), _as_classes(archive["y"])
            unlabeled = _one_hot(archive["T_extra"])
        else:
            data, target = _matrix(archive, "X"), _as_classes(archive["y"])
    if unlabeled_path is not None:
        with np.load(unlabeled_path, allow_pickle=False) as archive:
            unlabeled = _matrix(archive, "X")
    return Contents(data, target, target.size - n_test, unlabeled)


def _as_classes(labels: Any) -> np.ndarray:
    """Return 1 for each positive label and 0 for each other, as int64 of shape (n_rows,)."""
    return (np.asarray(labels).ravel() > 0).astype(np.int64)


def _as_csr(matrix: Any) -> sparse.csr_array:
    """Return a csr_array of float32 with 32-bit indices, which scikit-learn's trees need."""
    matrix = sparse.csr_array(matrix, dtype=np.float32)
    matrix.sort_indices()
    matrix.indices = matrix.indices.astype(np.int32, copy=False)
    matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
    return matrix


def _stacked(parts: list[Any]) -> Any:
    return _as_csr(sparse.vstack(parts)) if sparse.issparse(parts[0]) else np.concatenate(parts)


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


def _read_libsvm(*paths: Path, n_columns: int) -> Contents:
    """Return the rows of LibSVM text, the training file first."""
    files = [str(path) for path in paths]
    found = load_svmlight_files(files, n_features=n_columns, dtype=np.float32, zero_based=False)
    data, target = _stacked(list(found[::2])), _as_classes(np.concatenate(found[1::2]))
    return Contents(data, target, found[1].size)


def _read_covtype(path: Path) -> Contents:
    """Return the rows of CSV text without a heading; the last column has the class."""
    rows = pd.read_csv(path, header=None, dtype=np.float32).to_numpy()
    target = (rows[:, -1] == LODGEPOLE_PINE).astype(np.int64)
    return Contents(rows[:, :-1], target, target.size)


def _read_kaggle(train: Path, test: Path, label: str) -> Contents:
    """Return the labeled rows of the first CSV file and the unlabeled ones of the second."""
    frame = pd.read_csv(train, dtype={label: np.int64})
    data = frame.drop(columns=[label, UNNAMED], errors="ignore")
    target, unlabeled = _as_classes(frame[label]), pd.read_csv(test)[data.columns]
    return Contents(data.to_numpy(np.float32), target, target.size, unlabeled.to_numpy(np.float32))


def _read_ssl_text(path: Path) -> Contents:
    """Return the rows of a MATLAB file."""
    variables = loadmat(path, variable_names=["X", "y"])
    target = _as_classes(variables["y"])
    return Contents(_as_csr(variables["X"]), target, target.size)


READERS: dict[str, Callable[..., Contents]] = {
    "w1a": partial(_read_libsvm, n_columns=300),
    "covtype": _read_covtype,
    "kagg-cred": lambda *paths: _read_kaggle(*paths, label="SeriousDlqin2yrs"),
    "kagg-prot": lambda *paths: _read_kaggle(*paths, label="Activity"),
    "ssl-text": _read_ssl_text,
}
