from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from hedgeclipper.game.solution import Progress
from hedgeclipper.game.solve import set_up_game
from hedgeclipper.game.solvers import (
    SplitWeights,
    solve_batch,
    solve_exact,
)


def game_of(n=2000, p=20, seed=0, **options):
    rng = np.random.default_rng(seed)
    return set_up_game(rng.uniform(-1, 1, (n, p)), rng.uniform(0, 0.25, p), **options)


def test_tighter_tolerance_gives_a_smaller_gap():
    gaps = []
    for tol in (1e-2, 1e-4, 1e-6):
        progress = Progress(tol, max_iter=3000)
        assert solve_batch(game_of(), progress, np.zeros(20)) == "converged"
        gaps.append(progress.gap)
    assert gaps[2] <= 1e-6 * abs(progress.primal)
    assert gaps == sorted(gaps, reverse=True)


def test_where_all_is_clipped_the_corner_is_found_at_once():
    rng = np.random.default_rng(0)
    z = rng.choice([-1.0, 1.0], 3000)
    votes = np.where(rng.random((3000, 200)) < 0.7, z[:, None], -z[:, None])
    game, progress = set_up_game(votes, np.full(200, 0.4)), Progress(1e-6, 500)
    assert solve_batch(game, progress, np.zeros(200)) == "converged"
    assert progress.n_iter < 40


@pytest.mark.parametrize("loss", ["zero_one", "log"])
def test_unreachable_tolerance_ends_at_rounding_instead_of_looping(loss):
    """It stalls, unless rounding brings both sides of the game together."""
    progress = Progress(tol=1e-300, max_iter=10**6)
    reason = solve_batch(game_of(200, 5, loss=loss), progress, np.zeros(5))
    assert reason == ("converged" if progress.gap == 0 else "stalled")
    assert progress.gap <= 1e-6
    assert progress.n_iter < 10_000


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
    progress = Progress(tol=1e-3, max_iter=500)
    return solve_exact(game, progress), progress


def test_gap_is_closed_by_the_programs_own_labels():
    rng = np.random.default_rng(0)
    game = set_up_game(rng.uniform(-1, 1, (100, 8)), rng.uniform(0, 0.4, 8))
    reason, progress = solved(game)
    assert reason == "exact"
    assert progress.gap == pytest.approx(0.0, abs=1e-9)


def test_fixed_weight_stays_where_it_is():
    game = set_up_game(np.array([[1.0, 0.5], [-1.0, 0.5]]), [0.4, 0.1])
    fixed = np.array([0.25, 0.0])
    terms = replace(game.terms, lower=fixed, upper=np.array([0.25, 1.0]))
    _, progress = solved(replace(game, terms=terms))
    assert progress.best.theta[0] == 0.25


def test_batches_may_be_sparse():
    votes = np.array([[1.0, 0.5], [-1.0, 1.0], [1.0, -1.0]])
    dense = solved(set_up_game(votes, [0.4, 0.1]))[1]
    batches = [sparse.csr_array(votes[:2]), votes[2:]]
    cut = solved(set_up_game(batches, [0.4, 0.1]))[1]
    assert cut.primal == pytest.approx(dense.primal, abs=1e-9)
