"""Exact bounds on a mean over the unlabeled rows, from labeled rows drawn at random among both.

m of N = m + n rows are labeled, a simple random sample without replacement; the other n are
unlabeled. What is wanted is the mean of some quantity over these n rows.

**Counts** (a vote is right, a prediction is wrong): if K of the N rows count, the number among the
labeled ones is hypergeometric. Inverting the test gives bounds that fail with probability delta at
most. For infinitely many unlabeled rows they are those of Clopper and Pearson.

**Numbers in [0, 1]** (soft votes): bet on each labeled row in turn that it is above a candidate
mean. If the candidate is the true mean the wealth is a martingale, so that it reaches 1 / delta
with probability delta at most (Ville's inequality). Means against which it does are rejected.

References
----------
C. J. Clopper and E. S. Pearson. The Use of Confidence or Fiducial Limits. Biometrika, 1934.

I. Waudby-Smith and A. Ramdas. Estimating Means of Bounded Random Variables by Betting. Journal of
the Royal Statistical Society B, 2024. Section 5: sampling without replacement.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from scipy.special import betaincinv

# relative error allowed for in a probability, so that rounding never makes a bound too narrow
CAUTION = 1e-6
LARGEST_BET = 0.75
BISECTIONS = 40


def proportion_bounds(
    successes: Any, n_labeled: Any, n_unlabeled: Any, delta: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds on the proportion of successes among the unlabeled rows.

    Each of the two fails with probability ``delta`` at most. They are 0 and 1 where there is no
    labeled or no unlabeled row.

    Parameters
    ----------
    successes, n_labeled : array-like of int
        Successes among the labeled rows, and the number of these.
    n_unlabeled : array-like of int, or infinity
        Number of unlabeled rows; infinity is for rows yet to be drawn from the same population.
        The three are broadcast against each other.
    delta : float
        Probability that a bound fails.

    Returns
    -------
    lower, upper : ndarray
        The bounds.

    Examples
    --------
    59 labels without an error prove an error of at most 5 %, but not 58:

    >>> _, upper = proportion_bounds(0, [58, 59], np.inf, delta=0.05)
    >>> upper.round(4)
    array([0.0503, 0.0495])
    """
    found, m, n = np.broadcast_arrays(
        *(np.asarray(x, float) for x in (successes, n_labeled, n_unlabeled))
    )
    lower = _least_proportion(found, m, n, delta)
    return lower, 1.0 - _least_proportion(m - found, m, n, delta)


def _least_proportion(found: np.ndarray, m: np.ndarray, n: np.ndarray, delta: float) -> np.ndarray:
    out = np.zeros(found.shape)
    new = np.isinf(n) & (found > 0)
    out[new] = betaincinv(found[new], m[new] - found[new] + 1.0, delta)
    these = np.isfinite(n) & (n > 0)
    k, m_, n_ = (part[these].astype(np.int64) for part in (found, m, n))
    out[these] = _least_successes(k, m_, n_, delta * (1.0 - CAUTION)) / n[these]
    return out


@numba.njit(cache=True)
def _least_successes(found, n_labeled, n_unlabeled, delta):
    """Return the least numbers of successes among the unlabeled rows that are not rejected."""
    out = np.empty(found.size, np.int64)
    for i in range(found.size):
        low, high = 0, n_unlabeled[i]
        while low < high:
            middle = (low + high) // 2
            if _upper_tail(found[i], n_labeled[i], n_unlabeled[i], middle) > delta:
                high = middle
            else:
                low = middle + 1
        out[i] = low
    return out


@numba.njit(cache=True)
def _upper_tail(found, m, n, others):
    """Return P(at least ``found`` successes in the sample) if ``others`` more are outside of it."""
    K, N = found + others, m + n
    # the probability of exactly `found`, then each further one by its ratio to the one before
    log_p = _log_choose(K, found) + _log_choose(N - K, m - found) - _log_choose(N, m)
    term, total = 1.0, 1.0
    for x in range(found, min(m, K)):
        ratio = (K - x) / (x + 1.0) * ((m - x) / (N - K - m + x + 1.0))
        term *= ratio
        total += term
        if ratio < 1.0 and term < 1e-17 * total:
            break
    return math.exp(min(log_p + math.log(total), 0.0))


@numba.njit(cache=True)
def _log_choose(n, k):
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)


def least_mean(values: Any, n_unlabeled: int, delta: float) -> float:
    """Return a lower bound on the mean of a number in [0, 1] over the unlabeled rows.

    Parameters
    ----------
    values : array-like of shape (n_labeled,)
        Its values on the labeled rows, in an order that does not depend on them.
    n_unlabeled : int
        Number of unlabeled rows.
    delta : float
        Probability that the bound fails.

    Returns
    -------
    float
        The bound. An upper one is ``1 - least_mean(1 - values, ...)``.
    """
    x = np.asarray(values, dtype=float)
    if x.size == 0 or n_unlabeled == 0:
        return 0.0
    total, n_rows = float(x.sum()), x.size + n_unlabeled
    bets, most = _bets(x, delta), math.log(1.0 / delta)
    low, high = total / n_rows, (total + n_unlabeled) / n_rows  # the others all 0, or all 1
    if not _is_rejected(x, bets, n_rows, low, most):
        return 0.0
    for _ in range(BISECTIONS):  # the wealth falls with the candidate
        middle = (low + high) / 2.0
        if _is_rejected(x, bets, n_rows, middle, most):
            low = middle
        else:
            high = middle
    return min(max((n_rows * low - total) / n_unlabeled, 0.0), 1.0)


def _bets(x: np.ndarray, delta: float) -> np.ndarray:
    """Return how much to bet on each row, by the variance of those before."""
    t = np.arange(1, x.size + 1)
    mean = (0.5 + np.cumsum(x)) / (t + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (t + 1)
    before = np.concatenate([[0.25], variance[:-1]])
    return np.sqrt(2.0 * math.log(1.0 / delta) / (x.size * before))


@numba.njit(cache=True)
def _is_rejected(x, bets, n_rows, mean, most):
    """Return whether bets against a mean of all rows ever win so much, in logarithms."""
    wealth, seen = 0.0, 0.0
    for t in range(x.size):
        rest = (n_rows * mean - seen) / (n_rows - t)
        if rest <= 0.0:
            return rest < 0.0 or x[t] > 0.0
        wealth += math.log1p(min(bets[t], LARGEST_BET / rest) * (x[t] - rest))
        if wealth >= most:
            return True
        seen += x[t]
    return False
