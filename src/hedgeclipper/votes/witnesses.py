"""Witnesses: two voters more, made of all votes and of no label, that labels can judge.

Single voters are awake on few labeled rows, so that little is known of them; the plain vote and
the voters' agreement have something to say of every row with a vote. As they are made without a
label, and without knowing which rows have one, a bound on how often they are right is as good as
one on a voter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from hedgeclipper.game.multiclass_losses import row_favorites, row_maxima, row_sums
from hedgeclipper.votes.agreement import Agreement, find_agreement
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.vote_kernels import append_votes

NAMES = ("plain vote", "agreement")
DIGITS = 9


class Testimony(NamedTuple):
    """What witnesses say of each row.

    ``votes`` are theirs, the class plus 1, or 0 in a tie and without votes, shape (n_rows, 2);
    ``sureness`` is by how much agreement's class is ahead of the next one, -1 without votes.
    """

    votes: np.ndarray
    sureness: np.ndarray


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
            Votes on rows, labeled or not: all of them, or a plain draw.
        """
        n_classes = pool.n_classes
        nobody = pool.take(np.arange(0))
        even = np.full(n_classes, 1.0 / n_classes)
        return cls(find_agreement(pool, nobody, np.empty(0, dtype=np.intp), even))

    def testify(self, ballots: Ballots) -> Testimony:
        """Return what both say of some rows.

        Parameters
        ----------
        ballots : Ballots
            Votes of the same voters.
        """
        n_classes, matrix = ballots.n_classes, ballots.votes.matrix
        counting = np.broadcast_to(np.eye(n_classes), ballots.shape)
        tables = np.concatenate([counting, self.agreement.weights], axis=2)
        votes = np.empty((ballots.n_rows, len(NAMES)), dtype=matrix.dtype)
        sureness = np.empty(ballots.n_rows)
        for rows, block in ballots.blocks():
            counts, scores = np.split(block.scores(tables), 2, axis=1)
            scores += self.agreement.log_balance
            is_voted = block.n_votes > 0
            votes[rows, 0] = np.where(is_voted, _favorites(counts), 0)
            votes[rows, 1] = np.where(is_voted, _favorites(scores), 0)
            sureness[rows] = np.where(is_voted, _lead(scores), -1.0)
        return Testimony(votes, sureness)


def with_testimony(ballots: Ballots, testimony: Testimony) -> Ballots:
    """Return the votes with those of both witnesses added.

    Parameters
    ----------
    ballots : Ballots
        Votes.
    testimony : Testimony
        What the witnesses say of these rows.
    """
    names = [*ballots.votes.voters.tolist(), *NAMES]
    matrix = _with_votes_of(testimony.votes, ballots.votes.matrix)
    return Ballots(replace(ballots.votes, matrix=matrix, voters=np.array(names, dtype=object)))


def _favorites(scores: np.ndarray) -> np.ndarray:
    """Return the class of largest score plus 1, 0 where two share it."""
    is_best = scores == row_maxima(scores)[:, None]
    return np.where(row_sums(is_best.astype(np.intp)) == 1, row_favorites(scores) + 1, 0)


def _lead(scores: np.ndarray) -> np.ndarray:
    """Return by how much the largest score is ahead of the next one."""
    best, second = scores[:, 0], np.full(len(scores), -np.inf)
    for column in scores.T[1:]:
        second = np.maximum(second, np.minimum(best, column))
        best = np.maximum(best, column)
    return np.round(best - second, DIGITS)


def _with_votes_of(more: np.ndarray, matrix: Any) -> Any:
    """Return votes with those of other voters added as the last columns; 0 abstains."""
    n_rows, n_voters = matrix.shape
    n_votes = matrix.nnz + np.count_nonzero(more)
    is_small = max(n_votes, n_voters) <= np.iinfo(matrix.indices.dtype).max
    integers = matrix.indices.dtype if is_small else np.int64
    indptr = matrix.indptr.astype(integers)
    indptr[1:] += np.cumsum(row_sums((more > 0).astype(integers)))
    voters = np.empty(n_votes, dtype=integers)
    values = np.empty(n_votes, dtype=matrix.data.dtype)
    append_votes(matrix.indptr, matrix.indices, matrix.data, n_voters, more, indptr, voters, values)
    return sparse.csr_array((values, voters, indptr), shape=(n_rows, n_voters + more.shape[1]))
