"""The solution of a game, as plain data that can predict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgeclipper.game.contradiction import Contradiction, find_contradiction
from hedgeclipper.game.equations import Game, awake_predictions, relative_gap
from hedgeclipper.game.losses import Loss
from hedgeclipper.game.track import PassRecord, Progress
from hedgeclipper.game.vote_matrix import as_vote_matrix


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
        The objective is at most this much above its minimum; over weights up to 1000 where there is
        neither a cap nor a ridge, and infinite if the problem is unbounded.
    n_iter : int
        Passes of the solver over the rows, stochastic ones included; the first check of the votes
        and a start on a sample of them are not.
    stop_reason : {"converged", "exact", "max_iter", "stalled", "unbounded", "at_reach"}
        Why the solver stopped. "unbounded" and "at_reach" need a cap or a ridge: the slack has no
        minimum, or it lies at weights beyond 1000.
    history : tuple of PassRecord
        Both sides of the game after each full pass; see ``duality_gap``.
    """

    weights: np.ndarray
    slack: float
    objective: float
    duality_gap: float
    n_iter: int
    stop_reason: str
    history: tuple[PassRecord, ...] = field(repr=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class GameSolution(Solution):
    """Weights of the voters and what they guarantee on the rows of a game of two classes.

    Its other parameters are those of `Solution`: ``weights``, ``slack``, ``objective``,
    ``duality_gap``, ``n_iter``, ``stop_reason`` and ``history``.

    Parameters
    ----------
    balance_weight : float
        Weight of the voter that always says + and carries the class balance; 0 without one.
    worst_case_correlation : float
        V: whatever the labels are, if the correlations hold then clip(m) has at least this mean
        correlation with them (at least -1). Always at alpha = 1, with neither box nor anchor. Above
        1 it shows a contradiction. `certificate` may give more.
    worst_case_error : float
        (1 - V) / 2, not below 0: error of the randomized prediction clip(m) at the worst.
    worst_case_loss : float
        Mean loss of `predictions` at the worst, for the loss of the game.
    contradiction : Contradiction or None
        Proof that the correlations cannot all hold, if these weights are one. If they are none,
        there may be another; `smallest_relaxation` tells for certain.
    coverage : ndarray of shape (n_voters,)
        Mean participation of each voter.
    loss : Loss
        The loss that was played for.
    unlabeled_weight : float
        alpha.
    """

    balance_weight: float
    worst_case_correlation: float
    worst_case_error: float
    worst_case_loss: float
    contradiction: Contradiction | None
    coverage: np.ndarray
    loss: Loss
    unlabeled_weight: float

    def awake_predictions(self, votes: Any, *, participation: Any = None) -> np.ndarray:
        """Return m, the weighted sum of the awake votes, for each row of votes.

        Parameters
        ----------
        votes, participation
            As in `solve_game`; new rows too, and voters may be asleep on all of them.
        """
        matrix = as_vote_matrix(votes, participation, allow_silent=True)
        if matrix.n_voters != self.weights.size:
            raise ValueError(
                f"The game was solved for {self.weights.size} voters. Got votes of "
                f"{matrix.n_voters}."
            )
        return awake_predictions(matrix, self.weights) + self.balance_weight

    def predictions(
        self,
        votes: Any,
        *,
        participation: Any = None,
        randomized: bool = False,
        random_state: Any = None,
    ) -> np.ndarray:
        """Return the minimax prediction g in [-1, 1] for each row of votes.

        (1 + g) / 2 is the probability of +; in the abstention game abs(g) is the probability of
        answering, and sign(g) the answer.

        Parameters
        ----------
        votes, participation
            As in `solve_game`.
        randomized : bool
            Whether to toss the coin: -1 or 1 with mean g, and 0 for no answer in the abstention
            game. It is this prediction whose expected loss ``worst_case_loss`` bounds.
        random_state : int, Generator or None
            Seed of the coin.
        """
        mean = self.loss.link(self.awake_predictions(votes, participation=participation))
        if not randomized:
            return mean
        coin = np.random.default_rng(random_state).random(mean.size)
        if self.loss.may_abstain:
            return np.where(coin < np.abs(mean), np.sign(mean), 0.0)
        return np.where(coin < (1.0 + mean) / 2.0, 1.0, -1.0)

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


def solution_fields(
    game: Game, progress: Progress, stop_reason: str, n_voters: int
) -> dict[str, Any]:
    """Return what a `Solution` holds where the solver stopped; other weights come last."""
    theta = progress.best.theta
    weights = theta[:n_voters].copy()
    weights.flags.writeable = False
    return {
        "weights": weights,
        "slack": progress.primal - game.terms.pull(theta),
        "objective": progress.primal,
        "duality_gap": np.inf if stop_reason == "unbounded" else progress.gap,
        "n_iter": progress.n_iter,
        "stop_reason": stop_reason,
        "history": tuple(progress.history),
    }


def describe(game: Game, progress: Progress, stop_reason: str) -> GameSolution:
    """Return the solution where the solver stopped, with its worst cases at alpha = 1."""
    best = progress.best
    theta, earned = best.theta, -game.terms.slack(best.theta)
    correlation = max(earned - best.mean_excess, -1.0)
    n_voters = theta.size - game.has_balance
    return GameSolution(
        **solution_fields(game, progress, stop_reason, n_voters),
        balance_weight=float(theta[-1]) if game.has_balance else 0.0,
        worst_case_correlation=correlation,
        worst_case_error=max((1.0 - correlation) / 2.0, 0.0),
        worst_case_loss=max((best.mean_potential - earned) / 2.0, 0.0),
        contradiction=find_contradiction(game, theta, best.mean_size),
        coverage=game.specialists.coverage[:n_voters],
        loss=game.loss,
        unlabeled_weight=game.unlabeled_weight,
    )
