"""Worst cases against linear programs."""

import numpy as np
import pytest
from scipy.optimize import linprog

from hedgeclipper.votes.voter_bounds import bound_voters
from hedgeclipper.votes.worst_case import bound_by_weights, largest_mean, total_violation
from tests.votes.vote_instances import ballots_of, constraints, instance


def by_linear_program(gains, ballots, bounds):
    A, b, simplex = constraints(ballots, bounds)
    found = linprog(
        -gains.ravel() / ballots.n_rows, A_ub=A, b_ub=b, A_eq=simplex, b_eq=np.ones(len(gains))
    )
    return -found.fun


@pytest.mark.parametrize("seed", range(8))
def test_the_largest_mean_is_never_below_the_linear_program_and_close_to_it(seed):
    unlabeled, _, bounds = instance(seed, n_rows=30, n_labeled=20)
    gains = np.random.default_rng(seed).random((30, 3))
    rows = np.arange(30)
    for sign in (1, -1):
        ours = largest_mean(sign * gains, unlabeled, rows, unlabeled, bounds).bound
        theirs = by_linear_program(sign * gains, unlabeled, bounds)
        assert theirs - 1e-9 <= ours <= theirs + 0.01


def test_weights_sought_on_a_part_prove_a_bound_on_all_rows():
    unlabeled, _, bounds = instance(0, n_rows=60, n_labeled=30)
    gains = np.random.default_rng(0).random((60, 3))
    part = np.arange(0, 60, 2)
    found = largest_mean(gains, unlabeled.take(part), part, unlabeled, bounds)
    assert found.bound >= by_linear_program(gains, unlabeled, bounds) - 1e-9
    assert found.bound == bound_by_weights(gains, unlabeled, bounds, found.weights).bound


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
    ours = total_violation(unlabeled, bounds)
    assert ours.bound == pytest.approx(theirs, abs=0.01)
    assert ours.bound <= theirs + 1e-9
    assert np.abs(ours.weights).max() <= 1


def test_bounds_that_hold_are_not_violated():
    unlabeled, truth, _ = instance(0, n_rows=30)
    own = bound_voters(unlabeled, truth, unlabeled, bound="plug_in", delta=0.05, constraints="both")
    assert total_violation(unlabeled, own).bound == pytest.approx(0, abs=1e-9)


def test_rows_left_out_of_a_sample_are_no_contradiction():
    """A voter that is always right, awake on half of all rows, and on more of the sample."""
    table = np.where(np.arange(40) % 2 == 0, 0, -1)[:, None]
    both = ballots_of(table, 2)
    truth = np.zeros(40, dtype=int)
    bounds = bound_voters(both, truth, both, bound="plug_in", delta=0.05, constraints="both")
    sample = both.take(np.arange(10))
    awake = both.take(np.arange(0, 40, 2))
    for rows in (sample, awake):
        assert total_violation(rows, bounds).bound == pytest.approx(0, abs=1e-9)
