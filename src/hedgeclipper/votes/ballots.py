"""The two sums over votes that everything is made of: by row, and by voter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.vote_kernels import add_vote_shares, count_votes, sum_vote_scores

ROWS_IN_BLOCK = 1 << 15


@dataclass(frozen=True, eq=False)
class Ballots:
    """Votes as sums need them.

    Parameters
    ----------
    votes : Votes
        Who votes for what.
    """

    votes: Votes

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of voters, of votes they can cast, and of classes."""
        return self.votes.n_voters, self.votes.n_classes, self.votes.n_classes

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.votes.n_rows

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.votes.n_classes

    @cached_property
    def said(self) -> np.ndarray:
        """How often each voter votes for each class, shape (n_voters, n_classes)."""
        out = np.zeros(self.shape[:2])
        count_votes(self.votes.matrix.indices, self.votes.matrix.data, out)
        return out

    @cached_property
    def n_votes(self) -> np.ndarray:
        """Number of votes on each row."""
        return np.diff(self.votes.matrix.indptr)

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum of weights[voter, vote] over the votes on each row.

        Parameters
        ----------
        weights : ndarray of shape (n_voters, n_classes, n_columns)
            What a voter's vote for a class adds to each column, as a rule one for each class.
        """
        matrix, out = self.votes.matrix, np.empty((self.n_rows, weights.shape[2]), order="F")
        sum_vote_scores(matrix.indptr, matrix.indices, matrix.data, weights, out)
        return out

    def sums(self, shares: np.ndarray) -> np.ndarray:
        """Return the sum of shares over the rows on which each voter casts each vote.

        Parameters
        ----------
        shares : ndarray of shape (n_rows, n_classes)
            How much of each row belongs to each class.

        Returns
        -------
        ndarray of shape (n_voters, n_classes, n_classes)
            By voter, vote and class.
        """
        matrix, out = self.votes.matrix, np.zeros(self.shape)
        add_vote_shares(matrix.indptr, matrix.indices, matrix.data, shares, out)
        return out

    def take(self, rows: np.ndarray | slice) -> Ballots:
        """Return the votes on some rows."""
        return Ballots(self.votes.take(rows))

    def blocks(self) -> Iterator[tuple[slice, Ballots]]:
        """Return the rows in parts, so that what is made of a part stays small."""
        for start in range(0, self.n_rows, ROWS_IN_BLOCK):
            rows = slice(start, start + ROWS_IN_BLOCK)
            yield rows, self.take(rows)
