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
from hedgeclipper.game.track import Progress

STEP = 0.1
MINIBATCH = 1024
SMOOTHING = 0.1
STOCHASTIC_PASSES = 2


def solve_stream(
    game: Game, progress: Progress, theta: np.ndarray, rng: np.random.Generator
) -> str:
    """Take stochastic passes from ``theta`` on and finish with full ones; see `solve_batch`."""
    walk = AdaGradWalk(theta.copy())
    for _ in range(min(STOCHASTIC_PASSES, progress.max_passes - 1)):
        walk.forget_average()
        for block in game.specialists.blocks():
            starts = np.arange(0, block.shape[0], MINIBATCH)
            for start in rng.permutation(starts):
                walk.step(game, block[start : start + MINIBATCH])
        progress.n_passes += 1
    return solve_batch(game, progress, walk.average if walk.n_steps else theta)


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

    def forget_average(self) -> None:
        """Start the mean anew, as at the beginning of a pass."""
        self.n_steps = 0

    def step(self, game: Game, rows: Any) -> None:
        """Move against the slope of the smoothed slack on some rows, then back into the box."""
        terms = game.terms
        _, z = game.loss.smoothing(rows @ self.theta, SMOOTHING)
        slope = game.unlabeled_weight * (z @ rows) / rows.shape[0] - terms.edge
        slope += terms.curvature * (self.theta - terms.anchor)
        self.squares += slope * slope
        step = STEP / np.sqrt(self.squares)
        moved = self.theta - step * slope
        shrunk = np.sign(moved) * np.maximum(np.abs(moved) - step * terms.width, 0.0)
        self.theta = np.clip(shrunk, terms.lower, terms.upper)
        self.n_steps += 1
        self.average += (self.theta - self.average) / self.n_steps
