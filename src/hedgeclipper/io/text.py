"""Long text files, plain or packed, a block of whole lines at a time."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

BLOCK_BYTES = 1 << 24
_OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}


def open_packed(path: Path) -> BinaryIO:
    """Return the file opened for reading, unpacked on the way."""
    return _OPENERS.get(path.suffix.lower(), open)(path, "rb")


def blocks_of_lines(path: Path) -> Iterator[bytes]:
    """Yield the file in blocks of whole lines."""
    with open_packed(path) as file:
        while block := file.read(BLOCK_BYTES):
            yield block + file.readline()
