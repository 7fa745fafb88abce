"""From members' scores to one game: votes, weights, and a curve that makes probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgeclipper.game.losses import Loss
from hedgeclipper.panel.calibration import calibrate
from hedgeclipper.panel.panel_predictor import MemberVotes, PanelGame, awake_predictions
from hedgeclipper.panel.scales import VoteScale
from hedgeclipper.panel.weighing import JudgedVotes, PanelSolution, play_panel_game


@dataclass(frozen=True, eq=False)
class PanelScores:
    """What the members say for one class against the rest.

    Parameters
    ----------
    labeled : ndarray of shape (n_labeled, n_members)
        Scores of labeled rows that a member has not seen.
    is_positive : ndarray of shape (n_labeled,), bool
        Labels.
    weights : ndarray of shape (n_labeled,)
        Weights of the labeled rows.
    unlabeled : ndarray of shape (n_unlabeled, n_members)
        Scores of unlabeled rows.
    """

    labeled: np.ndarray
    is_positive: np.ndarray
    weights: np.ndarray
    unlabeled: np.ndarray


@dataclass(frozen=True, eq=False)
class Aggregate:
    """What became of the scores.

    Parameters
    ----------
    game : PanelGame
        All that new scores need.
    solution : PanelSolution
        Weights, and how they came about.
    votes : JudgedVotes
        The votes that were weighed.
    """

    game: PanelGame
    solution: PanelSolution
    votes: JudgedVotes


def aggregate(
    scores: PanelScores,
    *,
    specialists: str | None = None,
    loss: str | Loss = "square",
    tol: float = 1e-3,
    max_passes: int = 200,
) -> Aggregate:
    """Weigh the members and calibrate their vote.

    Parameters
    ----------
    scores : PanelScores
        Scores and labels.
    specialists, loss, tol, max_passes
        As in `HedgedVotingClassifier`.
    """
    make_votes = MemberVotes([VoteScale.of(own) for own in scores.unlabeled.T], specialists)
    votes = JudgedVotes(
        make_votes(scores.labeled),
        scores.is_positive,
        scores.weights,
        make_votes(scores.unlabeled),
        scores.unlabeled.shape[1],
    )
    solution = play_panel_game(votes, loss, tol=tol, max_passes=max_passes)
    calibration = calibrate(
        awake_predictions(votes.labeled, solution.weights),
        scores.is_positive,
        scores.weights,
        awake_predictions(votes.unlabeled, solution.weights),
        scores.unlabeled.mean(axis=1),
    )
    return Aggregate(PanelGame(make_votes, solution.weights, calibration), solution, votes)
