"""The worst that labels can do, limited by what is known: bounds on any average over the rows.

For gains G, one for each row and class, and any theta, the mean of G over the true classes is at
most

    mean over rows of max over k of (G_jk - (f_j theta)_k) + centers . theta + widths . abs(theta)

if the bounds hold. So every theta gives a bound. The least one is the value of a game without a
loss, in which G is the offset and -theta are the weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hedgeclipper.game.multiclass_losses import LargestScore, row_maxima
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.knowledge import Knowledge
from hedgeclipper.votes.vote_game import scores_of, solve_ballots, weight_terms

MAX_ITER, TOL = 200, 1e-2
HIGHEST_PRICE = 1.0
CONTRADICTION = 0.01


class WorstCase(NamedTuple):
    """An upper bound on a mean over rows, and the weights that prove it."""

    bound: float
    weights: np.ndarray


class Relaxed(NamedTuple):
    """Bounds that some labels obey, and what was wrong with those they were made of.

    ``violation`` is by how much these, added up, must be broken, 0 if they need not be; ``blamed``
    says whose are among them, shape (n_voters,).
    """

    knowledge: Knowledge
    violation: float
    blamed: np.ndarray


def largest_mean(
    gains: np.ndarray, sample: Ballots, sampled: np.ndarray, ballots: Ballots, knowledge: Knowledge
) -> WorstCase:
    """Return a bound on the mean gain over all rows.

    Parameters
    ----------
    gains : ndarray of shape (n_rows, n_classes)
        What a row brings if its class is k.
    sample, sampled : Ballots, ndarray of int
        Votes on rows to seek weights by, and their numbers.
    ballots : Ballots
        Votes on all rows.
    knowledge : Knowledge
        Bounds.
    """
    weights = _sought(gains[sampled], sample, knowledge.on(sample))
    sought = proved(gains, ballots, knowledge, weights)
    plain = WorstCase(float(row_maxima(gains).mean()), np.zeros_like(weights))
    return sought if sought.bound < plain.bound else plain


def proved(
    gains: np.ndarray, ballots: Ballots, knowledge: Knowledge, weights: np.ndarray
) -> WorstCase:
    """Return the bound on the mean gain that some weights prove."""
    used = knowledge.is_used
    price = knowledge.centers[used] @ weights[used]
    price += knowledge.widths[used] @ np.abs(weights[used])
    rest = sum(
        row_maxima(gains[rows] - scores_of(block, weights)).sum()
        for rows, block in ballots.blocks()
    )
    return WorstCase(float(rest / ballots.n_rows + price), weights)


def total_violation(ballots: Ballots, knowledge: Knowledge) -> WorstCase:
    """Return by how much the bounds, added up, must be broken by any labels, and who is to blame.

    The weights are prices of at most 1, at that where a bound has to give way.

    Parameters
    ----------
    ballots : Ballots
        Votes on all rows, or on a sample.
    knowledge : Knowledge
        Bounds; they are held against these rows.
    """
    here = knowledge.on(ballots)
    return _violation(ballots, here, _sought(_nothing(ballots), ballots, here))


def _violation(ballots: Ballots, knowledge: Knowledge, prices: np.ndarray) -> WorstCase:
    """Return by how much prices of at most 1 prove that the bounds must be broken."""
    least = proved(_nothing(ballots), ballots, knowledge, prices).bound
    return WorstCase(max(-least, 0.0), prices)


def _nothing(ballots: Ballots) -> np.ndarray:
    """Return gains of 0, whatever the labels."""
    return np.zeros((ballots.n_rows, ballots.n_classes), order="F")


def relaxed(sample: Ballots, ballots: Ballots, knowledge: Knowledge) -> Relaxed:
    """Return bounds that some labels obey: the same, or wider ones if these contradict each other.

    All are widened as often as needed, and once more, since bounds that just meet leave the
    adversary no choice, and were proved wrong.

    Parameters
    ----------
    sample, ballots : Ballots
        Votes on rows to seek contradictions by, and on all rows, which have to bear them out.
    knowledge : Knowledge
        Bounds for all rows.
    """
    violation, prices = proved_violation(sample, ballots, knowledge)
    if violation <= CONTRADICTION:
        return Relaxed(knowledge, 0.0, np.zeros_like(knowledge.blamed(prices)))
    wider = knowledge.widened()
    while proved_violation(sample, ballots, wider).bound > CONTRADICTION:
        wider = wider.widened()
    return Relaxed(wider.widened(), violation, knowledge.blamed(prices))


def proved_violation(sample: Ballots, ballots: Ballots, knowledge: Knowledge) -> WorstCase:
    """Return the total violation on a sample, or what its prices prove of all rows if that is less.

    Shares in a sample differ a little from those of all rows, and may seem to contradict bounds.

    Parameters
    ----------
    sample, ballots : Ballots
        Votes on a sample, and on all rows.
    knowledge : Knowledge
        Bounds for all rows.
    """
    found = total_violation(sample, knowledge)
    if sample.n_rows == ballots.n_rows or found.bound == 0.0:
        return found
    everywhere = _violation(ballots, knowledge, found.weights)
    return everywhere if everywhere.bound < found.bound else found


def _sought(gains: np.ndarray, ballots: Ballots, knowledge: Knowledge) -> np.ndarray:
    """Return weights, none larger than the highest price, that prove a low bound on the mean."""
    terms, limits = weight_terms(knowledge, HIGHEST_PRICE), {"tol": TOL, "max_iter": MAX_ITER}
    return -solve_ballots(ballots, knowledge, terms, gains, LargestScore(), **limits).weights
