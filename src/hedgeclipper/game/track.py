"""Where a solver stands: the best of both sides of the game, and when to stop.

Without a cap and a ridge there is no lower bound unless labels z meet every constraint to the
last digit. What is reported then is the bound over weights up to ``REACH``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgeclipper.game.equations import Evaluation, relative_gap

FIRST_WIDTH = 0.3
REACH = 1000.0


@dataclass(frozen=True)
class PassRecord:
    """The best primal and the best dual value known after a pass."""

    n_iter: int
    primal: float
    dual: float

    def __str__(self) -> str:
        gap = f", gap {max(self.primal - self.dual, 0.0):.2g}" if np.isfinite(self.dual) else ""
        return f"pass {self.n_iter}: slack {self.primal:+.4f}{gap}"


@dataclass(frozen=True, eq=False)
class PassView:
    """What a callback sees after a pass: how far the game is, and what its weights would say.

    Parameters
    ----------
    record : PassRecord
        The best values known so far.
    awake_predictions : callable
        From rows (votes for `solve_game`) to awake predictions with the weights of this pass.
    hedged_range : tuple of two floats
        Between which awake predictions the game hedges; infinite where it never clips.
    target : label or None
        The class that positive predictions speak for, where it has a name.
    is_one_of_many : bool
        Whether there are more games than this one, each of a class against the rest.
    """

    record: PassRecord
    awake_predictions: Callable[[Any], np.ndarray]
    hedged_range: tuple[float, float]
    target: Any = None
    is_one_of_many: bool = False


@dataclass
class Progress:
    """Keeps the best of both sides and says when to stop.

    ``eps`` is the width of the smoothing and ``curvature`` the slack's, as the solver last saw it.
    """

    tol: float
    max_iter: int
    report: Callable[[PassRecord, Evaluation], None] | None = None
    eps: float = FIRST_WIDTH
    curvature: float = 1.0
    dual: float = -np.inf
    n_iter: int = 0
    history: list[PassRecord] = field(default_factory=list)
    _best: Evaluation | None = None

    @property
    def best(self) -> Evaluation:
        """The evaluation with the lowest primal value."""
        if self._best is None:
            raise RuntimeError("No pass has been taken yet.")
        return self._best

    @property
    def primal(self) -> float:
        """The lowest primal value, infinite before the first pass."""
        return np.inf if self._best is None else self._best.primal

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
        return self.is_converged or self.n_iter >= self.max_iter

    def add(self, evaluation: Evaluation) -> None:
        """Take in the result of a pass."""
        self.n_iter += 1
        if evaluation.primal < self.primal:
            self._best = evaluation
        self.dual = max(self.dual, evaluation.dual)
        record = PassRecord(self.n_iter, self.primal, self.dual)
        self.history.append(record)
        if self.report is not None:
            self.report(record, evaluation)

    def restart(self) -> None:
        """Forget both sides and the history, since the game has changed, but not the count."""
        self._best, self.dual, self.eps = None, -np.inf, FIRST_WIDTH
        self.history.clear()
