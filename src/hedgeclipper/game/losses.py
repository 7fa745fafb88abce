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
    may_abstain: bool = False

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
    """A loss of predictions for two classes: m is the awake prediction, g and z in [-1, 1].

    The link is ``clip((m + link_shift) * link_scale, -1, 1)`` but for log loss.
    """

    link_shift: float = 0.0
    link_scale: float = 1.0

    def size(self, m: np.ndarray) -> np.ndarray:
        """Return abs(m)."""
        return np.abs(m)

    def link(self, m: np.ndarray) -> np.ndarray:
        """Return (m + link_shift) * link_scale, clipped to [-1, 1]."""
        return np.clip((m + self.link_shift) * self.link_scale, -1.0, 1.0)

    def awake_at(self, g: float, room: float = 0.0) -> float:
        """Return the m nearest 0 whose link, or `soft_link` with some room, is g."""
        if abs(g) > 1.0 - room:
            g = float(np.sign(g)) * (1.0 - 2.0 * room + room * room / (1.0 - abs(g)))
        return g / self.link_scale - self.link_shift

    def soft_link(self, m: np.ndarray, room: np.ndarray) -> np.ndarray:
        """Return the link of m, but strictly between -1 and 1 and strictly increasing.

        Within ``room`` of -1 and 1 it bends into an approach like 1 / m, so that probabilities keep
        the order of the awake predictions, however large those are, and do not claim certainty.
        """
        mean = (m + self.link_shift) * self.link_scale
        beyond = np.maximum(np.abs(mean) - (1.0 - room), 0.0)
        tail = np.sign(mean) * (1.0 - room * room / (room + beyond))
        return np.where(beyond > 0, tail, mean)

    @property
    def hedged_range(self) -> tuple[float, float]:
        """Awake predictions between which the link is strictly between -1 and 1."""
        with np.errstate(divide="ignore"):
            return float(self.awake_at(-1.0)), float(self.awake_at(1.0))


@dataclass(frozen=True)
class PiecewiseLinearLoss(BinaryLoss):
    """A loss whose potential is piecewise linear: zero-one, cost-weighted, abstention.

    ``kinks`` are where the slope changes, ascending, ``values`` is Psi there, and ``slopes`` are
    those of the pieces, one more than kinks. With ``may_abstain`` the size of the link is the
    probability of not abstaining.
    """

    name: str
    kinks: tuple[float, ...]
    values: tuple[float, ...]
    slopes: tuple[float, ...]
    link_shift: float = 0.0
    link_scale: float = 1.0
    may_abstain: bool = False
    is_smooth = False

    def reply(self, m, eps):
        """Return the largest of the pieces, what rounding kinks over the width eps adds, and z.

        The pieces are the lines through the kinks.
        """
        kinks, values = self.kinks[:1] + self.kinks, self.values[:1] + self.values
        pieces = zip(self.slopes, kinks, values, strict=True)
        lines = [slope * m + (value - slope * at) for slope, at, value in pieces]
        added, z = np.zeros_like(m), np.full_like(m, self.slopes[0])
        for kink, below, above in zip(self.kinks, self.slopes, self.slopes[1:], strict=False):
            distance = m - kink
            z += (above - below) * np.clip(distance / eps + 0.5, 0.0, 1.0)
            inside = np.maximum(eps / 2 - np.abs(distance), 0.0)
            added += (above - below) / (2 * eps) * inside * inside
        return np.maximum.reduce(lines), added, z

    def conjugate(self, z):
        """Return the largest of ``kink * z - Psi(kink)``."""
        lines = [kink * z - value for kink, value in zip(self.kinks, self.values, strict=True)]
        return np.maximum.reduce(lines)


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


def zero_one_loss() -> PiecewiseLinearLoss:
    """Return the paper's loss, the probability of an error: Psi(m) = max(1, abs(m))."""
    return PiecewiseLinearLoss("zero_one", (-1.0, 1.0), (1.0, 1.0), (-1.0, 0.0, 1.0))


# Psi(m) = abs(m), which every potential approaches for large m
ABSOLUTE_LOSS = PiecewiseLinearLoss("absolute", (0.0,), (0.0,), (-1.0, 1.0))


def cost_weighted_loss(positive: float, negative: float) -> PiecewiseLinearLoss:
    """Return zero-one loss with a cost for each kind of error.

    Use it where a missed positive is worse (or less bad) than a false alarm. Only the ratio of the
    costs matters for the predictions; with equal costs it is a multiple of zero-one loss.

    Parameters
    ----------
    positive : float
        Cost of an error on a row whose label is +, a false negative. Must be positive.
    negative : float
        Cost of an error on a row whose label is -, a false positive. Must be positive.

    Returns
    -------
    Loss
        To be passed as ``loss`` to `solve_game` or to an estimator.

    Examples
    --------
    >>> loss = cost_weighted_loss(positive=3.0, negative=1.0)
    >>> loss.link(np.array([-1.0, 0.0, 1.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    for name, cost in (("positive", positive), ("negative", negative)):
        if not (np.isfinite(cost) and cost > 0):
            raise ValueError(f"The cost '{name}' of an error must be positive. Got {cost!r}.")
    positive, negative = float(positive), float(negative)
    total = positive + negative
    return PiecewiseLinearLoss(
        f"cost_weighted({positive:g}, {negative:g})",
        kinks=(-positive, negative),
        values=(positive, negative),
        slopes=(-1.0, (negative - positive) / total, 1.0),
        link_shift=(positive - negative) / 2.0,
        link_scale=2.0 / total,
    )


def abstention_loss(cost: float) -> PiecewiseLinearLoss:
    """Return zero-one loss for a predictor that may abstain at a cost.

    The link g is the mean prediction: abs(g) is the probability of predicting at all, and its sign
    the prediction. Psi(m) = abs(m) + 2 cost max(1 - abs(m), 0).

    Parameters
    ----------
    cost : float
        Cost of abstaining, in (0, 1/2], where an error costs 1. A smaller cost means more
        abstentions; at 1/2 a coin toss costs as much, and it is zero-one loss.

    Returns
    -------
    Loss
        To be passed as ``loss`` to `solve_game` or to an estimator.
    """
    if not (isinstance(cost, (int, float, np.number)) and 0.0 < cost <= 0.5):
        raise ValueError(
            f"abstain_cost must lie in (0, 0.5]: above one half a coin toss is cheaper than "
            f"abstaining. Got {cost!r}."
        )
    slope = 1.0 - 2.0 * cost
    return PiecewiseLinearLoss(
        f"abstain({cost:g})",
        kinks=(-1.0, 0.0, 1.0),
        values=(1.0, 2.0 * cost, 1.0),
        slopes=(-1.0, -slope, slope, 1.0),
        may_abstain=True,
    )


_BY_NAME = {"zero_one": zero_one_loss, "log": LogLoss, "square": SquareLoss}


def resolve_loss(loss: str | Loss, abstain_cost: float | None = None) -> BinaryLoss:
    """Return the loss of that name, or the one given; ``abstain_cost`` makes it abstention."""
    if abstain_cost is not None:
        if not (isinstance(loss, str) and loss in ("zero_one", "abstain")):
            raise ValueError(
                f"abstain_cost belongs to zero-one loss. Got loss={loss!r}; leave out one of them."
            )
        return abstention_loss(abstain_cost)
    if isinstance(loss, BinaryLoss):
        return loss
    if loss == "abstain":
        raise ValueError("loss='abstain' needs the cost of abstaining: pass abstain_cost.")
    if not (isinstance(loss, str) and loss in _BY_NAME):
        raise ValueError(
            f"The 'loss' parameter must be one of {sorted([*_BY_NAME, 'abstain'])} or a Loss such "
            f"as cost_weighted_loss(3, 1). Got {loss!r} instead."
        )
    return _BY_NAME[loss]()
