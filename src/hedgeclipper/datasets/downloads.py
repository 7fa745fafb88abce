"""Where the files of a data set are: bundled, in the user's folder, in the cache, or downloaded.

A file in the cache is trusted by its SHA-256: the published one or, where none has been published,
the one noted beside it (``<file>.sha256``) when it was first read and had the right shape. Files in
the user's folder are the user's: they are neither checked nor written to.
"""

from __future__ import annotations

import hashlib
import os
import urllib.request
import uuid
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import BinaryIO

from hedgeclipper.datasets.registry import Dataset, OriginalFile

ENVIRONMENT_VARIABLE = "HEDGECLIPPER_DATA"
_COMPRESSIONS = (".bz2", ".xz", ".gz")
_BLOCK_BYTES = 1 << 20
_TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Location:
    """Where a data set is.

    Attributes
    ----------
    kind : str
        "bundled", "archives" or "originals".
    paths : tuple of Path
        Its files, in the order of the record.
    in_cache : bool
        Whether they are in the cache.
    unproven : tuple of Path
        Those just downloaded of which no hash has been published.
    """

    kind: str
    paths: tuple[Path, ...] = ()
    in_cache: bool = False
    unproven: tuple[Path, ...] = ()

    def __str__(self) -> str:
        return ", ".join(map(str, self.paths)) or "the copy bundled with the package"


def locate(
    dataset: Dataset,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
) -> Location:
    """Return where the data set is, downloaded if it is nowhere yet and may be.

    Parameters
    ----------
    dataset : Dataset
        What is looked for.
    data_home : path or None
        The cache; ``~/hedgeclipper_data`` if None.
    download_if_missing : bool
        Whether files found nowhere are downloaded into the cache.
    """
    if dataset.is_bundled:
        return Location("bundled")
    cache = _cache_folder(data_home)
    if found := _in_named_folder(dataset):
        return found
    unproven: tuple[Path, ...] = ()
    if download_if_missing and _can_be_downloaded(dataset):
        unproven = _download_missing(dataset, cache)
    paths = _originals_in(dataset, cache)
    if not paths:
        raise FileNotFoundError(_not_found(dataset, cache, download_if_missing))
    check_hashes(dataset, paths)
    return Location("originals", paths, in_cache=True, unproven=unproven)


def _cache_folder(data_home: str | os.PathLike[str] | None) -> Path:
    return Path("~/hedgeclipper_data" if data_home is None else data_home).expanduser()


def _in_named_folder(dataset: Dataset) -> Location | None:
    """Return the archives or the originals in the folder of the environment variable."""
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        # Going on would hide a typing error behind a download of gigabytes.
        raise NotADirectoryError(
            f"{ENVIRONMENT_VARIABLE} is {named!r}, which is no folder. "
            "Set it to the folder that holds the data, or unset it."
        )
    archives = tuple(folder / name for name in dataset.archives)
    if all(path.is_file() for path in archives):
        return Location("archives", archives)
    originals = _originals_in(dataset, folder)
    return Location("originals", originals) if originals else None


def _originals_in(dataset: Dataset, folder: Path) -> tuple[Path, ...]:
    """Return the paths of all original files, or nothing if one is missing."""
    forms = [_existing_form(folder / file.name) for file in dataset.originals]
    return tuple(path for path in forms if path) if all(forms) else ()


def _existing_form(path: Path) -> Path | None:
    """Return the file as published, unpacked, or packed in another way, whichever is there."""
    plain = path.with_suffix("") if path.suffix in _COMPRESSIONS else path
    forms = [path, plain, *(plain.with_name(plain.name + suffix) for suffix in _COMPRESSIONS)]
    return next((form for form in forms if form.is_file()), None)


def _can_be_downloaded(dataset: Dataset) -> bool:
    return bool(dataset.originals) and all(file.url for file in dataset.originals)


def _not_found(dataset: Dataset, cache: Path, download_if_missing: bool) -> str:
    named = os.environ.get(ENVIRONMENT_VARIABLE) or "not set"
    reason = "it has to be fetched by hand"
    if _can_be_downloaded(dataset) and not download_if_missing:
        reason = "download_if_missing is False"
    return (
        f"{dataset.name} was found neither in the folder named by {ENVIRONMENT_VARIABLE} ({named}) "
        f"nor in {cache}, and {reason}. {_where_to_put(dataset, cache)}"
    )


def _where_to_put(dataset: Dataset, cache: Path) -> str:
    """Return which files to put where, as a message."""
    archives = " and ".join(dataset.archives)
    originals = " and ".join(file.name for file in dataset.originals)
    folder = f"the folder named by {ENVIRONMENT_VARIABLE}"
    if originals:
        advice = f"Put {originals} into {cache}, or the same or {archives} (NumPy) into {folder}."
    else:
        advice = f"Put {archives} (NumPy) into {folder}."
    return f"{advice} Source: {dataset.origin}"


def _download_missing(dataset: Dataset, cache: Path) -> tuple[Path, ...]:
    """Download the files the cache lacks; return those of which no hash has been published."""
    unproven = []
    for file in dataset.originals:
        path = cache / file.name
        if file.url is None or _existing_form(path):
            continue
        try:
            download(file.url, path, file.sha256, file.size)
        except (OSError, HTTPException) as error:
            raise OSError(
                f"{dataset.name}: {file.url} could not be downloaded ({error}). "
                f"Try again, or get it by hand. {_where_to_put(dataset, cache)}"
            ) from error
        if file.sha256 is None:
            unproven.append(path)
    return tuple(unproven)


def download(url: str, path: Path, sha256: str | None = None, size: int | None = None) -> None:
    """Download a file to a path: all of it, with the right size and hash, or nothing."""
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as response:
            path.parent.mkdir(parents=True, exist_ok=True)
            with partial.open("xb") as out:
                got_size, got_sha256 = _copy(response, out)
            announced = response.headers.get("Content-Length")
        for expected in (announced, size):
            if expected is not None and got_size != int(expected):
                raise OSError(f"{got_size:,} bytes came of {int(expected):,}")
        if sha256 is not None and got_sha256 != sha256:
            raise OSError(f"its SHA-256 should be {sha256} but is {got_sha256}; it was thrown away")
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _copy(source: BinaryIO, out: BinaryIO) -> tuple[int, str]:
    """Copy block by block; return the number of bytes and their SHA-256."""
    size, digest = 0, hashlib.sha256()
    while block := source.read(_BLOCK_BYTES):
        out.write(block)
        digest.update(block)
        size += len(block)
    return size, digest.hexdigest()


def check_hashes(dataset: Dataset, paths: tuple[Path, ...]) -> None:
    """Raise unless each file of the cache has its published or its noted SHA-256."""
    for file, path in zip(dataset.originals, paths, strict=True):
        expected = _expected_hash(file, path)
        if expected is None:
            continue
        got = _hash_of(path)
        if got != expected:
            raise OSError(
                f"{path} is not what it should be: its SHA-256 should be {expected} but is {got}. "
                f"Delete it, and {_note_beside(path).name} if there is one, and fetch it anew."
            )


def note_hashes(dataset: Dataset, paths: tuple[Path, ...]) -> None:
    """Note the SHA-256 of each file that has neither a published nor a noted one."""
    for file, path in zip(dataset.originals, paths, strict=True):
        if _expected_hash(file, path) is None:
            # A cache that cannot be written to can still be read.
            with suppress(OSError):
                _note_beside(path).write_text(_hash_of(path) + "\n", encoding="ascii")


def _expected_hash(file: OriginalFile, path: Path) -> str | None:
    if file.sha256 is not None and path.name == Path(file.name).name:
        return file.sha256
    note = _note_beside(path)
    return note.read_text(encoding="ascii").strip() if note.is_file() else None


def _note_beside(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
