"""Witnesses: two voters more, made of all votes and of no label, that labels can judge.

Single voters are awake on few labelled rows, so that little is known of them; the plain vote and
the voters' agreement have something to say of every row with a vote. As they are made without a
label, and without knowing which rows have one, a bound on how often they are right is as good as
one on a voter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.kernels import append_votes
from hedgeclipper.votes.agreement import Agreement, find_agreement
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.rows import row_maxima, row_sums

NAMES = ("plain vote", "agreement")


@dataclass(frozen=True, eq=False)
class Witnesses:
    """The plain vote, and agreement found without a label.

    Parameters
    ----------
    agreement : Agreement
        The voters' tables.
    """

    agreement: Agreement

    @classmethod
    def of(cls, pool: Ballots) -> Witnesses:
        """Return the witnesses of some rows.

        Parameters
        ----------
        pool : Ballots
            Votes on rows, labelled or not: all of them, or a plain draw.
        """
        n_classes = pool.n_classes
        nobody = pool.take(np.arange(0))
        even = np.full(n_classes, 1.0 / n_classes)
        return cls(find_agreement(pool, nobody, np.empty(0, dtype=np.intp), even))

    def join(self, ballots: Ballots) -> Ballots:
        """Return the votes with those of both witnesses added.

        Parameters
        ----------
        ballots : Ballots
            Votes of the same voters.
        """
        votes, names = ballots.votes, [*ballots.votes.voters.tolist(), *NAMES]
        more = np.empty((votes.n_rows, len(NAMES)), dtype=votes.matrix.dtype)
        for rows, block in ballots.blocks():
            more[rows, 0] = _favourites(block.votes.counts(), block)
            more[rows, 1] = _favourites(self.agreement.scores(block), block)
        matrix = _with_votes_of(more, votes.matrix)
        return Ballots(replace(votes, matrix=matrix, voters=np.array(names, dtype=object)))


def _favourites(scores: np.ndarray, ballots: Ballots) -> np.ndarray:
    """Return the class of largest score plus 1; 0 where two share it, and without votes."""
    is_best = scores == row_maxima(scores)[:, None]
    is_clear = (row_sums(is_best.astype(np.intp)) == 1) & (ballots.n_votes > 0)
    return np.where(is_clear, is_best.argmax(axis=1) + 1, 0)


def _with_votes_of(more: np.ndarray, matrix: Any) -> Any:
    """Return votes with those of other voters added as the last columns; 0 abstains."""
    n_rows, n_voters = matrix.shape
    n_votes = matrix.nnz + np.count_nonzero(more)
    integers = sparse.get_index_dtype(matrix.indices, maxval=max(n_votes, n_voters))
    indptr = matrix.indptr.astype(integers)
    indptr[1:] += np.cumsum(row_sums((more > 0).astype(integers)))
    voters = np.empty(n_votes, dtype=integers)
    values = np.empty(n_votes, dtype=matrix.data.dtype)
    append_votes(matrix.indptr, matrix.indices, matrix.data, n_voters, more, indptr, voters, values)
    return sparse.csr_array((values, voters, indptr), shape=(n_rows, n_voters + more.shape[1]))
