import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import check_random_state

from hedgeclipper import lower_bounds
from hedgeclipper.bounds.intervals import transductive_radius

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
    for method in ("wilson", "transductive"):
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


def test_transductive_bound_is_the_one_in_the_docs():
    votes = np.ones((50, 2))
    known = lower_bounds(
        votes, np.ones(50), method="transductive", n_unlabeled=200, confidence_level=0.9
    )
    radius = 2 * np.sqrt(250 * np.log(2 * 2 / 0.1) / (2 * 50 * 200))
    np.testing.assert_allclose(known.lower, 1 - radius)
    assert known.is_guarantee
    assert known.confidence_level == 0.9


def test_transductive_bound_counts_awake_rows():
    n_labeled, n_unlabeled = np.array([10.0, 0.0]), np.array([100.0, 50.0])
    radius = transductive_radius(n_labeled, n_unlabeled, 0.05, 2)
    assert np.isfinite(radius[0])
    assert radius[1] == np.inf


def test_fractional_participation_is_no_guarantee():
    votes = np.ones((50, 1))
    whole = lower_bounds(
        votes, np.ones(50), participation=votes, method="transductive", n_unlabeled=9
    )
    half = lower_bounds(
        votes, np.ones(50), participation=votes / 2, method="transductive", n_unlabeled=9
    )
    assert whole.is_guarantee
    assert not half.is_guarantee


def test_transductive_bound_fails_as_rarely_as_it_says():
    rng = check_random_state(0)
    failures = 0
    for _ in range(300):
        labels = rng.choice([-1, 1], 400)
        votes = np.where(rng.random_sample((400, 3)) < 0.8, labels[:, None], -labels[:, None])
        known = lower_bounds(
            votes[:100], labels[:100], method="transductive", n_unlabeled=300, confidence_level=0.7
        )
        truth = (votes[100:] * labels[100:, None]).mean(axis=0)
        failures += bool(np.any(truth < known.lower) or np.any(truth > known.upper))
    assert failures / 300 <= 0.3


def test_select_keeps_the_bounds_of_all():
    votes = np.array([[1, -1], [1, 1]])
    known = lower_bounds(votes, [1, 1], method="transductive", n_unlabeled=5)
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
        ({"method": "transductive"}, "pass n_unlabeled"),
        ({"method": "transductive", "n_unlabeled": -5}, "n_unlabeled must be a count"),
        ({"method": "transductive", "n_unlabeled": [1, 2]}, "one count for each of the 3 voters"),
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
