"""The game: an adversary picks the labels, limited by what is known of voters and classes.

The opening is the prediction one would make without the game; what is played for is the loss
beyond the opening's. Its value is then never above zero: if the bounds hold, the prediction is no
worse than the opening, whatever the labels. Without an opening, log loss and Wilson's bounds, this
is the game of An and Dasgupta (UAI 2024):

    mean over rows of potential(opening_j + f_j theta) - centers . theta + widths . abs(theta),

f_j theta the scores that weights theta give the classes on row j. A small ridge and a largest size
keep theta in place where bounds nearly contradict each other: as if the adversary might break a
bound, at a price. Bounds that do contradict each other are widened before (`worst_case.relaxed`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import fmin_l_bfgs_b
from threadpoolctl import threadpool_limits

from hedgeclipper.game.track import PassRecord
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.knowledge import Knowledge, joined, parted
from hedgeclipper.votes.vote_losses import VoteLoss

Smooth = Callable[[np.ndarray], tuple[float, np.ndarray]]
RIDGE = 0.1
LARGEST = 10.0


@dataclass(frozen=True, eq=False)
class VoteGame:
    """What came out.

    Parameters
    ----------
    weights : ndarray
        theta, for voters, votes and classes, as one vector.
    value : float
        What is played for: loss beyond the opening's, on average, against the worst labels.
    n_passes : int
        Passes over the rows.
    stop_reason : {"converged", "max_passes"}
        Whether the solver stopped by itself, or for want of passes.
    history : tuple of PassRecord
        The least value known after each pass, with the term of the ridge; no bound from below.
    """

    weights: np.ndarray
    value: float
    n_passes: int
    stop_reason: str
    history: tuple[PassRecord, ...] = ()


def scores_of(ballots: Ballots, weights: np.ndarray) -> np.ndarray:
    """Return f theta, the scores that weights give each class on each row."""
    scores = ballots.scores(vote_table(weights, ballots.shape))
    scores += weights[weights.size - ballots.n_classes :]
    return scores


def vote_table(weights: np.ndarray, shape: tuple[int, int, int]) -> np.ndarray:
    """Return what weights give each class for a voter's vote, by voter, vote and class."""
    voters, votes, _ = parted(weights, shape[0], shape[1])
    table, each = np.zeros(shape), np.arange(shape[1])
    table[:, each, each] = voters[:, None] + votes
    return table


def shares_of(ballots: Ballots, z: np.ndarray) -> np.ndarray:
    """Return the mean over rows of f z: how often z agrees with voters and votes, and classes."""
    right = np.diagonal(ballots.sums(z), axis1=1, axis2=2)
    return joined(right.sum(axis=1), right, z.sum(axis=0)) / ballots.n_rows


def play(
    ballots: Ballots,
    knowledge: Knowledge,
    opening: np.ndarray,
    loss: VoteLoss,
    *,
    n_labeled: int,
    tol: float,
    max_passes: int,
    start: np.ndarray | None = None,
) -> VoteGame:
    """Solve the game.

    Parameters
    ----------
    ballots : Ballots
        Votes on unlabeled rows.
    knowledge : Knowledge
        Bounds.
    opening : ndarray of shape (n_rows, n_classes)
        Logarithms of the opening's probabilities.
    loss : VoteLoss
        What predictions are judged by.
    n_labeled : int
        Number of labels; the ridge falls with it.
    tol, max_passes
        Where to stop: slope of the objective, and passes over the rows.
    start : ndarray, optional
        Weights to start from.
    """
    first = loss.scores(opening)
    already = float(np.sum(loss.reply(first)[0])) / ballots.n_rows
    ridge = RIDGE / max(n_labeled, 1)

    def smooth(weights: np.ndarray) -> tuple[float, np.ndarray]:
        potential, z = loss.reply(first + scores_of(ballots, weights))
        value = potential.mean() - already + 0.5 * ridge * weights @ weights
        return value, shares_of(ballots, z) + ridge * weights

    found = minimize(smooth, knowledge, tol=tol, max_passes=max_passes, start=start, reach=LARGEST)
    if found.value > 0:  # stopped on the way from a bad start: the opening alone is better
        return replace(found, weights=np.zeros_like(found.weights), value=0.0)
    pull = 0.5 * ridge * found.weights @ found.weights
    return replace(found, value=found.value - pull)


# threads of BLAS wait for each other in matrices as small as these, longest on a busy machine
@threadpool_limits.wrap(limits=1, user_api="blas")
def minimize(
    smooth: Smooth,
    knowledge: Knowledge,
    *,
    tol: float,
    max_passes: int,
    start: np.ndarray | None = None,
    reach: float,
) -> VoteGame:
    """Return the weights with the least smooth(theta) - centers . theta + widths . abs(theta).

    theta is the difference of two parts that are not negative, for those that are used, and 0 for
    the others.

    Parameters
    ----------
    smooth : callable
        From weights to value and slopes.
    knowledge : Knowledge
        Centers and widths.
    tol, max_passes, start
        As in `play`.
    reach : float
        Largest size of a weight.
    """
    used = np.flatnonzero(knowledge.is_used)
    centers, widths = knowledge.centers[used], knowledge.widths[used]
    before = np.zeros(used.size) if start is None else start[used]
    first = np.concatenate([np.maximum(before, 0.0), np.maximum(-before, 0.0)])
    values: list[float] = []
    best = _Best(np.inf, first)

    def whole(part: np.ndarray) -> np.ndarray:
        weights = np.zeros(knowledge.is_used.size)
        weights[used] = part[: used.size] - part[used.size :]
        return weights

    def objective(part: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best
        if len(values) == max_passes:
            raise _OutOfPasses
        value, slopes = smooth(whole(part))
        plus, minus = part[: used.size], part[used.size :]
        slopes = slopes[used] - centers
        value = value - centers @ (plus - minus) + widths @ (plus + minus)
        values.append(float(value))
        if value < best.value:
            best = _Best(float(value), part.copy())
        return value, np.concatenate([slopes + widths, widths - slopes])

    stop_reason = "converged"
    try:
        limits = np.tile([0.0, reach], (first.size, 1))
        # passes are counted in the objective, since the solver oversteps limits of its own
        most = {"maxiter": max_passes + 1, "maxfun": max_passes + 1}
        fmin_l_bfgs_b(objective, first, bounds=limits, pgtol=tol, factr=10.0, **most)
    except _OutOfPasses:
        stop_reason = "max_passes"
    least = np.minimum.accumulate(values).tolist()
    history = tuple(PassRecord(k, value, -np.inf) for k, value in enumerate(least, start=1))
    return VoteGame(whole(best.part), best.value, len(values), stop_reason, history)


class _Best(NamedTuple):
    """The least value so far, and where it is."""

    value: float
    part: np.ndarray


class _OutOfPasses(Exception):
    """All passes were made, and the solver asks for one more."""
