"""Witnesses: two voters more, made of all votes and of no label, that labels can judge.

Single voters are awake on few labelled rows, so that little is known of them; the plain vote and
the voters' agreement have something to say of every row with a vote. As they are made without a
label, and without knowing which rows have one, a bound on how often they are right is as good as
one on a voter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from hedgeclipper.votes.agreement import Agreement, find_agreement
from hedgeclipper.votes.ballots import Ballots

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
        said = [ballots.votes.counts(), self.agreement.scores(ballots)]
        columns = [sparse.csr_array(_favourites(part, ballots)[:, None]) for part in said]
        votes = ballots.votes
        matrix = sparse.hstack([votes.matrix, *columns], format="csr").astype(votes.matrix.dtype)
        names = np.array([*votes.voters.tolist(), *NAMES], dtype=object)
        return Ballots(replace(votes, matrix=matrix, voters=names))


def _favourites(scores: np.ndarray, ballots: Ballots) -> np.ndarray:
    """Return the class of largest score plus 1; 0 where two share it, and without votes."""
    best = scores.max(axis=1)
    is_clear = (scores == best[:, None]).sum(axis=1) == 1
    return np.where(is_clear & (ballots.n_votes > 0), scores.argmax(axis=1) + 1, 0)
