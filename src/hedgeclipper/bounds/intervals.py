"""What a few labels prove of a proportion, exactly, and what they estimate.

**Exact bounds** are on a proportion of the unlabeled rows: those on which a vote is right, or a
prediction wrong. m of N = m + n rows are labeled, a simple random sample without replacement; the
other n are unlabeled. If K of the N rows count, the number among the labeled ones is
hypergeometric. Inverting the test gives bounds that fail with probability delta at most. For
infinitely many unlabeled rows they are those of Clopper and Pearson.

**Estimates**: Wilson's bounds, means of labels that predictions make more precise
(`prediction_powered`), and the placements whose means are AUCs.

References
----------
C. J. Clopper and E. S. Pearson. The Use of Confidence or Fiducial Limits. Biometrika, 1934.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from scipy.special import betaincinv, ndtri
from scipy.stats import rankdata

# relative error allowed for in a probability, so that rounding never makes a bound too narrow
CAUTION = 1e-6
N_FOLDS = 5


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
    59 labels without an error prove an error of at most 5%, but not 58:

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
    out[these] = _least_counts(found[these], m[these], n[these], delta) / n[these]
    return out


def count_bounds(
    successes: Any, n_labeled: Any, n_unlabeled: Any, delta: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest number of successes among the unlabeled rows.

    They are the bounds of `proportion_bounds` as counts, for the same arguments, all finite.

    Examples
    --------
    3 errors among 100 labels, and 900 rows without a label:

    >>> least, most = count_bounds(3, 100, 900, delta=0.05)
    >>> int(least), int(most)
    (6, 70)
    """
    found, m, n = np.broadcast_arrays(
        *(np.asarray(x, np.int64) for x in (successes, n_labeled, n_unlabeled))
    )
    return _least_counts(found, m, n, delta), n - _least_counts(m - found, m, n, delta)


def _least_counts(found: np.ndarray, m: np.ndarray, n: np.ndarray, delta: float) -> np.ndarray:
    k, m_, n_ = (part.astype(np.int64).ravel() for part in (found, m, n))
    return _least_successes(k, m_, n_, delta * (1.0 - CAUTION)).reshape(found.shape)


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


def check_level(confidence_level: Any) -> None:
    """Raise if a confidence level is no number between 0 and 1."""
    is_number = isinstance(confidence_level, (int, float, np.number))
    if not (is_number and 0.0 < confidence_level < 1.0):
        raise ValueError(
            "The 'confidence_level' parameter must lie strictly between 0 and 1. Got "
            f"{confidence_level!r}."
        )


def wilson_bounds(proportion: Any, n_labeled: Any, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's score bounds on proportions; 0 and 1 without a label.

    ``proportion`` are those among ``n_labeled`` rows, NaN where there is none. Each bound fails
    with a probability of about ``delta``.
    """
    quantile = ndtri(1.0 - delta)
    mean = 2.0 * np.asarray(proportion) - 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = quantile**2 / n_labeled
        center = mean / (1.0 + noise)
        radius = np.sqrt(noise * (1.0 - mean**2 + noise)) / (1.0 + noise)
    lower, upper = (
        (1.0 + np.clip(end, -1.0, 1.0)) / 2.0 for end in (center - radius, center + radius)
    )
    return np.where(np.isnan(lower), 0.0, lower), np.where(np.isnan(upper), 1.0, upper)


def prediction_powered(e: np.ndarray, q: np.ndarray, center: float) -> tuple[float, float]:
    """Return the mean of e, corrected by predictions q, and its variance relative to the plain one.

    It is mean(e - lambda (q - center)), ``center`` the mean of q on the rows that the mean is for;
    lambda = Cov(e, q) / Var(q), not negative, comes from the other folds. It is 0 if unknown.
    """
    fold, slopes = np.random.default_rng(0).permutation(e.size) % N_FOLDS, np.zeros(e.size)
    for k in range(N_FOLDS if e.size > 1 else 0):  # the fold of a single label has no others
        others = q[fold != k] - q[fold != k].mean()
        variance = float(others @ others)
        if variance > 1e-12:
            slopes[fold == k] = max(0.0, float(others @ e[fold != k]) / variance)
    corrected, plain = e - slopes * (q - center), float(np.var(e))
    mean = float(np.clip(np.mean(corrected), 0.0, 1.0))
    return mean, min(1.0, float(np.var(corrected)) / plain) if plain > 0 else 1.0


def placements(is_positive: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the proportions of negatives below each positive, and of positives below negatives.

    Equal scores count one half, so that the mean of the former is the AUC. Scores have the shape
    (n_rows,), or (n_rows, n_voters).
    """
    ranks, both = rankdata(scores, axis=0), (is_positive, ~is_positive)
    of_positive, of_negative = (
        (ranks[own] - rankdata(scores[own], axis=0)) / max(np.sum(~own), 1) for own in both
    )
    return of_positive, of_negative
