import numpy as np
import pytest
from scipy.stats import beta, hypergeom

from hedgeclipper.bounds.intervals import prediction_powered, proportion_bounds, wilson_bounds


def test_wilson_is_the_score_interval_and_claims_nothing_without_labels():
    right, n, z = 17, 20, 1.6448536269514722
    accuracy = right / n
    lowest = (
        accuracy + z**2 / (2 * n) - z * np.sqrt(accuracy * (1 - accuracy) / n + z**2 / (4 * n**2))
    ) / (1 + z**2 / n)
    lower, upper = wilson_bounds([accuracy, np.nan], np.array([n, 0]), 0.05)
    assert lower[0] == pytest.approx(lowest)
    assert (lower[1], upper[1]) == (0.0, 1.0)


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


# Means corrected by predictions.


def test_the_correction_is_that_of_a_regression():
    """With one slope for all folds the estimate is the intercept at the center."""
    rng = np.random.default_rng(3)
    q = np.repeat([0.1, 0.9], 500)
    e = (rng.random(1000) < q).astype(float)
    mean, ratio = prediction_powered(e, q, 0.3)
    slope = np.polyfit(q, e, 1)[0]
    assert mean == pytest.approx(e.mean() - slope * (q.mean() - 0.3), abs=2e-3)
    assert ratio == pytest.approx(1 - np.corrcoef(e, q)[0, 1] ** 2, abs=0.01)


def test_a_single_label_is_not_corrected():
    assert prediction_powered(np.ones(1), np.full(1, 0.2), 0.9) == (1.0, 1.0)
