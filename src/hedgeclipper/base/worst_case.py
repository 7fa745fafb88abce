"""The worst case of a panel: its largest error under any labels that its members allow.

Votes are here the classes that members predict, in natural proportions, as are their correlations;
neither ranks nor balanced labels have a part in it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hedgeclipper.base.weighing import PanelScores
from hedgeclipper.bounds.certificate import largest_error
from hedgeclipper.bounds.intervals import mean_bounds
from hedgeclipper.game.specialists import VoteArray

DELTA = 0.025  # of each side of an interval


def worst_case_error(scores: PanelScores, log_odds: Callable[[np.ndarray], np.ndarray]) -> float:
    """Return a bound on the error of the panel's predictions on the unlabeled rows.

    ``log_odds`` makes those of the panel of the members' scores. The bound holds as far as Wilson's
    bounds on the members do. The panel counts as a voter, too, though the labels that score it have
    weighed its members.
    """
    # the members, the panel, and a voter who always votes +: its bounds are of the class balance
    labeled, unlabeled = (
        np.where(np.column_stack([own - 0.5, log_odds(own), np.ones(len(own))]) > 0, 1.0, -1.0)
        for own in (scores.labeled, scores.unlabeled)
    )
    signs = np.where(scores.is_positive, 1.0, -1.0)
    sums, counts = signs @ labeled, np.full(labeled.shape[1], float(signs.size))
    estimate = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    lower, upper = mean_bounds(estimate, counts, "wilson", DELTA)
    balance = (lower[-1] + upper[-1]) / 2.0, (upper[-1] - lower[-1]) / 2.0
    panel_alone = np.eye(lower.size)[-2]
    return largest_error(
        VoteArray(unlabeled), lower[:-1], balance, lambda block: block @ panel_alone
    )
