"""What is known about each data set of the paper, and where its files are.

Records are read from ``data/datasets.toml``. Files are in the package, the user's folder, the
cache, or on the web.

A file in the cache must have its published SHA-256 or, where none has been published, the one noted
beside it (``<file>.sha256``) when it was first read and had the right shape. A download of the
latter kind is not verified, which a warning says. Files in the user's folder are the user's: they
are neither checked nor written to.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from hedgeclipper.io.extras import import_extra
from hedgeclipper.io.progress import RowReporter, warn_user

PACKAGE_DATA = Path(__file__).parents[1] / "data"
N_SYMBOLS_SECSTR = 21
_VARIABLE = "HEDGECLIPPER_DATA"
_COMPRESSIONS = (".bz2", ".xz", ".gz")
# "identity": else a server may compress a file on its way, and something else would be stored.
_HTTP = {"chunk_size": 1 << 20, "timeout": 60, "headers": {"Accept-Encoding": "identity"}}


@dataclass(frozen=True)
class Dataset:
    """A data set of the paper, and where its files are published."""

    name: str  # the paper's
    title: str  # what is predicted, in one sentence
    shape: Sequence[int]  # rows with a label, columns
    archives: Sequence[str]  # NumPy: the labeled rows, then the unlabeled ones if they are apart
    origin: str  # where the data come from
    license: str = "none stated"
    layout: str = ""  # of the published files, a key of file_formats.LAYOUTS
    # Published files, as paths below the data folder, with their SHA-256 ("" if it is not known).
    files: dict[str, str] = field(default_factory=dict)
    # Where to download them, as in pooch: base_url/file, or its entry in urls; empty if by hand.
    base_url: str = ""
    urls: dict[str, str] = field(default_factory=dict)
    n_test: int = 0  # how many of the last rows are test rows
    n_unlabeled: int = 0  # further rows, without a label
    is_sparse: bool = False  # whether rows are given as a csr_array
    is_bundled: bool = False  # whether the archives come with the package
    column_names: str | Sequence[str] = "column_{number}"  # one for each column, or a pattern
    target_name: str = "target"  # of the label in a frame

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns."""
        if not isinstance(self.column_names, str):
            return list(self.column_names)
        places = (divmod(column, N_SYMBOLS_SECSTR) for column in range(self.shape[1]))
        return [
            self.column_names.format(number=number, place=place + 1, symbol=symbol)
            for number, (place, symbol) in enumerate(places, start=1)
        ]

    @property
    def is_downloadable(self) -> bool:
        """Whether the published files can be downloaded without an account."""
        return bool(self.base_url or self.urls)

    @property
    def size(self) -> str:
        """How many rows and columns there are, as a sentence."""
        n_rows, n_columns = self.shape
        text = f"{n_rows:,} rows x {n_columns:,} columns"
        if self.n_test:
            text += f", the first {n_rows - self.n_test:,} rows for training"
        if self.n_unlabeled:
            text += f"; {self.n_unlabeled:,} more without labels"
        return text + "."


with (PACKAGE_DATA / "datasets.toml").open("rb") as _file:
    DATASETS = [Dataset(name=name, **record) for name, record in tomllib.load(_file).items()]


def dataset_names() -> list[str]:
    """Return the paper's names of its data sets, in the order of its table.

    Examples
    --------
    >>> from hedgeclipper.datasets import dataset_names
    >>> dataset_names()[:4]
    ['kagg-prot', 'ssl-text', 'kagg-cred', 'a1a']
    """
    return [dataset.name for dataset in DATASETS]


def find_dataset(name: str) -> Dataset:
    """Return the record of a data set; case does not matter, and ``_`` stands for ``-``."""
    for dataset in DATASETS:
        if dataset.name.lower() == str(name).lower().replace("_", "-"):
            return dataset
    raise ValueError(f"There is no data set {name!r}. Choose one of {', '.join(dataset_names())}.")


class UnverifiedDownloadWarning(UserWarning):
    """A file is downloaded of which no hash is known, so that it may be any file."""


@contextmanager
def located(
    dataset: Dataset, data_home: str | os.PathLike[str] | None, download_if_missing: bool
) -> Iterator[tuple[Path, ...]]:
    """Give the paths of a data set's files for as long as they are read and checked.

    Missing files are downloaded if they may be. When all goes well, the hashes of cached files are
    noted; after an error, new files without a published hash are deleted again.
    """
    if dataset.is_bundled:
        yield tuple(PACKAGE_DATA / name for name in dataset.archives)
    elif paths := _in_named_folder(dataset):
        yield paths
    else:
        cache = Path("~/hedgeclipper_data" if data_home is None else data_home).expanduser()
        is_allowed = dataset.is_downloadable and download_if_missing
        unproven = _download_missing(dataset, cache) if is_allowed else []
        paths = _published_in(dataset, cache)
        if not paths:
            by_hand = "it has to be downloaded by hand"
            reason = "download_if_missing is False" if dataset.is_downloadable else by_hand
            raise FileNotFoundError(
                f"{dataset.name} was found neither in the folder named by {_VARIABLE} "
                f"({os.environ.get(_VARIABLE) or 'not set'}) "
                f"nor in {cache}, and {reason}. {_where_to_put(dataset, cache)}"
            )
        without_hash = _check_hashes(dataset, paths)
        try:
            yield paths
        except (OSError, ValueError) as error:
            for path in unproven:
                path.unlink(missing_ok=True)
                error.add_note(f"{path} had just been downloaded and has been deleted again.")
            if dataset.is_downloadable and not unproven:
                error.add_note("Delete the file to have it downloaded again.")
            raise
        for path in without_hash:
            with suppress(OSError):  # a cache that cannot be written to can still be read
                _note_beside(path).write_text(f"{_hash_of(path)}\n", encoding="ascii")


def _in_named_folder(dataset: Dataset) -> tuple[Path, ...]:
    """Return the archives or the published files in the folder of the environment variable."""
    named = os.environ.get(_VARIABLE)
    if not named:
        return ()
    folder = Path(named).expanduser()
    if not folder.is_dir():
        # Going on would hide a typing error behind a download of gigabytes.
        raise NotADirectoryError(
            f"{_VARIABLE} is {named!r}, which is no folder. "
            "Set it to the folder that holds the data, or unset it."
        )
    archives = tuple(folder / name for name in dataset.archives)
    return archives if all(map(Path.is_file, archives)) else _published_in(dataset, folder)


def _published_in(dataset: Dataset, folder: Path) -> tuple[Path, ...]:
    """Return the paths of all published files, or nothing if one is missing."""
    paths = tuple(path for name in dataset.files if (path := _existing_form(folder / name)))
    return paths if len(paths) == len(dataset.files) else ()


def _existing_form(path: Path) -> Path | None:
    """Return the file as published, unpacked, or packed in another way, whichever is there."""
    unpacked = path.with_suffix("") if path.suffix in _COMPRESSIONS else path
    names = [unpacked.name + suffix for suffix in ("", *_COMPRESSIONS)]
    forms = [path, *map(unpacked.with_name, names)]
    return next((form for form in forms if form.is_file()), None)


def _where_to_put(dataset: Dataset, cache: Path) -> str:
    """Return which files to put where, as a message."""
    places = f"{' and '.join(dataset.archives)} (NumPy) into the folder named by {_VARIABLE}"
    if dataset.files:
        places = f"{' and '.join(dataset.files)} into {cache}, or the same or {places}"
    return f"Put {places}. Source: {dataset.origin}"


class _Progress(RowReporter):
    """Our reporter with what pooch expects of a progress bar: total, update, reset and close."""

    total = n_bytes = 0

    def update(self, n_bytes: int) -> None:
        self.n_bytes, self.n_all = self.n_bytes + n_bytes, self.total or None
        if n_bytes:
            self(self.n_bytes)

    def reset(self) -> None:
        self.n_bytes = 0

    def close(self) -> None:
        pass  # the end of the with block does


def _download_missing(dataset: Dataset, cache: Path) -> list[Path]:
    """Download the files that the cache lacks; return those without a published hash."""
    missing = [name for name in dataset.files if not _existing_form(cache / name)]
    if not missing:
        return []
    pooch = import_extra("pooch", "datasets", f"Downloading {dataset.name}")
    hashes = {name: sha256 or None for name, sha256 in dataset.files.items()}
    pup = pooch.create(cache, dataset.base_url, registry=hashes, urls=dataset.urls)
    for name in missing:
        if hashes[name] is None:
            warn_user(
                f"{pup.get_url(name)} cannot be verified: no SHA-256 of it has been published. Its "
                "shape is checked, and the hash of what arrives is kept for the next time.",
                UnverifiedDownloadWarning,
            )
        try:
            with _Progress(f"downloading {name}", None, "bytes") as progress:
                pup.fetch(name, downloader=pooch.HTTPDownloader(progress, **_HTTP))
        except (OSError, ValueError) as error:
            raise OSError(
                f"{dataset.name}: {pup.get_url(name)} could not be downloaded ({error}). "
                f"Try again, or get it by hand. {_where_to_put(dataset, cache)}"
            ) from error
        (cache / name).chmod(0o644)  # others may share the cache; pooch lets only its owner read
    return [cache / name for name in missing if not hashes[name]]


def _check_hashes(dataset: Dataset, paths: tuple[Path, ...]) -> list[Path]:
    """Raise unless files have their published or noted SHA-256; return those with neither."""
    without_hash = []
    for (name, published), path in zip(dataset.files.items(), paths, strict=True):
        note = _note_beside(path)
        noted = note.read_text(encoding="ascii").strip() if note.is_file() else ""
        expected = published if published and path.name == Path(name).name else noted
        if not expected:
            without_hash.append(path)
        elif (got := _hash_of(path)) != expected:
            raise OSError(
                f"{path} is not what it should be: its SHA-256 should be {expected} but is {got}. "
                f"Delete it, and {note.name} if there is one, and fetch it again."
            )
    return without_hash


def _note_beside(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
