"""What voters' agreement says of them: Dawid and Skene's model, with a prior, and labels if any.

Each voter has a table of how often it votes what where the truth is what; rows are attributed to
classes by these tables, and the tables counted from the rows, in turn. Labeled rows count as they
are. A prior of some votes, most of them right, keeps voters of a few rows in bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgeclipper.game.multiclass_losses import soft_maximum
from hedgeclipper.votes.ballots import Ballots

PRIOR_ACCURACY, PRIOR_VOTES = 0.7, 4.0
MAX_ROUNDS, CHANGE = 50, 1e-3


@dataclass(frozen=True, eq=False)
class Agreement:
    """Tables of all voters.

    Parameters
    ----------
    counts : ndarray of shape (n_voters, n_classes, n_classes)
        Votes of each voter by vote and class, the prior's included.
    log_balance : ndarray of shape (n_classes,)
        Logarithms of the class frequencies.
    """

    counts: np.ndarray
    log_balance: np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """Log-probability of each vote of each voter in each class."""
        return np.log(self.counts) - np.log(self.counts.sum(axis=1, keepdims=True))

    def scores(self, ballots: Ballots) -> np.ndarray:
        """Return the log-probability of each class for each row, but for a constant."""
        return self.log_balance + ballots.scores(self.weights)

    def scores_without_own(self, ballots: Ballots, codes: np.ndarray) -> np.ndarray:
        """Return the same for labeled rows, each as if its own label had not been counted.

        Parameters
        ----------
        ballots : Ballots
            Votes on labeled rows.
        codes : ndarray of shape (n_labeled,)
            Classes of these rows; they were counted.
        """
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


def find_agreement(
    unlabeled: Ballots, labeled: Ballots, codes: np.ndarray, balance: np.ndarray
) -> Agreement:
    """Return the voters' tables.

    Parameters
    ----------
    unlabeled, labeled : Ballots
        Votes on unlabeled and on labeled rows.
    codes : ndarray of shape (n_labeled,)
        Classes of the labeled rows.
    balance : ndarray of shape (n_classes,)
        Class frequencies.
    """
    n_classes = balance.size
    known = prior_votes(n_classes) + labeled.sums(np.eye(n_classes)[codes])
    model = Agreement(np.broadcast_to(prior_votes(n_classes), unlabeled.shape), np.log(balance))
    shares = soft_maximum(model.scores(unlabeled))[1]
    for _ in range(MAX_ROUNDS):
        model = Agreement(known + unlabeled.sums(shares), model.log_balance)
        before, shares = shares, soft_maximum(model.scores(unlabeled))[1]
        if np.abs(shares - before).max(initial=0.0) < CHANGE:
            break
    return model


def prior_votes(n_classes: int) -> np.ndarray:
    """Return the prior's votes, shape (n_classes, n_classes) by vote and class."""
    wrong = (1.0 - PRIOR_ACCURACY) / max(n_classes - 1, 1)
    return PRIOR_VOTES * np.where(np.eye(n_classes, dtype=bool), PRIOR_ACCURACY, wrong)
