"""Losses of predictions for several classes: scores m, labels z and predictions g are rows of K.

The adversary picks z, a distribution over the classes of each row. The best prediction against it
has the loss H(z), and Psi(m) = max over z of m . z + H(z), so that Psi*(z) = -H(z).

| loss | of a prediction g, where k is the class | H(z) | prediction at scores m |
|---|---|---|---|
| log | -log g_k | entropy | softmax(m) |
| square | half its squared distance from k | (1 - z . z) / 2 | nearest point of the simplex |
| zero-one | 1 - g_k | 1 - max z | [m + v]_+ with v such that they add up to 1 |

Without a loss, H = 0, the potential is the largest score.

Kinks. The potentials of zero-one loss and of none are the largest of finitely many numbers.
Smoothed with width ``eps`` they are eps * logsumexp(numbers / eps), which is never below the
largest, and too large by eps * log K at most.

Tables with a row for each row of the game and a column for each class have each column in one
piece (order "F"): sums and maxima of the rows are taken column by column, over all rows at once,
which is quick where columns are few and rows are many.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from scipy.special import entr

from hedgeclipper.game.losses import Loss

LEAST_LOG = -20.0


class MulticlassLoss(Loss):
    """A loss of predictions for several classes."""

    def scores(self, log_probabilities: np.ndarray) -> np.ndarray:
        """Return scores whose link is the prediction with these logarithms: the probabilities."""
        return np.exp(log_probabilities)

    def link(self, m):
        """Return the nearest point of the simplex: scores minus a level, at least 0."""
        level = row_maxima(_gains_of_largest(m)[1])
        return np.maximum(m - level[:, None], 0.0)

    def size(self, m):
        """Return the largest score."""
        return row_maxima(m)


class MulticlassLogLoss(MulticlassLoss):
    """Minus the logarithm of the probability of the class."""

    name = "log"
    is_smooth = True

    def scores(self, log_probabilities):
        """Return the logarithms, none below -20."""
        return np.maximum(log_probabilities, LEAST_LOG)

    def reply(self, m, eps):
        """Return logsumexp(m), 0 and softmax(m); the width plays no part."""
        potential, z = soft_maximum(m)
        return potential, 0.0, z

    def conjugate(self, z):
        """Return minus the entropy."""
        return -row_sums(entr(z))

    def link(self, m):
        """Return softmax(m)."""
        return soft_maximum(m)[1]

    @property
    def hedged_range(self):
        """No bounds: it never clips."""
        return -np.inf, np.inf


class MulticlassSquareLoss(MulticlassLoss):
    """Half the squared distance between prediction and class."""

    name = "square"
    is_smooth = True

    def reply(self, m, eps):
        """Return m . z + H(z) at the nearest point z of the simplex, 0, and that point."""
        z = self.link(m)
        return 0.5 + row_sums(m * z - 0.5 * z**2), 0.0, z

    def conjugate(self, z):
        """Return (z . z - 1) / 2."""
        return (row_sums(z * z) - 1.0) / 2.0


class MulticlassZeroOneLoss(MulticlassLoss):
    """The probability of an error, if one predicts at random by the prediction.

    The adversary's best z is uniform over the r classes of largest score, for the best r; smoothed,
    it is a mixture over r.
    """

    name = "zero_one"
    is_smooth = False

    def reply(self, m, eps):
        """Return 1 + the largest gain over r, what smoothing adds to it, and the mixture."""
        order, gains = _gains_of_largest(m)
        most, added, mixture = _smoothed_maximum(gains, eps)
        mixture /= np.arange(1, m.shape[1] + 1)
        z = np.empty_like(m)
        # a class is among the r largest for all r from its own rank on
        np.put_along_axis(z, order, np.cumsum(mixture[:, ::-1], axis=1)[:, ::-1], axis=1)
        return 1.0 + most, added, z

    def conjugate(self, z):
        """Return max z - 1."""
        return row_maxima(z) - 1.0


class LargestScore(MulticlassLoss):
    """Psi(m) = max m, which every potential approaches for large m."""

    name = "largest_score"
    is_smooth = False

    def reply(self, m, eps):
        """Return the largest score, what smoothing adds to it, and its slopes."""
        return _smoothed_maximum(m, eps)

    def conjugate(self, z):
        """Return 0."""
        return np.zeros(len(z))


MULTICLASS_LOSSES = {
    loss.name: loss
    for loss in (MulticlassLogLoss(), MulticlassSquareLoss(), MulticlassZeroOneLoss())
}


def _smoothed_maximum(values: np.ndarray, eps: float) -> tuple[np.ndarray, ...]:
    """Return the largest value of each row, what smoothing adds to it, and the slopes."""
    soft, slopes = soft_maximum(values / eps)
    most = row_maxima(values)
    return most, eps * soft - most, slopes


def _gains_of_largest(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of the scores, largest first, and m . z - max z for z uniform on r first."""
    order = np.argsort(-m, axis=1)
    sums = np.cumsum(np.take_along_axis(m, order, axis=1), axis=1)
    return order, (sums - 1.0) / np.arange(1, m.shape[1] + 1)


def row_sums(values: np.ndarray) -> np.ndarray:
    """Return the sum of each row, shape (n_rows,)."""
    return reduce(np.add, values.T)


def row_maxima(values: np.ndarray) -> np.ndarray:
    """Return the largest value of each row, shape (n_rows,)."""
    return reduce(np.maximum, values.T)


def row_favorites(values: np.ndarray) -> np.ndarray:
    """Return the column of the largest value of each row, the first of several; shape (n_rows,)."""
    best, favorites = values[:, 0], np.zeros(len(values), dtype=np.intp)
    for number in range(1, values.shape[1]):
        favorites[values[:, number] > best] = number
        best = np.maximum(best, values[:, number])
    return favorites


def soft_maximum(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return logsumexp of each row, and its slopes, the softmax."""
    most = row_maxima(scores)
    softmax = np.exp(scores - most[:, None])
    total = row_sums(softmax)
    softmax /= total[:, None]
    return most + np.log(total), softmax
