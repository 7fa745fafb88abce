"""Do the correlations contradict each other, and which voters show it.

Labels z with the given correlations exist if and only if no weights theta (>= 0 for one-sided
bounds) earn more than they can: sum c_i b_i theta_i - sum c_i eps_i abs(theta_i) <= mean abs(m_j).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgeclipper.game.equations import Game

BALANCE = -1
NEGLIGIBLE = 1e-6


@dataclass(frozen=True, eq=False)
class Contradiction:
    """Proof that no labels can have all the correlations that were given.

    Parameters
    ----------
    excess : float
        Every correlation has to be lowered (every interval widened) by at least this much.
    voters : ndarray
        Numbers of the voters that carry the proof, the heaviest first; -1 is the class balance.
    shares : ndarray
        Their shares of the proof.
    """

    excess: float
    voters: np.ndarray
    shares: np.ndarray

    def __str__(self) -> str:
        return (
            f"The correlations contradict each other: no labels of these rows can have all of "
            f"them, unless each gives way by {self.excess:.3g} or more. {self._carriers()}"
        )

    def _carriers(self) -> str:
        named = [
            f"voter {voter}" if voter != BALANCE else "the class balance" for voter in self.voters
        ]
        if len(named) > 8:
            return f"It shows in {len(named)} voters together, {named[0]} the heaviest."
        parts = [f"{name} ({share:.0%})" for name, share in zip(named, self.shares, strict=True)]
        return f"It shows in {', '.join(parts)}."


def find_contradiction(game: Game, theta: np.ndarray, mean_size: float) -> Contradiction | None:
    """Return the contradiction that theta proves, if it does: edge > mean abs(m).

    The test is scale-free: any multiple of theta proves the same. An excess below a millionth is
    taken for rounding.

    Parameters
    ----------
    game : Game
        Its edges, widths and coverages are used, not its loss, alpha, box or anchor.
    theta : ndarray of shape (n_voters,)
        Weights.
    mean_size : float
        Mean of abs(m) over the rows, at theta.
    """
    excess = -game.terms.slack(theta) - mean_size
    load = game.specialists.coverage * np.abs(theta)
    if excess <= NEGLIGIBLE * load.sum():
        return None
    shares = load / load.sum()
    heaviest = np.argsort(-shares, kind="stable")
    n_needed = int(np.searchsorted(np.cumsum(shares[heaviest]), 0.9)) + 1
    voters = heaviest[:n_needed]
    is_balance = game.has_balance & (voters == theta.size - 1)
    named = np.where(is_balance, BALANCE, voters)
    return Contradiction(float(excess / load.sum()), named, shares[voters])
