import numpy as np
import pytest

from hedgeclipper import abstention_loss, solve_game
from hedgeclipper.game.solution import Progress
from hedgeclipper.game.solve import set_up_game
from hedgeclipper.game.solvers import solve_batch

RNG = np.random.default_rng(0)
VOTES = RNG.choice([-1.0, 1.0], (400, 3))
B = [0.3, 0.2, 0.1]


def test_awake_predictions_are_weighted_sums_of_awake_votes():
    votes = VOTES.copy()
    votes[:50, 0] = np.nan
    solution = solve_game(votes, B)
    theirs = np.nan_to_num(votes) @ solution.weights
    np.testing.assert_allclose(solution.awake_predictions(votes), theirs)


def test_new_rows_need_only_the_weights():
    solution = solve_game(VOTES, B, class_balance=0.7)
    new = np.array([[1.0, np.nan, np.nan]])
    expected = solution.weights[0] + solution.balance_weight
    assert solution.awake_predictions(new)[0] == pytest.approx(expected)
    assert solution.awake_predictions(new[:0]).shape == (0,)
    with pytest.raises(ValueError, match=r"solved for 3 voters\. Got votes of 7"):
        solution.predictions(np.ones((0, 7)))


def test_predictions_clip_for_zero_one_loss():
    solution = solve_game(VOTES, [0.9, 0.9, 0.9])
    m = solution.awake_predictions(VOTES)
    np.testing.assert_allclose(solution.predictions(VOTES), np.clip(m, -1, 1))


def test_predictions_take_batches():
    solution = solve_game(VOTES, B)
    whole = solution.predictions(VOTES)
    np.testing.assert_array_equal(solution.predictions([VOTES[:150], VOTES[150:]]), whole)


def test_wrong_number_of_voters():
    with pytest.raises(ValueError, match=r"solved for 3 voters\. Got votes of 2"):
        solve_game(VOTES, B).predictions(VOTES[:, :2])


def test_randomized_predictions_have_the_mean_they_should():
    solution = solve_game(np.array([[0.4]] * 10), [0.1], cap=1.0)
    many = np.full((20_000, 1), 0.4)
    tosses = solution.predictions(many, randomized=True, random_state=0)
    assert set(np.unique(tosses)) == {-1.0, 1.0}
    assert tosses.mean() == pytest.approx(solution.predictions(many)[0], abs=0.02)


def test_randomized_predictions_of_the_abstention_game_abstain_when_unsure():
    # 0.4 of confidence, a weight of 1, and a cost at which predicting is worth it
    votes = np.array([[0.4]] * 10)
    solution = solve_game(votes, [0.39], loss=abstention_loss(0.3))
    many = np.full((20_000, 1), 0.4)
    drawn = solution.predictions(many, randomized=True, random_state=0)
    assert set(np.unique(drawn)) == {0.0, 1.0}
    assert drawn.mean() == pytest.approx(solution.predictions(many)[0], abs=0.02)


def test_worst_cases_are_those_at_alpha_one_whatever_alpha_was():
    solution = solve_game(VOTES, B, unlabeled_weight=3.0, ridge=0.5, anchor=0.3)
    m = solution.awake_predictions(VOTES)
    value = np.dot(B, solution.weights) - np.maximum(np.abs(m) - 1, 0).mean()
    assert solution.worst_case_correlation == pytest.approx(value)
    assert solution.worst_case_error == pytest.approx((1 - value) / 2)
    assert solution.worst_case_loss == pytest.approx((1 - value) / 2)


def test_worst_cases_stay_in_range_when_alpha_inflates_the_weights():
    votes = RNG.choice([-1.0, 1.0], (2000, 50))
    solution = solve_game(votes, [0.4] * 50, unlabeled_weight=0.3)
    assert solution.worst_case_correlation >= -1.0
    assert 0.0 <= solution.worst_case_error <= 1.0


def test_weights_cannot_be_overwritten():
    with pytest.raises(ValueError, match="read-only"):
        solve_game(VOTES, B).weights[0] = 5.0


def test_text_says_what_was_found():
    text = str(solve_game(VOTES, B))
    assert "3 voters" in text
    assert "exact after 1 pass," in text
    assert "worst-case error" in text
    assert "contradict" in str(solve_game(np.array([[1.0, -1.0]]), [0.9, 0.9]))


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
    assert not hasattr(progress, "best")


def test_restart_forgets_both_sides_but_not_the_count():
    game, progress = game_of(), Progress(tol=1e-3, max_iter=100)
    progress.add(game.evaluate(np.zeros(20), 0.3))
    progress.restart()
    assert progress.gap == np.inf
    assert progress.n_iter == 1


def test_every_pass_is_reported():
    seen = []
    progress = Progress(1e-3, 100, reports=[None, lambda record, _: seen.append(record)])
    solve_batch(game_of(), progress, np.zeros(20))
    assert seen == progress.history
