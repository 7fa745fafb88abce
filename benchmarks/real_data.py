"""Real data sets from a folder of NumPy archives, named by HEDGECLIPPER_DATA or lying beside."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy import sparse

BESIDE = Path(__file__).parents[2] / "shared" / "data"


def data_folder() -> Path | None:
    """Return the folder of the archives, or None where there is none."""
    folder = Path(os.environ.get("HEDGECLIPPER_DATA", BESIDE))
    return folder if folder.is_dir() else None


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return dense rows (float32, NaN where missing) and labels 0 or 1."""
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError("No data folder: set HEDGECLIPPER_DATA to where the archives are.")
    with np.load(folder / f"{name}.npz", allow_pickle=False) as archive:
        if "T" in archive:
            return _one_hot(archive["T"].astype(int)), archive["y"].astype(int)
        if "X" in archive:
            return archive["X"].astype(np.float32), archive["y"].astype(int)
        parts = [prefix for prefix in ("_train", "_test") if f"y{prefix}" in archive] or [""]
        X = np.vstack([_rows(archive, f"X{part}") for part in parts])
        return X, np.concatenate([archive[f"y{part}"] for part in parts]).astype(int)


def _rows(archive, name: str) -> np.ndarray:
    if name in archive:
        return archive[name].astype(np.float32)
    csr = tuple(archive[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return sparse.csr_array(csr, shape=archive[f"{name}_shape"]).astype(np.float32).toarray()


def _one_hot(symbols: np.ndarray, n_symbols: int = 21) -> np.ndarray:
    n_rows, n_places = symbols.shape
    X = np.zeros((n_rows, n_places * n_symbols), np.float32)
    X[np.arange(n_rows)[:, None], np.arange(n_places) * n_symbols + symbols] = 1.0
    return X
