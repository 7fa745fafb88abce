"""Whether voters vote alike on labelled and unlabelled rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from hedgeclipper.votes.ballots import Ballots

CHANCE = 1e-4


class VoteShift(NamedTuple):
    """The voter whose votes differ most, how often it casts one of them, and whether it matters."""

    voter: object
    labeled: float
    unlabeled: float
    is_far: bool


def shift_of_votes(labeled: Ballots, unlabeled: Ballots) -> VoteShift:
    """Compare how often each voter casts each vote on both kinds of rows.

    Parameters
    ----------
    labeled, unlabeled : Ballots
        Votes on labelled and on unlabelled rows.
    """
    m, n = max(labeled.n_rows, 1), max(unlabeled.n_rows, 1)
    here, there = labeled.said / m, unlabeled.said / n
    both = (labeled.said + unlabeled.said + 1.0) / (m + n + 2.0)
    error = np.sqrt(both * (1.0 - both) * (1.0 / m + 1.0 / n))
    distance = np.abs(here - there) / error
    voter, vote = np.unravel_index(distance.argmax(), distance.shape)
    limit = norm.isf(CHANCE / (2.0 * distance.size))
    return VoteShift(
        unlabeled.votes.voters[voter],
        float(here[voter, vote]),
        float(there[voter, vote]),
        bool(distance[voter, vote] > limit),
    )
