"""Voters as the game sees them: which are awake where, and how the awake ones vote.

The game sees votes only through the awake votes v_i(x) h_i(x) and the coverage, so that is what
voters hand out, in blocks that know ``block @ weights`` and ``signs @ block``. Votes that users
pass become a `VoteMatrix`, which is checked; those that estimators make of scores are a
`VoteArray`. Any class with the members of `Specialists` can take their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from hedgeclipper.io import Source, as_source, cut, listed, row_slice


class Specialists(Protocol):
    """What the game asks of its voters."""

    @property
    def n_samples(self) -> int:
        """Number of rows."""

    @property
    def n_voters(self) -> int:
        """Number of voters."""

    @property
    def coverage(self) -> np.ndarray:
        """Mean participation of each voter, all positive."""

    def blocks(self) -> Iterator[Any]:
        """Yield the awake votes in blocks of rows that know ``block @ w`` and ``z @ block``.

        Scores ``block @ w`` and labels z have shape (rows,), or (rows, classes) with many classes.
        """


def signed_sums(specialists: Specialists, z: np.ndarray) -> np.ndarray:
    """Return the sum over the rows of z v h for each voter, for labels z, one per row."""
    sums, start = np.zeros(specialists.n_voters), 0
    for block in specialists.blocks():
        sums += z[start : start + block.shape[0]] @ block
        start += block.shape[0]
    return sums


class VoteArray:
    """Votes of one array that need no check: in [-1, 1], NaN where a voter is asleep."""

    def __init__(self, votes: np.ndarray):
        awake = ~np.isnan(votes)
        self.coverage = awake.sum(axis=0) / len(votes)
        self.votes = np.ascontiguousarray(votes if awake.all() else np.nan_to_num(votes), float)
        self.n_samples, self.n_voters = votes.shape

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the votes in blocks of rows, with 0 where a voter is asleep."""
        return (self.votes[rows] for rows in cut(self.n_samples, self.votes))


@dataclass(frozen=True)
class VoteMatrix:
    """Votes and participation, checked, with the coverage of each voter.

    Build one with `as_vote_matrix`. ``has_nan``: some dense vote abstains by NaN.
    """

    votes: Source
    participation: Source | None
    n_samples: int
    n_voters: int
    coverage: np.ndarray
    has_nan: bool

    def blocks(self) -> Iterator[Any]:
        """Yield the awake votes v h in blocks: float64 arrays or CSR matrices."""
        for votes, participation in _paired(self.votes, self.participation):
            yield _awake_votes(votes, participation, self.has_nan)


def as_vote_matrix(
    votes: Any, participation: Any = None, *, allow_asleep: bool = False
) -> VoteMatrix:
    """Check votes and participation, as for `solve_game`, in one pass and return them.

    With ``allow_asleep``, voters may be asleep on all rows, and there may be no rows.
    """
    vote_source = as_source(votes)
    part_source = None if participation is None else as_source(participation, name="participation")
    n_samples, awake, has_nan = 0, None, False
    for block, part in _paired(vote_source, part_source):
        awake = np.zeros(block.shape[1]) if awake is None else awake
        if block.shape[1] != awake.size:
            raise ValueError(
                f"Batches of votes differ in their number of voters: {awake.size} at first, then "
                f"{block.shape[1]}. Every batch needs a column for every voter."
            )
        block_has_nan = _check_range(block, -1.0, n_samples, "votes")
        if block_has_nan and sparse.issparse(block):
            raise ValueError(
                "Sparse votes contain NaN. In a sparse matrix an absent entry abstains: remove "
                "these entries."
            )
        if part is not None and _check_range(part, 0.0, n_samples, "participation"):
            raise ValueError("participation contains NaN. Pass 0 where a voter abstains.")
        awake += _awake_counts(block, part, block_has_nan)
        has_nan |= block_has_nan
        n_samples += block.shape[0]
    awake = np.zeros(0) if awake is None else awake
    if not allow_asleep:
        _check_all_vote(n_samples, awake)
    return VoteMatrix(
        votes=vote_source,
        participation=part_source,
        n_samples=n_samples,
        n_voters=awake.size,
        coverage=awake / max(n_samples, 1),
        has_nan=has_nan,
    )


def _paired(votes: Source, participation: Source | None) -> Iterator[tuple[Any, Any]]:
    """Yield blocks of votes beside their blocks of participation (None where there is none)."""
    nothing: Any = object()
    pairs: Iterator[tuple[Any, Any]] = ((batch, None) for batch in votes)
    if participation is not None:
        pairs = zip_longest(votes, participation, fillvalue=nothing)
    for batch, part in pairs:
        if batch is nothing or part is nothing:
            raise ValueError(
                "participation and votes come in different numbers of batches. Cut both at the "
                "same rows, and make sure that both can be read again on every pass."
            )
        if part is not None and batch.shape != part.shape:
            raise ValueError(
                f"participation must have the shape of votes, {batch.shape}. Got {part.shape}."
            )
        for rows in cut(batch.shape[0], batch):
            yield row_slice(batch, rows), None if part is None else row_slice(part, rows)


_HINTS = {
    "votes": "Rescale votes to -1 and 1, or between; NaN (dense) or no entry (sparse) abstains.",
    "participation": "It is the probability of voting: 1 where a voter takes part, 0 where not.",
}


def _check_range(block: Any, low: float, first_row: int, name: str) -> bool:
    """Raise unless all entries but NaN lie in [low, 1]; return whether there is a NaN.

    Entries may be outside by a millionth, as sums and float32 are rounded.
    """
    values = block.data if sparse.issparse(block) else block
    if values.dtype.kind not in ("fiub" if name == "participation" else "fiu"):
        raise TypeError(
            f"{name} must be numbers in [{low:g}, 1]. Got dtype {values.dtype}. {_HINTS[name]}"
        )
    if values.size == 0:
        return False
    least, most = values.min(), values.max()
    has_nan = bool(np.isnan(least))
    if has_nan:
        least, most = np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)
    rounding = 1e-6
    if least < low - rounding or most > 1.0 + rounding:
        entries = sparse.coo_array(block)
        is_out = (entries.data < low - rounding) | (entries.data > 1.0 + rounding)
        at = np.flatnonzero(is_out)[0]
        raise ValueError(
            f"{name} must lie in [{low:g}, 1]. Got {entries.data[at]:.8g} in row "
            f"{first_row + entries.row[at]}, voter {entries.col[at]}. {_HINTS[name]}"
        )
    return has_nan


def _awake_counts(votes: Any, participation: Any, has_nan: bool) -> np.ndarray:
    """Sum the participation of each voter over a block of rows."""
    if sparse.issparse(votes):
        ones = np.ones(votes.indices.size)
        present = sparse.csr_array((ones, votes.indices, votes.indptr), shape=votes.shape)
    elif has_nan:
        present = (~np.isnan(votes)).astype(float)
    elif participation is None:
        return np.full(votes.shape[1], float(votes.shape[0]))
    else:
        present = 1.0
    taking_part = present if participation is None else _times(present, participation)
    return np.asarray(taking_part.sum(axis=0, dtype=np.float64)).ravel()


def _awake_votes(votes: Any, participation: Any, has_nan: bool) -> Any:
    """Return v h with zeros where a voter sleeps, in float64, rows contiguous."""
    if sparse.issparse(votes):
        awake = votes.astype(np.float64, copy=False)
    else:
        awake = np.ascontiguousarray(votes, dtype=np.float64)
        awake = np.nan_to_num(awake, nan=0.0) if has_nan else awake
    return awake if participation is None else _times(awake, participation)


def _times(left: Any, right: Any) -> Any:
    """Multiply elementwise, dense or sparse; the result is an array or a CSR matrix."""
    if sparse.issparse(left):
        return left.multiply(right).tocsr()
    if sparse.issparse(right):
        return right.multiply(left).tocsr()
    return left * right


def _check_all_vote(n_samples: int, awake: np.ndarray) -> None:
    if n_samples == 0:
        raise ValueError("votes has no rows. The game needs at least one unlabeled row.")
    if awake.size == 0:
        raise ValueError("votes has no voters (columns). The game needs at least one.")
    asleep = np.flatnonzero(awake <= 0)
    if asleep.size:
        raise ValueError(
            f"{asleep.size} of {awake.size} voters never vote on these rows: "
            f"{listed(asleep.tolist())}. Drop these columns (and their correlations): without "
            "votes nothing is known of them."
        )
