"""Real data: the paper's sets by name, and other archives of the same folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from sklearn.utils import Bunch

from hedgeclipper.datasets import dataset_names, fetch
from hedgeclipper.datasets.file_formats import read_files
from hedgeclipper.datasets.registry import find_dataset

BESIDE = Path(__file__).parents[2] / "shared" / "data"


def data_folder() -> Path | None:
    """Return the folder of the archives, or None where there is none."""
    folder = Path(os.environ.get("HEDGECLIPPER_DATA", BESIDE))
    return folder if folder.is_dir() else None


def fetch_all(names: Iterable[str]) -> None:
    """Raise, with what is missing and where it goes, unless all of these data sets can be had."""
    problems = []
    for name in sorted(names):
        try:
            fetch_real(name)
        except OSError as error:
            problems.append(f"{name}: {error}")
    if problems:
        raise SystemExit("Some data sets cannot be had.\n" + "\n".join(problems))


def fetch_real(name: str) -> Bunch:
    """Return a data set by name, from the archives where they are; others than the paper's too."""
    folder = data_folder()
    if folder is not None:
        os.environ["HEDGECLIPPER_DATA"] = str(folder)
    if name in dataset_names():
        return fetch(name)
    return _other_archive(name, folder)


def _other_archive(name: str, folder: Path | None) -> Bunch:
    if folder is None:
        raise FileNotFoundError("No data folder: set HEDGECLIPPER_DATA to where the archives are.")
    # A record without test rows, of whatever shape: archives are all read in the same way.
    contents = read_files(find_dataset("covtype"), (folder / f"{name}.npz",))
    return Bunch(**vars(contents))
