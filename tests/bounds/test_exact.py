from itertools import permutations

import numpy as np
import pytest
from scipy.stats import beta, hypergeom

from hedgeclipper.bounds.exact import least_mean, proportion_bounds


@pytest.mark.parametrize("delta", [0.3, 0.05, 0.001])
@pytest.mark.parametrize(("m", "n"), [(1, 5), (7, 12), (30, 11), (12, 40)])
def test_the_probability_of_a_failure_is_at_most_delta(m, n, delta):
    """With K successes among m + n rows, k of them are in the sample with probability
    C(K, k) C(N - K, m - k) / C(N, m), and then the truth is (K - k) / n. So the probability that a
    bound fails is a finite sum, for every K there is, without any simulation."""
    found = np.arange(m + 1)
    lower, upper = proportion_bounds(found, m, n, delta)
    worst = 0.0
    for K in range(m + n + 1):
        chances, truth = hypergeom.pmf(found, m + n, K, m), (K - found) / n
        too_high, too_low = chances[truth < lower - 1e-9].sum(), chances[truth > upper + 1e-9].sum()
        assert max(too_high, too_low) <= delta
        worst = max(worst, too_high, too_low)
    if delta >= 0.05 and m > 1:
        assert worst > delta / 4  # not wider than need be


def test_the_least_number_that_is_not_rejected_is_that_of_scipy():
    rng = np.random.default_rng(0)
    for _ in range(100):
        m, n = rng.integers(1, 60), rng.integers(1, 80)
        found, delta = rng.integers(0, m + 1), rng.choice([0.05, 0.01, 1e-4])
        lower, upper = proportion_bounds(found, m, n, delta)
        others = np.arange(n + 1)
        at_least = hypergeom.sf(found - 1, m + n, found + others, m) > delta
        at_most = hypergeom.cdf(found, m + n, found + others, m) > delta
        assert lower * n == pytest.approx(others[at_least][0])
        assert upper * n == pytest.approx(others[at_most][-1])


def test_without_end_of_unlabeled_rows_it_is_the_interval_of_clopper_and_pearson():
    lower, upper = proportion_bounds([0, 3, 20], 20, np.inf, 0.05)
    np.testing.assert_allclose(lower, [0.0, beta.ppf(0.05, 3, 18), beta.ppf(0.05, 20, 1)])
    np.testing.assert_allclose(upper, [beta.ppf(0.95, 1, 20), beta.ppf(0.95, 4, 17), 1.0])
    large = proportion_bounds(3, 20, 10**8, 0.05)
    np.testing.assert_allclose(large, (lower[1], upper[1]), atol=1e-6)


def test_where_there_is_no_row_nothing_is_claimed():
    lower, upper = proportion_bounds([0, 3], [0, 3], [5, 0], 0.05)
    assert (lower.tolist(), upper.tolist()) == ([0.0, 0.0], [1.0, 1.0])
    assert least_mean([], 10, 0.05) == least_mean([1.0], 0, 0.05) == 0.0


@pytest.mark.parametrize("rows", [[0, 0, 0.3, 0.3, 1, 1, 1], [0.2, 0.9, 0.9, 1, 1, 1, 1]])
@pytest.mark.parametrize("delta", [0.4, 0.2])
def test_of_all_orders_in_which_rows_can_be_drawn_bets_fail_in_few(rows, delta):
    """All orders of seven rows are equally likely; the first five are labeled, the mean of the
    other two is the truth. So the share of the orders in which the bound is above the truth is the
    probability of a failure, counted to the last one."""
    orders = set(permutations(rows))
    failures = sum(least_mean(one[:5], 2, delta) > np.mean(one[5:]) + 1e-9 for one in orders)
    assert failures / len(orders) <= delta


def test_bets_prove_more_the_less_values_vary():
    rng = np.random.default_rng(0)
    hard, soft = np.arange(100) < 70, 0.7 + 0.05 * rng.standard_normal(100)
    widths = {}
    for name, values in {"hard": hard, "soft": soft}.items():
        bounds = [least_mean(rng.permutation(values), 9900, 0.05) for _ in range(50)]
        widths[name] = values.mean() - np.mean(bounds)
    assert widths["soft"] < 0.05 < 0.08 < widths["hard"]


def test_bounds_of_counts_are_narrower_than_bets():
    values = np.random.default_rng(0).permutation(np.arange(200) < 170).astype(float)
    lower, _ = proportion_bounds(170, 200, 5000, 0.05)
    assert least_mean(values, 5000, 0.05) < lower < 0.85
