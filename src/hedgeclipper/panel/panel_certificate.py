"""Bounds on the error of a panel's predictions, from what the labels say of its members.

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
from hedgeclipper.game.setup import LabelCorrelations, set_up_game

ESTIMATE_LEVEL = 0.95
PASSES = 40


@dataclass(frozen=True, eq=False)
class HardVotes:
    """Predicted classes, -1 or 1, of members and of the panel as a whole.

    Parameters
    ----------
    labeled : ndarray of shape (n_labeled, n_members)
        Members' predictions for labeled rows they have not seen.
    signs : ndarray of shape (n_labeled,)
        Labels.
    unlabeled : ndarray of shape (n_unlabeled, n_members)
        Members' predictions for unlabeled rows.
    panel_labeled, panel_unlabeled : ndarray
        The panel's own predictions for these rows.
    """

    labeled: np.ndarray
    signs: np.ndarray
    unlabeled: np.ndarray
    panel_labeled: np.ndarray
    panel_unlabeled: np.ndarray


def certify_panel(votes: HardVotes, level: float | None, is_guarantee: bool) -> Certificate:
    """Return bounds on the error of the panel's predictions on the unlabeled rows.

    Parameters
    ----------
    votes : HardVotes
        Who predicts what.
    level : float or None
        Confidence level of bounds that hold together, on these rows. None: an estimate from
        Wilson's bounds, in which the panel counts as a voter, too, though the labels that score it
        have weighed its members.
    is_guarantee : bool
        Whether the labels have fitted no member.
    """
    bounds, share, width = _known(votes, level)
    bounds = replace(bounds, is_guarantee=bounds.is_guarantee and is_guarantee)
    game = set_up_game(
        np.column_stack([votes.unlabeled, votes.panel_unlabeled]),
        bounds,
        class_balance=(share, width),
        loss=absolute_loss(),
        cap=None,
    )

    def predict(block: Any) -> np.ndarray:
        return block.votes[:, -1]

    start = np.append(np.maximum(bounds.lower, 0.0) / bounds.lower.size, 0.0)
    return certify(game, predict, start, rule="hard", knowledge=bounds, max_iter=PASSES)


def _known(votes: HardVotes, level: float | None) -> tuple[LabelCorrelations, float, float]:
    """Return bounds for members and panel, the share of + and how far it may be off."""
    everyone = np.column_stack([votes.labeled, votes.panel_labeled, np.ones(votes.signs.size)])
    bounds = lower_bounds(
        everyone,
        votes.signs,
        method="wilson" if level is None else "transductive",
        confidence_level=ESTIMATE_LEVEL if level is None else level,
        two_sided=True,
        n_unlabeled=None if level is None else votes.unlabeled.shape[0],
    )
    low, high = (1.0 + bounds.lower[-1]) / 2.0, (1.0 + bounds.upper[-1]) / 2.0
    voters = bounds.select(slice(-1))
    if level is not None:
        # the labels that would judge the panel have weighed its members
        voters = replace(voters, lower=np.append(voters.lower[:-1], -1.0))
    return voters, (low + high) / 2.0, (high - low) / 2.0
