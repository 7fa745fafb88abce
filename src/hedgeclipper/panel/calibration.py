"""From the panel's score to a probability.

A logistic curve through the labels, seen out of fold. A few labels cannot place it alone: the mean
of the members' probabilities on the unlabeled rows stands beside them as if it were some twenty
labels more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

PRIOR_LABELS = 20.0
PRIOR_ROWS = 2_000
WEAK = 1e6


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
