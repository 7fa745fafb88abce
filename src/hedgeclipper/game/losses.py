"""Losses of the game: potential, conjugate and smoothing of each.

A loss enters the game through its potential Psi (Balsubramani & Freund, NIPS 2016): the game's
objective is ``-sum c_i b_i theta_i + alpha * mean Psi(m_j)``, where m are the scores. Every
potential is convex, and its slopes are the adversary's labels z.

**Two classes.** m is a number, the awake prediction, and z lies in [-1, 1]. The best prediction is
m clipped to [-1, 1], for both losses.

**More classes.** m has an entry for each class, and z is a distribution over them. The best
prediction against z has the loss H(z), and Psi(m) = max over z of m . z + H(z), so that
Psi*(z) = -H(z). With log loss H is the entropy, and softmax(m) the prediction. Without a loss,
H = 0, the potential is the largest score.

**Kinks.** A piecewise linear potential has no slope at its kinks. Smoothed with width ``eps`` that
of two classes is quadratic within ``eps / 2`` of a kink and exact elsewhere; at a kink the smoothed
slope lies halfway between the slopes beside it. That of more classes is the largest of finitely
many numbers, and smoothed it is eps * logsumexp(numbers / eps), too large by eps * log K at most.
Neither is ever below the potential.

Tables with a row for each row of the game and a column for each class have each column in one
piece (order "F"): sums and maxima of the rows are taken column by column, over all rows at once,
which is quick where columns are few and rows are many.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import reduce

import numpy as np
from scipy.special import entr


class Loss(ABC):
    """What the game needs to know of a loss, whatever the number of classes.

    Scores m and labels z have a row for each row of the game: shape (n_rows,) for two classes,
    (n_rows, n_classes) for more. All other values have shape (n_rows,).
    """

    is_smooth: bool

    @abstractmethod
    def value_and_gradient(
        self, m: np.ndarray, eps: float
    ) -> tuple[np.ndarray, np.ndarray | float, np.ndarray]:
        """Return Psi(m), what smoothing adds to it, and the gradient of the sum, a label z.

        That is all that a pass needs. A smooth loss adds nothing, and its gradient is the
        prediction: predictor and adversary agree.
        """

    def potential(self, m: np.ndarray) -> np.ndarray:
        """Return Psi(m)."""
        return self.value_and_gradient(m, 1.0)[0]

    @abstractmethod
    def conjugate(self, z: np.ndarray) -> np.ndarray:
        """Return Psi*(z) = max over m of (z . m - Psi(m)), for labels z."""


class ZeroOneLoss(Loss):
    """The paper's loss, the probability of an error: Psi(m) = max(1, abs(m)), kinks at -1 and 1."""

    is_smooth = False

    def value_and_gradient(self, m, eps):
        """Return max(1, abs(m)), what rounding the kinks over the width eps adds, and z."""
        size = np.abs(m)
        inside = np.maximum(eps / 2.0 - np.abs(size - 1.0), 0.0)
        z = np.sign(m) * np.clip((size - 1.0) / eps + 0.5, 0.0, 1.0)
        return np.maximum(size, 1.0), inside * inside / (2.0 * eps), z

    def conjugate(self, z):
        """Return abs(z) - 1."""
        return np.abs(z) - 1.0


class SquareLoss(Loss):
    """Square loss ((1 - z g) / 2)^2: Psi(m) = (1 + m^2) / 2 inside [-1, 1], abs(m) outside."""

    is_smooth = True

    def value_and_gradient(self, m, eps):
        """Return (1 + m^2) / 2 inside [-1, 1] and abs(m) outside, 0, and m clipped."""
        inside = np.clip(m, -1.0, 1.0)
        return (1.0 + inside * inside) / 2.0 + np.abs(m) - np.abs(inside), 0.0, inside

    def conjugate(self, z):
        """Return (z^2 - 1) / 2."""
        return (z * z - 1.0) / 2.0


class LogLoss(Loss):
    """Minus the logarithm of the probability of the class, for any number of classes."""

    is_smooth = True

    def value_and_gradient(self, m, eps):
        """Return logsumexp(m), 0 and softmax(m); the width plays no part."""
        potential, z = soft_maximum(m)
        return potential, 0.0, z

    def conjugate(self, z):
        """Return minus the entropy."""
        return -row_sums(entr(z))


class LargestScore(Loss):
    """Psi(m) = max m over the classes, which every potential approaches for large m."""

    is_smooth = False

    def value_and_gradient(self, m, eps):
        """Return the largest score, what smoothing adds to it, and its slopes."""
        soft, slopes = soft_maximum(m / eps)
        most = row_maxima(m)
        return most, eps * soft - most, slopes

    def conjugate(self, z):
        """Return 0."""
        return np.zeros(len(z))


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
