from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from hedgeclipper import Certificate, certificate, cost_weighted_loss, lower_bounds, solve_game


def drawn_votes(rng, n, p, abstain=0.3):
    z = rng.choice([-1.0, 1.0], n)
    right = rng.random((n, p)) < rng.uniform(0.4, 0.95, p)
    votes = np.where(right, z[:, None], -z[:, None])
    votes[rng.random((n, p)) < abstain] = np.nan
    votes[0] = 1.0
    return votes, z


def true_correlations(votes, z):
    return np.nanmean(votes * z[:, None], axis=0)


def error_of(rule, solution, votes, z):
    g = solution.predictions(votes)
    return np.mean((1 - z * (np.sign(g) if rule == "hard" else g)) / 2)


def extreme_error(votes, b, widths, g, sign):
    """Largest (sign 1) or smallest (sign -1) error over all labels with these correlations."""
    n = len(votes)
    c = (~np.isnan(votes)).mean(axis=0)
    means = np.nan_to_num(votes).T / n
    rows, limits = [-means], [c * (widths - b)]
    if np.any(widths):
        rows.append(means)
        limits.append(c * (widths + b))
    result = linprog(sign * g / n, np.vstack(rows), np.concatenate(limits), bounds=[(-1, 1)] * n)
    assert result.status == 0
    return (1 - sign * result.fun) / 2


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["randomized", "hard"]),
    st.sampled_from([0.3, 1.0, 3.0]),
    st.sampled_from(["zero_one", "log", "square", cost_weighted_loss(3, 1)]),
    st.integers(1, 4),
)
def test_with_true_correlations_never_violated_at_any_alpha_loss_and_iterate(
    seed, rule, alpha, loss, max_iter
):
    votes, z = drawn_votes(np.random.default_rng(seed), 40, 4)
    b = true_correlations(votes, z)
    solution = solve_game(
        votes, b, unlabeled_weight=alpha, loss=loss, method="batch", max_iter=max_iter
    )
    bound = certificate(solution, votes, b, rule=rule)
    error = error_of(rule, solution, votes, z)
    assert bound.kind == "estimate"
    assert bound.error_lower - 1e-9 <= error <= bound.error_upper + 1e-9


@given(st.integers(0, 2**32 - 1), st.sampled_from(["randomized", "hard"]), st.booleans())
def test_bounds_enclose_the_extremes_over_all_labels(seed, rule, two_sided):
    votes, z = drawn_votes(np.random.default_rng(seed), 30, 3)
    b, widths = true_correlations(votes, z), np.full(3, 0.05 if two_sided else 0.0)
    solution = solve_game(votes, b, method="exact")
    g = solution.predictions(votes)
    g = np.sign(g) if rule == "hard" else g
    bound = certificate(solution, votes, b, rule=rule, widths=widths if two_sided else None)
    assert bound.error_upper >= extreme_error(votes, b, widths, g, 1) - 1e-7
    assert bound.error_lower <= extreme_error(votes, b, widths, g, -1) + 1e-7


def test_at_the_optimum_the_upper_bound_is_the_worst_case_itself():
    votes, z = drawn_votes(np.random.default_rng(3), 60, 4)
    b = true_correlations(votes, z)
    solution = solve_game(votes, b, cap=None, method="exact")
    bound = certificate(solution, votes, b)
    assert bound.error_upper == pytest.approx(solution.worst_case_error, abs=1e-7)
    worst = extreme_error(votes, b, np.zeros(4), solution.predictions(votes), 1)
    assert bound.error_upper == pytest.approx(worst, abs=1e-6)


def test_lower_bound_is_close_to_the_best_case_of_two_sided_knowledge():
    votes, z = drawn_votes(np.random.default_rng(4), 60, 4)
    b, widths = true_correlations(votes, z), np.full(4, 0.02)
    solution = solve_game(votes, b, widths=widths)
    bound = certificate(solution, votes, b, widths=widths, rule="hard")
    best = extreme_error(votes, b, widths, np.sign(solution.predictions(votes)), -1)
    assert best > 0.02
    assert bound.error_lower == pytest.approx(best, abs=0.02)


def test_guarantee_needs_exact_bounds():
    rng = np.random.default_rng(5)
    votes, z = drawn_votes(rng, 21_000, 3, abstain=0.0)
    known, rest = votes[:1000], votes[1000:]
    guaranteed = lower_bounds(known, z[:1000], method="exact", n_unlabeled=20_000)
    estimated = lower_bounds(known, z[:1000], method="wilson")
    solution = solve_game(rest, guaranteed)
    ours = certificate(solution, rest, guaranteed, rule="hard")
    theirs = certificate(solution, rest, estimated, rule="hard")
    assert (ours.kind, theirs.kind) == ("guarantee", "estimate")
    assert ours.is_guarantee
    assert ours.error_upper > theirs.error_upper
    assert "on the 20,000 unlabeled rows, guaranteed with 95% confidence" in str(ours)
    assert repr(ours) == f"<Certificate (guarantee): {ours.describe()}>"
    assert "on the 20,000 unlabeled rows in the worst case, an estimate" in str(theirs)


def test_it_is_described_in_one_sentence():
    bound = Certificate(0.2, 0.31, 0.04, "guarantee", 0.9, 2000, 20, 100, 0.4)
    assert bound.describe() == (
        "error at most 31.0% on the 2,000 unlabeled rows, guaranteed with 90% confidence "
        "(20 errors on 100 held-out labels; always the most frequent class: 40.0%)"
    )
    guess = replace(bound, kind="estimate", baseline=None, n_unlabeled=0)
    assert (
        guess.describe()
        == "error about 20.0% on new rows, an estimate (90% interval 4.0% to 31.0%)"
    )
    void = Certificate(None, 1.0, 0.0, "void", None, 10, reason="Voters contradict each other.")
    assert void.describe() == "no bound on the error: Voters contradict each other."


def test_contradicting_correlations_void_it():
    votes = np.array([[1.0, -1.0]] * 10)
    bound = certificate(solve_game(votes, [0.5, 0.4]), votes, [0.5, 0.4])
    assert bound.kind == "void"
    assert (bound.error_lower, bound.error_upper) == (0.0, 1.0)
    assert "contradict each other" in str(bound)


def test_class_balance_counts():
    votes, z = drawn_votes(np.random.default_rng(6), 60, 2)
    b, positive = true_correlations(votes, z), float(np.mean(z > 0))
    solution = solve_game(votes, b, class_balance=positive)
    with_it = certificate(solution, votes, b, class_balance=positive)
    without = certificate(solution, votes, b)
    column = np.column_stack([votes, np.ones(60), -np.ones(60)])
    both = np.append(b, [2 * positive - 1, 1 - 2 * positive])
    worst = extreme_error(column, both, np.zeros(4), solution.predictions(votes), 1)
    assert with_it.error_upper == pytest.approx(worst, abs=5e-3)
    assert with_it.error_upper < without.error_upper - 0.01


def test_knowledge_other_than_the_games_with_weights_of_the_wrong_sign():
    votes = np.array([[1.0], [-1.0]] * 50)
    solution = solve_game(votes, [-0.8], widths=0.1)
    assert solution.weights[0] < 0
    bound = certificate(solution, votes, [-0.8])
    assert bound.error_upper == pytest.approx(1.0)


def test_bounds_that_cross_void_it():
    votes = np.array([[1.0, -1.0], [-1.0, 1.0]] * 20)
    solution = solve_game(votes, [0.9, 0.0])
    assert certificate(solution, votes, [0.9, 0.9]).kind == "void"


def test_guarantee_only_for_the_rows_the_bounds_were_made_for():
    rng = np.random.default_rng(7)
    votes, z = drawn_votes(rng, 1200, 2, abstain=0.5)
    known, rest = votes[:1000], votes[1000:]
    awake = (~np.isnan(rest)).sum(axis=0)
    right, wrong = (
        lower_bounds(known, z[:1000], method="exact", n_unlabeled=n) for n in (awake, 200)
    )
    solution = solve_game(rest, right)
    assert certificate(solution, rest, right).kind == "guarantee"
    assert certificate(solution, rest, wrong).kind == "estimate"
    few = certificate(solution, rest[:9], right)
    assert few.kind == "estimate"
    assert "another number of rows than some voters are awake on" in few.reason
    part = certificate(solution, rest, right, participation=np.full(rest.shape, 0.5))
    assert part.kind == "estimate"
    assert "participation" in part.reason


def test_two_sided_guarantee():
    rng = np.random.default_rng(8)
    votes, z = drawn_votes(rng, 8000, 3, abstain=0.0)
    known = lower_bounds(votes[:4000], z[:4000], method="exact", two_sided=True, n_unlabeled=4000)
    rest = votes[4000:]
    solution = solve_game(rest, known, widths="bounds")
    bound = certificate(solution, rest, known, widths="bounds", rule="hard")
    assert bound.kind == "guarantee"
    error = error_of("hard", solution, rest, z[4000:])
    assert 0 < bound.error_lower <= error <= bound.error_upper


def test_bad_rule_and_wrong_voters():
    votes = np.ones((5, 2))
    solution = solve_game(votes, [0.1, 0.1])
    with pytest.raises(ValueError, match="'rule' parameter must be one of"):
        certificate(solution, votes, [0.1, 0.1], rule="soft")
    with pytest.raises(ValueError, match=r"solution has 2 voters\. Got votes of 1"):
        certificate(solution, votes[:, :1], [0.1])
    with pytest.raises(TypeError, match="solution must be what solve_game returns"):
        certificate(solution.weights, votes, [0.1, 0.1])
