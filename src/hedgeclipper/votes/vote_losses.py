"""Losses of predictions for several classes, as a game needs them.

The adversary picks z, a distribution over classes for each row, and earns the loss of the best
answer to it, H(z); scores s pay it for z. Its reply to scores and what it then has,

    potential(s) = max over z of s . z + H(z),

are all that a game needs. ``scores`` are such that a game in which nothing is known beyond them
returns the prediction they were made of.

| loss | of a prediction g, where k is the class | H(z) | prediction for scores s |
|---|---|---|---|
| log | -log g_k | entropy | softmax(s) |
| square | half its squared distance from k | (1 - z . z) / 2 | nearest point of the simplex |
| zero-one | 1 - g_k | 1 - max z | [s + v]_+ with v such that they add up to 1 |
"""

from __future__ import annotations

import numpy as np

from hedgeclipper.votes.short_rows import row_sums, soft_maximum

LEAST_LOG = -20.0
SMALLEST = 1e-3


class VoteLoss:
    """A loss of predictions for several classes."""

    name: str

    def scores(self, log_probabilities: np.ndarray) -> np.ndarray:
        """Return scores that stand for a prediction."""
        raise NotImplementedError

    def reply(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what the adversary has on each row, and its z, for some scores."""
        raise NotImplementedError

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the prediction, a distribution over the classes of each row."""
        raise NotImplementedError


class LogLoss(VoteLoss):
    """Minus the logarithm of the probability of the class."""

    name = "log"

    def scores(self, log_probabilities):
        """Return the logarithms."""
        return np.maximum(log_probabilities, LEAST_LOG)

    def reply(self, scores):
        """Return the log-sum and the softmax."""
        return soft_maximum(scores)

    def predict(self, scores):
        """Return the softmax."""
        return soft_maximum(scores)[1]


class SquareLoss(VoteLoss):
    """Half the squared distance between prediction and class."""

    name = "square"

    def scores(self, log_probabilities):
        """Return the probabilities."""
        return np.exp(log_probabilities)

    def reply(self, scores):
        """Return what the nearest point of the simplex earns, and that point."""
        z = _nearest(scores)
        return 0.5 + row_sums(scores * z - 0.5 * z**2), z

    def predict(self, scores):
        """Return the nearest point of the simplex."""
        return _nearest(scores)


class ZeroOneLoss(VoteLoss):
    """The probability of answering wrong, if one answers at random by the prediction.

    The adversary's best z is even over the r classes of largest score for some r, which jumps; here
    it is a mixture over r, so that the potential is smooth, and too large by a thousandth of
    log n_classes at most.
    """

    name = "zero_one"

    def scores(self, log_probabilities):
        """Return the probabilities."""
        return np.exp(log_probabilities)

    def reply(self, scores):
        """Return the smoothed potential, and the adversary's mixture."""
        order, earned = _by_number_of_classes(scores)
        potential, mixture = soft_maximum(earned / SMALLEST)
        mixture /= np.arange(1, scores.shape[1] + 1)
        z = np.empty_like(scores)
        # a class is among the r largest for all r from its own rank on
        np.put_along_axis(z, order, np.cumsum(mixture[:, ::-1], axis=1)[:, ::-1], axis=1)
        return 1.0 + SMALLEST * potential, z

    def predict(self, scores):
        """Return the parts of the scores above a level, chosen so that they add up to 1."""
        return _nearest(scores)


LOSSES = {loss.name: loss for loss in (LogLoss(), SquareLoss(), ZeroOneLoss())}


def _by_number_of_classes(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of the scores, largest first, and what an even z over the first r earns."""
    order = np.argsort(-scores, axis=1)
    sums = np.cumsum(np.take_along_axis(scores, order, axis=1), axis=1)
    return order, (sums - 1.0) / np.arange(1, scores.shape[1] + 1)


def _nearest(scores: np.ndarray) -> np.ndarray:
    """Return the nearest point of the simplex: scores above a level, less that level."""
    level = _by_number_of_classes(scores)[1].max(axis=1, keepdims=True)
    return np.maximum(scores - level, 0.0)
