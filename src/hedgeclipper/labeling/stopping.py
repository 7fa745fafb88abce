"""When to begin to prove, and with how many test labels: by the expected labels by hand in all.

Labels that are given after a fit show how often predictions of each uncertainty are wrong
(`fit_error_curve`). From that `expected_proof` expects for each number of test labels how many rows
the test accepts; all others are to be reviewed. The number with the lowest sum is the plan.

A label that is chosen among the most uncertain rows costs nothing as long as its row would have to
be reviewed anyway, and the model learns from it. So the time to prove has come when few rows are
expected to need review. Rules by the slope of the expected cost stopped too early: it is noisy.

All of this is an estimate, and decides only when to stop. What is proved is proved by
`whole_file.accept_rows`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

from hedgeclipper.bounds.whole_file import allowed_errors, least_tested

# errors fall with these powers of the uncertainty, the first one a priori more probable: models
# that learn from chosen rows are too uncertain of all others
POWERS, PRIOR = np.array([1.0, 1.5, 2.0, 3.0, 4.0]), np.array([0.4, 0.2, 0.2, 0.1, 0.1])
# a Poisson number with mean c + 2/3 is at most c about every second time
MEDIAN = 2.0 / 3.0
# what is expected is the mean over these quantiles of how many errors there are
SPREAD = (0.1, 0.3, 0.5, 0.7, 0.9)
# it is time to prove when so many rows for each label are expected to need review: 0.1 to 0.3 were
# alike, more was worse
PROVE_SHARE = 0.2
# numbers of test labels that are compared, each this much larger than the one before
STEP = 1.15


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """Estimated probability that a prediction is wrong, by its uncertainty."""

    weights: np.ndarray
    factors: np.ndarray
    n_errors: int

    def __call__(self, uncertainties: np.ndarray) -> np.ndarray:
        """Return the probabilities for such uncertainties."""
        return np.minimum(_powers(uncertainties) @ (self.weights * self.factors), 1.0)

    def spread(self, levels: Any = SPREAD) -> np.ndarray:
        """Return quantiles of the true number of errors as multiples of the estimated one."""
        shape = self.n_errors + 1.0
        return stats.gamma.ppf(levels, shape) / shape


def fit_error_curve(wrong: Any, uncertainties: Any) -> ErrorCurve:
    """Return how often predictions are wrong, by labels that the model did not know.

    For each power the number of errors is Poisson, and its factor has a gamma distribution, a
    priori as if one error had been expected and seen. Powers are weighted by their marginal
    likelihood.

    Parameters
    ----------
    wrong : array-like of bool of shape (n,)
        Which predictions are wrong.
    uncertainties : array-like of shape (n,)
        Their uncertainties.

    Examples
    --------
    >>> u = np.repeat([0.1, 0.4], 100)
    >>> fit_error_curve(np.arange(200) % 100 < np.repeat([1, 40], 100), u)(np.array([0.1, 0.4]))
    array([0.01779957, 0.38836326])
    """
    bad, rates = np.asarray(wrong, bool), _powers(np.asarray(uncertainties, float))
    n_errors, sums = int(bad.sum()), rates.sum(axis=0)
    log = np.log(PRIOR) - (n_errors + 1) * np.log1p(sums) + np.log(rates[bad]).sum(axis=0)
    return ErrorCurve(special.softmax(log), (n_errors + 1) / (1.0 + sums), n_errors)


def _powers(uncertainties: np.ndarray) -> np.ndarray:
    values = np.maximum(uncertainties, 1e-4)[:, None]
    return values * np.minimum(2.0 * values, 1.6) ** (POWERS - 1.0)


@dataclass(frozen=True)
class Proof:
    """What proving is expected to take: test labels, and rows to review then."""

    n_test: int
    n_review: int

    @property
    def cost(self) -> int:
        """Labels by hand."""
        return self.n_test + self.n_review


def expected_proof(
    errors: np.ndarray, *, limit: int, delta: float, spread: np.ndarray | None = None
) -> Proof:
    """Return the number of test labels with which the fewest labels by hand are expected.

    Parameters
    ----------
    errors : ndarray of shape (n_pool,)
        Estimated probability that each row is predicted wrong, the least uncertain row first.
    limit : int
        Errors that may be left.
    delta : float
        Level of the test.
    spread : ndarray or None, default=None
        Multiples of the errors that are as probable as each other; None is 1 alone.

    Returns
    -------
    Proof
        No test label, and all rows to review, if no test pays.

    Examples
    --------
    >>> expected_proof(np.linspace(0, 0.2, 5000), limit=250, delta=0.05)
    Proof(n_test=657, n_review=1525)
    """
    n_pool, best = errors.size, Proof(0, errors.size)
    n_test = least_tested(n_pool, limit, delta)
    sums, multiples = np.cumsum(errors), np.ones(1) if spread is None else spread
    while 0 < n_test < n_pool:
        allowed = allowed_errors(n_pool, n_test, limit, delta)
        n_kept = float(np.mean([rows_kept(m * sums, allowed, n_test) for m in multiples]))
        found = Proof(n_test, round((n_pool - n_kept) * (1.0 - n_test / n_pool)))
        if found.cost < best.cost:
            best = found
        elif n_test > best.cost:  # it only grows from here
            break
        n_test = int(n_test * STEP) + 1
    return best


def rows_kept(
    sums: np.ndarray, allowed: int, n_more: int, wrong_ranks: Sequence[int] | np.ndarray = ()
) -> int:
    """Return how many of the least uncertain rows are expected to be accepted.

    Parameters
    ----------
    sums : ndarray of shape (n_pool,)
        Expected errors among the first rows of the order.
    allowed : int
        Wrong test rows that are allowed.
    n_more : int
        Test labels that are still to come.
    wrong_ranks : sequence of int
        Where the wrong ones of those that are there are in the order, ascending.

    Examples
    --------
    >>> rows_kept(np.arange(1, 1001) / 20, allowed=2, n_more=100)
    533
    >>> rows_kept(np.arange(1, 1001) / 20, allowed=2, n_more=0, wrong_ranks=[200, 300, 700])
    700
    """
    n_pool = sums.size
    return bisect_right(
        range(n_pool),
        allowed + MEDIAN,
        key=lambda i: np.searchsorted(wrong_ranks, i, side="right") + sums[i] * n_more / n_pool,
    )


def is_time_to_prove(proof: Proof, n_labels: int) -> bool:
    """Return whether few rows are expected to need review, for so many labels as there are.

    Examples
    --------
    >>> is_time_to_prove(Proof(150, 100), 400), is_time_to_prove(Proof(150, 60), 400)
    (False, True)
    """
    return proof.n_test > 0 and proof.n_review <= PROVE_SHARE * n_labels
