"""Two auxiliary voters, the majority vote and a Dawid-Skene model, made without any label.

Single voters are awake on few labeled rows, so that their accuracy is known only roughly; the two
auxiliary voters predict every row with a vote. As they are made without labels, and without knowing
which rows have one, labels bound their accuracy as validly as that of any voter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hedgeclipper.game.multiclass_losses import row_favorites, row_maxima, row_sums
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.dawid_skene import DawidSkene, fit_dawid_skene

NAMES = ("majority vote", "Dawid-Skene")
DIGITS = 9


class AuxiliaryVotes(NamedTuple):
    """Predictions of the auxiliary voters.

    ``votes`` of shape (n_rows, 2) are the class plus 1, or 0 in a tie and without votes; ``lead``
    is by how much the score of Dawid-Skene's class exceeds the next one, -1 without votes.
    """

    votes: np.ndarray
    lead: np.ndarray


@dataclass(frozen=True, eq=False)
class AuxiliaryVoters:
    """The majority vote, and a Dawid-Skene model fitted without labels."""

    model: DawidSkene

    @classmethod
    def fit(cls, pool: Ballots) -> AuxiliaryVoters:
        """Return the voters fitted to all rows, labeled or not, or to a simple random sample."""
        uniform = np.full(pool.n_classes, 1.0 / pool.n_classes)
        no_rows, no_codes = pool.take(np.arange(0)), np.empty(0, dtype=np.intp)
        return cls(fit_dawid_skene(pool, no_rows, no_codes, uniform))

    def predict(self, ballots: Ballots) -> AuxiliaryVotes:
        """Return what both predict for rows with votes of the same voters."""
        counting = np.broadcast_to(np.eye(ballots.n_classes), ballots.shape)
        tables = np.concatenate([counting, self.model.weights], axis=2)
        votes = np.empty((ballots.n_rows, len(NAMES)), dtype=ballots.votes.matrix.dtype)
        lead = np.empty(ballots.n_rows)
        for rows, block in ballots.blocks():
            counts, scores = np.split(block.scores(tables), 2, axis=1)
            scores += self.model.log_balance
            is_voted = block.n_votes > 0
            votes[rows, 0] = np.where(is_voted, _winners(counts), 0)
            votes[rows, 1] = np.where(is_voted, _winners(scores), 0)
            lead[rows] = np.where(is_voted, _lead(scores), -1.0)
        return AuxiliaryVotes(votes, lead)


def _winners(scores: np.ndarray) -> np.ndarray:
    """Return the class of largest score plus 1, 0 in a tie."""
    is_best = scores == row_maxima(scores)[:, None]
    return np.where(row_sums(is_best.astype(np.intp)) == 1, row_favorites(scores) + 1, 0)


def _lead(scores: np.ndarray) -> np.ndarray:
    """Return by how much the largest score exceeds the next one."""
    best, second = scores[:, 0], np.full(len(scores), -np.inf)
    for column in scores.T[1:]:
        second = np.maximum(second, np.minimum(best, column))
        best = np.maximum(best, column)
    return np.round(best - second, DIGITS)
