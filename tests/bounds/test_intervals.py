import numpy as np
import pytest
from scipy import sparse
from scipy.stats import beta, hypergeom
from sklearn.utils import check_random_state

from hedgeclipper import lower_bounds
from hedgeclipper.bounds.intervals import prediction_powered, proportion_bounds

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
    assert not known.is_guarantee


@pytest.mark.parametrize(
    ("votes", "participation"), [([[0.5]], None), ([[1.0]], [[0.5]]), ([[0.0]], None)]
)
@pytest.mark.parametrize("method", ["wilson", "exact"])
def test_soft_votes_are_refused(votes, participation, method):
    """Once, bets on votes of 0 were placed in an order that depended on the votes."""
    with pytest.raises(ValueError, match=f"method='{method}' needs votes of -1 or 1.*'plug_in'"):
        lower_bounds(votes, [1], participation=participation, method=method, n_unlabeled=9)


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
    assert known.is_guarantee
    assert known.confidence_level == 0.9


def test_exact_bounds_fail_as_rarely_as_they_say_for_all_voters_together():
    rng = check_random_state(0)
    failures = 0
    for _ in range(300):
        labels = rng.choice([-1, 1], 400)
        votes = np.where(rng.random_sample((400, 3)) < 0.8, labels[:, None], -labels[:, None])
        options = {"method": "exact", "n_unlabeled": 300, "confidence_level": 0.7}
        known = lower_bounds(votes[:100], labels[:100], **options)
        truth = (votes[100:] * labels[100:, None]).mean(axis=0)
        failures += bool(np.any(truth < known.lower))
    assert failures / 300 <= 0.3


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
