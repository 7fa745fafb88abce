"""Naive Bayes from gold labels alone, with shrunken accuracies: votes as independent evidence.

A voter's accuracy is shrunk to the mean of the panel, and the frequencies of its votes within each
class are shrunk to that accuracy. Each prior counts as a few votes. For the mean of the panel the
votes on a row count as one, since voters err on the same rows. A voter without a labeled vote has
the accuracy of the panel.
"""

from __future__ import annotations

import numpy as np

from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.dawid_skene import PRIOR_ACCURACY, PRIOR_VOTES

# 2 to 16 votes in the place of these, and strengths estimated from the spread of the voters, gave
# the same accuracy on real votes within its standard error, and less with copies of voters.
VOTES_FOR_ACCURACY, VOTES_FOR_CLASSES = 4.0, 8.0


def fit_naive_bayes(labeled: Ballots, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what votes add to the log-probabilities of the classes, and their sums on the rows.

    The first, of shape (n_voters, n_classes, n_classes), is by voter, vote and class. The second,
    of shape (n_rows, n_classes), is that of the labeled rows, each without its own label.
    """
    n_classes = labeled.n_classes
    counts = labeled.sums(np.eye(n_classes)[codes])
    in_class, total = counts.sum(axis=1), counts.sum(axis=(1, 2))
    right, per_row = np.trace(counts, axis1=1, axis2=2), max(total.sum() / labeled.n_rows, 1.0)
    panel = _panel_accuracy(right.sum(), total.sum(), per_row)
    accuracy = _shrunk(right, total, panel)[:, None, None]
    weights = _log_frequencies(counts, in_class[:, None], accuracy, np.eye(n_classes, dtype=bool))
    # the same for each vote on a labeled row, with all that its row contributes taken away
    rows, voters, votes = labeled.votes.triplets()
    is_right, own = votes == codes[rows], np.eye(n_classes)[codes[rows]]
    right_elsewhere = right.sum() - np.bincount(rows, is_right, minlength=labeled.n_rows)
    panel = _panel_accuracy(right_elsewhere, total.sum() - labeled.n_votes, per_row)[rows]
    accuracy = _shrunk(right[voters] - is_right, total[voters] - 1.0, panel)[:, None]
    left, left_in_class = counts[voters, votes] - own, in_class[voters] - own
    terms = _log_frequencies(left, left_in_class, accuracy, votes[:, None] == np.arange(n_classes))
    sums = np.zeros((labeled.n_rows, n_classes))
    np.add.at(sums, rows, terms)
    return weights, sums


def _panel_accuracy(right: np.ndarray, total: np.ndarray, per_row: float) -> np.ndarray:
    """Return the mean accuracy of the panel, a row counting as one vote."""
    prior = PRIOR_ACCURACY * PRIOR_VOTES
    return (right / per_row + prior) / (total / per_row + PRIOR_VOTES)


def _shrunk(right: np.ndarray, total: np.ndarray, panel: np.ndarray) -> np.ndarray:
    return (right + VOTES_FOR_ACCURACY * panel) / (total + VOTES_FOR_ACCURACY)


def _log_frequencies(
    counts: np.ndarray, in_class: np.ndarray, accuracy: np.ndarray, is_own: np.ndarray
) -> np.ndarray:
    """Return the logarithm of how often votes are cast in each class, the last axis, shrunk.

    ``is_own`` tells where the class is the one voted for.
    """
    wrong = (1.0 - accuracy) / (counts.shape[-1] - 1)
    prior = VOTES_FOR_CLASSES * np.where(is_own, accuracy, wrong)
    return np.log(counts + prior) - np.log(in_class + VOTES_FOR_CLASSES)
