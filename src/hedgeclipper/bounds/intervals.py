"""What a few labels prove: exact bounds on a mean, and bounds on each voter's label correlation.

A voter's label correlation is the mean of h_i(x) y over the labeled rows it is awake on, in
[-1, 1]; for votes of -1 and 1 it is 2 * accuracy - 1. The rows must be ones the voter was not
fitted on.

Exact bounds are on a mean over the unlabeled rows. m of N = m + n rows are labeled, a simple random
sample without replacement; the other n are unlabeled.

**Counts** (a vote is right, a prediction is wrong): if K of the N rows count, the number among the
labeled ones is hypergeometric. Inverting the test gives bounds that fail with probability delta at
most. For infinitely many unlabeled rows they are those of Clopper and Pearson.

**Numbers in [0, 1]** (soft votes): bet on each labeled row in turn that it is above a candidate
mean. If the candidate is the true mean the wealth is a martingale, so that it reaches 1 / delta
with probability delta at most (Ville's inequality). Means against which it does are rejected.

**Estimates**: Wilson's bounds, and means of labels that predictions make more precise
(`prediction_powered`).

References
----------
C. J. Clopper and E. S. Pearson. The Use of Confidence or Fiducial Limits. Biometrika, 1934.

I. Waudby-Smith and A. Ramdas. Estimating Means of Bounded Random Variables by Betting. Journal of
the Royal Statistical Society B, 2024. Section 5: sampling without replacement.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from scipy import sparse
from scipy.special import betaincinv, ndtri

from hedgeclipper.game.solve import LabelCorrelations
from hedgeclipper.game.specialists import VoteMatrix, as_vote_matrix, signed_sums

# relative error allowed for in a probability, so that rounding never makes a bound too narrow
CAUTION = 1e-6
LARGEST_BET = 0.75
BISECTIONS = 40
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


def lower_bounds(
    votes: Any,
    labels: Any,
    *,
    participation: Any = None,
    method: str = "plug_in",
    confidence_level: float = 0.95,
    two_sided: bool = False,
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
        1 weigh the rows, and are not for "exact".
    method : {"plug_in", "wilson", "exact"}, default="plug_in"
        - "plug_in": the estimate itself, without a margin, as in the paper
        - "wilson": Wilson's score bound [1]_, each voter's by itself; for votes of -1 or 1 and a
          cautious estimate
        - "exact": bounds on the correlation on the unlabeled rows themselves, for all voters
          together; the only ones that can give a guarantee. Where a voter only votes -1 or 1 its
          right votes are counted (hypergeometric test), other votes get betting bounds [2]_.
    confidence_level : float, default=0.95
        Probability that the bounds hold, in (0, 1), at least 1/2 for "wilson"; a higher level
        makes them wider. "plug_in" does not use it. See `LabelCorrelations`.
    two_sided : bool, default=False
        Whether lower and upper bounds hold together; set it to use both (``widths="bounds"`` in
        `solve_game`). Without it the upper ones of "exact" are 1.
    n_unlabeled : int or array-like of shape (n_voters,), default=None
        Needed for "exact": the unlabeled rows each voter is awake on, or their number if all
        voters are awake on all of them. A `certificate` for another number is no guarantee.

    Returns
    -------
    LabelCorrelations
        A guarantee only for "exact", and only if no voter was fitted on the labeled rows and these
        are a simple random sample of the labeled and unlabeled rows.

    References
    ----------
    .. [1] E. B. Wilson. Probable Inference, the Law of Succession, and Statistical Inference.
       Journal of the American Statistical Association, 1927.
    .. [2] I. Waudby-Smith and A. Ramdas. Estimating Means of Bounded Random Variables by Betting.
       Journal of the Royal Statistical Society B, 2024.

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
    counts, delta = None, (1.0 - float(confidence_level)) / (2 if two_sided else 1)
    is_hard = _squares(matrix) >= n_labeled - 1e-9
    if method == "wilson":
        _check_hard_votes(is_hard)
    lower, upper = mean_bounds(estimate, n_labeled, method, delta)
    if method == "exact":
        counts = _check_counts(n_unlabeled, n_labeled)
        delta /= max(n_labeled.size, 1)
        lower, upper = _exact_bounds(matrix, signs, sums, n_labeled, counts, is_hard, delta)
        upper = upper if two_sided else np.ones_like(upper)
    return LabelCorrelations(
        estimate=estimate,
        lower=lower,
        upper=upper,
        n_labeled=n_labeled,
        method=method,
        confidence_level=None if method == "plug_in" else confidence_level,
        is_guarantee=method == "exact",
        n_unlabeled=counts,
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


def _exact_bounds(
    matrix: VoteMatrix,
    signs: np.ndarray,
    sums: np.ndarray,
    n_labeled: np.ndarray,
    n_unlabeled: np.ndarray,
    is_hard: np.ndarray,
    delta: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds on the correlations on the unlabeled rows, each failing with delta at most."""
    if matrix.is_fractional:
        raise ValueError(
            "method='exact' needs voters that are awake or asleep on a row. Got a participation "
            "between 0 and 1: take method='wilson' or 'plug_in', which are estimates."
        )
    right = np.where(is_hard, np.rint((n_labeled + sums) / 2.0), 0.0)
    lower, upper = proportion_bounds(right, n_labeled, n_unlabeled, delta)
    soft = np.flatnonzero(~is_hard)
    for voter, products in zip(soft, _signed_votes(matrix, signs, soft, n_labeled), strict=True):
        values, n_rows = (1.0 + products) / 2.0, int(n_unlabeled[voter])
        lower[voter] = least_mean(values, n_rows, delta)
        upper[voter] = 1.0 - least_mean(1.0 - values, n_rows, delta)
    return 2.0 * lower - 1.0, 2.0 * upper - 1.0


def _signed_votes(
    matrix: VoteMatrix, signs: np.ndarray, voters: np.ndarray, n_awake: np.ndarray
) -> Iterator[np.ndarray]:
    """Yield vote times label of each of these voters on the rows it is awake on, in random order.

    Bets must be placed in an order that depends on nothing; it is the same in every call.
    """
    if voters.size == 0:
        return
    blocks = [sparse.csc_array(block)[:, voters] for block in matrix.blocks()]
    columns = sparse.csc_array(sparse.diags_array(signs) @ sparse.vstack(blocks))
    for number, voter in enumerate(voters):
        own = columns[:, [number]].data
        products = np.zeros(round(n_awake[voter]))  # votes of 0 are not stored
        products[: own.size] = own
        yield np.random.default_rng(0).permutation(products)


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


def _squares(matrix: VoteMatrix) -> np.ndarray:
    """Return the sum of squares of each voter's votes: how often it votes, if these are -1 or 1."""
    squares = np.zeros(matrix.n_voters)
    for block in matrix.blocks():
        square = block.multiply(block) if sparse.issparse(block) else block * block
        squares += np.asarray(square.sum(axis=0)).ravel()
    return squares


def _check_hard_votes(is_hard: np.ndarray) -> None:
    soft = np.flatnonzero(~is_hard)
    if soft.size:
        raise ValueError(
            f"method='wilson' needs votes of -1 or 1, each wholly awake or asleep. Got others from "
            f"voter {soft[0]}. Take np.sign of the votes, or method='exact'."
        )
