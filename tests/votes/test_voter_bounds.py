"""Bounds on voters against their formulas."""

import numpy as np
import pytest
from scipy.optimize import linprog

from hedgeclipper.bounds.intervals import wilson_bounds
from hedgeclipper.votes.ballots import parted
from hedgeclipper.votes.evidence import Strata
from hedgeclipper.votes.voter_bounds import (
    bound_voters,
    proved_violation,
    weighted_estimate,
)
from tests.votes.vote_instances import ballots_of, constraints, instance


def test_wilson_bounds_are_those_of_the_formula():
    """Three of four right at 95 %: (0.75 + q / 8 +- sqrt(q (3/16 + q / 16) / 4)) / (1 + q / 4)."""
    labeled = ballots_of([[0], [0], [0], [0], [1]], 2)
    codes = np.array([0, 0, 0, 1, 0])
    bounds = bound_voters(labeled, codes, labeled, bound="wilson", delta=0.05, constraints="both")
    q = 1.959964**2
    middle, radius = 0.75 + q / 8, np.sqrt(q * (3 / 16 + q / 16) / 4)
    voters, votes, classes = parted(bounds.estimate, 1, 2)
    assert votes[0, 0] == 0.75
    assert bounds.lower[1] == pytest.approx((middle - radius) / (1 + q / 4), abs=1e-6)
    assert bounds.upper[1] == pytest.approx((middle + radius) / (1 + q / 4), abs=1e-6)
    assert voters == pytest.approx([3 / 5])
    assert classes == pytest.approx([4 / 5, 1 / 5])


def test_symmetric_bounds_are_as_far_to_both_sides_as_the_farther_of_wilsons():
    labeled = ballots_of([[0], [0], [0], [0], [1]], 2)
    codes = np.array([0, 0, 0, 1, 0])
    plain, symmetric = (
        bound_voters(labeled, codes, labeled, bound=bound, delta=0.05, constraints="both")
        for bound in ("wilson", "wilson_symmetric")
    )
    estimate, lower, upper = (part[-2:] for part in (plain.estimate, plain.lower, plain.upper))
    radius = np.maximum(estimate - lower, upper - estimate)
    assert np.all(radius > np.minimum(estimate - lower, upper - estimate) + 0.1)
    assert symmetric.estimate[-2:].tolist() == estimate.tolist()
    assert symmetric.lower[-2:] == pytest.approx(np.maximum(estimate - radius, 0.0))
    assert symmetric.upper[-2:] == pytest.approx(np.minimum(estimate + radius, 1.0))


def test_a_voter_without_labels_is_between_0_and_1_and_not_used():
    labeled, unlabeled = ballots_of([[0, -1], [1, -1]], 2), ballots_of([[0, 1], [1, 1]], 2)
    bounds = bound_voters(
        labeled, np.array([0, 1]), unlabeled, bound="wilson", delta=0.05, constraints="accuracy"
    )
    assert (bounds.lower[1], bounds.upper[1]) == (0, 1)
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
    assert exact.lower[-2:] == pytest.approx(balance)
    assert exact.upper[-2:] == pytest.approx(balance)


def test_bounds_are_held_against_the_rows_at_hand():
    unlabeled, _, bounds = instance(0)
    some = unlabeled.take(np.arange(4))
    here = bounds.on(some)
    said = (some.votes.matrix.toarray() > 0).mean(axis=0)
    assert here.coverage[:3] == pytest.approx(said)
    assert here.lower is bounds.lower
    np.testing.assert_array_equal(bounds.on(unlabeled).centers, bounds.centers)


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


# Bounds that contradict each other.


def smallest_violation(ballots, bounds):
    """By how much z must break the bounds, added up, by linear programming."""
    A, b, simplex = constraints(ballots, bounds)
    n_z, n_bounds = A.shape[1], len(A)
    found = linprog(
        np.r_[np.zeros(n_z), np.ones(n_bounds)],
        A_ub=np.c_[A, -np.eye(n_bounds)],
        b_ub=b,
        A_eq=np.c_[simplex, np.zeros((ballots.n_rows, n_bounds))],
        b_eq=np.ones(ballots.n_rows),
    )
    return found.fun


@pytest.mark.parametrize("seed", range(6))
def test_the_total_violation_is_the_linear_programs(seed):
    unlabeled, _, bounds = instance(seed, n_rows=20, n_labeled=6, bound="plug_in")
    theirs = smallest_violation(unlabeled, bounds)
    ours, prices = proved_violation(unlabeled, unlabeled, bounds)
    assert ours == pytest.approx(theirs, abs=0.01)
    assert ours <= theirs + 1e-9
    assert np.abs(prices).max() <= 1


def test_bounds_that_hold_are_not_violated():
    unlabeled, truth, _ = instance(0, n_rows=30)
    own = bound_voters(unlabeled, truth, unlabeled, bound="plug_in", delta=0.05, constraints="both")
    assert proved_violation(unlabeled, unlabeled, own)[0] == pytest.approx(0, abs=1e-9)


def test_rows_left_out_of_a_sample_are_no_contradiction():
    """A voter that is always right, awake on half of all rows, and on more of the sample."""
    table = np.where(np.arange(40) % 2 == 0, 0, -1)[:, None]
    both = ballots_of(table, 2)
    truth = np.zeros(40, dtype=int)
    bounds = bound_voters(both, truth, both, bound="plug_in", delta=0.05, constraints="both")
    sample = both.take(np.arange(10))
    awake = both.take(np.arange(0, 40, 2))
    for rows in (sample, awake):
        assert proved_violation(rows, rows, bounds)[0] == pytest.approx(0, abs=1e-9)
