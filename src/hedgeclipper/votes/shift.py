"""Whether voters vote alike on labeled and unlabeled rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import hypergeom, mannwhitneyu, norm

from hedgeclipper.base.semi_supervised import ShiftWarning
from hedgeclipper.io.progress import warn_user
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.evidence import Evidence

SIGNIFICANCE, LEAD_SIGNIFICANCE = 1e-4, 1e-3


class VoteShift(NamedTuple):
    """A voter, a vote of it, and on which proportion of labeled and unlabeled rows it is cast."""

    voter: object
    vote: object
    labeled: float
    unlabeled: float


def shift_of_votes(labeled: Ballots, unlabeled: Ballots) -> VoteShift | None:
    """Return the vote whose frequency differs most; None if no difference is significant.

    If labeled rows are a simple random sample of all rows, then how many of a voter's votes for a
    class fall on them is hypergeometric. That is computed where the normal approximation, which is
    faster, and wrong for rare votes, does not rule a difference out.
    """
    m, n, cast = labeled.n_rows, unlabeled.n_rows, labeled.votes_cast
    both = cast + unlabeled.votes_cast
    level = SIGNIFICANCE / (2.0 * both.size)
    rate = (both + 1.0) / (m + n + 2.0)
    error = np.sqrt(rate * (1.0 - rate) * (1.0 / m + 1.0 / n))
    distance = np.abs(cast / m - unlabeled.votes_cast / n) / error
    voters, votes = np.nonzero(distance > norm.isf(level))
    here, total = cast[voters, votes], both[voters, votes]
    tails = (hypergeom.cdf(here, m + n, total, m), hypergeom.sf(here - 1, m + n, total, m))
    probability = np.minimum(*tails)
    if not np.any(probability < level):
        return None
    most = probability.argmin()
    voter, vote = voters[most], votes[most]
    return VoteShift(
        unlabeled.votes.voters.tolist()[voter],
        unlabeled.votes.classes.tolist()[vote],
        float(cast[voter, vote] / m),
        float(unlabeled.votes_cast[voter, vote] / n),
    )


def leads_differ(evidence: Evidence) -> bool:
    """Return whether the Dawid-Skene model is more or less certain of labeled rows than of others.

    That is so where labels were chosen, by ``suggest_labels`` for instance.
    """
    labeled, unlabeled = evidence.leads
    return bool(mannwhitneyu(labeled, unlabeled).pvalue < LEAD_SIGNIFICANCE)


def warn_of_shift(labeled: Ballots, unlabeled: Ballots) -> bool:
    """Warn, and return True, if voters vote differently on labeled and unlabeled rows."""
    found = shift_of_votes(labeled, unlabeled)
    if found is not None:
        warn_user(
            "Voters vote significantly differently on the unlabeled rows than on the labeled ones: "
            f"{found.voter!r} votes for {found.vote!r} on {found.unlabeled:.2%} of the "
            f"former and {found.labeled:.2%} of the latter. What the labels tell of it may not "
            "hold for them.",
            ShiftWarning,
        )
    return found is not None
