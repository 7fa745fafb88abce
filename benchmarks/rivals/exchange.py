"""What goes to a method in another environment: a folder with rows and options, then its answer.

Both sides import this file, so it needs no more than NumPy and pandas.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np
import pandas as pd

ROWS = ("X", "X_unlabeled")


def write_task(folder: Path, rows: dict[str, Any], **options: Any) -> None:
    """Write rows, arrays or frames, and options, which are arrays, numbers or strings."""
    arrays = {name: X for name, X in rows.items() if not isinstance(X, pd.DataFrame)}
    np.savez(folder / "task.npz", **arrays, **options)
    for name in rows.keys() - arrays.keys():
        rows[name].to_parquet(folder / f"{name}.parquet")


def read_task(folder: Path) -> dict[str, Any]:
    """Return rows and options; options that are no arrays are numbers or strings."""
    with np.load(folder / "task.npz", allow_pickle=False) as file:
        task = {name: file[name] if file[name].ndim else file[name].item() for name in file.files}
    frames = {name: folder / f"{name}.parquet" for name in ROWS if name not in task}
    return task | {name: pd.read_parquet(path) for name, path in frames.items()}


def write_answer(folder: Path, probabilities: np.ndarray, seconds: float, *names: str) -> None:
    """Write the probability of each class, the time, and versions of these packages."""
    found = [f"python {python_version()}", *(f"{name} {version(name)}" for name in names)]
    answer = {"probabilities": probabilities, "seconds": seconds, "versions": "; ".join(found)}
    np.savez(folder / "answer.npz", **answer)


def read_answer(folder: Path) -> tuple[np.ndarray, float, str]:
    """Return probabilities of shape (n_scored, n_classes), seconds, and versions."""
    with np.load(folder / "answer.npz", allow_pickle=False) as file:
        return file["probabilities"], float(file["seconds"]), str(file["versions"])
