import numpy as np
import pytest
from hypothesis import assume, given
from scipy.optimize import linprog

from hedgeclipper import smallest_relaxation, solve_game
from hedgeclipper.bounds import certificate as module
from tests.small_games import small_games, spell_out


def largest_violation(game) -> float:
    """The smallest r for which labels z exist, by a linear program over (z, r)."""
    s = spell_out(game)
    n = len(s.columns)
    c = np.append(game.coverage, np.ones(s.edge.size - game.b.size))
    means = s.columns.T / n
    rows = [np.column_stack([-means, -c])]
    limits = [s.width - s.edge]
    free = s.most_minus > 0
    rows.append(np.column_stack([means, -c])[free])
    limits.append((s.width + s.edge)[free])
    result = linprog(
        np.append(np.zeros(n), 1.0),
        np.vstack(rows),
        np.concatenate(limits),
        bounds=[*[(-1, 1)] * n, (0, None)],
    )
    assert result.status == 0
    return float(result.fun)


def relaxation(game):
    parts = ("participation", "widths", "class_balance")
    options = {name: game.options[name] for name in parts if name in game.options}
    return smallest_relaxation(game.votes, game.b, **options)


@given(small_games(losses=("zero_one",), ridge=False))
def test_smallest_relaxation_is_the_least_of_the_largest_violations(game):
    ours, theirs = relaxation(game), largest_violation(game)
    assert ours.is_exact
    assert ours.lower == pytest.approx(theirs, abs=2e-6)
    assert ours.upper == pytest.approx(theirs, abs=2e-6)
    assert (ours.contradiction is None) == (ours.lower == 0.0)


@given(small_games(losses=("zero_one",), ridge=False))
def test_bracket_of_large_problems_holds_the_relaxation(game):
    theirs = largest_violation(game)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "is_small", lambda game: False)
        ours = relaxation(game)
    assert ours.lower <= theirs + 1e-7
    assert ours.upper >= theirs - 1e-7
    assert ours.upper - ours.lower <= 0.05


@given(small_games(losses=("zero_one",), ridge=False))
def test_a_solution_never_claims_a_contradiction_that_is_none(game):
    solution = solve_game(game.votes, game.b, **game.arguments)
    assume(solution.contradiction is not None)
    assert solution.contradiction.excess <= largest_violation(game) + 1e-7


def test_stopping_early_leaves_a_bracket_that_says_so():
    rng = np.random.default_rng(0)
    votes, b = rng.choice([-1.0, 1.0], (30, 6)), np.full(6, 0.7)
    early, whole = (smallest_relaxation(votes, b, max_iter=n) for n in (1, 300))
    assert whole.is_exact
    assert not early.is_exact
    assert early.lower < whole.lower <= early.upper
    with pytest.raises(ValueError, match="'max_iter' parameter"):
        smallest_relaxation(votes, b, max_iter=0)


def test_rounding_is_no_contradiction():
    votes = np.ones((6, 2))
    b = np.full(2, 1.0, dtype=np.float32)
    assert solve_game(votes * 0.1, b * np.float32(0.1)).contradiction is None


def test_contradiction_of_rare_specialists_is_found_whatever_its_size():
    votes = np.full((10_000, 3), np.nan)
    votes[:, 2] = 1.0
    votes[:5, 0], votes[:5, 1] = 1.0, -1.0
    found = smallest_relaxation(votes, [0.9, 0.9, 0.1])
    assert found.lower == pytest.approx(0.9, abs=1e-3)


def test_correlations_that_are_true_do_not_contradict():
    rng = np.random.default_rng(0)
    z = rng.choice([-1.0, 1.0], 300)
    votes = rng.choice([-1.0, 1.0], (300, 8))
    b = (votes * z[:, None]).mean(axis=0)
    assert smallest_relaxation(votes, b).lower == 0.0
    assert solve_game(votes, b).contradiction is None


def test_the_voters_that_carry_it_are_named():
    rng = np.random.default_rng(1)
    votes = rng.choice([-1.0, 1.0], (200, 5))
    votes[:, 3] = -votes[:, 1]
    b = [0.1, 0.6, 0.0, 0.6, 0.1]
    found = smallest_relaxation(votes, b).contradiction
    assert found is not None
    assert set(found.voters[:2]) == {1, 3}
    assert found.excess == pytest.approx(0.6)
    assert "voter 1" in str(found)
    assert "voter 3" in str(found)
    assert "0.6 or more" in str(found)


def test_class_balance_is_called_by_its_name():
    votes = np.ones((10, 1))
    found = smallest_relaxation(votes, [0.9], class_balance=0.5).contradiction
    assert found is not None
    assert "the class balance" in str(found)


def test_many_carriers_are_counted_instead_of_listed():
    votes = np.tile([1.0, -1.0], (6, 10))
    solution = solve_game(votes, [0.5] * 20, ridge=1.0, anchor=0.5)
    assert "voters together, voter" in str(solution.contradiction)
