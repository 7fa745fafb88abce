"""Real data as arrays: the paper's sets by name, and other archives of the data folder.

Records of the paper's sets are in ``datasets.toml``. Their files come with the package (a1a), lie
in the data folder or in the cache, or are downloaded into the cache. Pooch verifies the SHA-256 of
files in the cache where one has been published.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pooch

from benchmarks.data.readers import READERS, Contents, read_archive
from hedgeclipper import datasets

VARIABLE = "HEDGECLIPPER_DATA"
BESIDE = Path(__file__).parents[3] / "shared" / "data"
# "identity": else a server may compress a file on its way, and something else would be stored.
HTTP = {"chunk_size": 1 << 20, "timeout": 60, "headers": {"Accept-Encoding": "identity"}}


@dataclass(frozen=True)
class Dataset:
    """A data set of the paper, and where its files are published."""

    name: str  # the paper's
    shape: Sequence[int]  # rows with a label, columns
    archives: Sequence[str]  # NumPy: the labeled rows, then the unlabeled ones if they are apart
    origin: str  # where the data come from
    license: str = "none stated"
    # Published files, as paths below the data folder, with their SHA-256 ("" if it is not known).
    files: dict[str, str] = field(default_factory=dict)
    # Where to download them, as in pooch: base_url/file, or its entry in urls; empty if by hand.
    base_url: str = ""
    urls: dict[str, str] = field(default_factory=dict)
    n_test: int = 0  # how many of the last rows are test rows
    n_unlabeled: int = 0  # further rows, without a label
    budgets: Sequence[int] = ()  # numbers of labels that are run
    # by number of labels: AUCs in the paper's table, in the order of PUBLISHED_COLUMNS
    published: dict[str, Sequence[float]] = field(default_factory=dict)


with (Path(__file__).parent / "datasets.toml").open("rb") as _file:
    DATASETS = {name: Dataset(name, **record) for name, record in tomllib.load(_file).items()}
BUNDLED = "a1a"  # comes with the package
PUBLISHED_COLUMNS = (
    "hedgeclipper-paper",
    "random-forest",
    "base-forest",
    "adaboost",
    "mart",
    "logistic-unscaled",
)


def fetch(name: str) -> Contents:
    """Return a data set of the paper by its name, or an archive of the data folder by its own.

    Raises OSError, with what is missing and where it goes, if it cannot be had.
    """
    if name == BUNDLED:
        adult = datasets.load_adult()
        return Contents(adult.data, adult.target, adult.n_train)
    if name in DATASETS:
        return load(DATASETS[name])
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError(f"No data folder: set {VARIABLE} to where the archives are.")
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
    read = read_archive if paths[0].suffix == ".npz" else READERS[dataset.name]
    try:
        contents = read(*paths)
    except Exception as error:  # readers of many libraries, each with errors of its own
        raise OSError(f"{', '.join(map(str, paths))} cannot be read: {error}") from error
    extra = contents.data_unlabeled
    found = {
        "labeled rows": (dataset.shape[0], contents.target.size),
        "columns": (dataset.shape[1], contents.data.shape[1]),
        "training rows": (dataset.shape[0] - dataset.n_test, contents.n_train),
        "unlabeled rows": (dataset.n_unlabeled, 0 if extra is None else extra.shape[0]),
    }
    for what, (expected, got) in found.items():
        if expected != got:
            raise ValueError(
                f"{dataset.name} should have {expected:,} {what}, but {got:,} were read from "
                f"{', '.join(map(str, paths))}. Put the right file in its place, or delete it to "
                "have it downloaded again."
            )
    return contents


def data_folder() -> Path | None:
    """Return the folder of the user's files, or None where there is none."""
    named = os.environ.get(VARIABLE)
    folder = Path(named).expanduser() if named else BESIDE
    if named and not folder.is_dir():
        # Going on would hide a typing error behind a download of gigabytes.
        raise NotADirectoryError(
            f"{VARIABLE} is {named!r}, which is no folder. "
            "Set it to the folder that holds the data, or unset it."
        )
    return folder if folder.is_dir() else None


def locate(dataset: Dataset) -> tuple[Path, ...]:
    """Return the paths of a data set's archives or published files, downloaded if they may be."""
    cache = Path("~/hedgeclipper_data").expanduser()
    for folder in filter(None, (data_folder(), cache)):
        for names in (dataset.archives, dataset.files):
            paths = tuple(folder / name for name in names)
            is_verified = folder != cache or not (dataset.base_url or dataset.urls)
            if paths and is_verified and all(path.is_file() for path in paths):
                return paths
    if dataset.base_url or dataset.urls:
        return _download(dataset, cache)
    published = f"{' and '.join(dataset.files)}, or " if dataset.files else ""
    raise FileNotFoundError(
        f"{dataset.name} has to be downloaded by hand. Put {published}"
        f"{' and '.join(dataset.archives)} (NumPy) into {cache} or the folder named by "
        f"{VARIABLE}. Source: {dataset.origin}. License: {dataset.license}."
    )


def _download(dataset: Dataset, cache: Path) -> tuple[Path, ...]:
    """Return the published files in the cache: verified, and downloaded where they are missing."""
    hashes = {name: sha256 or None for name, sha256 in dataset.files.items()}
    pup = pooch.create(cache, dataset.base_url, registry=hashes, urls=dataset.urls)
    for name in dataset.files:
        try:
            pup.fetch(name, downloader=pooch.HTTPDownloader(**HTTP))
        except (OSError, ValueError) as error:
            raise OSError(
                f"{dataset.name}: {pup.get_url(name)} could not be downloaded ({error}). Try "
                f"again, or put it into {cache} by hand. Source: {dataset.origin}."
            ) from error
    return tuple(cache / name for name in dataset.files)
