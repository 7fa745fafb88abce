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
from hedgeclipper.bounds.certificate import certify
from hedgeclipper.bounds.intervals import lower_bounds
from hedgeclipper.game.losses import absolute_loss
from hedgeclipper.game.solve import set_up_game

PASSES = 40


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
    bounds = lower_bounds(everyone, votes.signs, method="wilson", two_sided=True)
    # the last voter always votes +, so that its bounds are those of the class prior
    low, high = (1.0 + bounds.lower[-1]) / 2.0, (1.0 + bounds.upper[-1]) / 2.0
    bounds = bounds.select(slice(-1))
    game = set_up_game(
        np.column_stack([votes.unlabeled, votes.panel_unlabeled]),
        bounds,
        class_balance=((low + high) / 2.0, (high - low) / 2.0),
        loss=absolute_loss(),
        cap=None,
    )
    panel_alone = np.append(np.zeros(votes.unlabeled.shape[1]), [1.0, 0.0])
    start = np.append(np.maximum(bounds.lower, 0.0) / bounds.lower.size, 0.0)

    def predict(block: Any) -> np.ndarray:
        return block @ panel_alone

    return certify(
        game, predict, start, rule="hard", knowledge=bounds, max_iter=PASSES, both_ends=False
    ).error_upper
