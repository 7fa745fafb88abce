from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from hedgeclipper.game.losses import SquareLoss
from hedgeclipper.game.solve import set_up_game
from hedgeclipper.game.solvers import Progress, SplitWeights, solve_batch, solve_exact


def game_of(n=2000, p=20, seed=0, **options):
    rng = np.random.default_rng(seed)
    return set_up_game(rng.uniform(-1, 1, (n, p)), rng.uniform(0, 0.25, p), **options)


def test_tighter_tolerance_gives_a_smaller_gap():
    gaps = []
    for tol in (1e-2, 1e-4, 1e-6):
        found = solve_batch(game_of(), tol, max_iter=3000)
        assert found.stop_reason == "converged"
        gaps.append(found.duality_gap)
    assert gaps[2] <= 1e-6 * abs(found.objective)
    assert gaps == sorted(gaps, reverse=True)


def test_where_all_is_clipped_the_corner_is_found_at_once():
    rng = np.random.default_rng(0)
    z = rng.choice([-1.0, 1.0], 3000)
    votes = np.where(rng.random((3000, 200)) < 0.7, z[:, None], -z[:, None])
    found = solve_batch(set_up_game(votes, np.full(200, 0.4)), 1e-6, 500)
    assert found.stop_reason == "converged"
    assert found.n_iter < 40


@pytest.mark.parametrize("is_smooth", [False, True])
def test_unreachable_tolerance_ends_at_rounding_instead_of_looping(is_smooth):
    """It stalls, unless rounding brings both sides of the game together."""
    game = game_of(200, 5)
    game = replace(game, loss=SquareLoss()) if is_smooth else game
    found = solve_batch(game, tol=1e-300, max_iter=10**6)
    assert found.stop_reason == ("converged" if found.duality_gap == 0 else "stalled")
    assert found.duality_gap <= 1e-6
    assert found.n_iter < 10_000


def test_progress_keeps_the_best_of_both_sides():
    game, progress = game_of(), Progress(tol=1e-3, max_iter=100)
    seen = [game.evaluate(np.full(20, size), 0.1) for size in (0.05, 0.5, 0.1)]
    for evaluation in seen:
        progress.add(evaluation)
    assert progress.primal == min(one.primal for one in seen) == progress.best.primal
    assert progress.dual == max(one.dual for one in seen)


def test_split_weights_go_there_and_back():
    split = SplitWeights(np.array([0.0, -2.0]), np.array([1.0, 2.0]), np.array([0.5, 2.0]))
    theta = np.array([0.7, -1.5])
    x = split.divide(theta)
    np.testing.assert_allclose(split.join(x), [theta, np.abs(theta)])
    assert split.bounds == [(0.0, 0.5), (0.0, 4.0), (0.0, 4.0)]


def test_split_gradient_matches_finite_differences():
    split = SplitWeights(np.array([0.0, -2.0]), np.array([1.0, 2.0]), np.array([0.5, 2.0]))
    slope, width = np.array([0.3, -0.8]), np.array([0.1, 0.2])
    x = np.array([0.2, 0.3, 0.4])

    def value(x):
        weights, size = split.join(x)
        return slope @ weights + width @ size

    theirs = [(value(x + step) - value(x - step)) / 2e-6 for step in np.eye(3) * 1e-6]
    np.testing.assert_allclose(split.gradient(slope, width), theirs, atol=1e-8)


def solved(game):
    return solve_exact(game, tol=1e-3, max_iter=500)


def test_gap_is_closed_by_the_programs_own_labels():
    rng = np.random.default_rng(0)
    found = solved(set_up_game(rng.uniform(-1, 1, (100, 8)), rng.uniform(0, 0.4, 8)))
    assert found.stop_reason == "exact"
    assert found.duality_gap == pytest.approx(0.0, abs=1e-9)


def test_fixed_weight_stays_where_it_is():
    game = set_up_game(np.array([[1.0, 0.5], [-1.0, 0.5]]), [0.4, 0.1])
    fixed = np.array([0.25, 0.0])
    terms = replace(game.terms, lower=fixed, upper=np.array([0.25, 1.0]))
    assert solved(replace(game, terms=terms)).weights[0] == 0.25


def test_votes_may_be_sparse():
    votes = np.array([[1.0, 0.5], [-1.0, 1.0], [1.0, -1.0]])
    dense, thin = (solved(set_up_game(form(votes), [0.4, 0.1])) for form in (np.array, csr_array))
    assert thin.objective == pytest.approx(dense.objective, abs=1e-9)


def test_the_linear_program_is_for_zero_one_loss_without_a_ridge():
    for game in (game_of(30, 2, ridge=1.0), replace(game_of(30, 2), loss=SquareLoss())):
        with pytest.raises(ValueError, match="needs zero-one loss, and no ridge"):
            solved(game)
