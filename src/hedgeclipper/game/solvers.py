"""The solvers: quasi-Newton steps in full passes, and a linear program for small games.

**Batch**: quasi-Newton steps on the smoothed slack, smoothed less and less. Each evaluation is one
pass and gives both sides of the game. Smoothing shrinks as soon as it, and not the optimizer,
accounts for most of the gap, and the gap is the stopping rule.

**Exact**, for small games with zero-one loss and without a ridge: the weights and the excess
max(abs(m) - 1, 0) of each row are the variables of a linear program, and the dual variables of its
constraints are the adversary's labels z. Everything is scaled so that a row counts as 1, since the
program takes small numbers for 0.

**Newton**, for the few numbers of a curve that is fitted to labels: mixture weights, a calibration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import fmin_l_bfgs_b, linprog

from hedgeclipper.game.equations import BothSides, Game, relative_gap
from hedgeclipper.game.losses import ZeroOneLoss


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution:
    """Weights that solve a game, how good they are, and why the solver stopped.

    Parameters
    ----------
    weights : ndarray of shape (n_voters,)
        theta; the scores of a row are the sum of the awake votes times these.
    slack : float
        -sum c_i b_i theta_i + alpha * mean (Psi(m) - Psi(0)) with the widths' term, at the weights.
    objective : float
        The slack and the anchor's term: what was minimized.
    duality_gap : float
        The objective is at most this much above its minimum.
    n_iter : int
        Passes of the solver over the rows; the first check of the votes is not counted.
    stop_reason : {"converged", "exact", "max_iter", "stalled"}
        Why the solver stopped; "stalled" where rounding errors leave a gap.
    """

    weights: np.ndarray
    slack: float
    objective: float
    duality_gap: float
    n_iter: int
    stop_reason: str


def store_games(estimator: Any, games: Sequence[Solution]) -> None:
    """Store the results that all estimators have, in arrays with an entry for each game."""
    estimator.slack_ = np.array([game.slack for game in games])
    estimator.duality_gap_ = np.array([game.duality_gap for game in games])
    estimator.n_iter_ = np.array([game.n_iter for game in games])
    estimator.stop_reason_ = np.array([game.stop_reason for game in games])


@dataclass
class Progress:
    """Keeps the best of both sides and tells when to stop.

    ``best`` is the evaluation with the lowest primal value, once there was a pass, and ``gap`` the
    best primal minus the best dual value. ``stop_reason`` is "" as long as there is none. ``eps``
    is the width of the smoothing and ``curvature`` that of the slack, as the solver last saw it.
    """

    tol: float
    max_iter: int
    eps: float = 0.3
    curvature: float = 1.0
    primal: float = np.inf
    dual: float = -np.inf
    gap: float = np.inf
    n_iter: int = 0
    stop_reason: str = ""
    best: BothSides = field(init=False)

    def add(self, evaluation: BothSides) -> None:
        """Take in the result of a pass."""
        if not (np.isfinite(evaluation.primal) or np.isfinite(self.primal)):
            raise ValueError(
                f"The objective of the game is not a finite number but {evaluation.primal}. Make "
                "cap, ridge, anchor and unlabeled_weight smaller, and the least participation "
                "larger."
            )
        self.n_iter += 1
        if evaluation.primal < self.primal:
            self.primal, self.best = evaluation.primal, evaluation
        self.dual = max(self.dual, evaluation.dual)
        self.gap = max(self.primal - self.dual, 0.0)
        if relative_gap(self.gap, self.primal) <= self.tol:
            self.stop_reason = "converged"
        elif self.n_iter >= self.max_iter:
            self.stop_reason = "max_iter"

    def solution(self, game: Game) -> Solution:
        """Return the best weights seen."""
        weights = self.best.theta.copy()
        weights.flags.writeable = False
        return Solution(
            weights=weights,
            slack=self.primal - game.terms.ridge_penalty(weights),
            objective=self.primal,
            duality_gap=self.gap,
            n_iter=self.n_iter,
            stop_reason=self.stop_reason,
        )


def solve_batch(game: Game, tol: float, max_iter: int) -> Solution:
    """Minimize the slack, starting at the anchor.

    Stages of L-BFGS-B, smoothed less when most of the gap is due to smoothing. Each weight needs a
    box or a ridge. It stops where the relative gap is at most ``tol``, or after ``max_iter``
    passes.
    """
    terms, progress, patience = game.terms, Progress(tol, max_iter), 12
    theta = np.clip(terms.anchor, terms.lower, terms.upper)
    while not progress.stop_reason:
        last, n_iter = _stage(game, progress, theta, patience)
        if progress.stop_reason:
            break
        theta = last.theta
        if last.smoothing_gap > last.weights_gap:
            # bring the gap due to smoothing to a third of the gap allowed
            excess = 3.0 * max(relative_gap(last.smoothing_gap, last.primal), 1e-300)
            progress.eps *= float(np.clip(progress.tol / excess, 0.1, 0.5))
        elif n_iter >= patience:
            patience *= 2
            # Where all rows are clipped the slack is linear and the optimum a corner of the box,
            # which quasi-Newton steps approach slowly; the best response to z is that corner.
            before = progress.primal
            response = game.evaluate(last.response, progress.eps)
            progress.add(response)
            theta = response.theta if response.primal < before else last.theta
        else:
            # no smoothing is left to take away from a smooth loss
            progress.eps = 0.0 if game.loss.is_smooth else progress.eps / 2
        if progress.eps < 1e-9:  # nothing but rounding is left
            progress.stop_reason = "stalled"
    return progress.solution(game)


class SplitWeights:
    """Variables for the optimizer: weights scaled by ``scale``, free signs split in two halves.

    A weight that may be negative becomes the difference of two nonnegative variables, so that its
    width term, a multiple of its size, is linear.
    """

    def __init__(self, lower: np.ndarray, upper: np.ndarray, scale: np.ndarray):
        self.scale, self.is_free = scale, lower < 0
        free = self.is_free
        lowest = np.concatenate([np.maximum(lower, 0.0) * scale, np.zeros(int(free.sum()))])
        highest = np.concatenate([upper * scale, -lower[free] * scale[free]])
        self.bounds = list(zip(lowest.tolist(), highest.tolist(), strict=True))

    def divide(self, theta: np.ndarray) -> np.ndarray:
        """Return the variables for theta."""
        scaled = theta * self.scale
        return np.concatenate([np.maximum(scaled, 0.0), np.maximum(-scaled[self.is_free], 0.0)])

    def join(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return theta and the sum of its two parts, which is abs(theta) at the optimum."""
        positive, negative = x[: self.scale.size], np.zeros(self.scale.size)
        negative[self.is_free] = x[self.scale.size :]
        return (positive - negative) / self.scale, (positive + negative) / self.scale

    def gradient(self, slope: np.ndarray, width: np.ndarray) -> np.ndarray:
        """Return the gradient with respect to the variables."""
        positive = (slope + width) / self.scale
        negative = (width - slope) / self.scale
        return np.concatenate([positive, negative[self.is_free]])


class _StageOver(Exception):
    """Raised inside the optimizer to leave it at once."""


def _stage(
    game: Game, progress: Progress, theta: np.ndarray, patience: int
) -> tuple[BothSides, int]:
    """Minimize the smoothed slack; return the last evaluation and how many there were.

    It ends when smoothing accounts for most of the gap, or after ``patience`` passes.
    """
    terms = game.terms
    scale = np.sqrt(game.specialists.coverage * progress.curvature)
    split = SplitWeights(terms.lower, terms.upper, scale)
    seen: list[BothSides] = []

    def smoothed_slack(x: np.ndarray) -> tuple[float, np.ndarray]:
        weights, size = split.join(x)
        result = game.evaluate(weights, progress.eps)
        progress.add(result)
        seen.append(result)
        mostly_smoothing = result.smoothing_gap > result.weights_gap
        if progress.stop_reason or mostly_smoothing or len(seen) >= patience:
            raise _StageOver
        pull = terms.curvature * (weights - terms.anchor)
        slope = result.vote_gradient - terms.linear_term + pull
        labels_part = terms.width @ size - terms.linear_term @ weights
        value = result.smoothed + terms.ridge_penalty(weights) + labels_part
        return value, split.gradient(slope, terms.width)

    with suppress(_StageOver):
        # not ``minimize``, which converts the bounds of many variables twice; that takes longer
        # than a pass
        fmin_l_bfgs_b(
            smoothed_slack,
            split.divide(theta),
            bounds=split.bounds,
            # of many voters a step in a longer memory takes longer than it saves in passes
            m=10 if terms.linear_term.size <= 5_000 else 5,
            factr=0.0,
            pgtol=0.0,
            maxiter=10**6,
            maxfun=10**9,
        )
    if len(seen) > 1:
        # The second derivative of the slack along the last step, per unit of coverage: in variables
        # scaled by its root the next stage's first step, along the gradient, has the right length.
        step = seen[-1].theta - seen[-2].theta
        slopes = seen[-1].vote_gradient - seen[-2].vote_gradient + terms.curvature * step
        length = float(game.specialists.coverage @ step**2)
        if length > 0 and slopes @ step > 0:
            progress.curvature = float(np.clip(slopes @ step / length, 1e-3, 1e3))
    return seen[-1], len(seen)


def solve_exact(game: Game, tol: float, max_iter: int) -> Solution:
    """Solve a game with zero-one loss and without a ridge as a linear program.

    `solve_batch` takes over, with ``tol`` and ``max_iter``, where the program has no solution,
    since its numbers differ too much in size.
    """
    if not isinstance(game.loss, ZeroOneLoss) or np.any(game.terms.curvature):
        raise ValueError("A linear program needs zero-one loss, and no ridge.")
    terms, alpha = game.terms, game.unlabeled_weight
    votes = sparse.vstack([sparse.csr_array(block) for block in game.specialists.blocks()])
    n, p = votes.shape
    split = SplitWeights(terms.lower, terms.upper, np.ones(p))
    columns, excess = sparse.hstack([votes, -votes.tocsc()[:, split.is_free]]), -sparse.eye_array(n)
    try:
        result = linprog(
            np.concatenate(
                [n * split.gradient(-terms.linear_term, terms.width), np.full(n, alpha)]
            ),
            A_ub=sparse.block_array([[columns, excess], [-columns, excess]], format="csr"),
            b_ub=np.ones(2 * n),
            bounds=[*split.bounds, *[(0.0, None)] * n],
        )
        is_solved = result.status == 0
    except ValueError:  # a number is infinite
        is_solved = False
    if not is_solved:
        return solve_batch(game, tol, max_iter)
    theta = np.clip(split.join(result.x[:-n])[0], terms.lower, terms.upper)
    above, below = result.ineqlin.marginals.reshape(2, n)
    z = np.clip((below - above) / alpha, -1.0, 1.0)
    progress = Progress(tol, max_iter)
    progress.add(replace(game.evaluate(theta, eps=1e-9), dual=game.dual_value(z)))
    is_exact = progress.gap <= 1e-6 * max(1.0, abs(progress.primal))
    progress.stop_reason = "exact" if is_exact else "stalled"
    return progress.solution(game)


def minimize_by_newton(
    evaluate: Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]],
    start: np.ndarray,
    *,
    lower: np.ndarray | float = -np.inf,
    is_fixed: np.ndarray | bool = False,
) -> np.ndarray:
    """Return the minimum of a smooth convex function of a few variables.

    ``evaluate`` returns its value, gradient and Hessian, or another positive definite matrix in the
    place of the latter. Steps are halved until the value falls. Variables stay at their ``lower``
    bound where they would go below it, and at ``start`` where they are fixed.
    """
    x, (value, slope, hessian) = start, evaluate(start)
    for _ in range(50):
        is_free = ((x > lower) | (slope < 0)) & ~np.asarray(is_fixed)
        step = np.zeros_like(x)
        step[is_free] = np.linalg.solve(hessian[np.ix_(is_free, is_free)], -slope[is_free])
        length, before = 1.0, value
        while length > 1e-9:
            tried = np.maximum(x + length * step, lower)
            value, slope, hessian = evaluate(tried)
            if value <= before:
                break
            length /= 2.0
        x = tried
        if before - value < 1e-9 * max(1.0, abs(value)):
            break
    return x
