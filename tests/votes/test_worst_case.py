"""Worst cases against linear programs."""

import numpy as np
import pytest
from scipy.optimize import linprog

from hedgeclipper.votes.voter_bounds import bound_by_weights
from hedgeclipper.votes.worst_case import largest_mean
from tests.votes.vote_instances import constraints, instance


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
    assert found.bound == bound_by_weights(gains, unlabeled, bounds, found.weights)
