"""Wide forms of votes, a column for each voter: arrays, sparse matrices and frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.io import as_plain_array, frame_columns, is_pandas, positions_of
from hedgeclipper.votes.distinct import BLOCK
from hedgeclipper.votes.vote_labels import LabelNumbers
from hedgeclipper.votes.voter_names import VoterNames

_STORED_AS_SAID = ("csr", "csc", "coo", "lil", "dok")


@dataclass(frozen=True, eq=False)
class Reading:
    """Votes as they were read: ``numbers`` has the number of a label plus 1 for each vote."""

    numbers: Any
    voters: VoterNames
    rows: np.ndarray | None = None


def read_dense(table: Any, labels: LabelNumbers, voters: Any) -> Reading:
    """Return the votes of an array-like.

    Parameters
    ----------
    table : array-like of shape (n_rows, n_voters)
        Labels.
    labels : LabelNumbers
        Numbers the labels.
    voters : iterable of shape (n_voters,), or None
        Names of the voters.
    """
    array = _as_table(table)
    check_shape(array.shape)
    parts = _compressed(_row_blocks(array), labels)
    matrix = sparse.csr_array(parts, shape=array.shape)
    return Reading(matrix, VoterNames.of(voters, array.shape[1]))


def _as_table(table: Any) -> np.ndarray:
    if hasattr(table, "collect"):
        raise TypeError(
            f"The votes must be there to be read. Got {type(table).__name__}: pass what its "
            "collect() returns."
        )
    try:
        array = as_plain_array(table)
    except ValueError as error:
        raise ValueError(
            f"The votes must be a table, all rows of the same length. Got rows that differ: {error}"
        ) from error
    if array.ndim != 2:
        raise ValueError(
            "The votes must be a table with a row for each row and a column for each voter. Got "
            f"{type(table).__name__} of shape {array.shape}. For a single voter pass "
            "votes.reshape(-1, 1); for a table of task, worker and label use Votes.from_long."
        )
    return array


def _row_blocks(array: np.ndarray) -> Iterator[np.ndarray]:
    n_rows = max(1, BLOCK // array.shape[1])
    for start in range(0, array.shape[0], n_rows):
        yield array[start : start + n_rows]


def read_frame(frame: Any, labels: LabelNumbers, voters: Any) -> Reading:
    """Return the votes of a wide frame of pandas, polars or Arrow.

    Parameters
    ----------
    frame : frame of shape (n_rows, n_columns)
        Labels.
    labels : LabelNumbers
        Numbers the labels.
    voters : iterable, or None
        Names of the columns to use; None for all.
    """
    columns = frame_columns(frame)
    names = [name for name, _ in columns]
    wanted = names if voters is None else list(voters)
    positions = positions_of(wanted, names, "The frame of votes")
    shape = (frame.shape[0], len(wanted))
    check_shape(shape)
    lines = (np.asarray(columns[position][1])[None, :] for position in positions)
    matrix = sparse.csc_array(_compressed(lines, labels), shape=shape).tocsr()
    rows = np.asarray(frame.index) if is_pandas(frame) else None
    return Reading(matrix, VoterNames.of(wanted, len(wanted)), rows)


def _compressed(
    blocks: Iterable[np.ndarray], labels: LabelNumbers
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return data, indices and indptr of the lines of blocks, which are rows or columns."""
    data, indices, counts = [], [], [np.zeros(1, dtype=np.int64)]
    for block in blocks:
        numbers = labels.number(block.ravel()).reshape(block.shape)
        line, entry = np.nonzero(numbers >= 0)
        data.append(numbers[line, entry] + 1)
        indices.append(entry.astype(np.int32))
        counts.append(np.bincount(line, minlength=block.shape[0]))
    return np.concatenate(data), np.concatenate(indices), np.cumsum(np.concatenate(counts))


def read_sparse(matrix: Any, labels: LabelNumbers, voters: Any) -> Reading:
    """Return the votes that a sparse matrix stores, zeros among them.

    Parameters
    ----------
    matrix : sparse matrix or array of shape (n_rows, n_voters)
        Labels.
    labels : LabelNumbers
        Numbers the labels.
    voters : iterable of shape (n_voters,), or None
        Names of the voters.
    """
    if matrix.format not in _STORED_AS_SAID or matrix.ndim != 2:
        raise TypeError(
            "Sparse votes must have two dimensions and one of the formats "
            f"{', '.join(_STORED_AS_SAID)}, which tell a stored 0 from nothing. Got "
            f"{matrix.format} of shape {matrix.shape}. Make a csr_array of row, voter and label."
        )
    check_shape(matrix.shape)
    if matrix.format == "csr" and matrix.has_canonical_format:
        found = _read_rows(matrix, labels)
    else:
        found = _read_entries(matrix, labels)
    return Reading(found, VoterNames.of(voters, matrix.shape[1]))


def _read_rows(matrix: Any, labels: LabelNumbers) -> Any:
    """Return votes that are in their places already; only those who abstain are taken out."""
    numbers = labels.number(matrix.data)
    numbers += 1
    parts = numbers, matrix.indices.copy(), matrix.indptr.copy()
    found = sparse.csr_array(parts, shape=matrix.shape)
    found.eliminate_zeros()
    return found


def _read_entries(matrix: Any, labels: LabelNumbers) -> Any:
    entries = matrix.tocoo()
    numbers = labels.number(entries.data)
    votes = numbers >= 0
    found = from_triplets(entries.row[votes], entries.col[votes], numbers[votes], matrix.shape)
    if found.nnz < np.count_nonzero(votes):
        raise ValueError(
            "The sparse votes store some votes twice: the same voter on the same row. Store each "
            "vote once; scipy's sum_duplicates would add labels up."
        )
    return found


def from_triplets(
    row: np.ndarray, voter: np.ndarray, numbers: np.ndarray, shape: tuple[int, int]
) -> Any:
    """Return votes in canonical CSR with numbers plus 1; those on the same place are added up.

    Parameters
    ----------
    row, voter, numbers : ndarray of shape (n_votes,)
        Who votes for what on which row.
    shape : (int, int)
        Number of rows and voters.
    """
    return sparse.coo_array((numbers + 1, (row, voter)), shape=shape).tocsr()


def check_shape(shape: tuple[int, int]) -> None:
    """Raise unless there are rows and voters."""
    if 0 in shape:
        raise ValueError(
            f"The votes must have one row and one voter at least. Got {shape[0]} rows and "
            f"{shape[1]} voters."
        )
