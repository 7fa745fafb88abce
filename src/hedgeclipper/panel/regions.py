"""Parts of the rows in which a member is a voter of its own: where it says so, or is so sure."""

from __future__ import annotations

import numpy as np

KINDS = ("signs", "bins")
SURE = 0.5


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
