"""Random small games, and their minimum by other formulations than the package's."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from hedgeclipper import GameSolution
from hedgeclipper.game.equations import Game
from hedgeclipper.game.losses import SquareLoss, ZeroOneLoss
from hedgeclipper.game.solve import play, set_up_game

LOSSES = {"zero_one": ZeroOneLoss(), "square": SquareLoss()}
AT_ZERO = {"zero_one": 1.0, "square": 0.5}


@dataclass
class SmallGame:
    """Arguments of `solve_game`, dense votes with NaN, and the pieces spelled out.

    Two-sided correlations, within ``widths``, are the game's own, as those of votes are.
    """

    votes: np.ndarray
    b: np.ndarray
    loss: str = "zero_one"
    options: dict = field(default_factory=dict)

    @property
    def awake(self) -> np.ndarray:
        return np.nan_to_num(self.votes) * self.options.get("participation", 1.0)

    @property
    def coverage(self) -> np.ndarray:
        takes_part = (~np.isnan(self.votes)) * self.options.get("participation", 1.0)
        return takes_part.mean(axis=0)

    @property
    def game(self) -> Game:
        options = dict(self.options)
        widths = options.pop("widths", None)
        own = {"loss": LOSSES[self.loss], "baseline": AT_ZERO[self.loss]}
        game = replace(set_up_game(self.votes, self.b, **options), **own)
        if widths is None:
            return game
        width, lower = self.coverage * widths, -game.terms.upper
        return replace(game, terms=replace(game.terms, width=width, lower=lower))

    def solve(self, method=None, tol=1e-3, max_iter=500) -> GameSolution:
        return play(self.game, tol, max_iter, method)


@st.composite
def small_games(draw, losses=tuple(LOSSES), ridge=True, cap=True, two_sided=True, alpha=True):
    """A game with up to 12 rows and 5 voters, every option drawn."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    kind = draw(st.sampled_from(["hard", "soft"]))
    votes = rng.choice([-1.0, 1.0], (n, p)) if kind == "hard" else rng.uniform(-1, 1, (n, p))
    if draw(st.booleans()):
        votes[rng.random((n, p)) < 0.4] = np.nan
        votes[rng.integers(n), :] = rng.choice([-1.0, 1.0], p)
    options: dict = {}
    if draw(st.booleans()):
        options["participation"] = rng.uniform(0.1, 1.0, (n, p))
    if alpha:
        options["unlabeled_weight"] = draw(st.sampled_from([0.3, 1.0, 3.0]))
    if cap:
        options["cap"] = draw(st.sampled_from([0.5, 1.0, 4.0]))
    if ridge and draw(st.booleans()):
        options["ridge"] = draw(st.sampled_from([0.05, 1.0]))
        options["anchor"] = rng.uniform(-0.3, 1.5, p)
    if two_sided and draw(st.booleans()):
        options["widths"] = rng.uniform(0, 0.4, p)
    b = rng.uniform(-0.2, 0.9, p)
    return SmallGame(votes, b, draw(st.sampled_from(losses)), options)


def potential(loss: str, m: np.ndarray) -> np.ndarray:
    """Psi as printed in the papers."""
    size = np.abs(m)
    if loss == "zero_one":
        return np.maximum(1.0, size)
    return np.where(size <= 1, (1 + m**2) / 2, size)


# (slope, intercept) of each piece of the piecewise linear potential
PIECES = {"zero_one": [(-1, 0), (0, 1), (1, 0)]}


@dataclass
class Spelled:
    """The game of weights plus - minus >= 0."""

    columns: np.ndarray
    linear_term: np.ndarray
    width: np.ndarray
    curvature: np.ndarray
    anchor: np.ndarray
    most_plus: np.ndarray
    most_minus: np.ndarray
    alpha: float


def spell_out(game: SmallGame) -> Spelled:
    options, c, p = game.options, game.coverage, game.b.size
    cap = options.get("cap", 1.0)
    widths = options.get("widths")
    return Spelled(
        columns=game.awake,
        linear_term=c * game.b,
        width=c * (np.zeros(p) if widths is None else widths),
        curvature=options.get("ridge", 0.0) * c,
        anchor=np.broadcast_to(options.get("anchor", 0.0), (p,)),
        most_plus=np.full(p, cap),
        most_minus=np.full(p, 0.0 if widths is None else cap),
        alpha=options.get("unlabeled_weight", 1.0),
    )


def objective(game: SmallGame, theta: np.ndarray) -> float:
    """The game's objective, 0 at theta = 0 but for the anchor."""
    s = spell_out(game)
    rows = potential(game.loss, s.columns @ theta) - potential(game.loss, np.zeros(1))
    own = (
        -s.linear_term @ theta + s.width @ np.abs(theta) + s.curvature @ (theta - s.anchor) ** 2 / 2
    )
    return float(own + s.alpha * rows.mean())


def reference_minimum(game: SmallGame) -> float:
    """The minimum by the predictor's program: linear where it is, else sequential quadratic."""
    s = spell_out(game)
    if game.loss in PIECES and not np.any(s.curvature):
        return _linear_program(game, s)
    return _nonlinear_program(game, s)


def _linear_program(game: SmallGame, s: Spelled) -> float:
    n = len(s.columns)
    rows, limits = [], []
    for slope, intercept in PIECES[game.loss]:
        rows.append(np.hstack([slope * s.columns, -slope * s.columns, -np.eye(n)]))
        limits.append(np.full(n, -float(intercept)))
    cost = np.concatenate(
        [s.width - s.linear_term, s.width + s.linear_term, np.full(n, s.alpha / n)]
    )
    bounds = [*_bounds(s), *[(None, None)] * n]
    result = linprog(cost, np.vstack(rows), np.concatenate(limits), bounds=bounds)
    assert result.status == 0, result.message
    return float(result.fun - s.alpha * potential(game.loss, np.zeros(1))[0])


def _nonlinear_program(game: SmallGame, s: Spelled) -> float:
    """Epigraph form for piecewise linear losses, the objective itself for smooth ones."""
    n, p = s.columns.shape
    pieces = PIECES.get(game.loss, [])
    at_zero = potential(game.loss, np.zeros(1))[0]

    def value(x):
        theta = x[:p] - x[p : 2 * p]
        own = -s.linear_term @ theta + s.width @ (x[:p] + x[p : 2 * p])
        own += s.curvature @ (theta - s.anchor) ** 2 / 2
        rows = x[2 * p :] if pieces else potential(game.loss, s.columns @ theta)
        return own + s.alpha * (rows.mean() - at_zero)

    def room(x):
        m = s.columns @ (x[:p] - x[p : 2 * p])
        return np.concatenate([x[2 * p :] - slope * m - cut for slope, cut in pieces])

    start = np.concatenate([np.full(2 * p, 0.0), np.full(n if pieces else 0, 3.0)])
    best = np.inf
    for _ in range(4):
        result = minimize(
            value,
            start,
            method="SLSQP",
            bounds=[*_bounds(s), *[(None, None)] * (n if pieces else 0)],
            constraints=[{"type": "ineq", "fun": room}] if pieces else [],
            options={"maxiter": 2000, "ftol": 1e-13},
        )
        start = result.x
        theta = start[:p] - start[p : 2 * p]
        best = min(best, objective(game, theta))
    return best


def _bounds(s: Spelled) -> list[tuple[float, float]]:
    return [(0.0, high) for high in [*s.most_plus, *s.most_minus]]
