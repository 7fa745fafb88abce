"""From a member's scores to its votes.

Members speak in scores of any scale. A vote is the mean of two readings of a score, each in
[-1, 1]: its rank among the member's scores on the unlabeled rows, which makes all members alike,
and its log-odds, standardized there and cut off at two standard deviations, which keeps how sure
the member is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

MOST_VALUES = 10_000
LEAST_SHARE = 1e-3
DEVIATIONS = 2.0
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class VoteScale:
    """Makes votes of a member's scores.

    Parameters
    ----------
    values : ndarray
        Different scores on the unlabeled rows, in rising order.
    ranks : ndarray
        Their ranks in [-1, 1]; equal scores share one.
    center, spread : float
        Mean and standard deviation of the log-odds there.
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
    return logit(np.clip(scores, LEAST_SHARE, 1.0 - LEAST_SHARE))
