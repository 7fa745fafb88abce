"""By how much correlations that contradict each other must be relaxed.

The smallest amount r by which every b must be lowered (every interval widened) is

    r = max(0, max over sum c_i abs(theta_i) = 1 of edge . theta - width . abs(theta) - mean abs(m))
      = max(0, min over z in [-1, 1]^n of the largest violation of a constraint),

so any theta bounds it from below and any z from above.
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
    """The smallest amount by which all correlations must give way to be consistent.

    Parameters
    ----------
    lower, upper : float
        Bracket of that amount. If ``lower`` is 0, no contradiction was found; if ``upper`` is,
        there is none.
    is_exact : bool
        Whether the ends are within 1e-6 of each other.
    contradiction : Contradiction or None
        The proof of the lower end.
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

    With ``widths`` or a class balance, intervals are widened instead. Small problems are solved by
    linear programs, large ones up to the bracket that ``max_iter`` over the rows give.

    Parameters
    ----------
    votes, label_correlations, participation, widths, class_balance
        As in `solve_game`.
    max_iter : int
        Passes over the rows at most.

    Examples
    --------
    Two voters who never agree cannot both be right three times in four:

    >>> votes = np.array([[1, -1], [1, -1], [-1, 1], [-1, 1]])
    >>> result = smallest_relaxation(votes, [0.5, 0.5])
    >>> round(result.lower, 6), result.contradiction.voters.tolist()
    (0.5, [0, 1])
    """
    game = set_up_game(
        votes,
        label_correlations,
        participation=participation,
        widths=widths,
        class_balance=class_balance,
        loss=absolute_loss(),
    )
    check_positive("max_iter", max_iter)
    search = _Search(game, is_small(game))
    for _ in range(MAX_ROUNDS):
        if search.n_iter >= max_iter or not search.improve(max_iter - search.n_iter):
            break
    return search.result()


class _Search:
    """Dinkelbach's iteration for the ratio (edge - width - mean abs(m)) / load.

    With every correlation lowered by the best ratio so far, weights that still earn more than they
    cost have a better ratio; if there are none, that ratio was the largest.
    """

    def __init__(self, game: Game, by_program: bool):
        self.game, self.by_program = game, by_program
        self.coverage = game.specialists.coverage
        self.best: Contradiction | None = None
        self.lower, self.upper, self.n_iter = 0.0, np.inf, 0

    def improve(self, max_iter: int) -> bool:
        """Play with the correlations lowered by ``lower``; return whether that raised it."""
        terms = self.game.terms
        lowered = replace(terms, width=terms.width + self.lower * self.coverage)
        progress = Progress(1e-3, max_iter, report=self._note_labels)
        relaxed = replace(self.game, terms=lowered)
        if self.by_program:
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

    def result(self) -> Relaxation:
        upper = self.upper if self.upper > NEGLIGIBLE else 0.0
        upper = max(upper, self.lower)
        return Relaxation(self.lower, upper, upper - self.lower <= NEGLIGIBLE, self.best)
