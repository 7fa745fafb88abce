"""Real data as arrays: the paper's sets by name, and other archives of the data folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchmarks.data.readers import Contents, read_archive, read_files
from benchmarks.data.sources import DATASETS, Dataset, data_folder, locate


def fetch(name: str) -> Contents:
    """Return a data set of the paper by its name, or an archive of the data folder by its own.

    Raises OSError, with what is missing and where it goes, if it cannot be had.
    """
    if name in DATASETS:
        return load(DATASETS[name])
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError("No data folder: set HEDGECLIPPER_DATA to where the archives are.")
    return read_archive(folder / f"{name}.npz")


def fetch_all(names: Iterable[str]) -> None:
    """Raise, with what is missing and where it goes, unless all of these data sets can be had."""
    problems = []
    for name in sorted(names):
        try:
            fetch(name)
        except OSError as error:
            problems.append(f"{name}: {error}")
    if problems:
        raise SystemExit("Some data sets cannot be had.\n" + "\n".join(problems))


def load(dataset: Dataset) -> Contents:
    """Return the data set of a record: found, read, and its shape checked."""
    paths = locate(dataset)
    contents = read_files(dataset, paths)
    _check_shape(dataset, contents, paths)
    return contents


def _check_shape(dataset: Dataset, contents: Contents, paths: tuple[Path, ...]) -> None:
    """Raise unless the numbers of rows and columns are those of the paper."""
    n_rows, n_columns = dataset.shape
    extra = contents.data_unlabeled
    n_extra, n_extra_columns = (0, n_columns) if extra is None else extra.shape
    for what, expected, got in (
        ("labeled rows", n_rows, contents.data.shape[0]),
        ("labels", n_rows, contents.target.size),
        ("columns", n_columns, contents.data.shape[1]),
        ("training rows", n_rows - dataset.n_test, contents.n_train),
        ("unlabeled rows", dataset.n_unlabeled, n_extra),
        ("columns of the unlabeled rows", n_columns, n_extra_columns),
    ):
        if expected != got:
            raise ValueError(
                f"{dataset.name} should have {expected:,} {what}, but {got:,} were read from "
                f"{', '.join(map(str, paths))}. A file is cut short or another one; put the right "
                "one in its place, or delete it to have it downloaded again."
            )
