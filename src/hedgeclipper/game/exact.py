"""The exact solver: the adversary's linear program, for small problems and as the reference.

The adversary picks labels z to maximise the dual. Each z_j climbs from the least slope of Psi to
the largest through one variable per kink, at the kink's price; ``r_i = c_i b_i - alpha mean z v h``
is what voter i has left to earn, and ``y_i`` what the weights make of it: at least
``r_i theta - own terms`` at every theta of the box that is listed as a point. Without an anchor
the corners of the box and 0 suffice; with one, points are added where the square is touched. The
prices of the equations for r are the weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import OptimizeResult, linprog

from hedgeclipper.game.equations import Evaluation, Game, dual_value, relative_gap
from hedgeclipper.game.losses import PiecewiseLinearLoss
from hedgeclipper.game.track import Progress

UNBOUNDED_REACH = 10.0
MAX_ROUNDS = 100
EXACT = 1e-7
INFEASIBLE = 2


def solve_exact(game: Game, progress: Progress) -> str:
    """Solve the game as a linear program; the result is in ``progress``.

    Returns why it stopped: "exact" or "unbounded", or "max_passes" where the anchor's square needs
    more points than are allowed.
    """
    if not isinstance(game.loss, PiecewiseLinearLoss):
        raise ValueError(
            f"method='exact' needs a piecewise linear loss (zero-one, cost-weighted, abstention). "
            f"Got loss={game.loss.name!r}; use method='batch'."
        )
    program = _AdversaryProgram(game, game.loss)
    for _ in range(MAX_ROUNDS):
        result = program.solve()
        if result.status == INFEASIBLE:
            solve_exact(game.within(UNBOUNDED_REACH), progress)
            return "unbounded"
        progress.add(program.evaluate(result))
        is_anchored = np.any(game.terms.curvature > 0)
        if not is_anchored or relative_gap(progress.gap, progress.primal) <= EXACT:
            return "exact"
        program.add_points(program.best_response(result))
    return "max_passes"


class _AdversaryProgram:
    """The linear program over (steps of z, r, y)."""

    def __init__(self, game: Game, loss: PiecewiseLinearLoss):
        self.game, self.loss = game, loss
        terms, self.n, self.p = game.terms, game.specialists.n_samples, game.specialists.n_voters
        self.share = game.unlabeled_weight / self.n
        self.votes = sparse.vstack([_as_csr(block) for block in game.specialists.blocks()])
        self.jumps = np.diff(loss.slopes)
        self.points: list[np.ndarray] = []
        self.rows: list[Any] = []
        self.limits: list[np.ndarray] = []
        self._add_rays()
        for corner in (terms.lower, terms.upper, np.clip(0.0, terms.lower, terms.upper)):
            self.add_points(np.where(np.isfinite(corner), corner, 0.0))

    def solve(self) -> OptimizeResult:
        climb = np.repeat(self.loss.kinks, self.n) * self.share
        steps = self.share * self.votes.T
        result = linprog(
            np.concatenate([climb, np.zeros(self.p), np.ones(self.p)]),
            A_eq=sparse.hstack(
                [*[steps] * self.jumps.size, sparse.eye_array(self.p), self._nothing()]
            ),
            b_eq=self.game.terms.edge - self.loss.slopes[0] * np.asarray(steps.sum(axis=1)).ravel(),
            A_ub=sparse.vstack(self.rows),
            b_ub=np.concatenate(self.limits),
            bounds=[
                *[(0.0, jump) for jump in self.jumps for _ in range(self.n)],
                *[(None, None)] * (2 * self.p),
            ],
        )
        if result.status not in (0, INFEASIBLE):
            raise RuntimeError(f"The linear program could not be solved: {result.message}")
        return result

    def evaluate(self, result: OptimizeResult) -> Evaluation:
        """Return both sides of the game at the program's weights and labels.

        Without a box the labels break the constraints by a rounding error, at any price; it is
        counted at that of weights ten times as large as the program's.
        """
        terms = self.game.terms
        theta = np.clip(result.eqlin.marginals, terms.lower, terms.upper)
        bounded = self.game.within(10.0 * max(1.0, float(np.abs(theta).max())))
        return bounded.evaluate(theta, eps=1e-9).with_dual(dual_value(bounded, self._z(result)))

    def best_response(self, result: OptimizeResult) -> np.ndarray:
        """Return the weights that are best against the program's labels."""
        return self.game.terms.minimiser(self.share * (self._z(result) @ self.votes))

    def add_points(self, theta: np.ndarray) -> None:
        """Require y_i >= r_i theta_i - own terms of theta_i."""
        terms = self.game.terms
        own = terms.width * np.abs(theta) + terms.curvature * (theta - terms.anchor) ** 2 / 2
        self._add_rows(theta, -np.ones(self.p), own)

    def _add_rays(self) -> None:
        """Require r_i <= width_i (and >= -width_i) where nothing else bounds the weight."""
        terms = self.game.terms
        for side, sign in ((terms.upper, 1.0), (terms.lower, -1.0)):
            endless = np.isinf(side) & (terms.curvature == 0)
            limit = np.where(endless, terms.width, 0.0)
            self._add_rows(sign * endless, np.zeros(self.p), limit)

    def _add_rows(self, on_r: np.ndarray, on_y: np.ndarray, limit: np.ndarray) -> None:
        parts = [self._nothing(self.n * self.jumps.size)]
        parts += [sparse.diags_array(on_r.astype(float)), sparse.diags_array(on_y)]
        self.rows.append(sparse.hstack(parts))
        self.limits.append(limit)

    def _nothing(self, n_columns: int | None = None) -> sparse.csr_array:
        return sparse.csr_array((self.p, self.p if n_columns is None else n_columns))

    def _z(self, result: OptimizeResult) -> np.ndarray:
        steps = result.x[: self.n * self.jumps.size].reshape(self.jumps.size, self.n)
        return np.clip(self.loss.slopes[0] + steps.sum(axis=0), -1.0, 1.0)


def _as_csr(block: Any) -> sparse.csr_array:
    return block.tocsr() if hasattr(block, "tocsr") else sparse.csr_array(block)
