"""The game of one class against the rest: from scores to weights, and to probabilities.

The weighted vote becomes a probability by a logistic curve through the labels, seen out of fold. A
few labels cannot place it alone: the mean of the members' probabilities on the unlabeled rows is
added to them as if it were some twenty labels more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from hedgeclipper.game.losses import Loss
from hedgeclipper.panel.member_votes import MemberVotes, VoteScale
from hedgeclipper.panel.weighing import PanelSolution, ScoredVotes, play_panel_game

PRIOR_LABELS = 20.0
PRIOR_ROWS = 2_000
WEAK = 1e6


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
    votes : ScoredVotes
        The votes that were weighed.
    """

    game: PanelGame
    solution: PanelSolution
    votes: ScoredVotes


def aggregate(
    scores: PanelScores,
    *,
    regions: str | None = None,
    loss: str | Loss = "square",
    tol: float = 1e-3,
    max_iter: int = 200,
) -> Aggregate:
    """Weigh the members and calibrate their vote.

    Parameters
    ----------
    scores : PanelScores
        Scores and labels.
    regions, loss, tol, max_iter
        As in `HedgedVotingClassifier`.
    """
    make_votes = MemberVotes([VoteScale.of(own) for own in scores.unlabeled.T], regions)
    votes = ScoredVotes(
        make_votes(scores.labeled),
        scores.is_positive,
        scores.weights,
        make_votes(scores.unlabeled),
        scores.unlabeled.shape[1],
    )
    solution = play_panel_game(votes, loss, tol=tol, max_iter=max_iter)
    calibration = calibrate(
        awake_predictions(votes.labeled, solution.weights),
        scores.is_positive,
        scores.weights,
        awake_predictions(votes.unlabeled, solution.weights),
        scores.unlabeled.mean(axis=1),
    )
    return Aggregate(PanelGame(make_votes, solution.weights, calibration), solution, votes)


@dataclass(frozen=True, eq=False)
class PanelGame:
    """What one game, of one class against the rest, has found.

    Parameters
    ----------
    votes : MemberVotes
        How scores become votes.
    weights : ndarray of shape (n_voters,)
        theta.
    calibration : Calibration
        From awake predictions to log-odds.
    """

    votes: MemberVotes
    weights: np.ndarray
    calibration: Calibration

    def hedged_range(self, loss: Loss) -> tuple[float, float]:
        """Return between which log-odds the game for a loss hedges; infinite for log loss."""
        low, high = self.calibration.log_odds(np.array(loss.hedged_range))
        return float(low), float(high)

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds of the class for scores of shape (n_samples, n_members)."""
        return self.calibration.log_odds(awake_predictions(self.votes(scores), self.weights))


def awake_predictions(votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return m, the weighted sum of the votes of those who are awake."""
    return np.nan_to_num(votes) @ weights


@dataclass(frozen=True)
class Calibration:
    """Log-odds of the positive class: slope * score + intercept; the slope is positive."""

    slope: float
    intercept: float

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds of the positive class."""
        return self.slope * scores + self.intercept


def calibrate(
    scores: np.ndarray,
    is_positive: np.ndarray,
    weights: np.ndarray,
    prior_scores: np.ndarray,
    prior_shares: np.ndarray,
) -> Calibration:
    """Fit the curve.

    Parameters
    ----------
    scores, is_positive, weights : ndarray of shape (n_labeled,)
        Scores, labels and weights of labeled rows.
    prior_scores, prior_shares : ndarray of shape (n_unlabeled,)
        Scores of unlabeled rows, and how probably positive the members take them to be on average.
    """
    thin = slice(None, None, max(1, prior_scores.size // PRIOR_ROWS))
    prior_scores, prior_shares = prior_scores[thin], prior_shares[thin]
    size = float(np.std(prior_scores)) or 1.0
    weights = weights * weights.size / weights.sum()
    each = PRIOR_LABELS / prior_scores.size
    rows = np.concatenate([scores, prior_scores, prior_scores]) / size
    labels = np.repeat([1, 0], [prior_scores.size, prior_scores.size])
    model = LogisticRegression(C=WEAK, max_iter=1000).fit(
        rows[:, None],
        np.concatenate([is_positive.astype(int), labels]),
        np.concatenate([weights, each * prior_shares, each * (1.0 - prior_shares)]),
    )
    slope = max(float(model.coef_[0, 0]), 1.0 / np.sqrt(WEAK)) / size
    return Calibration(slope, float(model.intercept_[0]))
