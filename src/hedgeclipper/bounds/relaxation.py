"""By how much correlations that contradict each other must be relaxed.

The smallest amount r by which every b must be lowered (every interval widened) is

    r = max(0, max over sum c_i abs(theta_i) = 1 of edge . theta - width . abs(theta) - mean abs(m))
      = max(0, min over z in [-1, 1]^n of the largest violation of a constraint),

so any theta bounds it from below and any z from above. The largest ratio of
edge . theta - width . abs(theta) - mean abs(m) to sum c_i abs(theta_i) is found by Dinkelbach's
iteration (W. Dinkelbach, On Nonlinear Fractional Programming, Management Science, 1967).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgeclipper.game.equations import Evaluation
from hedgeclipper.game.losses import absolute_loss
from hedgeclipper.game.solution import (
    NEGLIGIBLE,
    Contradiction,
    PassRecord,
    Progress,
    find_contradiction,
)
from hedgeclipper.game.solve import check_positive, is_small, set_up_game
from hedgeclipper.game.solvers import solve_batch, solve_exact

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
    terms, coverage = game.terms, game.specialists.coverage
    lower, upper, best, n_iter = 0.0, np.inf, None, 0

    def note_labels(record: PassRecord, evaluation: Evaluation) -> None:
        """Lower ``upper`` to the largest violation of a constraint under this pass's labels."""
        nonlocal upper
        missing = terms.edge - evaluation.tilt
        violation = np.where(terms.lower < 0, np.abs(missing), missing) - terms.width
        upper = min(upper, max(0.0, float(np.max(violation / coverage))))

    for _ in range(MAX_ROUNDS):
        if n_iter >= max_iter:
            break
        # with every correlation lowered by the best ratio so far, weights whose slack is still
        # negative have a better ratio; if there are none, that ratio was the largest
        lowered = replace(game, terms=replace(terms, width=terms.width + lower * coverage))
        progress = Progress(1e-3, max_iter - n_iter, reports=[note_labels])
        if is_small(game):
            solve_exact(lowered, progress)
        else:
            solve_batch(lowered, progress, np.clip(0.0, terms.lower, terms.upper))
        n_iter += progress.n_iter
        proof = find_contradiction(game, progress.best.theta, progress.best.mean_size)
        if proof is None or proof.excess <= lower * (1 + 1e-9):
            break
        best, lower = proof, proof.excess
    upper = max(upper if upper > NEGLIGIBLE else 0.0, lower)
    return Relaxation(lower, upper, upper - lower <= NEGLIGIBLE, best)
