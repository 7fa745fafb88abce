"""The exact solver: the adversary's linear program, for small problems and as the reference.

The adversary picks labels z to maximize the dual. Each z_j climbs from the least slope of Psi to
the largest through one variable per kink, at the kink's cost; r_i = b_i - alpha mean z v h / c_i is
the residual of voter i's constraint on the rows it is awake on, and y_i the value of the weights
against it: at least r_i theta - own terms / c_i at every theta of the box that is listed as a
point. Without an anchor the corners of the box and 0 suffice; with one, points are added where the
square is touched. The dual variables of the equations for r are the weights. Everything is scaled
so that a row counts as 1, since the solver takes small numbers for 0.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import OptimizeResult, linprog

from hedgeclipper.game.batch import solve_batch
from hedgeclipper.game.equations import Evaluation, Game, dual_value
from hedgeclipper.game.losses import PiecewiseLinearLoss
from hedgeclipper.game.solution import REACH, Progress

UNBOUNDED_REACH = 10.0
EXACT = 1e-6
SOLVED, INFEASIBLE = 0, 2


def solve_exact(game: Game, progress: Progress) -> str:
    """Solve the game as a linear program; the result is in ``progress``.

    Returns why it stopped: "exact" or "unbounded", "max_iter" where the anchor's square needs
    more points than there may be passes, or "stalled" where the program's rounding leaves a gap.
    Numbers of very different size are more than the program can take; then `solve_batch` goes on.
    """
    if not isinstance(game.loss, PiecewiseLinearLoss):
        raise ValueError(
            f"method='exact' needs a piecewise linear loss (zero-one, cost-weighted, abstention). "
            f"Got loss={game.loss.name!r}; use method='batch'."
        )
    program = _AdversaryProgram(game, game.loss)
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
    """The linear program over (steps of z, r, y)."""

    def __init__(self, game: Game, loss: PiecewiseLinearLoss):
        self.game, self.loss, self.jumps = game, loss, np.diff(loss.slopes)
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
        on_steps = sparse.csr_array((self.p, self.n * self.jumps.size))
        on_others = [sparse.diags_array(on_r.astype(float)), sparse.diags_array(on_y)]
        self.rows.append(sparse.hstack([on_steps, *on_others]))
        self.limits.append(limit)

    def solve(self) -> OptimizeResult | None:
        """Return what the solver has found; None where it cannot begin."""
        game, n_jumps, awake_rows = self.game, self.jumps.size, self.n * self.coverage
        steps = sparse.diags_array(game.unlabeled_weight / awake_rows) @ self.votes.T
        at_first = self.loss.slopes[0] * np.asarray(steps.sum(axis=1)).ravel()
        climb = game.unlabeled_weight * np.repeat(self.loss.kinks, self.n)
        on_others = [sparse.eye_array(self.p), sparse.csr_array((self.p, self.p))]
        try:
            return linprog(
                np.concatenate([climb, np.zeros(self.p), awake_rows]),
                A_eq=sparse.hstack([*[steps] * n_jumps, *on_others]),
                b_eq=game.terms.edge / self.coverage - at_first,
                A_ub=sparse.vstack(self.rows),
                b_ub=np.concatenate(self.limits),
                bounds=[
                    *[(0.0, jump) for jump in self.jumps for _ in range(self.n)],
                    *[(None, None)] * (2 * self.p),
                ],
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
        steps = result.x[: self.n * self.jumps.size].reshape(self.jumps.size, self.n)
        z = np.clip(self.loss.slopes[0] + steps.sum(axis=0), -1.0, 1.0)
        bounded = self.game.within(max(REACH, 2.0 * float(np.abs(theta).max())))
        evaluation = bounded.evaluate(np.clip(theta, terms.lower, terms.upper), eps=1e-9)
        dual, tilt = dual_value(bounded, z)
        return replace(evaluation, dual=dual, tilt=tilt)


def _as_csr(block: Any) -> sparse.csr_array:
    return block.tocsr() if hasattr(block, "tocsr") else sparse.csr_array(block)
