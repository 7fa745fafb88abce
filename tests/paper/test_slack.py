"""The slack, its gradient and its minimum, against NumPy and a linear program."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime, linprog
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from hedgeclipper.paper import algorithm
from hedgeclipper.paper.algorithm import LeafRows, Specialists, minimize_by_sgd, solution_at
from hedgeclipper.voters.trees import leaf_proportions, pack_trees

X, Y = make_classification(300, 6, n_informative=4, flip_y=0.2, random_state=0)
X = X.astype(np.float32)


def small_game(n_trees=4, alpha=1.0):
    """Leaves and trees of small trees whose b are a little below their true correlations."""
    rng, n = np.random.default_rng(0), len(X)
    parts = [rng.integers(0, n, 60) for _ in range(n_trees)]
    fitted = [
        DecisionTreeClassifier(max_leaf_nodes=4, random_state=k).fit(X[own], Y[own])
        for k, own in enumerate(parts)
    ]
    trees = pack_trees(fitted)
    leaves = trees.offsets[:, None] + trees.apply(X)
    votes = np.sign(leaf_proportions(fitted).toarray()[:, 1] - 0.5)
    votes[votes == 0] = 1.0
    signs = 2.0 * Y - 1.0
    n_leaves = int(trees.n_leaves.sum())
    matrix = np.zeros((n_leaves + n_trees, n))  # v h, as the paper writes it
    for t, own in enumerate(leaves):
        matrix[own, np.arange(n)] = votes[own]
        matrix[n_leaves + t] = votes[own]
    coverage = np.abs(matrix).mean(axis=1)
    coverage[coverage == 0] = 1.0
    b = (matrix @ signs) / (n * coverage) - 0.02
    is_used = (np.abs(matrix).sum(axis=1) > 0) & (b > 0)
    own = Specialists(votes, b, coverage, is_used, trees.offsets, alpha)
    return own, LeafRows(trees, X), matrix / coverage[:, None]


def slack_by_hand(problem, S, sigma):
    excess = np.maximum(np.abs(S.T @ sigma) - 1.0, 0.0)
    return -problem.b @ sigma + problem.alpha * excess.mean()


def value_by_linear_program(problem, S):
    """min over z in [-1, 1]^n with S z / n >= b of the largest correlation: mean abs(z)."""
    own, n = problem, S.shape[1]
    used = own.is_used
    constraints = np.hstack([-S[used] / n, S[used] / n])  # z = z+ - z-
    found = linprog(np.full(2 * n, 1 / n), constraints, -own.b[used], bounds=(0, 1))
    assert found.status == 0
    return found.fun


def least_slack(problem, S):
    """The least slack and its weights, by a program over sigma and the excess of each row."""
    own, n = problem, S.shape[1]
    rows = np.block([[S.T, -np.eye(n)], [-S.T, -np.eye(n)]])
    bounds = [(0, None if used else 0) for used in own.is_used] + [(0, None)] * n
    found = linprog(
        np.r_[-own.b, np.full(n, problem.alpha / n)], rows, np.ones(2 * n), bounds=bounds
    )
    assert found.status == 0
    return found.fun, found.x[:-n]


def leaves_of(rows):
    return np.concatenate(list(rows.blocks()), axis=1)


def test_gradient_is_that_of_the_slack():
    problem, rows, S = small_game(alpha=0.7)
    sigma = np.random.default_rng(0).random(problem.b.size) / 5
    ours = problem.gradient(leaves_of(rows), sigma)
    theirs = approx_fprime(sigma, lambda s: slack_by_hand(problem, S, s), 1e-7)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_value_and_slack_are_those_of_the_linear_programs():
    problem, rows, S = small_game()
    slack, sigma = least_slack(problem, S)
    found = solution_at(problem, rows, sigma)
    assert found.value == pytest.approx(value_by_linear_program(problem, S), abs=1e-6)
    assert found.slack == pytest.approx(slack_by_hand(problem, S, sigma), abs=1e-9)
    assert found.slack == pytest.approx(slack, abs=1e-6)
    assert found.contradiction is None


def test_sgd_comes_near_the_value_of_the_linear_program():
    problem, rows, S = small_game()
    (found,) = minimize_by_sgd(
        [problem], rows, n_passes=400, batch_size=32, step=0.05, rng=np.random.default_rng(0)
    )
    best = value_by_linear_program(problem, S)
    assert found.value <= best + 1e-9, "V is the largest value"
    assert found.value == pytest.approx(best, abs=0.01)
    assert found.sigma.min() >= 0


def test_the_papers_example_of_six_points():
    """Three "A" rules with error 1/3 beat three "B" rules with error 1/6 (Table 1)."""
    a = [[-1, 1, 1], [-1, 1, 1], [1, -1, 1], [1, -1, 1], [1, 1, -1], [1, 1, -1]]
    votes = np.hstack([a, [[1, 1, 1]] * 5 + [[-1, -1, -1]]]).astype(np.float32)
    # a tree of two leaves for each rule, which are not used themselves
    alone = [np.where(np.arange(6) == k, votes, 0.0) for k in range(6)]
    trees = pack_trees(
        [DecisionTreeClassifier(max_depth=1).fit(alone[k], votes[:, k]) for k in range(6)]
    )
    own = Specialists(
        votes=np.tile([-1.0, 1.0], 6),
        b=np.r_[np.zeros(12), np.full(3, 1 / 3), np.full(3, 2 / 3)],
        coverage=np.ones(18),
        is_used=np.repeat([False, True], [12, 6]),
        tree_starts=trees.offsets,
        alpha=1.0,
    )
    rows = LeafRows(trees, votes)
    (found,) = minimize_by_sgd(
        [own], rows, n_passes=3000, batch_size=6, step=0.1, rng=np.random.default_rng(0)
    )
    scores = own.leaf_scores(found.sigma)
    m = algorithm.awake_predictions(trees.apply(votes), trees.offsets, scores)
    assert np.all(m > 0), "all six are +"
    # minimizers are not unique; the paper's, the majority vote of the "A" rules, is one
    papers = np.r_[np.zeros(12), 1, 1, 1, 0, 0, 0]
    assert solution_at(own, rows, papers).value == pytest.approx(1.0)


def test_contradictory_correlations_have_no_value():
    problem, rows, _ = small_game()
    wrong = replace(problem, b=np.ones_like(problem.b))
    found = solution_at(wrong, rows, np.where(wrong.is_used, 1.0, 0.0))
    assert "contradict each other" in str(found.contradiction)


def test_minibatches_hold_all_rows_once_in_random_order(monkeypatch):
    monkeypatch.setattr(algorithm, "ROWS_IN_BUFFER", 64)
    numbers = np.arange(len(X))

    class Numbered:
        """Finds the number of a row in place of its leaves."""

        n_leaves = np.array([len(X)])

        def apply(self, batch):
            return batch[:, 0].astype(int)[None]

    table = numbers[:, None].astype(float)
    for source in (table, [table[:100], table[100:180], table[180:]]):
        found = [
            np.concatenate([part[0] for part in parts])
            for parts in LeafRows(Numbered(), source).minibatches(16, np.random.default_rng(0))
        ]
        order = np.concatenate(found)
        np.testing.assert_array_equal(np.sort(order), numbers)
        in_order = np.mean(np.diff(order) == 1)
        assert in_order < 0.1, "rows that were neighbors are not any more"
