"""The opening: what one would predict before the game, from all that can be heard.

The plain vote and the voters' agreement know all rows, but take votes for independent of each
other; a game from nothing, by labels alone, does not, but knows voters with labels only. All speak
in log-odds, which are cut off, since they are not as sure as they sound. Labels say how much to
believe of each, never less than nothing, by a logistic regression that starts from a quarter of the
first and three quarters of the second, and takes more labels to turn to the third.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from hedgeclipper.game.multiclass_losses import MULTICLASS_LOSSES, row_sums, soft_maximum
from hedgeclipper.votes.agreement import find_agreement, prior_votes
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.knowledge import Knowledge, parted
from hedgeclipper.votes.vote_game import play, vote_table

KINDS = ("mixture", "majority")
FIRST_SHARES, VARIANCES = (0.25, 0.75, 0.0), (0.25, 0.25, 0.05)
TOL, MAX_ITER = 1e-4, 100
MOST_LOG_ODDS = 10.0
VARIANCE_OF_BIAS = 1.0


class Voice(NamedTuple):
    """What adds up to log-odds: so much for each class, and so much for each vote."""

    classes: np.ndarray
    votes: np.ndarray


@dataclass(frozen=True, eq=False)
class Opening:
    """A prediction to start from.

    Parameters
    ----------
    log_balance : ndarray of shape (n_classes,)
        Logarithms of the class frequencies, which rows without votes get.
    voices : tuple of Voice
        The plain vote, agreement, and labels alone; the first alone, or none of them.
    shares : tuple of float
        How much is believed of each.
    bias : ndarray of shape (n_classes,)
        Added for each class where there are votes.
    """

    log_balance: np.ndarray
    voices: tuple[Voice, ...] = ()
    shares: tuple[float, ...] = ()
    bias: np.ndarray | float = 0.0

    def log_probabilities(self, ballots: Ballots) -> np.ndarray:
        """Return the logarithm of the probability of each class for each row."""
        if not self.voices:
            return _even(ballots)
        scores = self._mixed(np.split(ballots.scores(self._tables), len(self.voices), axis=1))
        scores[ballots.n_votes == 0] = self.log_balance
        return scores - soft_maximum(scores)[0][:, None]

    def class_scores(self) -> np.ndarray:
        """Return what classes have before a vote is heard, on rows with votes."""
        nothing = np.zeros((1, self.log_balance.size))
        return self._mixed([nothing] * len(self.voices))[0] if self.voices else nothing[0]

    def _mixed(self, heard: list[np.ndarray]) -> np.ndarray:
        """Return the log-odds of all voices, each as far as it is believed; heard are the votes."""
        scores = np.zeros_like(heard[0]) + self.bias
        for share, voice, part in zip(self.shares, self.voices, heard, strict=True):
            scores += share * log_odds(voice.classes + part)
        return scores

    def vote_weights(self, shape: tuple[int, int, int]) -> np.ndarray:
        """Return what a voter's vote adds to the score of each class, by voter, vote and class."""
        table = np.zeros(shape)
        for share, voice in zip(self.shares, self.voices, strict=True):
            table += share * voice.votes
        return table

    @cached_property
    def _tables(self) -> np.ndarray:
        """Side by side, so that all voices are heard at once."""
        return np.concatenate([voice.votes for voice in self.voices], axis=2)


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
    kind : {"mixture", "majority"} or None
        From plain vote, agreement and labels, from the plain vote alone, or all classes alike.
    unlabeled, labeled : Ballots
        Votes on unlabeled and on labeled rows.
    codes : ndarray of shape (n_labeled,)
        Classes of the labeled rows.
    balance : ndarray of shape (n_classes,)
        Class frequencies.
    knowledge : Knowledge
        What labels say of voters on the unlabeled rows.
    """
    log_balance = np.log(balance)
    if kind is None:
        return Opening(log_balance)
    plain = plain_vote(unlabeled.shape, log_balance)
    voices, heard = [plain], [_hear(plain, labeled)]
    first: tuple[float, ...] = FIRST_SHARES if kind == "mixture" else (1.0,)
    if kind == "mixture":
        agreement = find_agreement(unlabeled, labeled, codes, balance)
        by_labels = _game_from_nothing(unlabeled, knowledge, codes.size)
        voices += [Voice(agreement.log_balance, agreement.weights), by_labels]
        heard += [agreement.scores_without_own(labeled, codes), _hear(by_labels, labeled)]
    voted = labeled.n_votes > 0
    shares, bias = _believe([log_odds(part[voted]) for part in heard], codes[voted], first)
    return Opening(log_balance, tuple(voices), shares, bias)


def _hear(voice: Voice, ballots: Ballots) -> np.ndarray:
    return voice.classes + ballots.scores(voice.votes)


def _even(ballots: Ballots) -> np.ndarray:
    """Return the logarithms of probabilities that are the same for all classes."""
    shape = ballots.n_rows, ballots.n_classes
    return np.full(shape, -np.log(ballots.n_classes), order="F")


def _game_from_nothing(ballots: Ballots, knowledge: Knowledge, n_labeled: int) -> Voice:
    found = play(
        ballots,
        knowledge,
        _even(ballots),
        MULTICLASS_LOSSES["log"],
        n_labeled=n_labeled,
        tol=TOL,
        max_iter=MAX_ITER,
    )
    classes = parted(found.weights, *ballots.shape[:2])[2]
    return Voice(classes, vote_table(found.weights, ballots.shape))


def plain_vote(shape: tuple[int, int, int], log_balance: np.ndarray) -> Voice:
    """Return the voice that counts votes, each as good as the prior's."""
    prior = prior_votes(shape[1])
    weights = np.log(prior) - np.log(prior.sum(axis=0))
    return Voice(log_balance, np.broadcast_to(weights, shape))


def log_odds(scores: np.ndarray) -> np.ndarray:
    """Return log-probabilities, less their mean in each row, and cut off."""
    odds = scores - row_sums(scores)[:, None] / scores.shape[1]
    return np.clip(odds, -MOST_LOG_ODDS, MOST_LOG_ODDS, out=odds)


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
        potential, predicted = soft_maximum(scores)
        excess, off = predicted - gold, shares - start
        value = potential.sum() - np.sum(gold * scores)
        value += off @ (off / variances) / 2 + bias @ bias / (2 * VARIANCE_OF_BIAS)
        slopes = np.sum(parts * excess, axis=(1, 2)) + off / variances
        return value, np.append(slopes, excess.sum(axis=0) + bias / VARIANCE_OF_BIAS)

    # votes for a class never speak against it, as long as no share is negative
    limits = [(0.0, None)] * start.size + [(None, None)] * n_classes
    first_guess = np.append(start, np.zeros(n_classes))
    found = minimize(loss, first_guess, jac=True, method="L-BFGS-B", bounds=limits)
    return tuple(found.x[: start.size].tolist()), found.x[start.size :]
