from itertools import permutations

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import beta, hypergeom
from sklearn.utils import check_random_state

from hedgeclipper import lower_bounds
from hedgeclipper.bounds.intervals import least_mean, prediction_powered, proportion_bounds

VOTES = np.array([[1, 1, np.nan], [1, -1, np.nan], [-1, -1, np.nan], [1, np.nan, np.nan]])
LABELS = [1, 1, -1, -1]


def test_plug_in_is_the_mean_over_awake_rows():
    known = lower_bounds(VOTES, LABELS)
    np.testing.assert_allclose(known.estimate, [0.5, 1 / 3, np.nan])
    np.testing.assert_allclose(known.lower, [0.5, 1 / 3, -1.0])
    np.testing.assert_allclose(known.n_labeled, [4, 3, 0])
    assert known.confidence_level is None
    assert not known.is_guarantee


def test_a_voter_without_labels_claims_nothing():
    for method in ("wilson", "exact"):
        known = lower_bounds(VOTES, LABELS, method=method, n_unlabeled=100)
        assert (known.lower[2], known.upper[2]) == (-1.0, 1.0)


def test_participation_weighs_the_rows():
    votes, participation = np.array([[1.0], [-1.0]]), np.array([[1.0], [0.25]])
    known = lower_bounds(votes, [1, 1], participation=participation)
    assert known.estimate[0] == pytest.approx(0.75 / 1.25)


def test_wilson_is_the_score_interval():
    right, n, delta = 17, 20, 0.05
    votes = np.ones((n, 1))
    labels = np.where(np.arange(n) < right, 1, -1)
    known = lower_bounds(votes, labels, method="wilson", confidence_level=1 - delta)
    z = 1.6448536269514722
    accuracy = right / n
    lowest = (
        accuracy + z**2 / (2 * n) - z * np.sqrt(accuracy * (1 - accuracy) / n + z**2 / (4 * n**2))
    ) / (1 + z**2 / n)
    assert known.lower[0] == pytest.approx(2 * lowest - 1)
    both = {"confidence_level": 1 - 2 * delta, "two_sided": True}
    two_sided = lower_bounds(votes, labels, method="wilson", **both)
    np.testing.assert_allclose(two_sided.lower, known.lower)
    assert not known.is_guarantee


@pytest.mark.parametrize(
    ("votes", "participation"), [([[0.5]], None), ([[1.0]], [[0.5]]), ([[0.0]], None)]
)
def test_wilson_refuses_soft_votes(votes, participation):
    with pytest.raises(ValueError, match="needs votes of -1 or 1"):
        lower_bounds(votes, [1], participation=participation, method="wilson")


def test_wilson_takes_sparse_votes():
    dense, labels = np.array([[1.0, -1.0], [1.0, 1.0]]), [1, 1]
    ours = lower_bounds(sparse.csr_array(dense), labels, method="wilson")
    np.testing.assert_allclose(ours.lower, lower_bounds(dense, labels, method="wilson").lower)


def test_exact_bounds_of_hard_votes_count_right_ones():
    votes, labels = np.ones((50, 2)), np.where(np.arange(50) < 40, 1, -1)
    votes[:10, 1] = np.nan
    options = {"method": "exact", "n_unlabeled": [200, 90], "confidence_level": 0.9}
    known = lower_bounds(votes, labels, **options)
    lower, _ = proportion_bounds([40, 30], [50, 40], [200, 90], 0.1 / 2)
    np.testing.assert_allclose(known.lower, 2 * lower - 1)
    np.testing.assert_array_equal(known.upper, 1.0)
    both = lower_bounds(votes, labels, two_sided=True, **options)
    lower, upper = proportion_bounds([40, 30], [50, 40], [200, 90], 0.1 / 4)
    np.testing.assert_allclose((both.lower, both.upper), (2 * lower - 1, 2 * upper - 1))
    assert known.is_guarantee
    assert known.confidence_level == 0.9


@pytest.mark.parametrize("form", [np.asarray, lambda votes: sparse.csr_array(np.nan_to_num(votes))])
def test_exact_bounds_of_soft_votes_are_bets(form):
    rng = np.random.default_rng(0)
    labels = rng.choice([-1, 1], 80)
    votes = np.clip(0.5 * labels + 0.2 * rng.standard_normal(80), -1, 1)[:, None]
    votes[::3] = np.nan
    known = lower_bounds(form(votes), labels, method="exact", n_unlabeled=500)
    products = (votes[:, 0] * labels)[~np.isnan(votes[:, 0])]
    values = (1 + np.random.default_rng(0).permutation(products)) / 2
    assert known.lower[0] == pytest.approx(2 * least_mean(values, 500, 0.05) - 1)
    assert 0.3 < known.lower[0] < known.estimate[0]


def test_exact_bounds_refuse_fractional_participation():
    votes = np.ones((50, 1))
    whole = {"participation": votes, "method": "exact", "n_unlabeled": 9}
    assert lower_bounds(votes, np.ones(50), **whole).is_guarantee
    with pytest.raises(ValueError, match="awake or asleep on a row"):
        lower_bounds(votes, np.ones(50), **whole | {"participation": votes / 2})


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_exact_bounds_fail_as_rarely_as_they_say_for_all_voters_together(noise):
    rng = check_random_state(0)
    failures = 0
    for _ in range(300):
        labels = rng.choice([-1, 1], 400)
        votes = np.where(rng.random_sample((400, 3)) < 0.8, labels[:, None], -labels[:, None])
        votes = votes * (1 - noise * rng.random_sample(votes.shape))
        options = {"method": "exact", "n_unlabeled": 300, "confidence_level": 0.7}
        known = lower_bounds(votes[:100], labels[:100], two_sided=True, **options)
        truth = (votes[100:] * labels[100:, None]).mean(axis=0)
        failures += bool(np.any(truth < known.lower) or np.any(truth > known.upper))
    assert failures / 300 <= 0.3


def test_select_keeps_the_bounds_of_all():
    votes = np.array([[1, -1], [1, 1]])
    known = lower_bounds(votes, [1, 1], method="exact", n_unlabeled=5)
    some = known.select([True, False])
    assert some.lower.shape == (1,)
    assert some.lower[0] == known.lower[0]
    assert some.is_guarantee


def test_centers_and_widths_span_the_interval():
    known = lower_bounds(np.array([[1], [1], [-1]]), [1, 1, 1], method="wilson", two_sided=True)
    np.testing.assert_allclose(known.centers - known.widths, known.lower)
    np.testing.assert_allclose(known.centers + known.widths, known.upper)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bayes"}, "'method' parameter must be one of"),
        ({"confidence_level": 0.0}, "must lie strictly between 0 and 1"),
        ({"confidence_level": "x"}, "must lie strictly between 0 and 1"),
        ({"confidence_level": 0.4, "method": "wilson"}, "not below 0.5"),
        ({"method": "exact"}, "pass n_unlabeled"),
        ({"method": "exact", "n_unlabeled": -5}, "n_unlabeled must be a count"),
        ({"method": "exact", "n_unlabeled": [1, 2]}, "one count for each of the 3 voters"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        lower_bounds(VOTES, LABELS, **options)


@pytest.mark.parametrize(
    ("labels", "message"),
    [([1, 1], "one entry per row"), ([0, 1, 1, 0], r"must be -1 or 1. Got values such as \[0.0")],
)
def test_bad_labels(labels, message):
    with pytest.raises(ValueError, match=message):
        lower_bounds(VOTES, labels)


def test_labels_that_are_names():
    with pytest.raises(TypeError, match=r"numbers -1 and 1\. Got dtype <U"):
        lower_bounds(VOTES, ["a", "b", "a", "b"])


def test_no_rows_leave_every_voter_unknown():
    known = lower_bounds(np.ones((0, 4)), np.ones(0))
    assert known.lower.tolist() == [-1.0] * 4


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
