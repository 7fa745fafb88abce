import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgeclipper.game.equations import WeightTerms, relative_gap
from tests.small_games import objective, small_games


def weights_in_the_box(rng, terms):
    return rng.uniform(terms.lower, terms.upper)


@given(small_games(), st.integers(0, 2**32 - 1))
def test_primal_is_the_objective_spelled_out(small, seed):
    game = small.game
    theta = weights_in_the_box(np.random.default_rng(seed), game.terms)
    assert game.evaluate(theta, 0.1).primal == pytest.approx(objective(small, theta), abs=1e-10)


@given(small_games(), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 0.1, 1e-6]))
def test_gap_is_the_sum_of_two_parts_that_are_not_negative(small, seed, eps):
    game = small.game
    result = game.evaluate(weights_in_the_box(np.random.default_rng(seed), game.terms), eps)
    assert result.smoothing_gap >= -1e-12
    assert result.weights_gap >= -1e-12
    gap = result.smoothing_gap + result.weights_gap
    assert result.primal - result.dual == pytest.approx(gap, abs=1e-9)


@given(small_games(), st.integers(0, 2**32 - 1))
def test_every_dual_value_is_below_every_primal_value(small, seed):
    game, rng = small.game, np.random.default_rng(seed)
    primal = min(game.evaluate(weights_in_the_box(rng, game.terms), 0.1).primal for _ in range(10))
    labels = rng.uniform(-1, 1, (10, game.specialists.n_samples))
    assert max(game.dual_value(z) for z in labels) <= primal + 1e-10


@given(small_games(two_sided=False), st.integers(0, 2**32 - 1))
def test_vote_gradient_is_the_gradient_of_the_smoothed_rows(small, seed):
    game = small.game
    theta = weights_in_the_box(np.random.default_rng(seed), game.terms)
    step = 1e-6
    theirs = [
        (game.evaluate(theta + e, 0.3).smoothed - game.evaluate(theta - e, 0.3).smoothed)
        / (2 * step)
        for e in np.eye(theta.size) * step
    ]
    np.testing.assert_allclose(game.evaluate(theta, 0.3).vote_gradient, theirs, atol=1e-5)


def test_relative_gap_counts_small_values_as_a_thousandth():
    assert relative_gap(1e-4, -0.5) == pytest.approx(2e-4)
    assert relative_gap(1e-4, 0.0) == pytest.approx(0.1)


@st.composite
def terms_of_one_voter(draw):
    number = st.floats(-1, 1)
    cap = draw(st.floats(0.2, 3))
    return WeightTerms(
        linear_term=np.array([draw(number)]),
        width=np.array([draw(st.floats(0, 0.5))]),
        curvature=np.array([draw(st.sampled_from([0.0, 0.1, 2.0]))]),
        anchor=np.array([draw(number)]),
        lower=np.array([draw(st.sampled_from([0.0, -cap]))]),
        upper=np.array([cap]),
    )


@given(terms_of_one_voter(), st.floats(-1, 1))
def test_best_response_is_that_of_a_grid(terms, gradient):
    grid = np.append(np.linspace(terms.lower[0], terms.upper[0], 4001), 0.0)
    values = [terms.value(np.array([theta])) + gradient * theta for theta in grid]
    theta, ours = terms.best_response(np.array([gradient]))
    assert terms.lower[0] <= theta[0] <= terms.upper[0]
    assert ours <= min(values) + 1e-12
    assert ours >= min(values) - 5e-3


def test_without_box_or_anchor_the_minimum_runs_away():
    one, zero, infinite = np.ones(1), np.zeros(1), np.full(1, np.inf)
    terms = WeightTerms(one, zero, zero, zero, zero, infinite)
    assert terms.best_response(np.array([0.5])) == (np.inf, -np.inf)
    assert terms.best_response(np.array([1.5])) == (0.0, 0.0)
