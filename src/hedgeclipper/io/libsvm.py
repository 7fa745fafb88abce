"""Rows of LibSVM text: a label, then ``index:value`` with indices that count from 1."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO
from zlib import error as ZlibError

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from hedgeclipper.io.source import Request, Source, check_count, naming_damaged_file

BLOCK_BYTES = 1 << 24
PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_MOST_ROWS = 1 << 16


def parse_libsvm(
    lines: bytes, n_columns: int | None, dtype: Any
) -> tuple[sparse.csr_array, np.ndarray]:
    """Return rows of shape (lines, n_columns), or as wide as need be, and their labels."""
    rows, labels = load_svmlight_file(
        BytesIO(lines), n_features=n_columns, dtype=dtype, zero_based=False
    )
    return as_csr(rows, dtype), labels


def as_csr(matrix: Any, dtype: Any) -> sparse.csr_array:
    """Return a csr_array with sorted columns, and 32-bit indices where they fit."""
    matrix = sparse.csr_array(matrix, dtype=dtype)
    matrix.sort_indices()
    if matrix.nnz <= np.iinfo(np.int32).max:
        # 64-bit indices take twice the room, and scikit-learn's trees do not take them.
        matrix.indices = matrix.indices.astype(np.int32, copy=False)
        matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
    return matrix


@dataclass(frozen=True, eq=False)
class LibsvmSource(Source):
    """Rows of LibSVM files, one file after the other, as CSR matrices of the same width."""

    paths: list[Path]
    n_columns: int
    request: Request
    n_rows: int | None = None
    counts: dict[str, int] = field(default_factory=dict)

    def _blocks(self, with_labels: bool) -> Iterator[tuple[sparse.csr_array, np.ndarray]]:
        dtype = np.float64 if self.request.dtype is None else self.request.dtype
        for path in self.paths:
            n_read = 0
            for rows, labels in _read(path, self.n_columns, dtype):
                n_read += labels.size
                yield rows, labels
            check_count(self.counts, str(path), n_read)


def libsvm_source(paths: list[Path], request: Request) -> LibsvmSource:
    """Return the rows of LibSVM files; without a width, all are read once to find it."""
    width = request.n_columns if request.columns is None else len(request.columns)
    if width is not None:
        return LibsvmSource(paths, width, request)
    counts = {}
    for path in paths:
        shapes = [rows.shape for rows, _ in _read(path, None, np.float32)]
        counts[str(path)] = sum(n_rows for n_rows, _ in shapes)
        width = max(width or 0, *(n_columns for _, n_columns in shapes))
    return LibsvmSource(paths, width or 0, request, sum(counts.values()), counts)


def _read(
    path: Path, n_columns: int | None, dtype: Any
) -> Iterator[tuple[sparse.csr_array, np.ndarray]]:
    """Yield rows and labels of the blocks of a file, or name the line that cannot be read."""
    n_lines = n_rows = 0
    errors = (EOFError, lzma.LZMAError, ZlibError)
    with naming_damaged_file(str(path), *errors), open_packed(path) as file:
        while block := file.read(BLOCK_BYTES):
            block += file.readline()  # to the end of a line
            try:
                rows, labels = parse_libsvm(block, n_columns, dtype)
            except ValueError as error:
                raise _bad_line(path, n_lines, block, n_columns, error) from error
            for start in range(0, labels.size, _MOST_ROWS):
                part = slice(start, start + _MOST_ROWS)
                yield rows[part], labels[part]
            n_lines += block.count(b"\n")
            n_rows += labels.size
    if n_rows == 0:
        raise ValueError(f"{path} has no rows. Write some, or leave the file out.")


def _bad_line(
    path: Path, n_before: int, block: bytes, n_columns: int | None, error: ValueError
) -> ValueError:
    """Return the error that names the first line that cannot be read, found by bisection."""
    lines = BytesIO(block).readlines()
    good, bad = 0, len(lines)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            parse_libsvm(b"".join(lines[good:middle]), n_columns, np.float32)
            good = middle
        except ValueError:
            bad = middle
    counts_from_0 = "Invalid index 0" in str(error)
    hint = " In scikit-learn: dump_svmlight_file(..., zero_based=False)." if counts_from_0 else ""
    cut = "" if bad <= block.count(b"\n") else " It has no end: the file may be cut short."
    return ValueError(
        f"Line {n_before + bad} of {path} is not LibSVM text of {n_columns or 'any'} columns "
        f"({error}).{cut} Write a label and then index:value, with indices from 1 to the number of "
        f"columns in rising order.{hint}"
    )


def open_packed(path: Path) -> BinaryIO:
    """Return the file opened for reading, unpacked on the way."""
    return PACKED.get(path.suffix.lower(), open)(path, "rb")
