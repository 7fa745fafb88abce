import numpy as np
import pytest

from hedgeclipper.game.setup import set_up_game
from hedgeclipper.game.solution import Progress
from hedgeclipper.game.stream import AdaGradWalk, solve_stream


def test_steps_stay_in_the_box_and_shrink_towards_zero_width():
    rng = np.random.default_rng(0)
    votes = rng.choice([-1.0, 1.0], (2000, 3))
    game = set_up_game(votes, [0.9, -0.9, 0.0], widths=[0.0, 0.0, 0.5], cap=0.5)
    walk = AdaGradWalk(np.zeros(3))
    for _ in range(50):
        walk.step(game, votes[rng.choice(2000, 256)])
    assert np.all(np.abs(walk.theta) <= 0.5)
    assert walk.theta[0] == pytest.approx(0.5)
    assert walk.theta[1] == pytest.approx(-0.5)
    assert walk.theta[2] == pytest.approx(0.0)


def test_stochastic_passes_come_near_the_optimum():
    rng = np.random.default_rng(1)
    votes, b = rng.uniform(-1, 1, (100_000, 10)), rng.uniform(0, 0.3, 10)
    game = set_up_game(votes, b)
    progress = Progress(1e-9, max_iter=3)
    solve_stream(game, progress, np.zeros(10), rng)
    full = Progress(1e-4, max_iter=500)
    solve_stream(game, full, np.zeros(10), rng)
    assert progress.primal == pytest.approx(full.primal, rel=0.05)


def test_batches_give_the_value_of_the_whole():
    rng = np.random.default_rng(2)
    votes, b = rng.uniform(-1, 1, (6000, 5)), rng.uniform(0, 0.3, 5)
    whole, cut = Progress(1e-5, 500), Progress(1e-5, 500)
    assert solve_stream(set_up_game(votes, b), whole, np.zeros(5), rng) == "converged"
    batches = [votes[:100], votes[100:4000], votes[4000:]]
    assert solve_stream(set_up_game(batches, b), cut, np.zeros(5), rng) == "converged"
    assert cut.primal == pytest.approx(whole.primal, abs=cut.gap + whole.gap)


def test_the_papers_steps_alone_stop_early_and_stay_within_reach():
    votes = np.array([[1.0, -1.0]] * 3000)
    game = set_up_game(votes, [0.9, 0.9], cap=None)
    progress = Progress(1e-3, 500)
    assert (
        solve_stream(game, progress, np.zeros(2), np.random.default_rng(0), as_in_paper=True)
        == "max_iter"
    )
    assert 0 < progress.best.theta.max() <= 1000
    assert progress.n_iter == 11
    once = Progress(1e-3, 1)
    solve_stream(game, once, np.zeros(2), np.random.default_rng(0), as_in_paper=True)
    assert once.n_iter == 1


def test_the_papers_steps_respect_widths():
    votes = np.random.default_rng(0).choice([-1.0, 1.0], (3000, 1))
    game = set_up_game(votes, [0.1], widths=0.5)
    progress = Progress(1e-3, 500)
    solve_stream(game, progress, np.zeros(1), np.random.default_rng(0), as_in_paper=True)
    assert progress.best.theta[0] == 0.0
