"""Which rows to label next, when to begin to prove, and with how many test labels.

Labels that are given after a fit show how often predictions of each uncertainty are wrong
(`fit_error_curve`). From that `expected_proof` expects for each number of test labels how many rows
the test accepts; all others are to be reviewed. The number with the lowest sum is the plan.

A label that is chosen among the most uncertain rows costs nothing as long as its row would have to
be reviewed anyway, and the model learns from it. So the time to prove has come when few rows are
expected to need review, for the labels that there are (`is_time_to_prove`). A label of a random row
is mostly one more, so that random labels end earlier.

All of this is an estimate, and decides only when to stop. What is proved is proved by
`whole_file.accept_rows`. The constants were compared on 85 simulated runs of ten files of tables,
and those of random labels on 29 with votes among them, on other draws than benchmarks/labeling.py
has: labels were chosen and models fitted once, and each rule was scored by the labels that it would
have taken. With fewer than 80 labels rules were often far too sure; other differences were small.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import expit, logit

from hedgeclipper.bounds.whole_file import allowed_errors, least_tested

# rows are drawn at random among the most uncertain ones: this part of all, at most so many
CANDIDATE_PART, MOST_CANDIDATES = 0.1, 200
# this part is drawn from all rows: they find what the model does not know that it does not know
EXPLORED = 0.05
# log-odds of an error are a + b log-odds of the uncertainty, with these means and deviations of a
# and b a priori. Models that learn from chosen rows are too uncertain of all others: b is 1.5
INTERCEPT, SLOPES, PRIOR_SPREADS = 0.2, {"chosen": 1.5, "random": 1.2}, (0.5, 0.3)
CORNERS = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])
# points that stand for a normal distribution of a and b
POINTS = np.vstack([np.zeros((1, 2)), 1.2 * np.eye(2), -1.2 * np.eye(2), 0.8 * CORNERS])
# a Poisson number with mean c + 2/3 is at most c about every second time
MEDIAN = 2.0 / 3.0
# it is time to prove with so many labels, and so many rows for each label that need review
LEAST_LABELS, REVIEW_PER_LABEL = 80, {"chosen": 0.5, "random": 2.0}


def choose_rows(
    candidates: np.ndarray,
    uncertainties: np.ndarray | None,
    n: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return rows to label: most of them at random among the most uncertain ones.

    Parameters
    ----------
    candidates : ndarray of int of shape (n_candidates,)
        Rows that may be chosen.
    uncertainties : ndarray of shape (n_rows,) or None
        Of all rows; None draws from all candidates alike.
    n : int
        Number of rows to choose.
    rng : Generator
        Source of randomness.

    Examples
    --------
    >>> rows = choose_rows(np.arange(1000), np.arange(1000) / 2000, 20, np.random.default_rng(0))
    >>> rows.size, int(np.sum(rows >= 900))
    (20, 19)
    """
    n = min(n, candidates.size)
    if uncertainties is None:
        return rng.choice(candidates, n, replace=False)
    n_explored = rng.binomial(n, EXPLORED)
    explored = rng.choice(candidates, n_explored, replace=False)
    rest = candidates[~np.isin(candidates, explored)]
    n_most = max(2 * n, min(int(CANDIDATE_PART * candidates.size), MOST_CANDIDATES))
    if n_most < rest.size:
        most = rest[np.argpartition(-uncertainties[rest], n_most - 1)[:n_most]]
    else:
        most = rest
    chosen = rng.choice(most, n - n_explored, replace=False)
    return rng.permutation(np.concatenate([explored, chosen]))


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """Estimated probability that a prediction is wrong, by its uncertainty: a logistic curve.

    Parameters
    ----------
    mean : ndarray of shape (2,)
        Its intercept and slope (a and b).
    factor : ndarray of shape (2, 2)
        Cholesky factor of their covariance.
    """

    mean: np.ndarray
    factor: np.ndarray

    def __call__(self, uncertainties: np.ndarray, points: np.ndarray = POINTS) -> np.ndarray:
        """Return probabilities for such uncertainties, of shape (n_points, n).

        Each line is a curve that the labels allow; all of them grow with the uncertainty.
        """
        a, b = (self.mean + points @ self.factor.T).T[:, :, None]
        return expit(a + np.maximum(b, 0.05) * _log_odds(uncertainties))


def fit_error_curve(wrong: Any, uncertainties: Any, *, way: str = "chosen") -> ErrorCurve:
    """Return how often predictions are wrong, by labels that the model did not know.

    Parameters
    ----------
    wrong : array-like of bool of shape (n,)
        Which predictions are wrong.
    uncertainties : array-like of shape (n,)
        Their uncertainties.
    way : {"chosen", "random"}, default="chosen"
        How the rows that the model learns from are found.

    Examples
    --------
    >>> u = np.repeat([0.1, 0.4], 500)
    >>> curve = fit_error_curve(np.arange(1000) % 500 < np.repeat([10, 200], 500), u)
    >>> curve(np.array([0.1, 0.4]))[0].round(3)
    array([0.024, 0.395])
    """
    x = _log_odds(np.asarray(uncertainties, float))
    design, bad = np.column_stack([np.ones(x.size), x]), np.asarray(wrong, float)
    precision = np.diag(np.square(1 / np.array(PRIOR_SPREADS)))
    mean = prior = np.array([INTERCEPT, SLOPES[way]])
    for _ in range(25):
        p = expit(design @ mean)
        hessian = (design * (p * (1.0 - p))[:, None]).T @ design + precision
        step = np.linalg.solve(hessian, design.T @ (bad - p) - precision @ (mean - prior))
        mean = mean + np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < 1e-6:
            break
    return ErrorCurve(mean, np.linalg.cholesky(np.linalg.inv(hessian)))


def _log_odds(uncertainties: np.ndarray) -> np.ndarray:
    return logit(np.clip(uncertainties, 0.002, 0.98))


@dataclass(frozen=True)
class Proof:
    """What proving is expected to take: test labels, and rows to review then."""

    n_test: int
    n_review: int

    @property
    def cost(self) -> int:
        """Labels by hand."""
        return self.n_test + self.n_review


def expected_proof(errors: np.ndarray, n_pool: int, *, limit: int, delta: float) -> Proof:
    """Return the number of test labels with which the fewest labels by hand are expected.

    Parameters
    ----------
    errors : ndarray of shape (n_curves, n)
        Estimated probabilities that rows are predicted wrong, the least uncertain row first: all
        rows of the pool, or evenly spaced ones. The expectation is the mean over all curves.
    n_pool : int
        Number of rows of the pool.
    limit : int
        Errors that may be left.
    delta : float
        Level of the test.

    Returns
    -------
    Proof
        No test label, and all rows to review, if no test pays.

    Examples
    --------
    >>> expected_proof(np.linspace(0, 0.2, 5000)[None], 5000, limit=250, delta=0.05)
    Proof(n_test=770, n_review=1433)
    """
    # plans of pools of about the same size share the slow part; a larger pool needs no fewer tests
    step = 1 << max(n_pool // 100, 1).bit_length() - 1
    planned = -(-n_pool // step) * step
    best, n_test = Proof(0, n_pool), least_tested(planned, limit, delta)
    sums, each = np.cumsum(errors, axis=1), n_pool / max(errors.shape[1], 1)
    while 0 < n_test < n_pool:
        allowed = _allowed(planned, n_test, limit, delta)
        most = (allowed + MEDIAN) * n_pool / n_test / each
        n_kept = each * float(np.mean([np.searchsorted(own, most, side="right") for own in sums]))
        found = Proof(n_test, round((n_pool - n_kept) * (1.0 - n_test / n_pool)))
        if found.cost < best.cost:
            best = found
        elif n_test > best.cost:  # it only grows from here
            break
        n_test = int(n_test * 1.15) + 1
    return best


_allowed = lru_cache(10_000)(allowed_errors)


def rows_kept(
    sums: np.ndarray, allowed: int, n_more: int, wrong_ranks: Sequence[int] | np.ndarray
) -> int:
    """Return how many of the least uncertain rows are expected to be accepted by a begun test.

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
    >>> rows_kept(np.arange(1, 1001) / 20, allowed=2, n_more=100, wrong_ranks=[])
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


def is_time_to_prove(proof: Proof, n_labels: int, *, way: str = "chosen") -> bool:
    """Return whether few rows are expected to need review, for so many labels as there are.

    Examples
    --------
    >>> is_time_to_prove(Proof(150, 300), 400), is_time_to_prove(Proof(150, 160), 400)
    (False, True)
    >>> is_time_to_prove(Proof(150, 300), 400, way="random")
    True
    """
    is_enough = n_labels >= LEAST_LABELS and proof.n_test > 0
    return is_enough and proof.n_review <= REVIEW_PER_LABEL[way] * n_labels
