"""Losses of the game: potential, conjugate, smoothing and link of each.

A loss enters the game through its potential Psi (Balsubramani & Freund, NIPS 2016): the game's
objective is ``-sum c_i b_i theta_i + alpha * mean Psi(m_j)``, where m are the scores, and the
prediction is a function of m, the link. With two classes m is a number, the awake prediction, and
the adversary's label z lies in [-1, 1]; with more (`multiclass_losses`) m has an entry for each
class, and z is a distribution over them. Every potential is convex, its slopes are the labels z,
and it grows like ``size(m) = max over z of z . m``, which is abs(m) or the largest score.

Kinks. A piecewise linear potential has no slope at its kinks. Smoothed with width ``eps`` it is
quadratic within ``eps / 2`` of a kink and exact elsewhere, and never below the potential. At a
kink the smoothed slope lies halfway between the slopes beside it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import entr, expit


class Loss(ABC):
    """What the game needs to know of a loss, whatever the number of classes.

    Scores m, labels z and predictions g have a row for each row of the game: shape (n_rows,) for
    two classes, (n_rows, n_classes) for more. All other values have shape (n_rows,).
    """

    name: str
    is_smooth: bool

    @abstractmethod
    def reply(self, m: np.ndarray, eps: float) -> tuple[np.ndarray, np.ndarray | float, np.ndarray]:
        """Return Psi(m), what smoothing adds to it, and the slope of the sum, a label z.

        That is all that a pass needs. A smooth loss adds nothing, and its slope is the link:
        predictor and adversary agree.
        """

    def potential(self, m: np.ndarray) -> np.ndarray:
        """Return Psi(m)."""
        return self.reply(m, 1.0)[0]

    def smoothing(self, m: np.ndarray, eps: float) -> tuple[np.ndarray | float, np.ndarray]:
        """Return the same as `reply`, but for the potential."""
        return self.reply(m, eps)[1:]

    @abstractmethod
    def conjugate(self, z: np.ndarray) -> np.ndarray:
        """Return Psi*(z) = max over m of (z . m - Psi(m)), for labels z."""

    @abstractmethod
    def size(self, m: np.ndarray) -> np.ndarray:
        """Return the maximum of z . m over labels z, which Psi(m) approaches for large m."""

    @abstractmethod
    def link(self, m: np.ndarray) -> np.ndarray:
        """Return the prediction g that is minimax optimal at scores m."""

    @property
    def hedged_range(self) -> tuple[float, float]:
        """Scores between which the game hedges; infinite for a loss that never clips."""
        return -1.0, 1.0


class BinaryLoss(Loss):
    """A loss of predictions for two classes: m is the awake prediction, g and z in [-1, 1]."""

    def size(self, m: np.ndarray) -> np.ndarray:
        """Return abs(m)."""
        return np.abs(m)

    def link(self, m: np.ndarray) -> np.ndarray:
        """Return m clipped to [-1, 1]."""
        return np.clip(m, -1.0, 1.0)

    def awake_at(self, g: float, room: float = 0.0) -> float:
        """Return the m nearest 0 whose link, or `soft_link` with some room, is g."""
        if abs(g) > 1.0 - room:
            g = float(np.sign(g)) * (1.0 - 2.0 * room + room * room / (1.0 - abs(g)))
        return g

    def soft_link(self, m: np.ndarray, room: np.ndarray) -> np.ndarray:
        """Return the link of m, but strictly between -1 and 1 and strictly increasing.

        Within ``room`` of -1 and 1 it bends into an approach like 1 / m, so that probabilities keep
        the order of the awake predictions, however large those are, and do not claim certainty.
        """
        beyond = np.maximum(np.abs(m) - (1.0 - room), 0.0)
        tail = np.sign(m) * (1.0 - room * room / (room + beyond))
        return np.where(beyond > 0, tail, m)


@dataclass(frozen=True)
class ZeroOneLoss(BinaryLoss):
    """The paper's loss, the probability of an error: Psi(m) = max(1, abs(m)), kinks at -1 and 1."""

    name = "zero_one"
    is_smooth = False

    def reply(self, m, eps):
        """Return max(1, abs(m)), what rounding the kinks over the width eps adds, and z."""
        size = np.abs(m)
        inside = np.maximum(eps / 2.0 - np.abs(size - 1.0), 0.0)
        z = np.sign(m) * np.clip((size - 1.0) / eps + 0.5, 0.0, 1.0)
        return np.maximum(size, 1.0), inside * inside / (2.0 * eps), z

    def conjugate(self, z):
        """Return abs(z) - 1."""
        return np.abs(z) - 1.0


@dataclass(frozen=True)
class LogLoss(BinaryLoss):
    """Log loss: Psi(m) = 2 ln(1 + e^m) - m, and P(+) = sigmoid(m)."""

    name = "log"
    is_smooth = True

    def reply(self, m, eps):
        """Return ln(1 + e^m) + ln(1 + e^-m), which is Psi and even in m, 0, and the link."""
        return np.logaddexp(0.0, m) + np.logaddexp(0.0, -m), 0.0, self.link(m)

    def conjugate(self, z):
        """Return -2 H((1 + z) / 2), H the binary entropy in nats."""
        return -2.0 * (entr((1.0 + z) / 2.0) + entr((1.0 - z) / 2.0))

    def link(self, m):
        """Return tanh(m / 2) = 2 sigmoid(m) - 1."""
        return 2.0 * expit(m) - 1.0

    def awake_at(self, g, room=0.0):
        """Return 2 artanh(g), infinite for -1 and 1."""
        return 2.0 * float(np.arctanh(g))

    def soft_link(self, m, room):
        """Return the link itself, which never reaches 1."""
        return self.link(m)

    @property
    def hedged_range(self):
        """No bounds: it never clips."""
        return -np.inf, np.inf


@dataclass(frozen=True)
class SquareLoss(BinaryLoss):
    """Square loss ((1 - z g) / 2)^2: Psi(m) = (1 + m^2) / 2 inside [-1, 1], abs(m) outside."""

    name = "square"
    is_smooth = True

    def reply(self, m, eps):
        """Return (1 + m^2) / 2 inside [-1, 1] and abs(m) outside, 0, and m clipped."""
        inside = np.clip(m, -1.0, 1.0)
        return (1.0 + inside * inside) / 2.0 + np.abs(m) - np.abs(inside), 0.0, inside

    def conjugate(self, z):
        """Return (z^2 - 1) / 2."""
        return (z * z - 1.0) / 2.0


_BY_NAME = {loss.name: loss for loss in (ZeroOneLoss(), LogLoss(), SquareLoss())}


def resolve_loss(loss: str) -> BinaryLoss:
    """Return the loss of that name."""
    if not (isinstance(loss, str) and loss in _BY_NAME):
        raise ValueError(
            f"The 'loss' parameter must be one of {sorted(_BY_NAME)}. Got {loss!r} instead."
        )
    return _BY_NAME[loss]
