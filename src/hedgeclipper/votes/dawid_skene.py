"""Dawid and Skene's model of how voters agree, with a prior, fitted by EM to all rows.

Each voter has a table of how often it votes for a class where the true class is another. Class
probabilities of the rows follow from the tables, and the tables from these probabilities, in turn.
Labeled rows count with their labels. A prior of a few votes, most of them right, shrinks the tables
of voters with few votes.

References
----------
A. P. Dawid and A. M. Skene, Maximum likelihood estimation of observer error-rates using the EM
algorithm, Applied Statistics 28 (1979).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgeclipper.game.multiclass_losses import soft_maximum
from hedgeclipper.votes.ballots import Ballots

PRIOR_ACCURACY, PRIOR_VOTES = 0.7, 4.0
MAX_ITER, TOL = 50, 1e-3


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
