"""By how much correlations that contradict each other must be relaxed.

The smallest amount r by which every b must be lowered (every interval widened) is

    r = max(0, max over sum c_i abs(theta_i) = 1 of edge . theta - width . abs(theta) - mean abs(m))
      = max(0, min over z in [-1, 1]^n of the largest violation of a constraint),

so any theta bounds it from below and any z from above. The largest ratio over theta is found by
Dinkelbach's iteration (W. Dinkelbach, On Nonlinear Fractional Programming, 1967).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgeclipper.game.batch import solve_batch
from hedgeclipper.game.equations import Evaluation, Game
from hedgeclipper.game.exact import solve_exact
from hedgeclipper.game.losses import absolute_loss
from hedgeclipper.game.setup import check_positive, is_small, set_up_game
from hedgeclipper.game.solution import (
    NEGLIGIBLE,
    Contradiction,
    PassRecord,
    Progress,
    find_contradiction,
)

MAX_ROUNDS = 50


@dataclass(frozen=True)
class Relaxation:
    """The smallest amount by which all correlations must be relaxed to be consistent.

    Parameters
    ----------
    lower, upper : float
        Bracket of that amount. If ``lower`` is 0, no contradiction was found; if ``upper`` is,
        there is none.
    is_exact : bool
        Whether ``lower`` and ``upper`` are within 1e-6 of each other.
    contradiction : Contradiction or None
        The proof of ``lower``; None if that is 0.
    """

    lower: float
    upper: float
    is_exact: bool
    contradiction: Contradiction | None


def smallest_relaxation(
    votes: Any,
    label_correlations: Any,
    *,
    participation: Any = None,
    widths: Any = None,
    class_balance: Any = None,
    max_iter: int = 300,
) -> Relaxation:
    """Return by how much all correlations must be lowered so that some labels have them.

    Use it to see whether correlations contradict each other, by how much, and through which
    voters. With ``widths`` or a class balance, intervals are widened instead. Small problems are
    solved by linear programs, large ones up to the bracket that ``max_iter`` passes give.

    Parameters
    ----------
    votes : array-like or sparse matrix of shape (n_samples, n_voters), or re-iterable of these
        Votes on the unlabeled rows, as in `solve_game`.
    label_correlations : array-like of shape (n_voters,) or LabelCorrelations
        Lower bound on the correlation of each voter with the labels, as in `solve_game`.
    participation : like votes, default=None
        Probability of voting, as in `solve_game`; by default a voter takes part wherever it does
        not abstain.
    widths : float, array-like of shape (n_voters,), or "bounds", default=None
        Makes the knowledge two-sided, as in `solve_game`; by default it is bounded from below
        alone.
    class_balance : float or (float, float), default=None
        Proportion of + among the rows, or the proportion and the width within which it is known;
        by default nothing is known of it.
    max_iter : int, default=300
        Passes over the rows at most. Raise it where ``lower`` and ``upper`` are too far apart.

    Returns
    -------
    Relaxation
        Bracket of the amount, and the voters that prove its lower end.

    Examples
    --------
    Two voters that never agree cannot both be right three times out of four:

    >>> votes = np.array([[1, -1], [1, -1], [-1, 1], [-1, 1]])
    >>> result = smallest_relaxation(votes, [0.5, 0.5])
    >>> round(result.lower, 6), result.contradiction.voters.tolist()
    (0.5, [0, 1])
    """
    known = (label_correlations, participation, widths, class_balance)
    game = set_up_game(votes, *known, loss=absolute_loss())
    check_positive("max_iter", max_iter)
    search = _Search(game)
    for _ in range(MAX_ROUNDS):
        if search.n_iter >= max_iter or not search.improve(max_iter - search.n_iter):
            break
    upper = max(search.upper if search.upper > NEGLIGIBLE else 0.0, search.lower)
    is_exact = upper - search.lower <= NEGLIGIBLE
    return Relaxation(search.lower, upper, is_exact, search.best)


class _Search:
    """Dinkelbach's iteration for the ratio (edge - width - mean abs(m)) / load.

    With every correlation lowered by the best ratio so far, weights whose slack is still negative
    have a better ratio; if there are none, that ratio was the largest.
    """

    def __init__(self, game: Game):
        self.game, self.coverage = game, game.specialists.coverage
        self.best: Contradiction | None = None
        self.lower, self.upper, self.n_iter = 0.0, np.inf, 0

    def improve(self, max_iter: int) -> bool:
        """Solve the game with correlations lowered by ``lower``; return whether that raised it."""
        terms = self.game.terms
        lowered = replace(terms, width=terms.width + self.lower * self.coverage)
        progress = Progress(1e-3, max_iter, report=self._note_labels)
        relaxed = replace(self.game, terms=lowered)
        if is_small(self.game):
            solve_exact(relaxed, progress)
        else:
            solve_batch(relaxed, progress, np.clip(0.0, terms.lower, terms.upper))
        self.n_iter += progress.n_iter
        proof = find_contradiction(self.game, progress.best.theta, progress.best.mean_size)
        if proof is None or proof.excess <= self.lower * (1 + 1e-9):
            return False
        self.best, self.lower = proof, proof.excess
        return True

    def _note_labels(self, record: PassRecord, evaluation: Evaluation) -> None:
        """Take the largest violation under this pass's labels as an upper end."""
        terms = self.game.terms
        missing = terms.edge - evaluation.tilt
        violation = np.where(terms.lower < 0, np.abs(missing), missing) - terms.width
        self.upper = min(self.upper, max(0.0, float(np.max(violation / self.coverage))))
