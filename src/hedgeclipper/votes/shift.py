"""Whether voters vote alike on labeled and unlabeled rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import hypergeom, norm

from hedgeclipper.votes.ballots import Ballots

CHANCE = 1e-4


class VoteShift(NamedTuple):
    """A voter whose votes differ, which one, and its share of either kind of rows."""

    voter: object
    vote: object
    labeled: float
    unlabeled: float


def shift_of_votes(labeled: Ballots, unlabeled: Ballots) -> VoteShift | None:
    """Return the vote that differs most between both kinds of rows; None if chance may be why.

    If labeled rows are a plain draw from all rows, then how many of a voter's votes for a class
    fall on them is hypergeometric. That is looked at where the normal curve, which is quicker, and
    wrong for rare votes, does not rule a difference out.

    Parameters
    ----------
    labeled, unlabeled : Ballots
        Votes on labeled and on unlabeled rows.
    """
    m, n = labeled.n_rows, unlabeled.n_rows
    both = labeled.said + unlabeled.said
    chance = CHANCE / (2.0 * both.size)
    share = (both + 1.0) / (m + n + 2.0)
    error = np.sqrt(share * (1.0 - share) * (1.0 / m + 1.0 / n))
    distance = np.abs(labeled.said / m - unlabeled.said / n) / error
    voters, votes = np.nonzero(distance > norm.isf(chance))
    here, total = labeled.said[voters, votes], both[voters, votes]
    tails = (hypergeom.cdf(here, m + n, total, m), hypergeom.sf(here - 1, m + n, total, m))
    probability = np.minimum(*tails)
    if not np.any(probability < chance):
        return None
    most = probability.argmin()
    voter, vote = voters[most], votes[most]
    return VoteShift(
        unlabeled.votes.voters.tolist()[voter],
        unlabeled.votes.classes.tolist()[vote],
        float(labeled.said[voter, vote] / m),
        float(unlabeled.said[voter, vote] / n),
    )
