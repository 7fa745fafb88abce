"""The stream solver: the paper's stochastic steps, with step sizes per voter, then full passes.

Projected minibatch AdaGrad: every voter has its own step, so that rare specialists move as fast as
common ones, and the box keeps the weights where the problem is well-posed. Memory is a few
vectors of length n_voters and one batch of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgeclipper.game.batch import solve_batch
from hedgeclipper.game.equations import Game
from hedgeclipper.game.solution import REACH, Progress

STEP = 0.1
MINIBATCH = 1024
SMOOTHING = 0.1
STOCHASTIC_PASSES = 2
SGD_PASSES = 10
PAPER_STEP = 1e-2
UNSMOOTHED = 1e-9


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
        """Start the mean anew."""
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
