"""When to begin to prove, and when to stop: by the expected number of labels by hand in all.

The model's uncertainties, times a factor by the labels given since (`error_factor`), estimate where
the errors are. From these `expected_proof` expects for each number of test labels how many rows the
sequential test accepts; all others are to be reviewed. The number with the lowest sum is the plan.
All of this is an estimate and decides only when to stop. What is proved is proved by
`sequential.accept_rows_so_far`, which holds whatever the reason to stop.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hedgeclipper.bounds.sequential import allowed_errors_at

# what a Poisson number with mean m is at most, about every second time, is m - 1/3
MEDIAN = 2.0 / 3.0
# numbers of test labels that are compared
STEPS = np.unique(np.geomspace(1, 1e6, 160).astype(np.int64))
# the slope of the expected cost is that over so many fits
FITS = 4


@dataclass(frozen=True)
class Proof:
    """What proving is expected to take from now on: an estimate."""

    n_test: int
    n_review: int

    @property
    def cost(self) -> int:
        """Labels by hand."""
        return self.n_test + self.n_review


def error_factor(
    wrong: Sequence[bool] | np.ndarray, uncertainties: Sequence[float] | np.ndarray
) -> tuple[float, float]:
    """Return by how much there are more errors than uncertainties say, and for how many it counts.

    Errors are a Poisson number around factor times the sum of uncertainties. A priori the factor
    has a gamma distribution as if one error had been expected and seen.

    Examples
    --------
    >>> error_factor([True, False, False], [0.5, 0.3, 0.2])
    (1.0, 2.0)
    """
    seen = 1.0 + float(np.sum(wrong))
    return seen / (1.0 + float(np.sum(uncertainties))), seen


def expected_proof(
    errors: np.ndarray,
    *,
    limit: int,
    delta: float,
    n_drawn: int = 0,
    wrong_ranks: Sequence[int] | np.ndarray = (),
) -> Proof:
    """Return how many more test labels make the fewest labels by hand, and rows to review then.

    Parameters
    ----------
    errors : ndarray of shape (n_pool,)
        Estimated probability that each row is predicted wrong, the least uncertain row first.
    limit : int
        Errors that may be left.
    delta : float
        Level of the test.
    n_drawn : int
        Test labels so far.
    wrong_ranks : sequence of int
        Where wrong ones among them are in the order of uncertainty.

    Examples
    --------
    >>> expected_proof(np.linspace(0, 0.2, 5000), limit=250, delta=0.05)
    Proof(n_test=620, n_review=2042)
    """
    n_pool = errors.size
    if n_pool == 0:
        return Proof(0, 0)
    ahead, found = np.cumsum(errors) / n_pool, np.sort(np.asarray(wrong_ranks, np.int64))
    totals = np.unique(np.append(n_drawn + np.append(0, STEPS), n_pool))
    totals = totals[(totals >= n_drawn) & (totals <= n_pool)]
    allowed = allowed_errors_at(totals, n_pool, limit, delta)
    best = Proof(n_pool - n_drawn, 0)
    for total, c in zip(totals.tolist(), allowed.tolist(), strict=True):
        if c < 0:
            continue
        # rows are accepted as long as at most c wrong ones, found or expected, are among them
        n_more = total - n_drawn
        n_kept = bisect_right(
            range(n_pool),
            c + MEDIAN,
            key=lambda i: np.searchsorted(found, i, side="right") + ahead[i] * n_more,
        )
        n_review = round((n_pool - n_kept) * (1.0 - total / n_pool))
        if total - n_drawn + n_review < best.cost:
            best = Proof(total - n_drawn, n_review)
    return best


def is_time_to_prove(fits: Sequence[tuple[int, int]]) -> bool:
    """Return whether the expected labels by hand in all no longer fall with more chosen ones.

    Parameters
    ----------
    fits : sequence of (int, int)
        Labels at each fit so far, and the expected labels by hand in all, had one begun to prove.

    Examples
    --------
    >>> is_time_to_prove([(100, 900), (120, 850), (140, 800), (160, 780)])
    False
    >>> is_time_to_prove([(100, 780), (120, 790), (140, 780), (160, 785)])
    True
    """
    if len(fits) < FITS:
        return False
    n_labels, costs = np.array(fits[-FITS:], float).T
    return bool(np.polyfit(n_labels, costs, 1)[0] >= 0.0)
