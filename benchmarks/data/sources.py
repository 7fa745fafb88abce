"""The paper's data sets: what is known about each, and where its files are found.

Records are in ``datasets.toml``. Files come with the package (a1a), lie in the data folder or in
the cache, or are downloaded into the cache. Pooch verifies the SHA-256 of files in the cache where
one has been published.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pooch

from hedgeclipper import datasets

VARIABLE = "HEDGECLIPPER_DATA"
BESIDE = Path(__file__).parents[3] / "shared" / "data"
COMPRESSIONS = (".bz2", ".xz", ".gz")
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
    layout: str = ""  # of the published files, a key of readers.LAYOUTS
    # Published files, as paths below the data folder, with their SHA-256 ("" if it is not known).
    files: dict[str, str] = field(default_factory=dict)
    # Where to download them, as in pooch: base_url/file, or its entry in urls; empty if by hand.
    base_url: str = ""
    urls: dict[str, str] = field(default_factory=dict)
    n_test: int = 0  # how many of the last rows are test rows
    n_unlabeled: int = 0  # further rows, without a label
    is_sparse: bool = False  # whether rows are read as a csr_array
    label: str = ""  # the column of the label in CSV files with a heading


with (Path(__file__).parent / "datasets.toml").open("rb") as _file:
    DATASETS = {name: Dataset(name, **record) for name, record in tomllib.load(_file).items()}


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


def cache_folder() -> Path:
    """Return where downloaded files are kept."""
    return Path("~/hedgeclipper_data").expanduser()


def locate(dataset: Dataset) -> tuple[Path, ...]:
    """Return the paths of a data set's archives or published files, downloaded if they may be."""
    for folder in (datasets.DATA, data_folder()):
        if folder is not None and (paths := _files_in(dataset, folder)):
            return paths
    cache = cache_folder()
    if dataset.base_url or dataset.urls:
        return _download(dataset, cache)
    if paths := _files_in(dataset, cache):
        return paths
    raise FileNotFoundError(
        f"{dataset.name} has to be downloaded by hand, and was found neither in the folder named "
        f"by {VARIABLE} ({os.environ.get(VARIABLE) or 'not set'}) nor in {cache}. "
        f"{_where_to_put(dataset, cache)}"
    )


def _files_in(dataset: Dataset, folder: Path) -> tuple[Path, ...]:
    """Return the archives or else the published files in a folder; nothing if one is missing."""
    archives = tuple(folder / name for name in dataset.archives)
    if all(path.is_file() for path in archives):
        return archives
    paths = tuple(path for name in dataset.files if (path := _existing_form(folder / name)))
    return paths if len(paths) == len(dataset.files) else ()


def _existing_form(path: Path) -> Path | None:
    """Return the file as published, unpacked, or packed in another way, whichever is there."""
    unpacked = path.with_suffix("") if path.suffix in COMPRESSIONS else path
    names = [unpacked.name + suffix for suffix in ("", *COMPRESSIONS)]
    forms = [path, *map(unpacked.with_name, names)]
    return next((form for form in forms if form.is_file()), None)


def _where_to_put(dataset: Dataset, cache: Path) -> str:
    """Return which files to put where, as a message."""
    places = f"{' and '.join(dataset.archives)} (NumPy) into the folder named by {VARIABLE}"
    if dataset.files:
        places = f"{' and '.join(dataset.files)} into {cache}, or the same or {places}"
    return f"Put {places}. Source: {dataset.origin}. License: {dataset.license}."


def _download(dataset: Dataset, cache: Path) -> tuple[Path, ...]:
    """Return the published files in the cache: verified, and downloaded where they are missing."""
    hashes = {name: sha256 or None for name, sha256 in dataset.files.items()}
    pup = pooch.create(cache, dataset.base_url, registry=hashes, urls=dataset.urls)
    for name in dataset.files:
        try:
            pup.fetch(name, downloader=pooch.HTTPDownloader(**HTTP))
        except (OSError, ValueError) as error:
            raise OSError(
                f"{dataset.name}: {pup.get_url(name)} could not be downloaded ({error}). "
                f"Try again, or get it by hand. {_where_to_put(dataset, cache)}"
            ) from error
    return tuple(cache / name for name in dataset.files)
