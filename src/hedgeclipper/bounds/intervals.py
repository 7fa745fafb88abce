"""What a few labels prove: bounds on a proportion, and on each voter's label correlation.

A voter's label correlation is the mean of h_i(x) y over the labeled rows it is awake on, in
[-1, 1]; for votes of -1 and 1 it is 2 * accuracy - 1. The rows must be ones the voter was not
fitted on.

**Exact bounds** are on a proportion of the unlabeled rows: those on which a vote is right, or a
prediction wrong. m of N = m + n rows are labeled, a simple random sample without replacement; the
other n are unlabeled. If K of the N rows count, the number among the labeled ones is
hypergeometric. Inverting the test gives bounds that fail with probability delta at most. For
infinitely many unlabeled rows they are those of Clopper and Pearson.

**Estimates**: Wilson's bounds, and means of labels that predictions make more precise
(`prediction_powered`).

References
----------
C. J. Clopper and E. S. Pearson. The Use of Confidence or Fiducial Limits. Biometrika, 1934.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from scipy import sparse
from scipy.special import betaincinv, ndtri

from hedgeclipper.game.solve import LabelCorrelations
from hedgeclipper.game.specialists import VoteMatrix, as_vote_matrix, signed_sums

# relative error allowed for in a probability, so that rounding never makes a bound too narrow
CAUTION = 1e-6
METHODS = ("plug_in", "wilson", "exact")
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
    out[these] = _least_counts(found[these], m[these], n[these], delta) / n[these]
    return out


def count_bounds(
    successes: Any, n_labeled: Any, n_unlabeled: Any, delta: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest number of successes among the unlabeled rows.

    Each of the two fails with probability ``delta`` at most; they are those of `proportion_bounds`
    as counts.

    Parameters
    ----------
    successes, n_labeled, n_unlabeled : array-like of int
        Successes among the labeled rows, the number of these, and of the unlabeled rows. The three
        are broadcast against each other.
    delta : float
        Probability that a bound fails.

    Returns
    -------
    least, most : ndarray of int
        The bounds.

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


def lower_bounds(
    votes: Any,
    labels: Any,
    *,
    participation: Any = None,
    method: str = "plug_in",
    confidence_level: float = 0.95,
    n_unlabeled: Any = None,
) -> LabelCorrelations:
    """Return the correlation of each voter with the label, and bounds on it, from labeled rows.

    Parameters
    ----------
    votes : array-like or sparse matrix of shape (n_labeled, n_voters)
        Votes in [-1, 1] on labeled rows; abstentions as in `solve_game`. Pass all voters, also
        those that will be dropped for their correlation: the bounds have to count them.
    labels : array-like of shape (n_labeled,)
        Labels, -1 or 1.
    participation : array-like or sparse matrix of the shape of votes, default=None
        Probability of voting, in [0, 1], where voters take part at random. Values other than 0 and
        1 weigh the rows, and are for "plug_in" alone.
    method : {"plug_in", "wilson", "exact"}, default="plug_in"
        - "plug_in": the estimate itself, without a margin, as in the paper
        - "wilson": Wilson's score bound [1]_, each voter's by itself, a cautious estimate; for
          votes of -1 or 1
        - "exact": lower bounds on the correlation on the unlabeled rows themselves, for all voters
          together, by the hypergeometric test; the only ones that can give a guarantee; for votes
          of -1 or 1
    confidence_level : float, default=0.95
        Probability that the bounds hold, in (0, 1), at least 1/2 for "wilson"; a higher level
        makes them wider. "plug_in" does not use it. See `LabelCorrelations`.
    n_unlabeled : int or array-like of shape (n_voters,), default=None
        Needed for "exact": the unlabeled rows each voter is awake on, or their number if all
        voters are awake on all of them.

    Returns
    -------
    LabelCorrelations
        A guarantee only for "exact", and only if no voter was fitted on the labeled rows and these
        are a simple random sample of the labeled and unlabeled rows.

    References
    ----------
    .. [1] E. B. Wilson. Probable Inference, the Law of Succession, and Statistical Inference.
       Journal of the American Statistical Association, 1927.

    Examples
    --------
    >>> votes = np.array([[1, 1], [1, -1], [-1, -1], [1, np.nan]])
    >>> lower_bounds(votes, [1, 1, -1, -1]).lower.round(3)
    array([0.5  , 0.333])
    """
    if method not in METHODS:
        raise ValueError(f"The 'method' parameter must be one of {METHODS}. Got {method!r}.")
    check_level(confidence_level, lowest=0.5 if method == "wilson" else 0.0)
    matrix = as_vote_matrix(votes, participation, allow_asleep=True)
    signs = _check_labels(labels, matrix.n_samples)
    sums, n_labeled = signed_sums(matrix, signs), matrix.coverage * matrix.n_samples
    estimate = np.divide(sums, n_labeled, out=np.full_like(sums, np.nan), where=n_labeled > 0)
    delta = 1.0 - float(confidence_level)
    if method != "plug_in":
        _check_hard_votes(matrix, method)
    lower, upper = mean_bounds(estimate, n_labeled, method, delta)
    if method == "exact":
        counts, right = _check_counts(n_unlabeled, n_labeled), np.rint((n_labeled + sums) / 2.0)
        least, _ = proportion_bounds(right, n_labeled, counts, delta / max(n_labeled.size, 1))
        lower, upper = 2.0 * least - 1.0, np.ones_like(least)
    return LabelCorrelations(
        estimate=estimate,
        lower=lower,
        upper=upper,
        n_labeled=n_labeled,
        method=method,
        confidence_level=None if method == "plug_in" else confidence_level,
        is_guarantee=method == "exact",
    )


def check_level(confidence_level: Any, lowest: float = 0.0) -> None:
    """Raise if a confidence level is no number between 0 and 1, or below the lowest allowed."""
    is_number = isinstance(confidence_level, (int, float, np.number))
    if not (is_number and 0.0 < confidence_level < 1.0 and confidence_level >= lowest):
        extra = f", and not below {lowest:g}" if lowest else ""
        raise ValueError(
            "The 'confidence_level' parameter must lie strictly between 0 and 1"
            f"{extra}. Got {confidence_level!r}."
        )


def mean_bounds(
    estimate: np.ndarray, n_labeled: np.ndarray, method: str, delta: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds on means of quantities in [-1, 1]; -1 and 1 without a label.

    ``estimate`` are means over ``n_labeled`` rows, NaN where there is none; the method is "plug_in"
    or "wilson". Each bound of Wilson's fails with a probability of about ``delta``.
    """
    lower, upper = estimate, estimate
    if method == "wilson":
        lower, upper = wilson_bounds(estimate, n_labeled, delta)
    lower = np.where(np.isnan(lower), -1.0, np.clip(lower, -1.0, 1.0))
    return lower, np.where(np.isnan(upper), 1.0, np.clip(upper, -1.0, 1.0))


def wilson_bounds(
    estimate: np.ndarray, n_labeled: np.ndarray, delta: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's score bounds on the correlation; each fails with probability delta."""
    quantile = ndtri(1.0 - delta)
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = quantile**2 / n_labeled
        center = estimate / (1.0 + noise)
        radius = np.sqrt(noise * (1.0 - estimate**2 + noise)) / (1.0 + noise)
    return center - radius, center + radius


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


def _check_labels(labels: Any, n_samples: int) -> np.ndarray:
    signs = np.asarray(labels)
    if signs.dtype.kind not in "fiu":
        raise TypeError(
            f"labels must be the numbers -1 and 1. Got dtype {signs.dtype}. Encode them, for "
            "instance with np.where(labels == positive, 1, -1)."
        )
    signs = signs.astype(float)
    if signs.shape != (n_samples,):
        raise ValueError(
            f"labels must have one entry per row of votes, shape ({n_samples},). Got shape "
            f"{signs.shape}."
        )
    if not np.all(np.abs(signs) == 1.0):
        found = np.unique(signs)[:5].tolist()
        raise ValueError(
            f"labels must be -1 or 1. Got values such as {found}. Encode them, for instance with "
            "2 * (labels == positive) - 1, and pass labeled rows only."
        )
    return signs


def _check_counts(n_unlabeled: Any, n_labeled: np.ndarray) -> np.ndarray:
    if n_unlabeled is None:
        raise ValueError(
            "method='exact' is for the unlabeled rows: pass n_unlabeled, how many of them "
            "there are (or how many each voter is awake on)."
        )
    counts = np.asarray(n_unlabeled, dtype=float)
    if counts.shape not in ((), n_labeled.shape) or np.any(counts < 0) or np.any(np.isnan(counts)):
        raise ValueError(
            f"n_unlabeled must be a count, or one count for each of the {n_labeled.size} voters. "
            f"Got {n_unlabeled!r}."
        )
    return np.broadcast_to(counts, n_labeled.shape)


def _check_hard_votes(matrix: VoteMatrix, method: str) -> None:
    """Raise unless every vote is -1 or 1: then the squares add up to the number of votes."""
    squares = np.zeros(matrix.n_voters)
    for block in matrix.blocks():
        square = block.multiply(block) if sparse.issparse(block) else block * block
        squares += np.asarray(square.sum(axis=0)).ravel()
    soft = np.flatnonzero(squares < matrix.coverage * matrix.n_samples - 1e-9)
    if soft.size:
        raise ValueError(
            f"method={method!r} needs votes of -1 or 1, each wholly awake or asleep. Got others "
            f"from voter {soft[0]}. Take np.sign of the votes, or method='plug_in', an estimate."
        )
