"""Which predictions may stay in a file of which at most some labels may be wrong.

A rule has predicted every row of the *pool*: the rows whose labels it has not used. A simple random
sample of the pool is labeled by people, and tests the predictions. The pool is ordered by
uncertainty, the least uncertain row first. The predictions of the first rows are *accepted*; people
label all other rows. People's labels count as right, those of the test rows too. So the errors that
are left in the file are those of accepted rows that nobody tested, and at most ``limit`` (L) of
them are allowed.

**The test.** Let N be the rows of the pool, v the test rows, and U(k) the exact upper bound on the
errors in the pool if k of the test rows are wrong: the largest E with P(Hyp(N, E, v) <= k) > delta.
The number of allowed errors c is the largest k with U(k) - k <= L. All rows before the (c + 1)-th
wrong test row are accepted, and the whole pool if at most c are wrong.

**Why it holds.** Let S_t be the first t rows, E_t the errors in S_t, and k_t those among the test
rows in S_t. Both grow with t, and so does E_t - k_t, the errors that are left. U(k) - k grows with
k: one more error in the pool adds at most one to the sample.

- If the pool has more than L + c errors, let t0 be the first t with E_t = L + c + 1. If more than L
  errors are left, the accepted rows contain S_t0: they are the whole pool, or k = c of them were
  found, and so they have more than L + c errors. Hence k_t0 <= c. S_t0 does not depend on
  the sample, so this has the probability P(Hyp(N, L + c + 1, v) <= c) <= delta.
- Otherwise more than L errors can be left only if the whole pool is accepted, with k < c wrong ones
  and E_N > L + k >= U(k). This has probability delta at most.

With L replaced by U(k) - k, k the wrong test rows among the accepted ones, the same proof gives the
bound on the errors left that is reported. Fewer accepted rows leave no more errors. Hence a test
row that people skip may count as wrong, whatever they skip it for. Nested sets need no correction
for many tests. It never allows fewer errors than the test without "- k" (U(k) <= L).

**What must be true.** Predictions, uncertainties and the order of equal ones are fixed before the
first test label and do not depend on which rows test. The test rows are drawn at random from the
rows that are then left, and none is added because of the result (`sequential` allows that). The
limit is named before; a result for each of many limits holds by itself only. Attempts on fresh
samples share the level: a labeling session stores the levels of its attempts at its start.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgeclipper.bounds.intervals import count_bounds

# ties are broken by a stream of random numbers that nothing else uses
TIE_STREAM = 0x7135


def error_limit(max_error: float, n_rows: int) -> int:
    """Return how many of the rows may be wrong: the largest L with L / n_rows <= max_error.

    Parameters
    ----------
    max_error : float
        Largest proportion of wrong labels, in [0, 1].
    n_rows : int
        Number of rows of the file that count.

    Returns
    -------
    int
        The limit.

    Examples
    --------
    >>> error_limit(0.05, 8000), error_limit(0.29, 100), error_limit(0.05, 19)
    (400, 29, 0)
    """
    # the product may be rounded below a whole number: 0.29 * 100 is 28.999999999999996
    limit = round(max_error * n_rows)
    return limit if limit == 0 or limit / n_rows <= max_error else limit - 1


def errors_left(n_wrong: int, n_pool: int, n_tested: int, delta: float) -> int:
    """Return the upper bound on the errors among the rows of the pool that were not tested.

    In the notation of the module this is U(k) - k.

    Parameters
    ----------
    n_wrong : int
        Test rows that are predicted wrong (k).
    n_pool, n_tested : int
        Rows of the pool (N), and how many of them were drawn to test (v).
    delta : float
        Probability that the bound fails.

    Returns
    -------
    int
        The bound.

    Examples
    --------
    >>> errors_left(4, n_pool=5000, n_tested=200, delta=0.05)
    219
    """
    return int(count_bounds(n_wrong, n_tested, n_pool - n_tested, delta)[1])


def allowed_errors(n_pool: int, n_tested: int, limit: int, delta: float) -> int:
    """Return how many wrong test rows the accepted rows may have (c); -1 if nothing can be proved.

    Parameters
    ----------
    n_pool, n_tested : int
        Rows of the pool, and how many of them were drawn to test.
    limit : int
        Errors that may be left.
    delta : float
        Probability that more are left.

    Returns
    -------
    int
        Largest number of wrong test rows with which at most ``limit`` errors are left, between -1
        and ``n_tested``. It is ``n_tested`` if the rows that were not tested may all be wrong.

    Examples
    --------
    >>> [allowed_errors(5000, v, 250, 0.05) for v in (50, 100, 200, 400, 600)]
    [-1, 1, 4, 13, 24]
    """
    # U(k) - k grows with k
    return (
        bisect_right(
            range(n_tested + 1), limit, key=lambda k: errors_left(k, n_pool, n_tested, delta)
        )
        - 1
    )


def least_tested(n_pool: int, limit: int, delta: float) -> int:
    """Return the smallest number of test rows that can prove anything, if none of them is wrong.

    It is at most ``n_pool - limit``. The arguments are those of `allowed_errors`.

    Examples
    --------
    >>> least_tested(100_000, error_limit(0.05, 100_000), 0.05)
    59
    >>> least_tested(100_000, error_limit(0.01, 100_000), 0.05)
    298
    """
    return bisect_left(
        range(max(n_pool - limit, 0)), True, key=lambda v: errors_left(0, n_pool, v, delta) <= limit
    )


def order_by_uncertainty(uncertainties: Any, seed: int) -> np.ndarray:
    """Return the positions of the rows, the least uncertain first, equal ones in random order.

    The random order comes from a stream of its own, so it tells nothing of a sample that was drawn
    with the same seed.

    Parameters
    ----------
    uncertainties : array-like of shape (n_pool,)
        Any finite numbers, such as probabilities of an error; made without the test labels, and
        without a look at which rows test.
    seed : int
        Seed of the random order; to be recorded.

    Returns
    -------
    ndarray of int of shape (n_pool,)
        The order.

    Examples
    --------
    >>> order_by_uncertainty([0.3, 0.1, 0.2], seed=0)
    array([1, 2, 0])
    """
    values = np.asarray(uncertainties, float)
    if values.ndim != 1 or not np.all(np.isfinite(values)):
        what = f"shape {values.shape}"
        if values.ndim == 1:
            at = int(np.flatnonzero(~np.isfinite(values))[0])
            what = f"{values[at]} in row {at}"
        raise ValueError(
            f"Uncertainties must be one finite number for each row. Got {what}. Give rows without "
            "one a number above all others: then they are accepted last."
        )
    sequence = np.random.SeedSequence(seed, spawn_key=(TIE_STREAM,))
    shuffled = np.random.default_rng(sequence).permutation(values.size)
    return shuffled[np.argsort(values[shuffled], kind="stable")]


@dataclass(frozen=True, eq=False)
class AcceptedRows:
    """Which predictions may stay as they are, and how many of these may be wrong.

    Parameters
    ----------
    is_accepted : ndarray of bool of shape (n_pool,)
        Which rows of the pool keep their predicted label. Test rows have people's labels and are
        not among them. All others need review.
    n_allowed : int
        Wrong test rows that were allowed; -1 if nothing could be proved.
    n_tested, n_wrong : int
        Test rows up to the last accepted row, and how many of them are wrong or were skipped.
    errors_left : int
        Upper bound on the number of wrong labels among the accepted rows.

    Examples
    --------
    >>> found = AcceptedRows(np.array([True, True, False]), 0, 0, 0, 1)
    >>> found.n_accepted, found.error_upper
    (2, 0.5)
    """

    is_accepted: np.ndarray
    n_allowed: int
    n_tested: int
    n_wrong: int
    errors_left: int

    @property
    def n_accepted(self) -> int:
        """Number of rows that keep their predicted label."""
        return int(np.count_nonzero(self.is_accepted))

    @property
    def error_upper(self) -> float:
        """Upper bound on the proportion of wrong labels among the accepted rows; 0 without any."""
        return self.errors_left / max(self.n_accepted, 1)

    def within(self, rows: np.ndarray) -> AcceptedRows:
        """Return what is left if only these rows, a mask, may be accepted."""
        accepted = self.is_accepted & rows
        left = min(self.errors_left, int(np.count_nonzero(accepted)))
        return replace(self, is_accepted=accepted, errors_left=left)


def accept_rows(
    order: np.ndarray,
    tested: Any,
    wrong: Any,
    *,
    limit: int,
    delta: float,
) -> AcceptedRows:
    """Return which predictions may stay if at most ``limit`` errors may be left in the file.

    Parameters
    ----------
    order : ndarray of int of shape (n_pool,)
        Positions of the rows of the pool, the least uncertain first, as of `order_by_uncertainty`.
    tested : array-like of int of shape (n_tested,)
        Positions of the test rows in the pool: a simple random sample.
    wrong : array-like of bool of shape (n_tested,)
        Which of the test rows are predicted wrong, or could not be decided: these need review.
    limit : int
        Errors that may be left, as of `error_limit`.
    delta : float
        Probability that more are left.

    Returns
    -------
    AcceptedRows
        The rows, with the upper bound on the errors among them.

    Examples
    --------
    Every tenth row of 1,000 is tested, and the 70 most uncertain ones are wrong:

    >>> order, tested = np.arange(1000), np.arange(5, 1000, 10)
    >>> found = accept_rows(order, tested, tested >= 930, limit=50, delta=0.05)
    >>> found.n_accepted, found.n_allowed, found.errors_left
    (851, 1, 43)
    """
    ranks, bad = check_sample(order, tested, wrong)
    n_pool, n_tested = order.size, ranks.size
    allowed = allowed_errors(n_pool, n_tested, limit, delta)
    length = accepted_length(np.sort(ranks[bad]).tolist(), allowed, n_pool)
    n_wrong = int(np.sum(bad & (ranks < length)))
    left = errors_left(n_wrong, n_pool, n_tested, delta)
    return accept_first(order, ranks, bad, length, n_allowed=allowed, left=left)


def accept_rows_of_parts(
    order: np.ndarray,
    tested: Any,
    wrong: Any,
    *,
    limits: Mapping[Any, tuple[np.ndarray, int]],
    delta: float,
) -> dict[Any, AcceptedRows]:
    """Return which predictions may stay if parts of the file have limits of their own.

    A part, such as the rows that are predicted to be of a class, is a pool of its own, and the test
    rows in it are a simple random sample of it. ``delta`` is shared equally among all limits, so
    that they hold together.

    Parameters
    ----------
    order, tested, wrong
        As for `accept_rows`.
    limits : mapping of name to tuple
        Which rows of the pool a limit is for, a mask of shape (n_pool,), and how many errors may be
        left among them. Each row must have a limit, and may have several.
    delta : float
        Probability that any of the limits is broken.

    Returns
    -------
    dict of name to AcceptedRows
        Of each limit the test, and which rows of its part all limits allow.

    Examples
    --------
    >>> order, tested = np.arange(1000), np.arange(5, 1000, 10)
    >>> is_yes, all_rows = order % 3 == 0, order >= 0
    >>> limits = {"yes": (is_yes, 50), "file": (all_rows, 80)}
    >>> tests = accept_rows_of_parts(order, tested, tested >= 930, limits=limits, delta=0.1)
    >>> tests["file"].n_accepted, tests["yes"].n_accepted, tests["yes"].errors_left
    (869, 290, 42)
    """
    ranks, bad = check_sample(order, tested, wrong)
    rows, tests, is_refused = order[ranks], {}, np.zeros(order.size, bool)
    for name, (member, limit) in limits.items():
        # the rows of the part are numbered by themselves, in the same order
        number, here = np.cumsum(member) - 1, member[rows]
        part = accept_rows(
            number[order[member[order]]],
            number[rows[here]],
            bad[here],
            limit=limit,
            delta=delta / len(limits),
        )
        accepted = np.zeros(order.size, bool)
        accepted[member] = part.is_accepted
        is_refused |= member & ~accepted
        tests[name] = replace(part, is_accepted=accepted)
    return {name: test.within(~is_refused) for name, test in tests.items()}


def accepted_length(wrong_ranks: Sequence[int], allowed: int, n_pool: int) -> int:
    """Return how many of the first rows are accepted, given the sorted ranks of wrong test rows.

    Examples
    --------
    >>> accepted_length([3, 8], allowed=1, n_pool=10)
    8
    """
    if allowed < 0:
        return 0
    return n_pool if len(wrong_ranks) <= allowed else wrong_ranks[allowed]


def accept_first(
    order: np.ndarray,
    ranks: np.ndarray,
    bad: np.ndarray,
    length: int,
    *,
    n_allowed: int,
    left: int,
) -> AcceptedRows:
    """Return the first rows but those that were tested, with the bound on errors left in them."""
    is_accepted = np.zeros(order.size, bool)
    is_accepted[order[:length]] = True
    is_accepted[order[ranks]] = False
    inside = ranks < length
    n_tested, n_wrong = int(inside.sum()), int(np.sum(inside & bad))
    left = min(left, length - n_tested)
    return AcceptedRows(is_accepted, n_allowed, n_tested, n_wrong, left)


def check_sample(order: np.ndarray, tested: Any, wrong: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the ranks of test rows in the order, and which count as wrong."""
    n_pool, rows, errors = order.size, np.asarray(tested), np.asarray(wrong, bool)
    rows = rows.astype(np.int64) if rows.size == 0 else rows
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"tested must be positions of rows in the pool, whole numbers. Got dtype {rows.dtype}, "
            f"shape {rows.shape}. For a mask, pass np.flatnonzero(mask)."
        )
    if errors.shape != rows.shape:
        raise ValueError(
            f"wrong must have one entry for each of the {rows.size} test rows. Got shape "
            f"{errors.shape}."
        )
    outside = rows[(rows < 0) | (rows >= n_pool)]
    if outside.size:
        raise ValueError(
            f"Test rows must be rows of the pool, 0 to {n_pool - 1}. Got row {outside[0]}."
        )
    ranks = np.full(n_pool, -1, np.int64)
    ranks[order] = np.arange(n_pool)
    if np.any(ranks < 0):
        raise ValueError(f"order must hold each of the {n_pool} rows of the pool once.")
    values, counts = np.unique(rows, return_counts=True)
    if values.size < rows.size:
        raise ValueError(
            f"Each test row must be given once. Got row {values[counts > 1][0]} more than once. "
            "If its labels differ, settle them first."
        )
    return ranks[rows], errors
