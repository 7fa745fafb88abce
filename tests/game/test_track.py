import numpy as np
import pytest

from hedgeclipper.game.batch import solve_batch
from hedgeclipper.game.setup import set_up_game
from hedgeclipper.game.track import Progress


def game_of():
    rng = np.random.default_rng(0)
    return set_up_game(rng.uniform(-1, 1, (2000, 20)), rng.uniform(0, 0.25, 20))


def test_progress_keeps_the_best_of_both_sides():
    game, progress = game_of(), Progress(tol=1e-3, max_iter=100)
    solve_batch(game, progress, np.zeros(20))
    primals = [record.primal for record in progress.history]
    duals = [record.dual for record in progress.history]
    assert primals == sorted(primals, reverse=True)
    assert duals == sorted(duals)
    assert game.evaluate(progress.best.theta, 0.1).primal == progress.primal


def test_nothing_is_best_before_the_first_pass():
    progress = Progress(tol=1e-3, max_iter=100)
    assert progress.gap == np.inf
    assert not progress.is_over
    with pytest.raises(RuntimeError, match="No pass"):
        progress.best


def test_restart_forgets_both_sides_but_not_the_count():
    game, progress = game_of(), Progress(tol=1e-3, max_iter=100)
    progress.add(game.evaluate(np.zeros(20), 0.3))
    progress.restart()
    assert progress.gap == np.inf
    assert progress.n_iter == 1


def test_every_pass_is_reported():
    seen = []
    progress = Progress(1e-3, 100, report=lambda record, evaluation: seen.append(record))
    solve_batch(game_of(), progress, np.zeros(20))
    assert seen == progress.history
