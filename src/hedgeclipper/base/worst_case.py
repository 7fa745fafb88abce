"""The worst case of a panel: its largest error under any labels that its members allow.

Votes are here the classes that members predict, in natural proportions, as are their correlations;
neither ranks nor balanced labels have a part in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.base.score_votes import PanelGame
from hedgeclipper.base.weighing import PanelScores
from hedgeclipper.bounds.certificate import largest_error
from hedgeclipper.bounds.intervals import mean_bounds
from hedgeclipper.game.specialists import VoteArray

DELTA = 0.025  # of each side of an interval


@dataclass(frozen=True, eq=False)
class HardVotes:
    """Predicted classes, -1 or 1, of members and of the panel as a whole, and labels.

    Rows of ``labeled`` and ``unlabeled`` are rows, columns members, which have not seen the labels.
    """

    labeled: np.ndarray
    signs: np.ndarray
    unlabeled: np.ndarray
    panel_labeled: np.ndarray
    panel_unlabeled: np.ndarray

    @classmethod
    def of(cls, scores: PanelScores, game: PanelGame) -> HardVotes:
        """Return the predictions of members with these scores, and of their panel."""

        def signs(values: np.ndarray) -> np.ndarray:
            return np.where(values > 0, 1.0, -1.0)

        return cls(
            labeled=signs(scores.labeled - 0.5),
            signs=np.where(scores.is_positive, 1.0, -1.0),
            unlabeled=signs(scores.unlabeled - 0.5),
            panel_labeled=signs(game.log_odds(scores.labeled)),
            panel_unlabeled=signs(game.log_odds(scores.unlabeled)),
        )


def worst_case_error(votes: HardVotes) -> float:
    """Return a bound on the error of the panel's predictions on the unlabeled rows.

    It holds as far as Wilson's bounds on the members do. The panel counts as a voter, too, though
    the labels that score it have weighed its members.
    """
    everyone = np.column_stack([votes.labeled, votes.panel_labeled, np.ones(votes.signs.size)])
    sums, counts = votes.signs @ everyone, np.full(everyone.shape[1], float(votes.signs.size))
    estimate = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    lower, upper = mean_bounds(estimate, counts, "wilson", DELTA)
    # the last voter always votes +, so that its bounds are those of the class balance
    balance = (lower[-1] + upper[-1]) / 2.0, (upper[-1] - lower[-1]) / 2.0
    n_rows = votes.panel_unlabeled.size
    voters = np.column_stack([votes.unlabeled, votes.panel_unlabeled, np.ones(n_rows)])
    panel_alone = np.append(np.zeros(votes.unlabeled.shape[1]), [1.0, 0.0])

    def predict(block: Any) -> np.ndarray:
        return block @ panel_alone

    return largest_error(VoteArray(voters), lower[:-1], balance, predict)
