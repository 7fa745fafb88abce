from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from hedgeclipper.game.exact import solve_exact
from hedgeclipper.game.setup import set_up_game
from hedgeclipper.game.solution import Progress


def solved(game):
    progress = Progress(tol=1e-3, max_iter=500)
    return solve_exact(game, progress), progress


def test_gap_is_closed_by_the_programs_own_labels():
    rng = np.random.default_rng(0)
    game = set_up_game(rng.uniform(-1, 1, (100, 8)), rng.uniform(0, 0.4, 8))
    reason, progress = solved(game)
    assert reason == "exact"
    assert progress.gap == pytest.approx(0.0, abs=1e-9)


def test_anchor_takes_rounds_until_its_square_is_known_well_enough():
    rng = np.random.default_rng(1)
    votes, b = rng.uniform(-1, 1, (50, 4)), rng.uniform(0, 0.3, 4)
    reason, progress = solved(set_up_game(votes, b, ridge=2.0, anchor=0.3))
    assert reason == "exact"
    assert progress.n_iter > 1
    assert progress.gap <= 1e-6


def test_fixed_weight_stays_where_it_is():
    game = set_up_game(np.array([[1.0, 0.5], [-1.0, 0.5]]), [0.4, 0.1])
    fixed = np.array([0.25, 0.0])
    terms = replace(game.terms, lower=fixed, upper=np.array([0.25, 1.0]))
    _, progress = solved(replace(game, terms=terms))
    assert progress.best.theta[0] == 0.25


def test_sparse_batches_and_class_balance():
    votes = np.array([[1.0, 0.5], [-1.0, 1.0], [1.0, -1.0]])
    dense = solved(set_up_game(votes, [0.4, 0.1], class_balance=0.6))[1]
    batches = [sparse.csr_array(votes[:2]), votes[2:]]
    cut = solved(set_up_game(batches, [0.4, 0.1], class_balance=0.6))[1]
    assert cut.primal == pytest.approx(dense.primal, abs=1e-9)
