"""Which files to read: one, a folder, a pattern, or a list of these; text in blocks of lines."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from glob import glob, has_magic
from pathlib import Path
from typing import Any, BinaryIO

BLOCK_BYTES = 1 << 24
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_SUFFIXES = {
    "Parquet": (".parquet", ".pq"),
    "Arrow": (".arrow", ".feather", ".ipc"),
    "CSV": tuple(s + p for s in (".csv", ".tsv") for p in ("", ".gz", ".bz2", ".zst")),
    "LibSVM": tuple(s + p for s in (".svm", ".libsvm", ".svmlight") for p in ("", *_OPENERS)),
}


def names_files(data: Any) -> bool:
    """Return whether the data is a path, or a list of paths."""
    if isinstance(data, (list, tuple)):
        return bool(data) and all(isinstance(entry, (str, Path)) for entry in data)
    return isinstance(data, (str, Path))


def find_files(where: Any) -> tuple[str, list[Path]]:
    """Return the kind of the files and their paths: sorted, or as in a list that is passed.

    Parameters
    ----------
    where : str, Path, or list of these
        Files, folders (all data files in it, hidden ones and those with a leading ``_`` left out),
        or patterns like ``"rows/*.parquet"``.
    """
    entries = where if isinstance(where, (list, tuple)) else [where]
    paths = [path for entry in entries for path in _expanded(entry)]
    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise ValueError(f"{twice} is named twice. Name every file once.")
    kinds: dict[str, Path] = {}
    for path in paths:
        kinds.setdefault(_kind(path), path)
    if len(kinds) > 1:
        (kind, path), (other, other_path), *_ = kinds.items()
        raise ValueError(
            f"The files are of different kinds: {path} is {kind}, {other_path} is {other}. Pass "
            "files of one kind, for instance with a pattern like '*.parquet'."
        )
    return next(iter(kinds)), paths


def _expanded(entry: Any) -> list[Path]:
    if "://" in str(entry):
        raise ValueError(
            f"{entry} is an address. Only files of this machine are read by their path: pass "
            "pyarrow.dataset.dataset(address), or a collection of Dask."
        )
    path = Path(entry).expanduser()
    if path.is_dir():
        return _in_folder(path)
    if path.exists():
        return [path]
    if has_magic(str(path)):
        return _matching(str(path))
    raise FileNotFoundError(f"{path} does not exist. Pass the path of a file or a folder.")


def _in_folder(folder: Path) -> list[Path]:
    paths = sorted(path for path in _visible(folder.iterdir()) if _find_kind(path) is not None)
    if not paths:
        raise FileNotFoundError(
            f"{folder} has no data files in it. Files in folders below are not looked for; name "
            f"them with a pattern like '{folder}/**/*.parquet'. {_known()}"
        )
    return paths


def _matching(pattern: str) -> list[Path]:
    paths = sorted(_visible(map(Path, glob(pattern, recursive=True))))
    if not paths:
        raise FileNotFoundError(f"No file matches {pattern!r}. Check the folder and the pattern.")
    return paths


def _visible(paths: Any) -> Iterator[Path]:
    return (path for path in paths if path.is_file() and not path.name.startswith((".", "_")))


def _kind(path: Path) -> str:
    kind = _find_kind(path)
    if kind is None:
        raise ValueError(f"{path} has an unknown suffix. {_known()}")
    return kind


def _find_kind(path: Path) -> str | None:
    name = path.name.lower()
    return next((kind for kind, ends in _SUFFIXES.items() if name.endswith(ends)), None)


def _known() -> str:
    known = "; ".join(f"{kind} {', '.join(ends)}" for kind, ends in _SUFFIXES.items())
    return f"Files are told apart by their suffix: {known}."


def open_packed(path: Path) -> BinaryIO:
    """Return the file opened for reading, unpacked on the way."""
    return _OPENERS.get(path.suffix.lower(), open)(path, "rb")


def blocks_of_lines(path: Path) -> Iterator[bytes]:
    """Yield the file in blocks of whole lines."""
    with open_packed(path) as file:
        while block := file.read(BLOCK_BYTES):
            yield block + file.readline()
