"""NumPy archives to arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.datasets.contents import Contents, as_classes, as_csr, damage_named
from hedgeclipper.datasets.registry import N_SYMBOLS_SECSTR, Dataset

_PADDING = 255
_SPLIT = "idxlab"


def read_bundled(dataset: Dataset) -> Contents:
    """Return what the package brings: for each row the columns that are 1."""
    resource = files("hedgeclipper") / "data" / dataset.archives[0]
    with resource.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        columns, target = archive["columns"], as_classes(archive["labels"])
        n_train = int(archive["n_train"])
    return Contents(_indicators(columns, dataset.n_columns), target, n_train)


def _indicators(columns: np.ndarray, n_columns: int) -> sparse.csr_array:
    """Return ones at the listed columns of each row, padding left out."""
    present = columns != _PADDING
    starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int32)
    indices = columns[present].astype(np.int32)
    values = np.ones(indices.size, dtype=np.float32)
    return sparse.csr_array((values, indices, starts), shape=(columns.shape[0], n_columns))


def read_archives(dataset: Dataset, paths: tuple[Path, ...]) -> Contents:
    """Return the labeled rows of the first archive and the unlabeled ones of the second."""
    with _opened(paths[0]) as archive:
        contents = _labeled_rows(dataset, archive)
    if len(paths) == 1:
        return contents
    with _opened(paths[1]) as archive:
        unlabeled = _matrix(archive, "X")
    return Contents(contents.data, contents.target, contents.n_train, unlabeled)


@contextmanager
def _opened(path: Path) -> Iterator[Mapping[str, np.ndarray]]:
    # np.load would leave a damaged file open if it had to open it itself.
    with damage_named(path), path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        yield archive


def _labeled_rows(dataset: Dataset, archive: Mapping[str, np.ndarray]) -> Contents:
    if "y_train" in archive:
        return _two_parts(archive)
    data, unlabeled = _symbols(archive) if "T" in archive else (_matrix(archive, "X"), None)
    splits = {
        int(name.removeprefix(_SPLIT)): archive[name].astype(np.int64)
        for name in archive
        if name.startswith(_SPLIT)
    }
    return Contents(data, as_classes(archive["y"]), dataset.n_train, unlabeled, splits)


def _two_parts(archive: Mapping[str, np.ndarray]) -> Contents:
    """Return the training rows with the test rows below them."""
    parts = [_matrix(archive, "X_train"), _matrix(archive, "X_test")]
    is_sparse = sparse.issparse(parts[0])
    data = as_csr(sparse.vstack(parts, format="csr")) if is_sparse else np.concatenate(parts)
    target = as_classes(np.concatenate([archive["y_train"], archive["y_test"]]))
    return Contents(data, target, archive["y_train"].size)


def _matrix(archive: Mapping[str, np.ndarray], name: str) -> Any:
    """Return the matrix of this name, a csr_array where the archive has the parts of one."""
    if name in archive:
        return archive[name].astype(np.float32, copy=False)
    values, indices, starts = (archive[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    shape = tuple(int(length) for length in archive[f"{name}_shape"])
    return as_csr(sparse.csr_array((values, indices, starts), shape=shape))


def _symbols(archive: Mapping[str, np.ndarray]) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the labeled and the unlabeled rows of symbols, one-hot."""
    return tuple(one_hot(archive[name], N_SYMBOLS_SECSTR) for name in ("T", "T_extra"))


def one_hot(symbols: np.ndarray, n_symbols: int) -> sparse.csr_array:
    """Return ``n_symbols`` columns for each place, with a single 1 among them.

    Parameters
    ----------
    symbols : integer array of shape (n_rows, n_places)
        Symbols from 0 to ``n_symbols - 1``.
    n_symbols : int
        How many symbols there are.

    Returns
    -------
    csr_array of float32, shape (n_rows, n_places * n_symbols)
        Column ``place * n_symbols + symbol`` is 1.
    """
    if symbols.size and not 0 <= symbols.min() <= symbols.max() < n_symbols:
        raise ValueError(
            f"symbols go from {symbols.min()} to {symbols.max()}, not from 0 to {n_symbols - 1}"
        )
    n_rows, n_places = symbols.shape
    indices = symbols.astype(np.int32) + n_symbols * np.arange(n_places, dtype=np.int32)
    starts = np.arange(0, symbols.size + 1, n_places, dtype=np.int32)
    values = np.ones(symbols.size, dtype=np.float32)
    return sparse.csr_array((values, indices.ravel(), starts), shape=(n_rows, n_places * n_symbols))
