"""Bounds on voters against their formulas."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from hedgeclipper.votes import voter_bounds
from hedgeclipper.votes.ballots import parted
from hedgeclipper.votes.voter_bounds import bound_voters, proved_violation, relaxed
from tests.votes.vote_instances import ballots_of, constraints, instance, plug_in_bounds


def test_wilson_bounds_are_those_of_the_formula():
    """Three of four right at 95 %: (0.75 + q / 8 +- sqrt(q (3/16 + q / 16) / 4)) / (1 + q / 4)."""
    labeled = ballots_of([[0], [0], [0], [0], [1]], 2)
    codes = np.array([0, 0, 0, 1, 0])
    bounds = bound_voters(labeled, codes, labeled)
    q = 1.959964**2
    middle, radius = 0.75 + q / 8, np.sqrt(q * (3 / 16 + q / 16) / 4)
    assert bounds.lower[1] == pytest.approx((middle - radius) / (1 + q / 4), abs=1e-6)
    assert bounds.upper[1] == pytest.approx((middle + radius) / (1 + q / 4), abs=1e-6)
    assert bounds.n_labeled.tolist() == [5, 4, 1, 5, 5]


def test_a_voter_without_labels_is_between_0_and_1_and_not_used():
    labeled, unlabeled = ballots_of([[0, -1], [1, -1]], 2), ballots_of([[0, 1], [1, 1]], 2)
    bounds = bound_voters(labeled, np.array([0, 1]), unlabeled)
    assert (bounds.lower[1], bounds.upper[1]) == (0, 1)
    voters, votes, classes = parted(bounds.is_used, 2, 2)
    assert voters.tolist() == [True, False]
    assert votes.tolist() == [[True, True], [False, False]]
    assert classes.all()


def test_known_class_frequencies_are_exact():
    balance = np.array([0.3, 0.7])
    ballots = ballots_of(np.zeros((50, 1), dtype=int), 2)
    exact = bound_voters(ballots, np.zeros(50, dtype=int), ballots, balance=balance)
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


def test_bounds_that_hold_together_are_those_of_a_smaller_delta_each(monkeypatch):
    _, _, together = instance(0, n_classes=2, together=True)
    monkeypatch.setattr(voter_bounds, "DELTA", 0.05 / 11)  # 3 voters, 6 votes, 2 classes
    _, _, each = instance(0, n_classes=2)
    assert together.widths == pytest.approx(each.widths)


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
    unlabeled, _, bounds = instance(seed, n_rows=20, n_labeled=6, make_bounds=plug_in_bounds)
    theirs = smallest_violation(unlabeled, bounds)
    ours, prices = proved_violation(unlabeled, unlabeled, bounds)
    assert ours == pytest.approx(theirs, abs=0.01)
    assert ours <= theirs + 1e-9
    assert np.abs(prices).max() <= 1


def test_relaxed_bounds_contradict_each_other_no_more_and_known_frequencies_stay():
    unlabeled, _, bounds = instance(1, n_rows=20, n_labeled=6, make_bounds=plug_in_bounds)
    assert proved_violation(unlabeled, unlabeled, bounds)[0] > voter_bounds.CONTRADICTION
    n_labeled = bounds.n_labeled.copy()
    n_labeled[-3:] = np.inf
    wider = relaxed(unlabeled, unlabeled, replace(bounds, n_labeled=n_labeled))
    assert proved_violation(unlabeled, unlabeled, wider)[0] <= voter_bounds.CONTRADICTION
    assert np.all(wider.widths[bounds.is_used][:-3] > 0)
    np.testing.assert_array_equal(wider.lower[-3:], bounds.lower[-3:])


def test_bounds_that_hold_are_not_violated():
    unlabeled, truth, _ = instance(0, n_rows=30)
    own = plug_in_bounds(unlabeled, truth, unlabeled)
    assert proved_violation(unlabeled, unlabeled, own)[0] == pytest.approx(0, abs=1e-9)


def test_rows_left_out_of_a_sample_are_no_contradiction():
    """A voter that is always right, awake on half of all rows, and on more of the sample."""
    table = np.where(np.arange(40) % 2 == 0, 0, -1)[:, None]
    both = ballots_of(table, 2)
    truth = np.zeros(40, dtype=int)
    bounds = plug_in_bounds(both, truth, both)
    sample = both.take(np.arange(10))
    awake = both.take(np.arange(0, 40, 2))
    for rows in (sample, awake):
        assert proved_violation(rows, rows, bounds)[0] == pytest.approx(0, abs=1e-9)
