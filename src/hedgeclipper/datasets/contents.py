"""What the files of a data set hold, as arrays, and the errors of files that are damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from lzma import LZMAError
from pathlib import Path
from typing import Any
from zipfile import BadZipFile
from zlib import error as ZlibError

import numpy as np
from scipy import sparse
from scipy.io.matlab import MatReadError


@dataclass(frozen=True)
class Contents:
    """What the files of a data set hold.

    Attributes
    ----------
    data : array or csr_array of float32, shape (n_rows, n_columns)
        Rows with a label.
    target : int64 array of shape (n_rows,)
        Their labels, 0 or 1.
    n_train : int
        How many of the leading rows are training rows.
    data_unlabeled : array or csr_array of float32, or None
        Rows without a label.
    labeled_splits : dict of int to int64 array of shape (n_splits, budget)
        The rows whose labels may be used, by the number of labels.
    """

    data: Any
    target: np.ndarray
    n_train: int
    data_unlabeled: Any = None
    labeled_splits: dict[int, np.ndarray] = field(default_factory=dict)


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong inside a cut or altered file into an OSError that names it."""
    try:
        yield
    except (
        *(EOFError, BadZipFile, LZMAError, ZlibError, MatReadError),
        *(IndexError, KeyError, TypeError, ValueError),
    ) as error:
        raise _damage(path, error) from error
    except OSError as error:
        # Errors of the operating system have a number; those of the decompressors do not.
        if error.errno is not None:
            raise
        raise _damage(path, error) from error


def _damage(path: Path, error: Exception) -> OSError:
    return OSError(
        f"{path} is damaged, cut short, or not the file it should be ({error}). "
        "Delete it, and put a whole copy in its place or let it be fetched anew."
    )


def as_csr(matrix: Any) -> sparse.csr_array:
    """Return a csr_array of float32 with sorted columns, and 32-bit indices where they fit."""
    matrix = sparse.csr_array(matrix, dtype=np.float32)
    matrix.sort_indices()
    if matrix.nnz <= np.iinfo(np.int32).max:
        # scikit-learn's trees take no wider ones.
        matrix.indices = matrix.indices.astype(np.int32, copy=False)
        matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
    return matrix


def as_classes(labels: Any) -> np.ndarray:
    """Return 1 for each positive label and 0 for each other, as int64 of shape (n_rows,)."""
    return (np.asarray(labels).ravel() > 0).astype(np.int64)
