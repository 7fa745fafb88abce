"""Where a solver stands, when to stop, and the solution of a game where it stops.

Labels z with the given correlations exist if and only if no weights theta (>= 0 for one-sided
bounds) break sum c_i b_i theta_i - sum c_i eps_i abs(theta_i) <= mean abs(m_j). Weights that do
are a `Contradiction`; every solution tells whether its own weights are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgeclipper.game.equations import Evaluation, Game, relative_gap
from hedgeclipper.game.losses import BinaryLoss
from hedgeclipper.game.specialists import as_vote_matrix

FIRST_WIDTH = 0.3


@dataclass
class Progress:
    """Keeps the best of both sides and tells when to stop.

    ``best`` is the evaluation with the lowest primal value, once there was a pass. ``eps`` is the
    width of the smoothing and ``curvature`` that of the slack, as the solver last saw it.
    """

    tol: float
    max_iter: int
    eps: float = FIRST_WIDTH
    curvature: float = 1.0
    primal: float = np.inf
    dual: float = -np.inf
    n_iter: int = 0
    best: Evaluation = field(init=False)

    @property
    def gap(self) -> float:
        """Best primal minus best dual, at least 0."""
        return max(self.primal - self.dual, 0.0)

    @property
    def is_converged(self) -> bool:
        """Whether the relative gap is within tol."""
        return relative_gap(self.gap, self.primal) <= self.tol

    @property
    def is_over(self) -> bool:
        """Whether to stop, converged or not."""
        return self.is_converged or self.n_iter >= self.max_iter

    def add(self, evaluation: Evaluation) -> None:
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


@dataclass(frozen=True, eq=False)
class Contradiction:
    """Proof that no labels can have all the correlations that were given.

    Parameters
    ----------
    excess : float
        Every correlation has to be lowered (every interval widened) by at least this much.
    voters : ndarray of int, shape (n_needed,)
        Numbers of the voters with nine tenths of the weight in the proof, the heaviest first.
    proportions : ndarray of shape (n_needed,)
        Their proportions of that weight.
    """

    excess: float
    voters: np.ndarray
    proportions: np.ndarray

    def __str__(self) -> str:
        pairs = zip(self.voters, self.proportions, strict=True)
        parts = [f"voter {voter} ({p:.0%})" for voter, p in pairs]
        which = ", ".join(parts[:8]) + (", ..." if len(parts) > 8 else "")
        return (
            f"The correlations contradict each other: no labels of these rows can have all of "
            f"them, unless each is relaxed by {self.excess:.3g} or more. It shows in {which}."
        )


def find_contradiction(excess: float, load: np.ndarray) -> Contradiction | None:
    """Return the contradiction that weights theta prove, if they do.

    ``excess`` is their linear term less the mean of abs(m), ``load`` of shape (n_voters,) coverage
    times abs(theta). The test is scale-free: any multiple of theta proves the same; loss, alpha,
    box and anchor of the game have no part in it. An excess below a millionth is taken for
    rounding.
    """
    if excess <= 1e-6 * load.sum():
        return None
    proportions = load / load.sum()
    heaviest = np.argsort(-proportions, kind="stable")
    n_needed = int(np.searchsorted(np.cumsum(proportions[heaviest]), 0.9)) + 1
    voters = heaviest[:n_needed]
    return Contradiction(float(excess / load.sum()), voters, proportions[voters])


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


@dataclass(frozen=True, eq=False, kw_only=True)
class GameSolution(Solution):
    """Weights of the voters and what they guarantee on the rows of a game of two classes.

    Its other parameters are those of `Solution`: ``weights``, ``slack``, ``objective``,
    ``duality_gap``, ``n_iter`` and ``stop_reason``.

    Parameters
    ----------
    worst_case_correlation : float
        V: whatever the labels are, if the correlations hold then clip(m) has at least this mean
        correlation with them (at least -1). Always at alpha = 1, with neither box nor anchor. Above
        1 it shows a contradiction.
    worst_case_error : float
        (1 - V) / 2, not below 0: error of the randomized prediction clip(m) at the worst.
    worst_case_loss : float
        Mean loss of `predictions` at the worst, for the loss of the game.
    contradiction : Contradiction or None
        Proof that the correlations cannot all hold, if these weights are one. If they are not,
        others may be.
    loss : BinaryLoss
        The loss of the game.
    """

    worst_case_correlation: float
    worst_case_error: float
    worst_case_loss: float
    contradiction: Contradiction | None
    loss: BinaryLoss

    def awake_predictions(self, votes: Any, *, participation: Any = None) -> np.ndarray:
        """Return m, the weighted sum of the awake votes, for each row of votes.

        Parameters
        ----------
        votes, participation
            As in `solve_game`; new rows too, and voters may be asleep on all of them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Awake predictions; their link is the prediction.
        """
        matrix = as_vote_matrix(votes, participation, allow_asleep=True)
        if matrix.n_voters != self.weights.size:
            raise ValueError(
                f"The game was solved for {self.weights.size} voters. Got votes of "
                f"{matrix.n_voters}."
            )
        return np.concatenate([block @ self.weights for block in matrix.blocks()])

    def predictions(self, votes: Any, *, participation: Any = None) -> np.ndarray:
        """Return the minimax prediction g in [-1, 1] for each row of votes.

        (1 + g) / 2 is the probability of +. ``worst_case_loss`` bounds the expected loss of
        predictions that are drawn with this probability.

        Parameters
        ----------
        votes, participation
            As in `solve_game`; new rows too.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        return self.loss.link(self.awake_predictions(votes, participation=participation))

    def __str__(self) -> str:
        lines = [
            f"{self.weights.size} voters, {np.count_nonzero(self.weights)} with weight; "
            f"{self.stop_reason} after {self.n_iter} pass{'es' * (self.n_iter > 1)}, "
            f"relative gap {relative_gap(self.duality_gap, self.objective):.1e}",
            f"worst-case correlation {self.worst_case_correlation:.4f}, worst-case error "
            f"{self.worst_case_error:.4f}, if the given correlations hold on these rows",
        ]
        if self.contradiction is not None:
            lines.append(str(self.contradiction))
        return "\n".join(lines)


def solution_fields(game: Game, progress: Progress, stop_reason: str) -> dict[str, Any]:
    """Return the fields of a `Solution` where the solver stopped."""
    theta = progress.best.theta
    weights = theta.copy()
    weights.flags.writeable = False
    return {
        "weights": weights,
        "slack": progress.primal - game.terms.ridge_penalty(theta),
        "objective": progress.primal,
        "duality_gap": progress.gap,
        "n_iter": progress.n_iter,
        "stop_reason": stop_reason,
    }


def describe(game: Game, progress: Progress, stop_reason: str) -> GameSolution:
    """Return the solution where the solver stopped, with its worst cases at alpha = 1."""
    best = progress.best
    assert isinstance(game.loss, BinaryLoss)
    theta, linear_term = best.theta, -game.terms.slack(best.theta)
    correlation = max(linear_term - best.mean_excess, -1.0)
    return GameSolution(
        **solution_fields(game, progress, stop_reason),
        worst_case_correlation=correlation,
        worst_case_error=max((1.0 - correlation) / 2.0, 0.0),
        worst_case_loss=max((best.mean_potential - linear_term) / 2.0, 0.0),
        contradiction=find_contradiction(
            linear_term - best.mean_size, game.specialists.coverage * np.abs(theta)
        ),
        loss=game.loss,
    )


def store_games(estimator: Any, games: Sequence[Solution]) -> None:
    """Store the results that all estimators have, in arrays with an entry for each game."""
    estimator.slack_ = np.array([game.slack for game in games])
    estimator.duality_gap_ = np.array([game.duality_gap for game in games])
    estimator.n_iter_ = np.array([game.n_iter for game in games])
    estimator.stop_reason_ = np.array([game.stop_reason for game in games])
