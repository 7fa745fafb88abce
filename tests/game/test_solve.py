"""The game as a whole: the paper's example, and what must hold on any game."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from hedgeclipper import solve_game
from hedgeclipper.game.equations import find_contradiction
from hedgeclipper.game.solve import play, set_up_game
from tests.small_games import objective, reference_minimum, small_games, spell_out

A_RULES = [[-1, 1, 1], [-1, 1, 1], [1, -1, 1], [1, -1, 1], [1, 1, -1], [1, 1, -1]]
B_RULES = [[1, 1, 1]] * 5 + [[-1, -1, -1]]
SIX_BY_SIX = np.hstack([A_RULES, B_RULES])
SIX_CORRELATIONS = np.array([1, 1, 1, 2, 2, 2]) / 3


def solve_by(method, votes, b, tol=1e-3, max_iter=500, **options):
    """Solve by a method that `solve_game` would not choose itself."""
    return play(set_up_game(votes, b, **options), tol, max_iter, method)


@pytest.mark.parametrize("method", ["exact", "batch"])
def test_six_by_six_example_of_the_paper(method):
    solution = solve_by(method, SIX_BY_SIX, SIX_CORRELATIONS, tol=1e-6)
    assert solution.worst_case_correlation == pytest.approx(1.0, abs=1e-5)
    assert solution.worst_case_error == pytest.approx(0.0, abs=1e-5)
    np.testing.assert_allclose(solution.predictions(SIX_BY_SIX), 1.0, atol=1e-4)
    assert solution.contradiction is None


def test_six_by_six_with_the_b_rules_alone_errs_on_a_sixth():
    solution = solve_game(SIX_BY_SIX[:, 3:], SIX_CORRELATIONS[3:])
    assert solution.worst_case_error == pytest.approx(1 / 6)
    assert np.mean(np.sign(solution.predictions(SIX_BY_SIX[:, 3:])) != 1) == pytest.approx(1 / 6)


@given(small_games(losses=("zero_one",), ridge=False))
def test_exact_matches_the_predictors_linear_program(game):
    solution = game.solve("exact")
    assert solution.stop_reason == "exact"
    assert solution.objective == pytest.approx(reference_minimum(game), abs=1e-7)
    assert solution.duality_gap <= 1e-7


@given(small_games())
def test_batch_ends_within_the_gap_it_claims(game):
    solution = game.solve("batch", tol=1e-4)
    theirs = reference_minimum(game)
    assert solution.stop_reason == "converged"
    assert solution.duality_gap <= 1e-4 * max(abs(solution.objective), 1e-3) + 1e-12
    assert solution.objective - solution.duality_gap <= theirs + 1e-6
    assert solution.objective <= theirs + solution.duality_gap + 1e-6


@given(small_games(), st.integers(1, 30))
def test_both_sides_hold_the_optimum_between_them_wherever_the_solver_stops(game, max_iter):
    solution, theirs = game.solve("batch", max_iter=max_iter), reference_minimum(game)
    assert solution.objective - solution.duality_gap <= theirs + 1e-6
    assert solution.objective >= theirs - 1e-6


@given(small_games())
def test_objective_is_that_of_the_weights_and_they_lie_in_the_box(game):
    solution = game.solve("batch")
    theta = solution.weights
    assert solution.objective == pytest.approx(objective(game, theta), abs=1e-9)
    assert np.all(np.abs(theta) <= game.options["cap"] + 1e-12)
    if "widths" not in game.options:
        assert np.all(solution.weights >= 0)


@pytest.mark.parametrize("make", [np.float32, np.float64, np.int8, "sparse", "nan"])
def test_the_kind_of_votes_does_not_matter(make):
    rng = np.random.default_rng(2)
    votes, b = rng.choice([-1, 1], (500, 5)), rng.uniform(0, 0.3, 5)
    theirs = solve_by("batch", votes.astype(float), b, tol=1e-6)
    if make == "sparse":
        given_as = sparse.csr_array(votes.astype(np.float32))
    elif make == "nan":
        given_as, b = np.column_stack([votes, np.full(500, np.nan)]), np.append(b, 0.9)
        given_as[0, 5] = 1.0
    else:
        given_as = votes.astype(make)
    ours = solve_game(given_as, b, tol=1e-6)
    extra = 0.9 / 500 if make == "nan" else 0.0
    assert ours.slack == pytest.approx(theirs.slack, abs=extra + 3e-6)


def test_small_games_are_solved_exactly():
    votes, b = np.ones((4, 2)), [0.5, 0.2]
    assert solve_game(votes, b).stop_reason == "exact"
    assert solve_game(np.ones((4000, 6)), [0.5] * 6).stop_reason == "converged"
    assert solve_game(votes, b, ridge=0.1).stop_reason == "converged"


@pytest.mark.parametrize("method", ["exact", "batch"])
def test_in_a_large_box_a_contradiction_shows_and_small_votes_count(method):
    opposite = solve_by(method, np.array([[1.0, -1.0]] * 4), [0.5, 0.5], cap=1000.0)
    assert opposite.contradiction.excess == pytest.approx(0.5)
    rng = np.random.default_rng(0)
    z = rng.choice([-1.0, 1.0], 400)
    strong = np.where(rng.random(400) < 0.8, z, -z)
    votes = np.column_stack([strong, 0.01 * z * rng.random(400)])
    b = (votes * z[:, None]).mean(axis=0) * [1.0, 0.999]
    found = solve_by(method, votes, b, cap=1000.0, max_iter=5000)
    theirs = solve_by("exact", votes, b, cap=1000.0)
    assert found.objective - theirs.objective <= found.duality_gap + 1e-9
    assert theirs.weights[1] > 10


def test_exact_keeps_small_votes():
    small = np.random.default_rng(0).uniform(0, 1, (4000, 1)) * 1e-5
    ours = solve_by("exact", small, [small.mean() * 0.99], cap=1e5)
    assert ours.stop_reason == "exact"
    assert ours.worst_case_correlation > 0.4


def test_with_a_small_alpha_voters_above_it_are_at_the_cap_and_others_may_be_too(rng):
    """So the prediction need not be a count of those above it."""
    b, at_cap = np.array([0.81, 0.56, 0.24, 0.26, 0.22, 0.16]), []
    for _ in range(30):
        truth = rng.choice([-1.0, 1.0], (60, 1))
        votes = np.where(rng.random((60, 6)) < (1 + b) / 2, truth, -truth)
        weights = solve_game(votes, b, unlabeled_weight=0.3, cap=1.0).weights
        at_cap.append(np.isclose(weights, 1.0))
    assert np.all(np.array(at_cap)[:, b > 0.3])
    assert np.any(np.all(at_cap, axis=1))


def test_max_passes_is_kept():
    rng = np.random.default_rng(7)
    votes, b = rng.uniform(-1, 1, (2000, 40)), rng.uniform(0, 0.2, 40)
    solution = solve_by("batch", votes, b, tol=1e-9, max_iter=6)
    assert solution.stop_reason == "max_iter"
    assert solution.n_iter == 6
    hard = rng.choice([-1.0, 1.0], (500, 30))
    for max_iter in (13, 14, 25):
        solution = solve_by("batch", hard, [0.2] * 30, tol=1e-9, max_iter=max_iter)
        assert solution.n_iter <= max_iter


EXTREMES = {
    "heavy rows": {"unlabeled_weight": 1e16},
    "heavier rows": {"unlabeled_weight": 1e300},
    "light rows": {"unlabeled_weight": 1e-300},
    "no cap to speak of": {"cap": 1e50},
    "tiny cap": {"cap": 1e-300},
    "far anchor": {"anchor": 1e300, "ridge": 1e16},
    "strong ridge": {"ridge": 1e300},
    "hardly there": {"participation": np.full((30, 4), 1e-200)},
    "the least": {"participation": np.full((30, 4), 5e-324)},
}


@pytest.mark.parametrize("method", ["batch", None])
@pytest.mark.parametrize("options", EXTREMES.values(), ids=EXTREMES.keys())
def test_extreme_parameters_give_a_bound_or_say_what_to_change(method, options):
    """Once: RecursionError, "Invalid input for linprog", and no best pass."""
    votes = np.where(np.random.default_rng(0).random((30, 4)) < 0.5, -1.0, 1.0)
    try:
        solution = solve_by(method, votes, [0.2, 0.3, 0.1, 0.4], **options)
    except ValueError as error:
        assert "Make cap, ridge, anchor" in str(error)  # noqa: PT017
    else:
        assert 0.0 <= solution.worst_case_error <= 1.0
        assert np.isfinite(solution.weights).all()


VOTES = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
B = [0.2, 0.1]


@pytest.mark.parametrize(
    ("b", "message"),
    [
        ([0.2], r"one entry per voter, shape \(2,\). Got shape \(1,\)"),
        ([[0.2, 0.1]], r"Got shape \(1, 2\)"),
        ([0.2, 1.5], r"must lie in \[-1, 1\]. Got 1.5 for voter 1.*2 \* accuracy - 1"),
        ([0.2, np.nan], "NaN for voter 1.*pass -1, which claims nothing"),
        ([0.2, -np.inf], r"must lie in \[-1, 1\]"),
    ],
)
def test_bad_correlations(b, message):
    with pytest.raises(ValueError, match=message):
        solve_game(VOTES, b)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cap", 0.0),
        ("cap", -1.0),
        ("cap", np.nan),
        ("cap", "big"),
        ("tol", 0.0),
        ("tol", -1e-3),
        ("unlabeled_weight", 0.0),
        ("unlabeled_weight", np.inf),
        ("ridge", -1.0),
        ("tol", None),
    ],
)
def test_bad_parameter_is_named(name, value):
    with pytest.raises((ValueError, TypeError), match=f"'{name}' parameter must be"):
        solve_game(VOTES, B, **{name: value})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"anchor": [0.1, 0.2, 0.3], "ridge": 1}, "anchor must be a number or have one entry per"),
        ({"anchor": np.nan, "ridge": 1}, "anchor must be finite"),
        ({"anchor": 0.5}, "An anchor acts only with a ridge"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        solve_game(VOTES, B, **options)


# What a solution says.

RNG = np.random.default_rng(0)
RANDOM = RNG.choice([-1.0, 1.0], (400, 3))
R = [0.3, 0.2, 0.1]


def test_awake_predictions_are_weighted_sums_of_awake_votes():
    votes = RANDOM.copy()
    votes[:50, 0] = np.nan
    solution = solve_game(votes, R)
    theirs = np.nan_to_num(votes) @ solution.weights
    np.testing.assert_allclose(solution.awake_predictions(votes), theirs)


def test_new_rows_need_only_the_weights():
    solution = solve_game(RANDOM, R)
    new = np.array([[1.0, np.nan, np.nan]])
    assert solution.awake_predictions(new)[0] == solution.weights[0]
    assert solution.awake_predictions(new[:0]).shape == (0,)
    with pytest.raises(ValueError, match=r"solved for 3 voters\. Got votes of 7"):
        solution.predictions(np.ones((0, 7)))


def test_worst_cases_are_those_at_alpha_one_whatever_alpha_was():
    solution = solve_game(RANDOM, R, unlabeled_weight=3.0, ridge=0.5, anchor=0.3)
    m = solution.awake_predictions(RANDOM)
    value = np.dot(R, solution.weights) - np.maximum(np.abs(m) - 1, 0).mean()
    assert solution.worst_case_correlation == pytest.approx(value)
    assert solution.worst_case_error == pytest.approx((1 - value) / 2)


def drawn_votes(rng, n, p, abstain=0.3):
    z = rng.choice([-1.0, 1.0], n)
    right = rng.random((n, p)) < rng.uniform(0.4, 0.95, p)
    votes = np.where(right, z[:, None], -z[:, None])
    votes[rng.random((n, p)) < abstain] = np.nan
    votes[0] = 1.0
    return votes, z, np.nanmean(votes * z[:, None], axis=0)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 1.0, 3.0]), st.integers(1, 4))
def test_with_true_correlations_the_worst_case_holds_at_any_alpha_and_iterate(
    seed, alpha, max_iter
):
    votes, z, b = drawn_votes(np.random.default_rng(seed), 40, 4)
    solution = solve_by("batch", votes, b, max_iter=max_iter, unlabeled_weight=alpha)
    assert np.mean((1 - z * solution.predictions(votes)) / 2) <= solution.worst_case_error + 1e-9


def test_at_the_optimum_the_worst_case_is_that_of_the_worst_labels():
    """A linear program over all labels z in [-1, 1] with these correlations."""
    votes, _, b = drawn_votes(np.random.default_rng(3), 60, 4)
    solution = solve_by("exact", votes, b, cap=100.0)
    c, means = (~np.isnan(votes)).mean(axis=0), np.nan_to_num(votes).T / 60
    worst = linprog(solution.predictions(votes) / 60, -means, -c * b, bounds=[(-1, 1)] * 60)
    assert solution.worst_case_error == pytest.approx((1 - worst.fun) / 2, abs=1e-6)


def test_worst_cases_stay_in_range_when_alpha_inflates_the_weights(rng):
    votes = rng.choice([-1.0, 1.0], (2000, 50))
    solution = solve_game(votes, [0.4] * 50, unlabeled_weight=0.3)
    assert solution.worst_case_correlation >= -1.0
    assert 0.0 <= solution.worst_case_error <= 1.0


def test_weights_cannot_be_overwritten():
    with pytest.raises(ValueError, match="read-only"):
        solve_game(RANDOM, R).weights[0] = 5.0


def test_text_says_what_was_found():
    text = str(solve_game(RANDOM, R))
    assert "3 voters" in text
    assert "exact after 1 pass," in text
    assert "worst-case error" in text
    assert "contradict" in str(solve_game(np.array([[1.0, -1.0]]), [0.9, 0.9]))


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
