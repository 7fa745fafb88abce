"""Dawid and Skene's model of how voters agree, and two auxiliary voters made without any label.

The model has a prior and is fitted by EM to all rows.

Each voter has a table of how often it votes for a class where the true class is another. Class
probabilities of the rows follow from the tables, and the tables from these probabilities, in turn.
Labeled rows count with their labels. A prior of a few votes, most of them right, shrinks the tables
of voters with few votes.

The auxiliary voters are the majority vote and such a model. Single voters are awake on few labeled
rows, so that their accuracy is known only roughly; the auxiliary voters predict every row with a
vote. As they are made without labels, and without knowing which rows have one, labels bound their
accuracy as validly as that of any voter.

References
----------
A. P. Dawid and A. M. Skene, Maximum likelihood estimation of observer error-rates using the EM
algorithm, Applied Statistics 28 (1979).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from hedgeclipper.game.multiclass_losses import row_favorites, soft_maximum
from hedgeclipper.votes.ballots import Ballots

PRIOR_ACCURACY, PRIOR_VOTES = 0.7, 4.0
MAX_ITER, TOL = 50, 1e-3
AUXILIARY_NAMES = ("majority vote", "Dawid-Skene")
DIGITS = 9


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """Confusion tables of all voters.

    ``counts`` of shape (n_voters, n_classes, n_classes) are votes of each voter by vote and class,
    the prior's included; ``log_balance`` are the logarithms of the class frequencies.
    """

    counts: np.ndarray
    log_balance: np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """Log-probability of each vote of each voter in each class."""
        return np.log(self.counts) - np.log(self.counts.sum(axis=1, keepdims=True))

    def scores(self, ballots: Ballots) -> np.ndarray:
        """Return the log-probability of each class for each row, up to a constant."""
        return self.log_balance + ballots.scores(self.weights)

    def scores_without_own(self, ballots: Ballots, codes: np.ndarray) -> np.ndarray:
        """Return the same for labeled rows, each as if its own label had not been counted."""
        rows, voters, votes = ballots.votes.triplets()
        own = codes[rows]
        each = np.arange(rows.size)
        counts = self.counts[voters, votes]
        counts[each, own] -= 1.0
        totals = self.counts.sum(axis=1)[voters]
        totals[each, own] -= 1.0
        scores = np.tile(self.log_balance, (ballots.n_rows, 1))
        np.add.at(scores, rows, np.log(counts) - np.log(totals))
        return scores


def fit_dawid_skene(
    unlabeled: Ballots, labeled: Ballots, codes: np.ndarray, balance: np.ndarray
) -> DawidSkene:
    """Return the tables that fit unlabeled rows, and labeled ones with their classes ``codes``."""
    n_classes = balance.size
    known = prior_votes(n_classes) + labeled.sums(np.eye(n_classes)[codes])
    model = DawidSkene(np.broadcast_to(prior_votes(n_classes), unlabeled.shape), np.log(balance))
    probabilities = soft_maximum(model.scores(unlabeled))[1]
    for _ in range(MAX_ITER):
        model = DawidSkene(known + unlabeled.sums(probabilities), model.log_balance)
        before, probabilities = probabilities, soft_maximum(model.scores(unlabeled))[1]
        if np.abs(probabilities - before).max(initial=0.0) < TOL:
            break
    return model


def prior_votes(n_classes: int) -> np.ndarray:
    """Return the prior's votes, shape (n_classes, n_classes) by vote and class."""
    wrong = (1.0 - PRIOR_ACCURACY) / max(n_classes - 1, 1)
    return PRIOR_VOTES * np.where(np.eye(n_classes, dtype=bool), PRIOR_ACCURACY, wrong)


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

    def leads(self, ballots: Ballots) -> np.ndarray:
        """Return by how much the score of Dawid-Skene's class exceeds the next; -1 without votes.

        Of shape (n_rows,).
        """
        leads = np.empty(ballots.n_rows)
        for rows, block in ballots.blocks():
            ahead = _winners(self.model.scores(block))[1]
            leads[rows] = np.where(block.n_votes > 0, ahead, -1.0)
        return leads

    def join(self, ballots: Ballots) -> Ballots:
        """Return votes with those of both auxiliary voters as the last columns.

        They abstain in a tie, and on rows without votes.
        """
        counting = np.broadcast_to(np.eye(ballots.n_classes), ballots.shape)
        tables = np.concatenate([counting, self.model.weights], axis=2)
        more = np.zeros((ballots.n_rows, 2), dtype=ballots.votes.matrix.dtype)
        for rows, block in ballots.blocks():
            counts, scores = np.split(block.scores(tables), 2, axis=1)
            for number, part in enumerate((counts, scores + self.model.log_balance)):
                more[rows, number] = np.where(block.n_votes > 0, _winners(part)[0], 0)
        matrix = sparse.hstack([ballots.votes.matrix, sparse.csr_array(more)], format="csr")
        voters = np.array([*ballots.votes.voters.tolist(), *AUXILIARY_NAMES], dtype=object)
        return Ballots(replace(ballots.votes, matrix=matrix, voters=voters))


def _winners(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the class of largest score plus 1, 0 in a tie, and how far it is ahead of the next."""
    best, second = scores[:, 0], np.full(len(scores), -np.inf)
    for column in scores.T[1:]:
        second = np.maximum(second, np.minimum(best, column))
        best = np.maximum(best, column)
    winners = np.where(best > second, row_favorites(scores) + 1, 0)
    return winners, np.round(best - second, DIGITS)
