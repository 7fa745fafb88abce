"""Real data: the paper's sets by name, and other archives of the same folder."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from hedgeclipper.datasets import fetch

BESIDE = Path(__file__).parents[2] / "shared" / "data"


def data_folder() -> Path | None:
    """Return the folder of the archives, or None where there is none."""
    folder = Path(os.environ.get("HEDGECLIPPER_DATA", BESIDE))
    return folder if folder.is_dir() else None


def fetch_real(name: str) -> Bunch:
    """Return a data set of the paper, from the archives where they are."""
    folder = data_folder()
    if folder is not None:
        os.environ["HEDGECLIPPER_DATA"] = str(folder)
    return fetch(name)


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return dense rows (float32, NaN where missing) and labels 0 or 1 of another archive."""
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError("No data folder: set HEDGECLIPPER_DATA to where the archives are.")
    with np.load(folder / f"{name}.npz", allow_pickle=False) as archive:
        return archive["X"].astype(np.float32), archive["y"].astype(int)
