"""Bounds on the error of a panel's predictions, from what the labels tell of its members.

Votes are here the classes that members predict, in natural proportions, as are their correlations;
neither ranks nor balanced labels have a part in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgeclipper.bounds.certificate import Certificate, certify
from hedgeclipper.bounds.intervals import lower_bounds
from hedgeclipper.game.losses import absolute_loss
from hedgeclipper.game.setup import set_up_game
from hedgeclipper.panel.panel_predictor import PanelGame
from hedgeclipper.panel.weighing import PanelScores

ESTIMATE_LEVEL = 0.95
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


def certify_panel(votes: HardVotes, level: float | None, is_guarantee: bool) -> Certificate:
    """Return bounds on the error of the panel's predictions on the unlabeled rows.

    ``level`` is the confidence level of bounds that hold together, on these rows; None means an
    estimate from Wilson's bounds, in which the panel counts as a voter, too, though the labels that
    score it have weighed its members. A guarantee needs labels that have fitted no member.
    """
    everyone = np.column_stack([votes.labeled, votes.panel_labeled, np.ones(votes.signs.size)])
    bounds = lower_bounds(
        everyone,
        votes.signs,
        method="wilson" if level is None else "transductive",
        confidence_level=ESTIMATE_LEVEL if level is None else level,
        two_sided=True,
        n_unlabeled=None if level is None else votes.unlabeled.shape[0],
    )
    # the last voter always votes +, so that its bounds are those of the class prior
    low, high = (1.0 + bounds.lower[-1]) / 2.0, (1.0 + bounds.upper[-1]) / 2.0
    bounds = bounds.select(slice(-1))
    if level is not None:
        # the labels that would score the panel have weighed its members
        bounds = replace(bounds, lower=np.append(bounds.lower[:-1], -1.0))
    bounds = replace(bounds, is_guarantee=bounds.is_guarantee and is_guarantee)
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

    return certify(game, predict, start, rule="hard", knowledge=bounds, max_iter=PASSES)
