"""The batch solver: quasi-Newton steps on the smoothed slack, smoothed less and less.

Each evaluation is one pass and gives both sides of the game. Smoothing shrinks as soon as it, and
not the optimiser, accounts for most of the gap, and the gap is the stopping rule.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import minimize

from hedgeclipper.game.equations import Evaluation, Game, relative_gap, scale_of
from hedgeclipper.game.terms import SplitWeights

FIRST_WIDTH = 0.3
SMALLEST_WIDTH = 1e-9
FIRST_PATIENCE = 12
ROWS_FOR_START = 20_000
REACHES = (10.0, 100.0, 1_000.0)


@dataclass(frozen=True)
class PassRecord:
    """The best primal and the best dual value known after a pass."""

    n_passes: int
    primal: float
    dual: float


@dataclass
class Progress:
    """Keeps the best of both sides and says when to stop."""

    tol: float
    max_passes: int
    report: Callable[[PassRecord, Evaluation], None] | None = None
    theta: np.ndarray | None = None
    primal: float = np.inf
    dual: float = -np.inf
    n_passes: int = 0
    history: list[PassRecord] = field(default_factory=list)

    @property
    def gap(self) -> float:
        """Best primal less best dual, never negative but for rounding."""
        return max(self.primal - self.dual, 0.0)

    @property
    def is_converged(self) -> bool:
        """Whether the relative gap is within tol."""
        return relative_gap(self.gap, self.primal) <= self.tol

    @property
    def is_over(self) -> bool:
        """Whether to stop, for either reason."""
        return self.is_converged or self.n_passes >= self.max_passes

    def add(self, evaluation: Evaluation) -> None:
        """Take in the result of a pass."""
        self.n_passes += 1
        if evaluation.primal < self.primal:
            self.primal, self.theta = evaluation.primal, evaluation.theta.copy()
        self.dual = max(self.dual, evaluation.dual)
        record = PassRecord(self.n_passes, self.primal, self.dual)
        self.history.append(record)
        if self.report is not None:
            self.report(record, evaluation)

    def restart(self) -> None:
        """Forget both bounds (the game has changed) but not the weights or the count."""
        self.primal, self.dual = np.inf, -np.inf


def solve_batch(game: Game, progress: Progress, theta: np.ndarray) -> str:
    """Minimise the slack from ``theta`` on; the result is in ``progress``.

    Returns why it stopped: "converged", "max_passes", "stalled" or "unbounded".
    """
    if game.is_boxed:
        return _descend(game, progress, theta, FIRST_WIDTH)
    for reach in REACHES:
        progress.restart()
        reason = _descend(game.within(reach), progress, theta, FIRST_WIDTH)
        assert progress.theta is not None
        theta = progress.theta
        if runs_away(game, theta):
            return "unbounded"
        if reason != "converged" or np.max(np.abs(theta)) < reach / 2:
            break
    return reason


def runs_away(game: Game, theta: np.ndarray) -> bool:
    """Return whether the slack falls for ever along theta: edge > alpha * mean abs(m)."""
    if np.any(game.terms.curvature > 0):
        return False
    total = sum(float(np.abs(block @ theta).sum()) for block in game.specialists.blocks())
    cost = game.unlabeled_weight * total / game.specialists.n_samples
    return -game.terms.slack(theta) > cost * (1 + 1e-9) + 1e-12


def warm_start(game: Game, theta: np.ndarray, tol: float) -> np.ndarray:
    """Return weights that are good for a sample of the rows, where there are many more of them."""
    wanted = max(ROWS_FOR_START, 20 * game.specialists.n_voters)
    stride = game.specialists.n_samples // wanted
    sample = game.specialists.thinned(stride) if stride >= 8 and game.is_boxed else None
    if sample is None:
        return theta
    thin = replace(game, specialists=sample)
    progress = Progress(tol, max_passes=50)
    _descend(thin, progress, theta, FIRST_WIDTH)
    assert progress.theta is not None
    return progress.theta


def _descend(game: Game, progress: Progress, theta: np.ndarray, eps: float) -> str:
    """Run stages of L-BFGS-B, smoothing less when smoothing is most of what is left."""
    patience = FIRST_PATIENCE
    while True:
        last, n_passes = _stage(game, progress, theta, eps, patience)
        if progress.is_converged:
            return "converged"
        if progress.n_passes >= progress.max_passes:
            return "max_passes"
        theta = last.theta
        if last.smoothing_gap > last.weights_gap:
            eps *= _shrinkage(last, progress)
        elif n_passes >= patience:
            patience *= 2
            theta = _better_response(game, progress, last, eps)
        elif game.loss.is_smooth:
            return "stalled"
        else:
            eps /= 2
        if eps < SMALLEST_WIDTH:
            return "stalled"


def _better_response(game: Game, progress: Progress, last: Evaluation, eps: float) -> np.ndarray:
    """Return the best weights against the latest z if they beat all so far, else the latest ones.

    Where all rows are clipped the slack is linear and the optimum a corner of the box, which
    quasi-Newton steps approach slowly; the best response is that corner.
    """
    best = progress.primal
    response = game.evaluate(game.terms.minimiser(last.tilt), eps)
    progress.add(response)
    return response.theta if response.primal < best else last.theta


def _shrinkage(last: Evaluation, progress: Progress) -> float:
    """Return the factor that brings what smoothing costs to a third of the gap allowed."""
    allowed = progress.tol * scale_of(last.primal)
    return float(np.clip(allowed / (3.0 * max(last.smoothing_gap, 1e-300)), 0.1, 0.5))


class _StageOver(Exception):
    """Raised inside the optimiser to leave it at once."""


def _stage(
    game: Game, progress: Progress, theta: np.ndarray, eps: float, patience: int
) -> tuple[Evaluation, int]:
    """Minimise the slack smoothed with eps; return the last evaluation and how many there were.

    It ends when smoothing accounts for most of the gap, or after ``patience`` passes.
    """
    terms = game.terms
    split = SplitWeights(terms.lower, terms.upper, np.sqrt(game.specialists.coverage))
    seen: list[Evaluation] = []

    def smoothed_slack(x: np.ndarray) -> tuple[float, np.ndarray]:
        weights = split.join(x)
        result = game.evaluate(weights, eps)
        progress.add(result)
        seen.append(result)
        mostly_smoothing = result.smoothing_gap > result.weights_gap
        if progress.is_over or mostly_smoothing or len(seen) >= patience:
            raise _StageOver
        slope = result.tilt - terms.edge + terms.curvature * (weights - terms.anchor)
        labels_share = terms.width @ split.size(x) - terms.edge @ weights
        value = result.smoothed + terms.pull(weights) + labels_share
        return value, split.gradient(slope, terms.width)

    with suppress(_StageOver):
        minimize(
            smoothed_slack,
            split.divide(theta),
            jac=True,
            method="L-BFGS-B",
            bounds=split.bounds,
            options={"maxcor": 20, "maxiter": 10**6, "maxfun": 10**9, "ftol": 0.0, "gtol": 0.0},
        )
    return seen[-1], len(seen)
