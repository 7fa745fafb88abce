"""Bounds on voters against their formulas, and the game against programs that solve it too."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from scipy.special import log_softmax, softmax

from hedgeclipper.votes import vote_game
from hedgeclipper.votes.matrix import split_weights
from hedgeclipper.votes.vote_game import (
    KernelVoters,
    bound_voters,
    proved_violation,
    relaxed,
    solve_vote_game,
)
from tests.votes.vote_instances import (
    constraints,
    features,
    instance,
    kernel_of,
    plug_in_bounds,
)

# Bounds on voters.


def test_wilson_bounds_are_those_of_the_formula():
    """Three of four right at 95 %: (0.75 + q / 8 +- sqrt(q (3/16 + q / 16) / 4)) / (1 + q / 4)."""
    labeled = kernel_of([[0], [0], [0], [0], [1]], 2)
    codes = np.array([0, 0, 0, 1, 0])
    bounds = bound_voters(labeled, codes, labeled)
    q = 1.959964**2
    middle, radius = 0.75 + q / 8, np.sqrt(q * (3 / 16 + q / 16) / 4)
    assert bounds.lower[1] == pytest.approx((middle - radius) / (1 + q / 4), abs=1e-6)
    assert bounds.upper[1] == pytest.approx((middle + radius) / (1 + q / 4), abs=1e-6)
    assert bounds.n_labeled.tolist() == [5, 4, 1, 5, 5]


def test_a_voter_without_labels_is_between_0_and_1_and_not_used():
    labeled, unlabeled = kernel_of([[0, -1], [1, -1]], 2), kernel_of([[0, 1], [1, 1]], 2)
    bounds = bound_voters(labeled, np.array([0, 1]), unlabeled)
    assert (bounds.lower[1], bounds.upper[1]) == (0, 1)
    voters, votes, classes = split_weights(bounds.is_used, 2, 2)
    assert voters.tolist() == [True, False]
    assert votes.tolist() == [[True, True], [False, False]]
    assert classes.all()


def test_known_class_frequencies_are_exact():
    balance = np.array([0.3, 0.7])
    kernel = kernel_of(np.zeros((50, 1), dtype=int), 2)
    exact = bound_voters(kernel, np.zeros(50, dtype=int), kernel, balance=balance)
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
    monkeypatch.setattr(vote_game, "DELTA", 0.05 / 11)  # 3 voters, 6 votes, 2 classes
    _, _, each = instance(0, n_classes=2)
    assert together.widths == pytest.approx(each.widths)


# Bounds that contradict each other.


def smallest_violation(kernel, bounds):
    """By how much z must break the bounds, added up, by linear programming."""
    A, b, simplex = constraints(kernel, bounds)
    n_z, n_bounds = A.shape[1], len(A)
    found = linprog(
        np.r_[np.zeros(n_z), np.ones(n_bounds)],
        A_ub=np.c_[A, -np.eye(n_bounds)],
        b_ub=b,
        A_eq=np.c_[simplex, np.zeros((kernel.n_rows, n_bounds))],
        b_eq=np.ones(kernel.n_rows),
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
    assert proved_violation(unlabeled, unlabeled, bounds)[0] > vote_game.CONTRADICTION
    n_labeled = bounds.n_labeled.copy()
    n_labeled[-3:] = np.inf
    wider = relaxed(unlabeled, unlabeled, replace(bounds, n_labeled=n_labeled))
    assert proved_violation(unlabeled, unlabeled, wider)[0] <= vote_game.CONTRADICTION
    assert np.all(wider.widths[bounds.is_used][:-3] > 0)
    np.testing.assert_array_equal(wider.lower[-3:], bounds.lower[-3:])


def test_bounds_that_hold_are_not_violated():
    unlabeled, truth, _ = instance(0, n_rows=30)
    own = plug_in_bounds(unlabeled, truth, unlabeled)
    assert proved_violation(unlabeled, unlabeled, own)[0] == pytest.approx(0, abs=1e-9)


def test_rows_left_out_of_a_sample_are_no_contradiction():
    """A voter that is always right, awake on half of all rows, and on more of the sample."""
    table = np.where(np.arange(40) % 2 == 0, 0, -1)[:, None]
    both = kernel_of(table, 2)
    truth = np.zeros(40, dtype=int)
    bounds = plug_in_bounds(both, truth, both)
    sample = both.take(np.arange(10))
    awake = both.take(np.arange(0, 40, 2))
    for rows in (sample, awake):
        assert proved_violation(rows, rows, bounds)[0] == pytest.approx(0, abs=1e-9)


# The game.


def test_scores_and_sums_are_one_matrix_and_its_transpose():
    """The sum of z . (offset + f theta) over rows is z . offset and theta times the sums of f z."""
    unlabeled, _, bounds = instance(0)
    rng = np.random.default_rng(0)
    weights, z = rng.normal(size=bounds.is_used.size), rng.dirichlet(np.ones(3), 12)
    offset = rng.normal(size=(12, 3))
    block = KernelVoters(unlabeled, offset, bounds.coverage)
    f = features(unlabeled, bounds.is_used.size)
    assert (block @ weights).ravel() == pytest.approx(offset.ravel() + f @ weights)
    assert z @ block == pytest.approx(z.ravel() @ f)


@pytest.fixture
def _no_ridge(monkeypatch):
    monkeypatch.setattr(vote_game, "RIDGE_OF_ONE_LABEL", 1e-9)


def solved(unlabeled, bounds, initial, **options):
    options = {"n_labeled": 8, "tol": 1e-9, "max_iter": 20_000, **options}
    return solve_vote_game(unlabeled, bounds, initial, **options)


def even(kernel):
    return np.full((kernel.n_rows, kernel.n_classes), -np.log(kernel.n_classes))


@pytest.mark.usefixtures("_no_ridge")
@pytest.mark.parametrize("seed", range(3))
def test_log_loss_from_nothing_is_the_largest_entropy_within_the_bounds(seed):
    """An and Dasgupta's primal. The value is that entropy less that of the initial."""
    unlabeled, _, bounds = instance(seed)
    A, b, simplex = constraints(unlabeled, bounds)
    found = minimize(
        lambda z: np.sum(z * np.log(np.maximum(z, 1e-12))) / 12,
        np.full(36, 1 / 3),
        jac=lambda z: (np.log(np.maximum(z, 1e-12)) + 1) / 12,
        bounds=[(1e-9, 1)] * 36,
        constraints=[
            {"type": "ineq", "fun": lambda z: b - A @ z, "jac": lambda z: -A},
            {"type": "eq", "fun": lambda z: simplex @ z - 1, "jac": lambda z: simplex},
        ],
        options={"ftol": 1e-10, "maxiter": 1000},
    )
    assert found.success
    ours = solved(unlabeled, bounds, even(unlabeled))
    assert ours.slack == pytest.approx(-found.fun - np.log(3), abs=2e-4)
    g = softmax(even(unlabeled) + unlabeled.weighted(ours.weights), axis=1)
    assert g == pytest.approx(found.x.reshape(12, 3), abs=0.02)


@given(
    seed=st.integers(0, 10_000),
    max_iter=st.sampled_from([1, 3, 50]),
    make_bounds=st.sampled_from([bound_voters, plug_in_bounds]),
)
def test_the_value_is_never_above_0_wherever_the_solver_stops(seed, max_iter, make_bounds):
    unlabeled, _, bounds = instance(seed, make_bounds=make_bounds)
    initial = np.log(np.random.default_rng(seed).dirichlet(np.ones(3), 12))
    found = solved(unlabeled, bounds, initial, max_iter=max_iter)
    assert found.slack <= 0
    assert np.all(np.isfinite(found.weights))


def test_the_objective_is_within_the_gap_of_the_least_one():
    unlabeled, _, bounds = instance(0)
    initial = np.log(np.random.default_rng(0).dirichlet(np.ones(3), 12))
    rough = solved(unlabeled, bounds, initial, tol=0.1)
    fine = solved(unlabeled, bounds, initial, tol=1e-6)
    assert (rough.stop_reason, fine.stop_reason) == ("converged", "converged")
    assert fine.duality_gap <= 1e-6 * max(abs(fine.objective), 1e-3)
    assert rough.objective - rough.duality_gap <= fine.objective + 1e-12
    assert fine.objective <= rough.objective + fine.duality_gap
    assert fine.slack <= fine.objective <= 0


@pytest.mark.parametrize(("max_iter", "reason"), [(200, "converged"), (2, "max_iter")])
def test_why_the_game_stops(max_iter, reason):
    unlabeled, _, bounds = instance(0)
    found = solved(unlabeled, bounds, even(unlabeled), tol=1e-3, max_iter=max_iter)
    assert found.stop_reason == reason
    assert found.n_iter <= max_iter


@given(seed=st.integers(0, 10_000))
def test_the_prediction_beats_the_initial_model_by_the_value_if_the_bounds_hold(seed):
    """Bounds that the truth meets just so: those that it gives itself, made wider at random."""
    unlabeled, truth, _ = instance(seed)
    rng = np.random.default_rng(seed)
    own = plug_in_bounds(unlabeled, truth, unlabeled)
    n = own.lower.size
    lower = np.maximum(own.lower - rng.random(n) * 0.2, 0)
    bounds = replace(own, lower=lower, upper=np.minimum(own.upper + rng.random(n) * 0.2, 1))
    initial = np.log(rng.dirichlet(np.ones(3), 12))
    found = solved(unlabeled, bounds, initial, max_iter=30)
    after = log_softmax(initial + unlabeled.weighted(found.weights), axis=1)
    gained = (initial - after)[np.arange(12), truth]
    assert gained.mean() <= found.slack + 1e-9
