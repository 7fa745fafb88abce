"""From members' scores to votes.

Members give scores of any scale. A vote is the mean of two readings of a score, each in [-1, 1]:
its rank among the member's scores on the unlabeled rows, which makes all members alike, and its
log-odds, standardized there and cut off at two standard deviations, which keeps how confident the
member is. A member may also be a voter of its own in parts of the rows, its regions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logit

REGIONS = ("signs", "bins")
SURE = 0.5
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


@dataclass(frozen=True, eq=False)
class MemberVotes:
    """Makes votes of the members' scores.

    Parameters
    ----------
    scales : list of VoteScale
        One for each member.
    regions : str or None
        Regions of members that are voters of their own.
    """

    scales: Sequence[VoteScale]
    regions: str | None

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the votes for scores of shape (n_samples, n_members); NaN where asleep."""
        pairs = zip(self.scales, scores.T, strict=True)
        votes = np.column_stack([scale(column) for scale, column in pairs])
        return with_regions(votes, self.regions)


def with_regions(votes: np.ndarray, kind: str | None) -> np.ndarray:
    """Return the members' votes, and beside them those of their regions, NaN outside.

    Parameters
    ----------
    votes : ndarray of shape (n_samples, n_members)
        Votes in [-1, 1].
    kind : {"signs", "bins"} or None
        "signs": each member is awake once where it says + and once where it says -. "bins": the
        same, each for unsure and for sure votes. None: no regions.

    Examples
    --------
    >>> with_regions(np.array([[0.2], [-0.9]]), "signs")
    array([[ 0.2,  0.2,  nan],
           [-0.9,  nan, -0.9]])
    """
    if kind is None:
        return votes
    is_positive = votes > 0
    regions = [is_positive, ~is_positive]
    if kind == "bins":
        is_sure = np.abs(votes) >= SURE
        regions = [region & part for region in regions for part in (~is_sure, is_sure)]
    return np.hstack([votes, *[np.where(region, votes, np.nan) for region in regions]])
