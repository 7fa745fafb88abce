"""From scores of members to votes, and to log-odds of a class.

Members give scores of any scale. A vote is the mean of two readings of a score, each in [-1, 1]:
its rank among the member's scores on the unlabeled rows, which makes all members alike, and its
log-odds, standardized there and cut off at two standard deviations, which keeps how confident the
member is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from hedgeclipper.game.losses import Loss

MOST_VALUES = 10_000
LEAST_PROBABILITY = 1e-3
DEVIATIONS = 2.0
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class VoteScale:
    """Makes votes of a member's scores.

    ``values`` are the different scores on the unlabeled rows, in rising order, and ``ranks`` their
    ranks in [-1, 1]; ``center`` and ``spread`` are mean and standard deviation of the log-odds.
    """

    values: np.ndarray
    ranks: np.ndarray
    center: float
    spread: float

    @classmethod
    def of(cls, scores: np.ndarray) -> VoteScale:
        """Return the scale of a member's scores on some rows.

        Examples
        --------
        >>> scale = VoteScale.of(np.array([0.2, 0.9, 0.2, 0.4]))
        >>> scale(np.array([0.1, 0.2, 0.9])).round(3)
        array([-0.583, -0.445,  0.792])
        """
        values, counts = np.unique(scores, return_counts=True)
        ranks = (2.0 * np.cumsum(counts) - counts) / scores.size - 1.0
        if values.size > MOST_VALUES:
            kept = np.linspace(0, values.size - 1, MOST_VALUES).round().astype(int)
            values, ranks = values[kept], ranks[kept]
        log_odds = _log_odds(scores)
        spread = float(log_odds.std())
        return cls(values, ranks, float(log_odds.mean()), spread if spread > ROUNDING else 1.0)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the votes, in [-1, 1], which rise with the scores."""
        rank = np.interp(scores, self.values, self.ranks)
        standardized = (_log_odds(scores) - self.center) / self.spread
        return (rank + np.clip(standardized / DEVIATIONS, -1.0, 1.0)) / 2.0


def _log_odds(scores: np.ndarray) -> np.ndarray:
    return logit(np.clip(scores, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY))


@dataclass(frozen=True)
class ProbabilityScale:
    """Makes votes of probabilities: how far they are from ``center``, the mean of all members.

    It is the same scale for all members, so that equal weights are the mean probability.
    """

    center: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the votes, in [-1, 1], which rise with the scores.

        Examples
        --------
        >>> ProbabilityScale(0.25)(np.array([0.0, 0.25, 1.0])).round(3)
        array([-0.333,  0.   ,  1.   ])
        """
        votes = (scores - self.center) / max(self.center, 1.0 - self.center)
        return np.clip(votes, -1.0, 1.0)  # a mean of ones may be a little above 1


Scale = VoteScale | ProbabilityScale


@dataclass(frozen=True)
class Calibration:
    """Log-odds of the positive class: slope * score + intercept; the slope is positive."""

    slope: float
    intercept: float

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds of the positive class."""
        return self.slope * scores + self.intercept


@dataclass(frozen=True, eq=False)
class PanelGame:
    """What the game of one class against the rest has found.

    ``scales`` make votes of the scores of each member, ``weights`` (theta) awake predictions of
    these votes, and ``calibration`` log-odds of the predictions.
    """

    scales: Sequence[Scale]
    weights: np.ndarray
    calibration: Calibration

    def hedged_range(self, loss: Loss) -> tuple[float, float]:
        """Return between which log-odds the game for a loss hedges; infinite for log loss."""
        low, high = self.calibration.log_odds(np.array(loss.hedged_range))
        return float(low), float(high)

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds of the class for scores of shape (n_samples, n_members)."""
        return self.calibration.log_odds(make_votes(self.scales, scores) @ self.weights)


def make_votes(scales: Sequence[Scale], scores: np.ndarray) -> np.ndarray:
    """Return the votes for scores of shape (n_samples, n_members)."""
    return np.column_stack([scale(own) for scale, own in zip(scales, scores.T, strict=True)])
