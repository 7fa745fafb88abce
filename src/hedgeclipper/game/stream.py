"""The stream solver: the paper's stochastic steps, made well-behaved, then full passes.

Projected minibatch AdaGrad: every voter has its own step, so that rare specialists move as fast as
common ones, and the box keeps the weights where the problem is well-posed. Memory is a few
vectors of length n_voters and one batch of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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
) -> str:
    """Take stochastic passes from ``theta`` on and finish with full ones; see `solve_batch`."""
    walk = AdaGradWalk(theta.copy())
    _take_passes(game, progress, walk, rng, STOCHASTIC_PASSES, minibatch)
    return solve_batch(game, progress, walk.result)


def solve_sgd(
    game: Game,
    progress: Progress,
    theta: np.ndarray,
    rng: np.random.Generator,
    minibatch: int = MINIBATCH,
) -> str:
    """Take stochastic passes alone, as the paper does, and one full pass to see where they led.

    Stopping early is what keeps the weights finite where there is neither a box nor an anchor.
    """
    bounded, walk = game.within(REACH), PaperWalk(theta.copy())
    _take_passes(bounded, progress, walk, rng, SGD_PASSES, minibatch)
    progress.add(bounded.evaluate(walk.result, SMOOTHING))
    return "converged" if progress.is_converged else "max_iter"


def _take_passes(
    game: Game,
    progress: Progress,
    walk: AdaGradWalk | PaperWalk,
    rng: np.random.Generator,
    n_iter: int,
    minibatch: int,
) -> None:
    """Let the walk take stochastic passes, and leave one; blocks are in order, their parts not."""
    for _ in range(min(n_iter, progress.max_iter - 1)):
        walk.start_pass()
        for block in game.specialists.blocks():
            starts = np.arange(0, block.shape[0], minibatch)
            for start in rng.permutation(starts):
                walk.step(game, block[start : start + minibatch])
        progress.n_iter += 1


def _slope(game: Game, rows: Any, theta: np.ndarray, eps: float) -> np.ndarray:
    """Return the slope of the smoothed slack on some rows."""
    _, z = game.loss.smoothing(rows @ theta, eps)
    return game.terms.slope(theta, game.unlabeled_weight * (z @ rows) / rows.shape[0])


@dataclass
class AdaGradWalk:
    """Where the stochastic steps are, the squares they have seen, and the mean of this pass."""

    theta: np.ndarray
    squares: np.ndarray = field(init=False)
    average: np.ndarray = field(init=False)
    n_steps: int = 0

    def __post_init__(self) -> None:
        self.squares = np.full_like(self.theta, 1e-12)
        self.average = self.theta.copy()

    @property
    def result(self) -> np.ndarray:
        """The mean of the last pass."""
        return self.average

    def start_pass(self) -> None:
        """Start the mean anew."""
        self.n_steps = 0

    def step(self, game: Game, rows: Any) -> None:
        """Move against the slope of the smoothed slack on some rows, then back into the box."""
        slope = _slope(game, rows, self.theta, SMOOTHING)
        self.squares += slope * slope
        self.theta = game.terms.descend(self.theta, slope, STEP / np.sqrt(self.squares))
        self.n_steps += 1
        self.average += (self.theta - self.average) / self.n_steps


@dataclass
class PaperWalk:
    """The paper's stochastic gradient steps, in its own variables sigma = c theta.

    There a rare specialist moves as far as a common one, so that its theta, and with it the awake
    prediction, is large: the paper's steps that "vary wildly".
    """

    result: np.ndarray
    n_steps: int = 0

    def start_pass(self) -> None:
        """Go on as before."""

    def step(self, game: Game, rows: Any) -> None:
        """Move against the slope with respect to sigma, then back to where weights may be."""
        slope = _slope(game, rows, self.result, UNSMOOTHED)
        self.n_steps += 1
        step = PAPER_STEP / np.sqrt(self.n_steps) / game.specialists.coverage**2
        self.result = game.terms.descend(self.result, slope, step)
