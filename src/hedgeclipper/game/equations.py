"""The game and its two sides: the slack to be minimized and the dual that bounds it from below.

The game sees voters only through their awake votes v_i(x) h_i(x) and their coverage c_i, the mean
of v_i: that is what `GameVoters` hand out.

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

Labels z with the given correlations exist if and only if no weights theta (>= 0 for one-sided
bounds) break sum c_i b_i theta_i - sum c_i eps_i abs(theta_i) <= mean abs(m_j). Weights that do
are a `Contradiction`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hedgeclipper.game.losses import Loss
from hedgeclipper.io import cut

# unlabeled rows that a game is solved on; of more, so many are drawn
ROWS_IN_GAME = 50_000


class GameVoters(Protocol):
    """What the game asks of its voters."""

    @property
    def n_samples(self) -> int:
        """Number of rows."""

    @property
    def coverage(self) -> np.ndarray:
        """Mean participation of each voter, shape (n_voters,), all positive."""

    def blocks(self) -> Iterator[Any]:
        """Yield the awake votes in blocks of rows that know ``block @ w`` and ``z @ block``.

        Scores ``block @ w`` and labels z have shape (rows,), or (rows, classes) with many classes.
        """


class VoteArray:
    """Votes of voters that never abstain, in one array that needs no check."""

    def __init__(self, votes: np.ndarray):
        self.votes = np.ascontiguousarray(votes, dtype=float)
        self.n_samples, self.coverage = len(votes), np.ones(votes.shape[1])

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the votes in blocks of rows."""
        return (self.votes[rows] for rows in cut(self.n_samples, self.votes))


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

    def best_response(self, gradient: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the theta that minimizes ``value(theta) + gradient @ theta`` in the box.

        The minimum comes with it. Where there is none, it is -inf and entries are infinite.
        """
        gain = self.linear_term - gradient
        reduced = np.sign(gain) * np.maximum(np.abs(gain) - self.width, 0.0)
        at_bound = np.where(reduced > 0, self.upper, np.where(reduced < 0, self.lower, 0.0))
        curved = self.curvature > 0
        safe = np.where(curved, self.curvature, 1.0)
        up = self.anchor + (gain - self.width) / safe
        down = self.anchor + (gain + self.width) / safe
        pulled = np.maximum(up, 0.0) + np.minimum(down, 0.0)
        theta = np.clip(np.where(curved, pulled, at_bound), self.lower, self.upper)
        if not np.all(np.isfinite(theta)):
            return theta, -np.inf
        return theta, self.value(theta) + float(gradient @ theta)


@dataclass(frozen=True, eq=False)
class Game:
    """Voters, what is known of them, the loss, and alpha (``unlabeled_weight``).

    ``baseline`` is the mean potential at which the slack is 0: Psi(0) in the paper.
    """

    specialists: GameVoters
    terms: WeightTerms
    loss: Loss
    baseline: float
    unlabeled_weight: float = 1.0

    def evaluate(self, theta: np.ndarray, eps: float) -> BothSides:
        """Take one pass over the rows and return both sides of the game at theta."""
        loss, terms = self.loss, self.terms
        potential = smoothed = row_gap = 0.0
        gradient = np.zeros(theta.size)
        for block in self.specialists.blocks():
            m = block @ theta
            values, added, z = loss.value_and_gradient(m, eps)
            total = float(values.sum())
            potential += total
            smoothed += total + float(np.sum(added))
            if not loss.is_smooth:  # else Psi(m) + Psi*(z) = z . m
                # not a dot product: BLAS takes threads for it, which cost more than they save
                row_gap += total + float(loss.conjugate(z).sum()) - float(np.sum(z * m))
            gradient += z @ block
        alpha, n = self.unlabeled_weight, self.specialists.n_samples
        gradient, own, base = alpha * gradient / n, terms.value(theta), alpha * self.baseline
        response, minimum = terms.best_response(gradient)
        primal, smoothing_gap = own + alpha * potential / n - base, alpha * row_gap / n
        weights_gap = own + float(gradient @ theta) - minimum
        return BothSides(
            theta=theta,
            primal=primal,
            dual=primal - smoothing_gap - weights_gap,
            smoothed=alpha * smoothed / n - base,
            vote_gradient=gradient,
            response=response,
            smoothing_gap=smoothing_gap,
            weights_gap=weights_gap,
        )

    def dual_value(self, z: np.ndarray) -> float:
        """Take one pass over the rows and return dual(z) for labels z, one per row."""
        sums, start = np.zeros(self.specialists.coverage.size), 0
        for block in self.specialists.blocks():
            sums += z[start : start + block.shape[0]] @ block
            start += block.shape[0]
        rows_part = self.unlabeled_weight / self.specialists.n_samples
        _, minimum = self.terms.best_response(rows_part * sums)
        conjugates = float(self.loss.conjugate(z).sum())
        return minimum - rows_part * conjugates - self.unlabeled_weight * self.baseline


@dataclass(frozen=True, eq=False)
class BothSides:
    """Both sides of the game at one theta.

    ``smoothed`` is the rows' part of the smoothed primal, ``vote_gradient`` its gradient, and
    ``response`` the best weights against it. ``primal - dual`` is ``smoothing_gap + weights_gap``.
    """

    theta: np.ndarray
    primal: float
    dual: float
    smoothed: float
    vote_gradient: np.ndarray
    response: np.ndarray
    smoothing_gap: float
    weights_gap: float


def relative_gap(gap: float, primal: float) -> float:
    """Return the gap relative to the size of the primal value, which counts as at least 0.001."""
    return gap / max(abs(primal), 1e-3)


@dataclass(frozen=True, eq=False)
class Contradiction:
    """Proof that no labels can have all the correlations that were given.

    Parameters
    ----------
    excess : float
        Every correlation has to be lowered (every interval widened) by at least this much.
    voters : ndarray of int, shape (n_needed,)
        Numbers of the voters with nine tenths of the weight in the proof, the heaviest first.
    proportions : ndarray of shape (n_needed,)
        Their proportions of that weight.
    """

    excess: float
    voters: np.ndarray
    proportions: np.ndarray

    def __str__(self) -> str:
        pairs = zip(self.voters, self.proportions, strict=True)
        parts = [f"voter {voter} ({p:.0%})" for voter, p in pairs]
        which = ", ".join(parts[:8]) + (", ..." if len(parts) > 8 else "")
        return (
            f"The correlations contradict each other: no labels of these rows can have all of "
            f"them, unless each is relaxed by {self.excess:.3g} or more. It shows in {which}."
        )


def find_contradiction(excess: float, load: np.ndarray) -> Contradiction | None:
    """Return the contradiction that weights theta prove, if they do.

    ``excess`` is their linear term less the mean of abs(m), ``load`` of shape (n_voters,) coverage
    times abs(theta). The test is scale-free: any multiple of theta proves the same; loss, alpha,
    box and anchor of the game have no part in it. An excess below a millionth is taken for
    rounding.
    """
    if excess <= 1e-6 * load.sum():
        return None
    proportions = load / load.sum()
    heaviest = np.argsort(-proportions, kind="stable")
    n_needed = int(np.searchsorted(np.cumsum(proportions[heaviest]), 0.9)) + 1
    voters = heaviest[:n_needed]
    return Contradiction(float(excess / load.sum()), voters, proportions[voters])
