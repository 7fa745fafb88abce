"""Bounds on voters against their formulas."""

import numpy as np
import pytest

from hedgeclipper.bounds.intervals import wilson_bounds
from hedgeclipper.votes.evidence import Strata
from hedgeclipper.votes.voter_bounds import bound_voters, joined, parted, weighted_estimate
from tests.votes.vote_instances import ballots_of, instance


def test_wilson_bounds_are_those_of_the_formula():
    """Three of four right at 95 %: (0.75 + q / 8 +- sqrt(q (3/16 + q / 16) / 4)) / (1 + q / 4)."""
    labeled = ballots_of([[0], [0], [0], [0], [1]], 2)
    codes = np.array([0, 0, 0, 1, 0])
    bounds = bound_voters(labeled, codes, labeled, bound="wilson", delta=0.05, constraints="both")
    q = 1.959964**2
    middle, radius = 0.75 + q / 8, np.sqrt(q * (3 / 16 + q / 16) / 4)
    assert bounds.votes.estimate[0, 0] == 0.75
    assert bounds.votes.lower[0, 0] == pytest.approx((middle - radius) / (1 + q / 4), abs=1e-6)
    assert bounds.votes.upper[0, 0] == pytest.approx((middle + radius) / (1 + q / 4), abs=1e-6)
    assert bounds.voters.estimate == pytest.approx([3 / 5])
    assert bounds.classes.estimate == pytest.approx([4 / 5, 1 / 5])


def test_symmetric_bounds_are_as_far_to_both_sides_as_the_farther_of_wilsons():
    labeled = ballots_of([[0], [0], [0], [0], [1]], 2)
    codes = np.array([0, 0, 0, 1, 0])
    plain, symmetric = (
        bound_voters(labeled, codes, labeled, bound=bound, delta=0.05, constraints="both")
        for bound in ("wilson", "wilson_symmetric")
    )
    estimate, lower, upper, _ = plain.classes
    radius = np.maximum(estimate - lower, upper - estimate)
    assert np.all(radius > np.minimum(estimate - lower, upper - estimate) + 0.1)
    assert symmetric.classes.estimate.tolist() == estimate.tolist()
    assert symmetric.classes.lower == pytest.approx(np.maximum(estimate - radius, 0.0))
    assert symmetric.classes.upper == pytest.approx(np.minimum(estimate + radius, 1.0))


def test_a_voter_without_labels_is_between_0_and_1_and_not_used():
    labeled, unlabeled = ballots_of([[0, -1], [1, -1]], 2), ballots_of([[0, 1], [1, 1]], 2)
    bounds = bound_voters(
        labeled, np.array([0, 1]), unlabeled, bound="wilson", delta=0.05, constraints="accuracy"
    )
    assert (bounds.voters.lower[1], bounds.voters.upper[1]) == (0, 1)
    voters, votes, classes = parted(bounds.is_used, 2, 2)
    assert voters.tolist() == [True, False]
    assert not votes.any()
    assert classes.all()


def test_known_class_frequencies_are_exact():
    balance = np.array([0.3, 0.7])
    ballots = ballots_of(np.zeros((50, 1), dtype=int), 2)
    settings = {"delta": 0.05, "constraints": "both", "balance": balance}
    codes = np.zeros(50, dtype=int)
    exact = bound_voters(ballots, codes, ballots, bound="wilson", **settings)
    assert exact.classes.lower == pytest.approx(balance)
    assert exact.classes.upper == pytest.approx(balance)


def test_bounds_are_held_against_the_rows_at_hand():
    unlabeled, _, bounds = instance(0)
    some = unlabeled.take(np.arange(4))
    here = bounds.on(some)
    said = (some.votes.matrix.toarray() > 0).mean(axis=0)
    assert here.coverage[:3] == pytest.approx(said)
    assert here.voters is bounds.voters
    np.testing.assert_array_equal(bounds.on(unlabeled).centers, bounds.centers)


def test_parts_of_a_vector_come_back():
    voters, votes, classes = np.arange(2), np.arange(6).reshape(2, 3), np.arange(3)
    back = parted(joined(voters, votes, classes), 2, 3)
    for part, whole in zip(back, (voters, votes, classes), strict=True):
        np.testing.assert_array_equal(part, whole)


def test_bounds_that_hold_together_are_those_of_a_smaller_delta_each():
    _, _, each = instance(0, n_classes=2, delta=0.05 / 11)  # 3 voters, 6 votes, 2 classes
    _, _, together = instance(0, n_classes=2, delta=0.05, together=True)
    assert together.widths == pytest.approx(each.widths)


# Labels by stratum.


def test_one_stratum_weighs_nothing():
    right, about = np.array([[3.0, 0.0, 5.0, 0.0]]), np.array([[4.0, 2.0, 5.0, 0.0]])
    found = weighted_estimate(right, about, np.ones(1), 0.0)
    np.testing.assert_allclose(found.estimate, [0.75, 0.0, 1.0, np.nan])
    np.testing.assert_allclose(found.n_labeled, about[0])
    np.testing.assert_array_equal(found.variance_parts, [[1.0, 1.0, 1.0, 0.0]])


def test_labels_count_by_the_rows_they_represent():
    strata = Strata.of(np.repeat([0, 1], [80, 20]), np.repeat([0, 1], [200, 800]))
    right, about = np.array([[40.0], [20.0]]), np.array([[80.0], [20.0]])
    found = weighted_estimate(right, about, strata.weights, strata.selection)
    np.testing.assert_allclose(found.estimate, 0.2 * 0.5 + 0.8 * 1.0, rtol=0.02)
    # mostly certain rows: as much as a random sample of more than the 20 labels there, not of all
    assert 20 < found.n_labeled[0] < 100


def test_labels_that_stand_for_few_rows_say_little():
    right, about = np.array([[2.0, 2.0], [0.0, 2.0]]), np.array([[2.0, 2.0], [0.0, 2.0]])
    alone, both = weighted_estimate(right, about, np.array([0.2, 1.8]), 1.0).n_labeled
    assert alone == pytest.approx(0.4)
    assert both > 1.0


@pytest.mark.parametrize("n_labeled", [[90, 30, 30], [40, 40, 70]])
def test_bounds_by_stratum_hold_as_often_as_they_say(n_labeled):
    shares, weights = np.array([0.7, 0.9, 0.97]), np.array([0.3, 0.3, 0.4])
    rng = np.random.default_rng(0)
    about = np.repeat(np.array(n_labeled, dtype=float)[:, None], 2000, axis=1)
    right = rng.binomial(about.astype(int), shares[:, None])
    found = weighted_estimate(right * 1.0, about, weights * about[:, 0].sum() / about[:, 0], 1.0)
    lower, upper = wilson_bounds(2 * found.estimate - 1, found.n_labeled, 0.025)
    truth = 2 * weights @ shares - 1
    assert np.mean((lower <= truth) & (truth <= upper)) > 0.94
