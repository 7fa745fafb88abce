"""Rows of LibSVM text: a label, then ``index:value`` with indices that count from 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from lzma import LZMAError
from pathlib import Path
from typing import Any
from zlib import error as ZlibError

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from hedgeclipper.io.files import blocks_of_lines
from hedgeclipper.io.source import Request, RowCount, damage_named

_MOST_ROWS = 1 << 16


def parse_libsvm(
    lines: bytes, n_columns: int | None, dtype: Any
) -> tuple[sparse.csr_array, np.ndarray]:
    """Return rows of shape (lines, n_columns), or as wide as need be, and their labels."""
    rows, labels = load_svmlight_file(
        BytesIO(lines), n_features=n_columns, dtype=dtype, zero_based=False
    )
    rows = sparse.csr_array(rows)
    # 64-bit indices take twice the room, and scikit-learn's trees do not take them.
    rows.indices = rows.indices.astype(np.int32)
    rows.indptr = rows.indptr.astype(np.int32)
    return rows, labels


@dataclass(frozen=True, eq=False)
class LibsvmSource:
    """Rows of LibSVM files, one file after the other, as CSR matrices of the same width."""

    paths: list[Path]
    n_columns: int
    n_rows: int | None
    request: Request
    counts: dict[Path, RowCount] = field(default_factory=dict)
    in_memory = False

    @property
    def label(self) -> Any:
        """A true value if labels were asked for."""
        return self.request.label

    @property
    def column_names(self) -> list[str] | None:
        """Names that were asked for, since the files have none."""
        return self.request.columns

    def __iter__(self) -> Iterator[sparse.csr_array]:
        return (rows for rows, _ in self._blocks())

    def labeled_batches(self) -> Iterator[tuple[sparse.csr_array, np.ndarray]]:
        """Yield (rows, labels), with NaN for a missing label."""
        if self.label is None:
            raise self.request.no_labels()
        yield from self._blocks()

    def _blocks(self) -> Iterator[tuple[sparse.csr_array, np.ndarray]]:
        dtype = np.float64 if self.request.dtype is None else self.request.dtype
        for path in self.paths:
            n_read = 0
            for rows, labels in _read(path, self.n_columns, dtype):
                n_read += labels.size
                yield rows, labels
            self.counts.setdefault(path, RowCount()).check(n_read, str(path))


def libsvm_source(paths: list[Path], request: Request) -> LibsvmSource:
    """Return the rows of LibSVM files; without a width, all are read once to find it."""
    if request.columns is not None:
        return LibsvmSource(paths, len(request.columns), None, request)
    if request.n_columns is not None:
        return LibsvmSource(paths, request.n_columns, None, request)
    shapes = {path: [rows.shape for rows, _ in _read(path, None, np.float32)] for path in paths}
    n_columns = max(width for parts in shapes.values() for _, width in parts)
    counts = {path: sum(n_rows for n_rows, _ in parts) for path, parts in shapes.items()}
    return LibsvmSource(
        paths,
        n_columns,
        sum(counts.values()),
        request,
        {path: RowCount(n_rows) for path, n_rows in counts.items()},
    )


def _read(
    path: Path, n_columns: int | None, dtype: Any
) -> Iterator[tuple[sparse.csr_array, np.ndarray]]:
    """Yield rows and labels of the blocks of a file, or name the line that cannot be read."""
    n_lines = n_rows = 0
    with damage_named(str(path), EOFError, LZMAError, ZlibError):
        for block in blocks_of_lines(path):
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
    """Return the error that names the line of a block, and says if its end may be missing."""
    line = _first_bad_line(block, n_columns)
    has_end = line <= block.count(b"\n")
    counts_from_0 = "Invalid index 0" in str(error)
    hint = " In scikit-learn: dump_svmlight_file(..., zero_based=False)." if counts_from_0 else ""
    cut = "" if has_end else " It has no end: the file may be cut short."
    return ValueError(
        f"Line {n_before + line} of {path} is not LibSVM text of {n_columns or 'any'} columns "
        f"({error}).{cut} Write a label and then index:value, with indices from 1 to the number of "
        f"columns in rising order.{hint}"
    )


def _first_bad_line(block: bytes, n_columns: int | None) -> int:
    """Return the number of the first line that cannot be read, counted from 1, by bisection."""
    lines = BytesIO(block).readlines()
    good, bad = 0, len(lines)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            parse_libsvm(b"".join(lines[good:middle]), n_columns, np.float32)
            good = middle
        except ValueError:
            bad = middle
    return bad
