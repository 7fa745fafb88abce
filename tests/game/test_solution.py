import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from hedgeclipper import solve_game
from hedgeclipper.game.solution import Progress, find_contradiction
from hedgeclipper.game.solve import play, set_up_game
from tests.small_games import LOSSES, small_games, spell_out

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
    solution = solve_game(VOTES, B)
    new = np.array([[1.0, np.nan, np.nan]])
    assert solution.awake_predictions(new)[0] == solution.weights[0]
    assert solution.awake_predictions(new[:0]).shape == (0,)
    with pytest.raises(ValueError, match=r"solved for 3 voters\. Got votes of 7"):
        solution.predictions(np.ones((0, 7)))


def test_predictions_take_batches():
    solution = solve_game(VOTES, B)
    whole = solution.predictions(VOTES)
    np.testing.assert_array_equal(solution.predictions([VOTES[:150], VOTES[150:]]), whole)


def test_worst_cases_are_those_at_alpha_one_whatever_alpha_was():
    solution = solve_game(VOTES, B, unlabeled_weight=3.0, ridge=0.5, anchor=0.3)
    m = solution.awake_predictions(VOTES)
    value = np.dot(B, solution.weights) - np.maximum(np.abs(m) - 1, 0).mean()
    assert solution.worst_case_correlation == pytest.approx(value)
    assert solution.worst_case_error == pytest.approx((1 - value) / 2)
    assert solution.worst_case_loss == pytest.approx((1 - value) / 2)


def drawn_votes(rng, n, p, abstain=0.3):
    z = rng.choice([-1.0, 1.0], n)
    right = rng.random((n, p)) < rng.uniform(0.4, 0.95, p)
    votes = np.where(right, z[:, None], -z[:, None])
    votes[rng.random((n, p)) < abstain] = np.nan
    votes[0] = 1.0
    return votes, z, np.nanmean(votes * z[:, None], axis=0)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.3, 1.0, 3.0]),
    st.sampled_from(LOSSES),
    st.integers(1, 4),
)
def test_with_true_correlations_the_worst_case_holds_at_any_alpha_loss_and_iterate(
    seed, alpha, loss, max_iter
):
    votes, z, b = drawn_votes(np.random.default_rng(seed), 40, 4)
    game = set_up_game(votes, b, unlabeled_weight=alpha, loss=loss)
    solution = play(game, Progress(1e-3, max_iter), "batch")
    clipped = np.clip(solution.awake_predictions(votes), -1, 1)
    assert np.mean((1 - z * clipped) / 2) <= solution.worst_case_error + 1e-9


def test_at_the_optimum_the_worst_case_is_that_of_the_worst_labels():
    """A linear program over all labels z in [-1, 1] with these correlations."""
    votes, _, b = drawn_votes(np.random.default_rng(3), 60, 4)
    solution = play(set_up_game(votes, b, cap=100.0), Progress(1e-3, 500), "exact")
    c, means = (~np.isnan(votes)).mean(axis=0), np.nan_to_num(votes).T / 60
    worst = linprog(solution.predictions(votes) / 60, -means, -c * b, bounds=[(-1, 1)] * 60)
    assert solution.worst_case_error == pytest.approx((1 - worst.fun) / 2, abs=1e-6)


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
    seen = [game.evaluate(np.full(20, size), 0.1) for size in (0.05, 0.5, 0.1)]
    for evaluation in seen:
        progress.add(evaluation)
    assert progress.primal == min(one.primal for one in seen) == progress.best.primal
    assert progress.dual == max(one.dual for one in seen)


def test_nothing_is_best_before_the_first_pass():
    progress = Progress(tol=1e-3, max_iter=100)
    assert progress.gap == np.inf
    assert not progress.is_over
    assert not hasattr(progress, "best")


# Contradictions.


def largest_violation(game) -> float:
    """The smallest r for which labels z exist, by a linear program over (z, r)."""
    s = spell_out(game)
    n = len(s.columns)
    c = game.coverage
    means = s.columns.T / n
    rows = [np.column_stack([-means, -c])]
    limits = [s.width - s.linear_term]
    free = s.most_minus > 0
    rows.append(np.column_stack([means, -c])[free])
    limits.append((s.width + s.linear_term)[free])
    result = linprog(
        np.append(np.zeros(n), 1.0),
        np.vstack(rows),
        np.concatenate(limits),
        bounds=[*[(-1, 1)] * n, (0, None)],
    )
    assert result.status == 0
    return float(result.fun)


@given(small_games(losses=("zero_one",), ridge=False))
def test_a_solution_never_claims_a_contradiction_that_is_none(game):
    solution = game.solve()
    assume(solution.contradiction is not None)
    assert solution.contradiction.excess <= largest_violation(game) + 1e-7


def test_rounding_is_no_contradiction():
    votes = np.ones((6, 2))
    b = np.full(2, 1.0, dtype=np.float32)
    assert solve_game(votes * 0.1, b * np.float32(0.1)).contradiction is None


def test_correlations_that_are_true_do_not_contradict():
    rng = np.random.default_rng(0)
    z = rng.choice([-1.0, 1.0], 300)
    votes = rng.choice([-1.0, 1.0], (300, 8))
    b = (votes * z[:, None]).mean(axis=0)
    assert solve_game(votes, b).contradiction is None


def test_the_voters_that_carry_it_are_named():
    rng = np.random.default_rng(1)
    votes = rng.choice([-1.0, 1.0], (200, 5))
    votes[:, 3] = -votes[:, 1]
    theta = np.array([0.0, 1, 0, 1, 0])
    excess = np.array([0.1, 0.6, 0.0, 0.6, 0.1]) @ theta - np.abs(votes @ theta).mean()
    found = find_contradiction(excess, theta)
    assert found.voters.tolist() == [1, 3]
    assert found.excess == pytest.approx(0.6)
    assert "voter 1 (50%), voter 3 (50%)" in str(found)
    assert "0.6 or more" in str(found)
