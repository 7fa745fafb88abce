"""The solvers: quasi-Newton steps in full passes, the paper's stochastic steps, a linear program.

**Batch**: quasi-Newton steps on the smoothed slack, smoothed less and less. Each evaluation is one
pass and gives both sides of the game. Smoothing shrinks as soon as it, and not the optimizer,
accounts for most of the gap, and the gap is the stopping rule.

**Exact**, for small problems with zero-one loss and as the reference: the adversary picks labels z
to maximize the dual. Each z_j is the difference of two variables in [0, 1], which cost the same;
r_i = b_i - alpha mean z v h / c_i is the residual of voter i's constraint on the
rows it is awake on, and y_i the value of the weights against it: at least
r_i theta - own terms / c_i at every theta of the box that is listed as a point. Without an anchor
the corners of the box and 0 suffice; with one, points are added where the square is touched. The
dual variables of the equations for r are the weights. Everything is scaled so that a row counts as
1, since the solver takes small numbers for 0.

**Stream**: projected minibatch AdaGrad, then full passes. Every voter has its own step, so that
rare specialists move as fast as common ones, and the box keeps the weights where the problem is
well-posed. Memory is a few vectors of length n_voters and one batch of rows.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import OptimizeResult, fmin_l_bfgs_b, linprog

from hedgeclipper.game.equations import Evaluation, Game, dual_value, relative_gap
from hedgeclipper.game.losses import ZeroOneLoss
from hedgeclipper.game.solution import REACH, Progress

MEMORY, MEMORY_OF_MANY, MANY_VOTERS = 10, 5, 5_000
SMALLEST_WIDTH = 1e-9
FIRST_PATIENCE = 12
ROWS_FOR_START, LEAST_STRIDE = 20_000, 16
FEW_ROWS, ENOUGH_ROWS = 1, 10
FIRST_REACH = 10.0
UNBOUNDED_REACH = 10.0
EXACT = 1e-6
SOLVED, INFEASIBLE = 0, 2
STEP = 0.1
MINIBATCH = 1024
SMOOTHING = 0.1
STOCHASTIC_PASSES = 2
SGD_PASSES = 10
PAPER_STEP = 1e-2
UNSMOOTHED = 1e-9


def solve_batch(game: Game, progress: Progress, theta: np.ndarray) -> str:
    """Minimize the slack from ``theta`` on; the result is in ``progress``.

    Returns why it stopped: "converged", "max_iter", "stalled", "unbounded", or "at_reach" where
    weights without a cap have grown to ``REACH``.
    """
    if game.is_boxed:
        return _descend(game, progress, theta)
    _descend(game.within(FIRST_REACH), progress, theta)
    near = progress.best
    if runs_away(game, near):
        return "unbounded"
    if progress.n_iter >= progress.max_iter:
        return "max_iter"
    progress.restart()
    reason = _descend(game.within(REACH), progress, near.theta)
    if runs_away(game, progress.best):
        return "unbounded"
    return "at_reach" if np.max(np.abs(progress.best.theta)) >= REACH else reason


def runs_away(game: Game, evaluation: Evaluation) -> bool:
    """Return whether the slack falls without end along theta: edge > alpha * mean abs(m)."""
    if np.any(game.terms.curvature > 0):
        return False
    cost = game.unlabeled_weight * evaluation.mean_size
    return -game.terms.slack(evaluation.theta) > cost * (1 + 1e-9) + 1e-12


def warm_start(game: Game, progress: Progress, theta: np.ndarray) -> np.ndarray:
    """Return weights found on a sample of the rows, where there are many more of them.

    How they do on all rows, the smoothing they needed, and the curvature are in ``progress``. From
    there one step is taken on all rows, even if the gap is small enough already, so that less
    depends on the sample; mostly there is no more to do.
    """
    n_samples, n_voters = game.specialists.n_samples, game.specialists.n_voters
    stride = max(LEAST_STRIDE, n_samples // max(ROWS_FOR_START, ENOUGH_ROWS * n_voters))
    if not game.is_boxed or n_samples // stride < max(ROWS_FOR_START, FEW_ROWS * n_voters):
        return theta
    sample = game.specialists.thinned(stride)
    if sample is None:
        return theta
    on_sample = Progress(progress.tol, max_iter=min(50, progress.max_iter))
    _descend(replace(game, specialists=sample), on_sample, theta)
    theta = on_sample.best.theta
    progress.eps, progress.curvature = on_sample.eps, on_sample.curvature
    seen = game.evaluate(theta, progress.eps)
    progress.add(seen)
    if progress.n_iter >= progress.max_iter:
        return theta
    step = 1.0 / (game.specialists.coverage * progress.curvature)
    stepped = game.terms.descend(theta, game.terms.slope(theta, seen.tilt), step)
    progress.add(game.evaluate(stepped, progress.eps))
    return progress.best.theta


def _descend(game: Game, progress: Progress, theta: np.ndarray) -> str:
    """Run stages of L-BFGS-B; smooth less when most of the gap is due to smoothing."""
    patience = FIRST_PATIENCE
    while not progress.is_over:
        last, n_iter = _stage(game, progress, theta, patience)
        if progress.is_over:
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
            response = game.evaluate(game.terms.minimizer(last.tilt), progress.eps)
            progress.add(response)
            theta = response.theta if response.primal < before else last.theta
        elif game.loss.is_smooth:
            return "stalled"
        else:
            progress.eps /= 2
        if progress.eps < SMALLEST_WIDTH:
            return "stalled"
    return "converged" if progress.is_converged else "max_iter"


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
) -> tuple[Evaluation, int]:
    """Minimize the smoothed slack; return the last evaluation and how many there were.

    It ends when smoothing accounts for most of the gap, or after ``patience`` passes.
    """
    terms = game.terms
    scale = np.sqrt(game.specialists.coverage * progress.curvature)
    split = SplitWeights(terms.lower, terms.upper, scale)
    memory = MEMORY if terms.edge.size <= MANY_VOTERS else MEMORY_OF_MANY
    seen: list[Evaluation] = []

    def smoothed_slack(x: np.ndarray) -> tuple[float, np.ndarray]:
        weights, size = split.join(x)
        result = game.evaluate(weights, progress.eps)
        progress.add(result)
        seen.append(result)
        mostly_smoothing = result.smoothing_gap > result.weights_gap
        if progress.is_over or mostly_smoothing or len(seen) >= patience:
            raise _StageOver
        slope = terms.slope(weights, result.tilt)
        labels_part = terms.width @ size - terms.edge @ weights
        value = result.smoothed + terms.pull(weights) + labels_part
        return value, split.gradient(slope, terms.width)

    with suppress(_StageOver):
        # not ``minimize``, which converts the bounds of many variables twice; that takes longer
        # than a pass
        fmin_l_bfgs_b(
            smoothed_slack,
            split.divide(theta),
            bounds=split.bounds,
            m=memory,
            factr=0.0,
            pgtol=0.0,
            maxiter=10**6,
            maxfun=10**9,
        )
    if len(seen) > 1:
        # The second derivative of the slack along the last step, per unit of coverage: in variables
        # scaled by its root the next stage's first step, along the gradient, has the right length.
        step = seen[-1].theta - seen[-2].theta
        slopes = seen[-1].tilt - seen[-2].tilt + terms.curvature * step
        length = float(game.specialists.coverage @ step**2)
        if length > 0 and slopes @ step > 0:
            progress.curvature = float(np.clip(slopes @ step / length, 1e-3, 1e3))
    return seen[-1], len(seen)


def solve_exact(game: Game, progress: Progress) -> str:
    """Solve a game with zero-one loss as a linear program; the result is in ``progress``.

    Returns why it stopped: "exact" or "unbounded", "max_iter" where the anchor's square needs
    more points than there may be passes, or "stalled" where the program's rounding leaves a gap.
    Numbers of very different size are more than the program can take; then `solve_batch` goes on.
    """
    if not isinstance(game.loss, ZeroOneLoss):
        raise ValueError(f"A linear program needs zero-one loss. Got {game.loss.name!r}.")
    program = _AdversaryProgram(game)
    is_anchored = bool(np.any(game.terms.curvature > 0))
    while progress.n_iter < progress.max_iter:
        result = program.solve()
        if result is not None and result.status == INFEASIBLE and not game.is_boxed:
            solve_exact(game.within(UNBOUNDED_REACH), progress)
            return "unbounded"
        if result is None or result.status != SOLVED:
            start = np.clip(game.terms.anchor, game.terms.lower, game.terms.upper)
            return solve_batch(game, progress, start)
        seen = program.evaluate(result)
        progress.add(seen)
        if progress.gap <= EXACT * max(1.0, abs(progress.primal)):
            return "exact"
        if not is_anchored:
            return "stalled"
        program.add_points(game.terms.minimizer(seen.tilt))  # the best response to the labels
    return "max_iter"


class _AdversaryProgram:
    """The linear program over (positive and negative part of z, r, y)."""

    def __init__(self, game: Game):
        self.game = game
        self.n, self.p = game.specialists.n_samples, game.specialists.n_voters
        self.coverage, terms = game.specialists.coverage, game.terms
        self.votes = sparse.vstack([_as_csr(block) for block in game.specialists.blocks()])
        self.rows: list[Any] = []
        self.limits: list[np.ndarray] = []
        for side, sign in ((terms.upper, 1.0), (terms.lower, -1.0)):
            # r_i <= width_i (and >= -width_i) where nothing else bounds the weight
            endless = np.isinf(side) & (terms.curvature == 0)
            limit = np.where(endless, terms.width / self.coverage, 0.0)
            self._add_rows(sign * endless, np.zeros(self.p), limit)
        for corner in (terms.lower, terms.upper, np.clip(0.0, terms.lower, terms.upper)):
            self.add_points(np.where(np.isfinite(corner), corner, 0.0))

    def add_points(self, theta: np.ndarray) -> None:
        """Require y_i >= r_i theta_i - own terms of theta_i."""
        terms = self.game.terms
        own = terms.width * np.abs(theta) + terms.curvature * (theta - terms.anchor) ** 2 / 2
        self._add_rows(theta, -np.ones(self.p), own / self.coverage)

    def _add_rows(self, on_r: np.ndarray, on_y: np.ndarray, limit: np.ndarray) -> None:
        on_labels = sparse.csr_array((self.p, 2 * self.n))
        on_others = [sparse.diags_array(on_r.astype(float)), sparse.diags_array(on_y)]
        self.rows.append(sparse.hstack([on_labels, *on_others]))
        self.limits.append(limit)

    def solve(self) -> OptimizeResult | None:
        """Return what the solver has found; None where it cannot begin."""
        game, awake_rows = self.game, self.n * self.coverage
        on_labels = sparse.diags_array(game.unlabeled_weight / awake_rows) @ self.votes.T
        cost = np.full(2 * self.n, game.unlabeled_weight)
        on_others = [sparse.eye_array(self.p), sparse.csr_array((self.p, self.p))]
        try:
            return linprog(
                np.concatenate([cost, np.zeros(self.p), awake_rows]),
                A_eq=sparse.hstack([on_labels, -on_labels, *on_others]),
                b_eq=game.terms.edge / self.coverage,
                A_ub=sparse.vstack(self.rows),
                b_ub=np.concatenate(self.limits),
                bounds=[*[(0.0, 1.0)] * (2 * self.n), *[(None, None)] * (2 * self.p)],
            )
        except ValueError:  # a number is infinite
            return None

    def evaluate(self, result: OptimizeResult) -> Evaluation:
        """Return both sides of the game at the program's weights and labels.

        Without a box the labels break the constraints by a rounding error, at any cost; it is
        counted at that of weights up to REACH.
        """
        terms = self.game.terms
        theta = result.eqlin.marginals / (self.n * self.coverage)
        positive, negative = result.x[: 2 * self.n].reshape(2, self.n)
        z = np.clip(positive - negative, -1.0, 1.0)
        bounded = self.game.within(max(REACH, 2.0 * float(np.abs(theta).max())))
        evaluation = bounded.evaluate(np.clip(theta, terms.lower, terms.upper), eps=1e-9)
        dual, tilt = dual_value(bounded, z)
        return replace(evaluation, dual=dual, tilt=tilt)


def _as_csr(block: Any) -> sparse.csr_array:
    return block.tocsr() if hasattr(block, "tocsr") else sparse.csr_array(block)


def solve_stream(
    game: Game,
    progress: Progress,
    theta: np.ndarray,
    rng: np.random.Generator,
    minibatch: int = MINIBATCH,
    *,
    as_in_paper: bool = False,
) -> str:
    """Take stochastic passes from ``theta`` on and finish with full ones; see `solve_batch`.

    As in the paper, stochastic passes are all there is, but for one full pass to evaluate the
    result. Stopping early is what keeps the weights finite where there is neither a box nor an
    anchor.
    """
    game = game.within(REACH) if as_in_paper else game
    walk = PaperWalk(theta) if as_in_paper else AdaGradWalk(theta)
    n_passes = SGD_PASSES if as_in_paper else STOCHASTIC_PASSES
    for _ in range(min(n_passes, progress.max_iter - 1)):  # one is left for a full pass
        walk.start_pass()
        for block in game.specialists.blocks():  # in order; their parts are not
            for start in rng.permutation(np.arange(0, block.shape[0], minibatch)):
                walk.step(game, block[start : start + minibatch])
        progress.n_iter += 1
    if not as_in_paper:
        return solve_batch(game, progress, walk.result)
    progress.add(game.evaluate(walk.result, SMOOTHING))
    return "converged" if progress.is_converged else "max_iter"


class AdaGradWalk:
    """Steps scaled by the squared slopes so far; the result is the mean of the last pass."""

    def __init__(self, theta: np.ndarray):
        self.theta, self.result = theta.copy(), theta.copy()
        self.squares, self.n_steps = np.full_like(theta, 1e-12), 0

    def start_pass(self) -> None:
        """Start the mean again."""
        self.n_steps = 0

    def step(self, game: Game, rows: Any) -> None:
        """Move against the slope of the smoothed slack on some rows, then back into the box."""
        slope = _slope(game, rows, self.theta, SMOOTHING)
        self.squares += slope * slope
        self.theta = game.terms.descend(self.theta, slope, STEP / np.sqrt(self.squares))
        self.n_steps += 1
        self.result += (self.theta - self.result) / self.n_steps


class PaperWalk:
    """The paper's stochastic gradient steps, in its own variables sigma = c theta.

    There a rare specialist moves as far as a common one, so that its theta, and with it the awake
    prediction, is large: the paper's steps that "vary wildly".
    """

    def __init__(self, theta: np.ndarray):
        self.result, self.n_steps = theta, 0

    def start_pass(self) -> None:
        """Do nothing: steps get smaller over all passes."""

    def step(self, game: Game, rows: Any) -> None:
        """Move against the slope with respect to sigma, then back into the box."""
        slope = _slope(game, rows, self.result, UNSMOOTHED)
        self.n_steps += 1
        step = PAPER_STEP / np.sqrt(self.n_steps) / game.specialists.coverage**2
        self.result = game.terms.descend(self.result, slope, step)


def _slope(game: Game, rows: Any, theta: np.ndarray, eps: float) -> np.ndarray:
    """Return the slope of the smoothed slack on some rows."""
    _, z = game.loss.smoothing(rows @ theta, eps)
    return game.terms.slope(theta, game.unlabeled_weight * (z @ rows) / rows.shape[0])
