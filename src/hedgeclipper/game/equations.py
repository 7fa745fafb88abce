"""The game and its two sides: the slack to be minimized and the dual that bounds it from below.

In the variables of this package, theta_i = sigma_i / c_i in the paper's letters,

    m_j       = sum_i v_i(x_j) h_i(x_j) theta_i                                  awake prediction
    terms_i   = -c_i b_i theta_i + c_i eps_i abs(theta_i)
                + (ridge / 2) c_i (theta_i - anchor_i)^2,   lower <= theta_i <= upper
    primal    = sum_i terms_i(theta_i) + alpha * mean_j (Psi(m_j) - Psi(0))      paper, eq. (slack)
    dual(z)   = min_theta [terms(theta) + alpha * theta . mean_j z_j v h]
                - alpha * mean_j (Psi*(z_j) + Psi(0)),   z in [-1, 1]^n.

The terms depend on the weights alone: a voter's correlation with the labels, the width eps
within which it is known, and the ridge around an anchor, the majority vote for instance. The box
is what the adversary pays for breaking a constraint. For zero-one loss Psi(m) - Psi(0) is the
paper's hinge max(abs(m) - 1, 0). With K classes m_j, z_j and v h have K entries each, z_j is a
distribution over the classes, and z_j v h is a scalar product; all else is the same. The scores m
may have an offset, which blocks of rows add to them, and Psi(0) may be another baseline. For every
theta in the box and every z, dual(z) <= minimum <= primal(theta). With z the slope of the smoothed
potential at m, the difference is the sum of two parts that are never negative: the gap due to
smoothing (a sum over rows) and the gap due to the weights (a sum over voters).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.game.losses import Loss
from hedgeclipper.game.specialists import Specialists, signed_sums


@dataclass(frozen=True, eq=False)
class WeightTerms:
    """Coefficients of the terms of the weights, arrays of length n_voters.

    ``linear_term`` is c_i b_i, ``width`` c_i eps_i (0 where b is a one-sided bound), ``curvature``
    ridge times c_i, the strength of the ``anchor``; ``lower`` and ``upper`` are the box, infinite
    where there is none.
    """

    linear_term: np.ndarray
    width: np.ndarray
    curvature: np.ndarray
    anchor: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(
        cls,
        coverage: np.ndarray,
        b: np.ndarray,
        *,
        ridge: float = 0.0,
        anchor: np.ndarray | float = 0.0,
        lower: np.ndarray | float = 0.0,
        upper: np.ndarray | float = np.inf,
    ) -> WeightTerms:
        """Return the terms of voters with this coverage c and one-sided bounds b.

        One number holds for all voters.
        """
        zeros = np.zeros(coverage.size)
        own = (zeros + part for part in (ridge * coverage, anchor, lower, upper))
        return cls(coverage * b, zeros, *own)

    def slack(self, theta: np.ndarray) -> float:
        """Return -sum linear_term theta + sum width abs(theta), the labels' part of the slack."""
        return float(self.width @ np.abs(theta) - self.linear_term @ theta)

    def ridge_penalty(self, theta: np.ndarray) -> float:
        """Return the anchor's term."""
        return float(self.curvature @ (theta - self.anchor) ** 2) / 2.0

    def value(self, theta: np.ndarray) -> float:
        """Return the sum of all terms."""
        return self.slack(theta) + self.ridge_penalty(theta)

    def slope(self, theta: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """Return the gradient of ``value(theta) + gradient @ theta`` without the width's term."""
        return gradient - self.linear_term + self.curvature * (theta - self.anchor)

    def minimizer(self, gradient: np.ndarray) -> np.ndarray:
        """Return the theta that minimizes ``value(theta) + gradient @ theta`` in the box.

        Entries are infinite where there is no minimum.
        """
        gain = self.linear_term - gradient
        reduced = np.sign(gain) * np.maximum(np.abs(gain) - self.width, 0.0)
        at_bound = np.where(reduced > 0, self.upper, np.where(reduced < 0, self.lower, 0.0))
        curved = self.curvature > 0
        safe = np.where(curved, self.curvature, 1.0)
        up = self.anchor + (gain - self.width) / safe
        down = self.anchor + (gain + self.width) / safe
        pulled = np.maximum(up, 0.0) + np.minimum(down, 0.0)
        return np.clip(np.where(curved, pulled, at_bound), self.lower, self.upper)

    def minimum(self, gradient: np.ndarray) -> float:
        """Return the minimum of ``value(theta) + gradient @ theta`` over the box, or -inf."""
        theta = self.minimizer(gradient)
        if not np.all(np.isfinite(theta)):
            return -np.inf
        return self.value(theta) + float(gradient @ theta)


@dataclass(frozen=True, eq=False)
class Game:
    """Voters, what is known of them, the loss, and alpha (``unlabeled_weight``).

    ``baseline``: the mean potential at which the slack is 0; None is Psi(0).
    """

    specialists: Specialists
    terms: WeightTerms
    loss: Loss
    unlabeled_weight: float = 1.0
    baseline: float | None = None

    @property
    def base(self) -> float:
        """The baseline of the rows' part of the slack."""
        if self.baseline is None:
            return self.unlabeled_weight * float(self.loss.potential(np.zeros(1))[0])
        return self.unlabeled_weight * self.baseline

    def evaluate(self, theta: np.ndarray, eps: float) -> Evaluation:
        """Take one pass over the rows and return both sides of the game at theta."""
        totals, gradient = np.zeros(5), np.zeros(theta.size)
        for block in self.specialists.blocks():
            of_rows, of_voters = block_sums(block, theta, self.loss, eps)
            totals += of_rows
            gradient += of_voters
        potential, smoothed, row_gap, excess, size = totals.tolist()
        alpha, n, terms = self.unlabeled_weight, self.specialists.n_samples, self.terms
        gradient, own, base = alpha * gradient / n, terms.value(theta), self.base
        primal = own + alpha * potential / n - base
        smoothing_gap = alpha * row_gap / n
        weights_gap = own + float(gradient @ theta) - terms.minimum(gradient)
        return Evaluation(
            theta=theta,
            primal=primal,
            dual=primal - smoothing_gap - weights_gap,
            smoothed=alpha * smoothed / n - base,
            vote_gradient=gradient,
            smoothing_gap=smoothing_gap,
            weights_gap=weights_gap,
            mean_potential=potential / n,
            mean_excess=excess / n,
            mean_size=size / n,
        )


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Both sides of the game at one theta.

    ``smoothed`` is the rows' part of the smoothed primal, ``vote_gradient`` its gradient, and
    ``primal - dual`` is ``smoothing_gap + weights_gap``. Worst cases are computed from the means
    over the rows of Psi(m), of max(size - 1, 0) and of size, which is abs(m) with two classes.
    """

    theta: np.ndarray
    primal: float
    dual: float
    smoothed: float
    vote_gradient: np.ndarray
    smoothing_gap: float
    weights_gap: float
    mean_potential: float
    mean_excess: float
    mean_size: float


def dual_value(game: Game, z: np.ndarray) -> float:
    """Return dual(z) for labels z, one per row."""
    alpha, n = game.unlabeled_weight, game.specialists.n_samples
    gradient = alpha * signed_sums(game.specialists, z) / n
    conjugates = float(game.loss.conjugate(z).sum())
    return game.terms.minimum(gradient) - alpha * conjugates / n - game.base


def block_sums(
    block: Any, theta: np.ndarray, loss: Loss, eps: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return sums over one block of rows: five of the rows themselves, and one for each voter.

    Those of Psi(m), of smoothed Psi(m), of the Fenchel-Young gap Psi(m) + Psi*(z) - z . m at the
    smoothed slope z (0 where the potential is smooth), of max(size - 1, 0) and of size; and for
    each voter that of z v h.
    """
    m = block @ theta
    potential, added, z = loss.value_and_gradient(m, eps)
    size, total, gap = loss.size(m), float(potential.sum()), 0.0
    if not loss.is_smooth:
        # not a dot product: BLAS takes threads for it, which cost more than they save
        gap = total + float(loss.conjugate(z).sum()) - float(np.sum(z * m))
    excess = np.maximum(size - 1.0, 0.0).sum()
    return np.array([total, total + np.sum(added), gap, excess, size.sum()]), z @ block


def relative_gap(gap: float, primal: float) -> float:
    """Return the gap relative to the size of the primal value, which counts as at least 0.001."""
    return gap / max(abs(primal), 1e-3)
