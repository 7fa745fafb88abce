"""The opening: what one would predict before the game, from all that can be heard.

The plain vote and the voters' agreement know all rows, but take votes for independent of each
other; a game from nothing, by labels alone, does not, but knows voters with labels only. All speak
in log-odds, which are cut off, since they are not as sure as they sound. Labels say how much to
believe of each, by a logistic regression that starts from a quarter of the first and three quarters
of the second, and takes more labels to turn to the third.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from threadpoolctl import threadpool_limits

from hedgeclipper.votes.agreement import Agreement, find_agreement, prior_votes
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.game import play, scores_of, vote_table
from hedgeclipper.votes.knowledge import Knowledge
from hedgeclipper.votes.losses import LOSSES

KINDS = ("agreement", "votes")
FIRST_SHARES, VARIANCES = (0.25, 0.75, 0.0), (0.25, 0.25, 0.05)
TOL, MAX_PASSES = 1e-4, 100
MOST_LOG_ODDS = 10.0
VARIANCE_OF_BIAS = 1.0


@dataclass(frozen=True, eq=False)
class Opening:
    """A prediction to start from.

    Parameters
    ----------
    log_balance : ndarray of shape (n_classes,)
        Logarithms of the class frequencies, which rows without votes get.
    shares : tuple of float
        How much is believed of the plain vote, of agreement, and of labels alone; of the first
        alone without the others, and nothing without any.
    bias : ndarray of shape (n_classes,)
        Added for each class where there are votes.
    agreement : Agreement or None
        The voters' tables.
    by_labels : ndarray or None
        theta of a game from nothing.
    """

    log_balance: np.ndarray
    shares: tuple[float, ...] = ()
    bias: np.ndarray | float = 0.0
    agreement: Agreement | None = None
    by_labels: np.ndarray | None = None

    def log_probabilities(self, ballots: Ballots) -> np.ndarray:
        """Return the logarithm of the probability of each class for each row."""
        if not self.shares:
            return np.full((ballots.n_rows, ballots.n_classes), -np.log(ballots.n_classes))
        heard = [plain_scores(ballots, self.log_balance)]
        if self.agreement is not None and self.by_labels is not None:
            heard += [self.agreement.scores(ballots), scores_of(ballots, self.by_labels)]
        return self._pooled(heard, ballots)

    def vote_weights(self, shape: tuple[int, int, int]) -> np.ndarray:
        """Return what a voter's vote adds to the score of each class, by voter, vote and class."""
        table = np.zeros(shape)
        if self.shares:
            table += self.shares[0] * _plain_weights(shape[1])
        if self.agreement is not None and self.by_labels is not None:
            table += self.shares[1] * self.agreement.weights
            table += self.shares[2] * vote_table(self.by_labels, shape)
        return table

    def _pooled(self, heard: list[np.ndarray], ballots: Ballots) -> np.ndarray:
        scores = self.bias + sum(
            share * log_odds(part) for share, part in zip(self.shares, heard, strict=True)
        )
        silent = ballots.n_votes == 0
        return log_softmax(np.where(silent[:, None], self.log_balance, scores), axis=1)


def open_game(
    kind: str | None,
    unlabeled: Ballots,
    labeled: Ballots,
    codes: np.ndarray,
    balance: np.ndarray,
    knowledge: Knowledge,
) -> Opening:
    """Return a prediction to start from.

    Parameters
    ----------
    kind : {"agreement", "votes"} or None
        From plain vote, agreement and labels, from the plain vote alone, or all classes alike.
    unlabeled, labeled : Ballots
        Votes on unlabelled and on labelled rows.
    codes : ndarray of shape (n_labeled,)
        Classes of the labelled rows.
    balance : ndarray of shape (n_classes,)
        Class frequencies.
    knowledge : Knowledge
        What labels say of voters on the unlabelled rows.
    """
    log_balance = np.log(balance)
    if kind is None:
        return Opening(log_balance)
    first: tuple[float, ...] = (1.0,)
    heard, agreement, by_labels = [plain_scores(labeled, log_balance)], None, None
    if kind == "agreement":
        first = FIRST_SHARES
        agreement = find_agreement(unlabeled, labeled, codes, balance)
        by_labels = _game_from_nothing(unlabeled, knowledge, codes.size)
        heard += [agreement.scores_without_own(labeled, codes), scores_of(labeled, by_labels)]
    voted = labeled.n_votes > 0
    shares, bias = _believe([log_odds(part[voted]) for part in heard], codes[voted], first)
    return Opening(log_balance, shares, bias, agreement, by_labels)


def _game_from_nothing(ballots: Ballots, knowledge: Knowledge, n_labeled: int) -> np.ndarray:
    even = np.full((ballots.n_rows, ballots.n_classes), -np.log(ballots.n_classes))
    found = play(
        ballots,
        knowledge,
        even,
        LOSSES["log"],
        n_labeled=n_labeled,
        tol=TOL,
        max_passes=MAX_PASSES,
    )
    return found.weights


def plain_scores(ballots: Ballots, log_balance: np.ndarray) -> np.ndarray:
    """Return log-odds by counting votes, each as good as the prior's."""
    weights = np.broadcast_to(_plain_weights(ballots.n_classes), ballots.shape)
    return log_balance + ballots.scores(weights)


def _plain_weights(n_classes: int) -> np.ndarray:
    prior = prior_votes(n_classes)
    return np.log(prior) - np.log(prior.sum(axis=0))


def log_odds(scores: np.ndarray) -> np.ndarray:
    """Return log-probabilities, less their mean in each row, and cut off."""
    logs = log_softmax(scores, axis=1)
    return np.clip(logs - logs.mean(axis=1, keepdims=True), -MOST_LOG_ODDS, MOST_LOG_ODDS)


# as in the game, BLAS is quicker with one thread
@threadpool_limits.wrap(limits=1, user_api="blas")
def _believe(
    heard: list[np.ndarray], codes: np.ndarray, first: tuple[float, ...]
) -> tuple[tuple[float, ...], np.ndarray]:
    """Return how much the labels let us believe of each, and a bias for each class."""
    start, parts, variances = np.array(first), np.array(heard), np.array(VARIANCES[: len(first)])
    n_classes = parts.shape[2]
    gold = np.eye(n_classes)[codes]

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        shares, bias = values[: start.size], values[start.size :]
        scores = bias + np.tensordot(shares, parts, axes=1)
        excess = softmax(scores, axis=1) - gold
        off = shares - start
        value = -np.sum(gold * log_softmax(scores, axis=1))
        value += off @ (off / variances) / 2 + bias @ bias / (2 * VARIANCE_OF_BIAS)
        slopes = np.sum(parts * excess, axis=(1, 2)) + off / variances
        return value, np.append(slopes, excess.sum(axis=0) + bias / VARIANCE_OF_BIAS)

    found = minimize(loss, np.append(start, np.zeros(n_classes)), jac=True, method="L-BFGS-B")
    return tuple(found.x[: start.size].tolist()), found.x[start.size :]
