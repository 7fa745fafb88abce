"""A test of a whole file that is valid at every look: labels may be added until it is enough.

Setting and words are those of `whole_file`. Rows of the pool are labeled in a random order that was
fixed beforehand, and after each label one may look at the result and stop or go on.

**The test.** E0 = L + 1 is the smallest number of errors that is too many. Of a set S of rows with
E errors, k wrong ones among the first t drawn rows have the probability P(t, k | E) =
[E]_k [N - E]_(t - k) / [N]_t, up to a factor without E, with falling factorials [a]_b. Let M(t, k)
be the mean of P(t, k | E) / P(t, k | E0) over a few E < E0 (`FRACTIONS`, `WEIGHTS`). Accept the
largest first part of the order with M >= 1 / delta.

**Why it holds.** If S has E0 errors, M is a martingale that starts at 1 (it only falls once no
right row is left), so by Ville's inequality it ever reaches 1 / delta with probability delta at
most. M falls in k, so if accepted rows have more than L errors, M is at least 1 / delta for the
first rows with exactly E0 errors, too: a set that does not depend on the draw. So neither many
looks nor many sets need a correction, and what was accepted at one look stays accepted. M grows
with each right row, so c_t, the largest k with M(t, k) >= 1 / delta, grows with t: these are the
errors allowed after t rows.

**Edges.** With more than N - E0 right rows, S cannot have E0 errors: M is infinite. Otherwise, with
E0 or more wrong ones, M = 0. If L >= N all rows are accepted.

**Bounds.** `count_bounds_so_far` tests each number of errors of a grid that is fixed beforehand,
and the bound is the smallest one from which on all are accepted. It fails only if the largest one
below the true number is accepted, hence with probability delta at most at all looks together.

The accepted rows have at most L errors, of which those found so far are corrected. That fewer are
left does not raise c_t (it does in `whole_file`): this would be another E0 at each look.

References
----------
J. Ville. Étude critique de la notion de collectif. Gauthier-Villars, 1939.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from typing import Any

import numba
import numpy as np

from hedgeclipper.bounds.intervals import CAUTION
from hedgeclipper.bounds.whole_file import (
    AcceptedRows,
    accept_first,
    accepted_length,
    check_sample,
)

# the alternatives E as fractions of E0, and their weights, chosen for few labels: docs/ablations.md
FRACTIONS = (0.0, 0.15, 0.4, 0.6, 0.8)
WEIGHTS = (0.2, 0.25, 0.25, 0.2, 0.1)
# numbers of errors that bounds are made of: all small ones, then about 1% apart
GRID_STEP = 1.01


def allowed_errors_at(n_drawn: Any, n_pool: int, limit: int, delta: float) -> np.ndarray:
    """Return how many wrong ones accepted rows may have after so many drawn rows; -1 for none.

    Parameters
    ----------
    n_drawn : int or array-like of int
        Numbers of labeled rows (t), in any order.
    n_pool : int
        Rows of the pool (N).
    limit : int
        Errors that accepted rows may have (L).
    delta : float
        Probability that they have more at any look.

    Returns
    -------
    ndarray of int
        The allowed errors c_t, in the shape of ``n_drawn``.

    Examples
    --------
    >>> allowed_errors_at([50, 75, 200, 400, 600], 5000, 250, 0.05)
    array([-1,  0,  2,  9, 16])
    """
    looks = np.asarray(n_drawn, np.int64)
    ordered, positions = np.unique(looks, return_inverse=True)
    allowed = _allowed_errors(ordered, *_test_of_limit(n_pool, limit, delta))
    return allowed[positions].reshape(looks.shape)


def least_drawn(n_pool: int, limit: int, delta: float) -> int:
    """Return the smallest number of labels at which anything can be accepted, if none is wrong.

    `whole_file.least_tested` is the number of the test with one look, of the same arguments.

    Examples
    --------
    >>> least_drawn(5000, 250, 0.05)
    75
    """
    return bisect_left(
        range(max(n_pool - limit, 0)),
        True,
        key=lambda t: bool(allowed_errors_at(t, n_pool, limit, delta) >= 0),
    )


def accept_rows_so_far(
    order: np.ndarray,
    drawn: Any,
    wrong: Any,
    *,
    limit: int,
    delta: float,
    skipped: np.ndarray | bool = False,
) -> AcceptedRows:
    """Return which predictions may stay, given the rows that were labeled so far.

    The result holds at every look, for whatever reason one stops. Every number of labels up to now
    counts as a look, so it does not depend on when one has looked, and more labels never accept
    fewer rows.

    Parameters
    ----------
    order : ndarray of int of shape (n_pool,)
        Positions of the rows of the pool, the least uncertain first, as of `order_by_uncertainty`.
        It must not change from look to look.
    drawn : array-like of int of shape (n_drawn,)
        Positions of the labeled rows in the pool, in the order in which they were drawn: the first
        ones of a random order of the whole pool that was fixed beforehand. None may be left out.
    delta : float
        Probability that more errors are left than allowed at any look.
    skipped : ndarray of bool of shape (n_drawn,), or False
        Drawn rows that people could not decide. They count as wrong, but nothing was corrected.
    wrong, limit
        As for `whole_file.accept_rows`.

    Returns
    -------
    AcceptedRows
        The rows, with the upper bound on the errors among them. ``n_allowed`` are the wrong rows
        that are allowed after all labels so far.

    Examples
    --------
    The 70 most uncertain of 1,000 rows are wrong:

    >>> drawn = np.random.default_rng(0).permutation(1000)
    >>> for n in (50, 100, 200):
    ...     found = accept_rows_so_far(
    ...         np.arange(1000), drawn[:n], drawn[:n] >= 930, limit=50, delta=0.05
    ...     )
    ...     print(found.n_allowed, found.n_accepted, found.errors_left)
    -1 0 0
    0 853 50
    3 759 47
    """
    ranks, bad = check_sample(order, drawn, wrong | np.asarray(skipped))
    n_pool = order.size
    allowed = allowed_errors_at(np.arange(ranks.size + 1), n_pool, limit, delta).tolist()
    length = accepted_length([], allowed[0], n_pool)
    found: list[int] = []
    for rank, is_bad, c in zip(ranks.tolist(), bad.tolist(), allowed[1:], strict=True):
        if is_bad:
            insort(found, rank)
        length = max(length, accepted_length(found, c, n_pool))
    # a skipped row may be right: nothing was corrected
    corrected = int(np.sum(bad & ~np.asarray(skipped) & (ranks < length)))
    left = max(limit - corrected, 0)
    return accept_first(order, ranks, bad, length, n_allowed=allowed[-1], left=left)


def count_bounds_so_far(
    found: Any, n_pool: int, delta: float, skipped: np.ndarray | bool = False
) -> tuple[int, int]:
    """Return the least and the largest number of rows that count, given those drawn so far.

    Each of the two fails at any look with probability ``delta`` at most, for whatever reason one
    stops. With a fixed number of labels and one look, `intervals.count_bounds` are closer.

    Parameters
    ----------
    found : array-like of bool of shape (n_drawn,)
        Which of the drawn rows count, such as those predicted wrong, in the order of the draw.
    n_pool : int
        Rows of the pool.
    delta : float
        Probability that a bound fails at any look.
    skipped : ndarray of bool of shape (n_drawn,), or False
        Rows that people could not decide. They count for the upper bound, not for the lower one.

    Returns
    -------
    least, most : int
        Bounds on the number among all rows of the pool.

    Examples
    --------
    >>> count_bounds_so_far(np.arange(400) % 50 == 25, 5000, delta=0.05)
    (34, 222)
    """
    wrong, skips, grid = np.asarray(found, bool), np.asarray(skipped), _grid(n_pool)
    most, n_wrong = n_pool, np.cumsum(wrong | skips)
    for limit in grid[-2::-1].tolist():
        if not _is_ever_reached(n_wrong, *_test_of_limit(n_pool, limit, delta)):
            break
        most = limit
    # that there are fewer errors is the same test of the rows that are right, with alternatives
    # that are multiples of the number of errors
    least, n_right = 0, np.cumsum(~wrong | skips)
    for errors in grid[:-1].tolist():
        with np.errstate(divide="ignore"):
            more = np.minimum(np.ceil((errors + 1) / np.array(FRACTIONS)), n_pool).astype(np.int64)
        test = n_pool, n_pool - errors, n_pool - more, *_weights_and_threshold(n_pool, delta)
        if not _is_ever_reached(n_right, *test):
            break
        least = errors + 1
    # a bound that failed at an earlier look does not contradict the rows that were seen since
    least = min(least, n_pool - int(np.sum(~wrong & ~skips)))
    return least, max(most, int(np.sum(wrong & ~skips)))


def _grid(n_pool: int) -> np.ndarray:
    """Return ascending numbers from 0 to that of the pool."""
    n_steps = math.ceil(math.log(max(n_pool, 1)) / math.log(GRID_STEP))
    steps = np.floor(GRID_STEP ** np.arange(n_steps + 1)).astype(np.int64)
    return np.unique(np.concatenate([[0], np.minimum(steps, n_pool), [n_pool]]))


def _test_of_limit(n_pool: int, limit: int, delta: float) -> tuple:
    """Return the arguments of the compiled tests that there are more errors than the limit."""
    alternatives = np.floor(np.array(FRACTIONS) * (limit + 1)).astype(np.int64)
    return n_pool, limit + 1, alternatives, *_weights_and_threshold(n_pool, delta)


def _weights_and_threshold(n_pool: int, delta: float) -> tuple[np.ndarray, float]:
    """Return the logarithms of the weights, and what log M has to reach."""
    # rounding of log factorials of N, apart from the caution that bounds have anyway
    rounding = CAUTION + 16.0 * np.finfo(float).eps * math.lgamma(n_pool + 1.0)
    return np.log(np.array(WEIGHTS)), math.log(1.0 / delta) + rounding


@numba.njit(cache=True)
def _is_ever_reached(n_wrong, n_pool, too_many, alternatives, log_weights, threshold):
    """Return whether log M reaches the threshold after any of the drawn rows."""
    for i in range(n_wrong.size):
        value = _log_martingale(i + 1, n_wrong[i], n_pool, too_many, alternatives, log_weights)
        if value >= threshold:
            return True
    return False


@numba.njit(cache=True)
def _allowed_errors(looks, n_pool, too_many, alternatives, log_weights, threshold):
    """Return c_t at ascending looks: from that of the look before, by doubling and bisection."""
    out, c = np.empty(looks.size, np.int64), -1
    for i in range(looks.size):
        step, high = 1, looks[i] + 1  # `high` is refused, or more than there are
        while c < high - 1:
            k = min(c + step, high - 1)
            value = _log_martingale(looks[i], k, n_pool, too_many, alternatives, log_weights)
            if value >= threshold:
                c, step = k, 2 * step
            else:
                high, step = k, max((k - c) // 2, 1)
        out[i] = c
    return out


@numba.njit(cache=True)
def _log_martingale(n_drawn, n_wrong, n_pool, too_many, alternatives, log_weights):
    """Return log M(t, k)."""
    n_right = n_drawn - n_wrong
    if n_right > n_pool - too_many:
        return np.inf
    if n_wrong >= too_many:
        return -np.inf
    base = _log_falling(too_many, n_wrong) + _log_falling(n_pool - too_many, n_right)
    total = -np.inf
    for i in range(alternatives.size):
        errors = alternatives[i]
        if n_wrong <= errors:
            ratio = _log_falling(errors, n_wrong) + _log_falling(n_pool - errors, n_right) - base
            total = np.logaddexp(total, log_weights[i] + ratio)
    return total


@numba.njit(cache=True)
def _log_falling(a, b):
    """Return log [a]_b = log(a (a - 1) ... (a - b + 1))."""
    return math.lgamma(a + 1.0) - math.lgamma(a - b + 1.0)
