import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from hedgeclipper.bounds.whole_file import accept_rows, allowed_errors, least_tested
from hedgeclipper.labeling.policy import (
    EXPLORED,
    MOST_CANDIDATES,
    Proof,
    choose_rows,
    expected_proof,
    fit_error_curve,
    rows_kept,
)


def test_most_rows_are_of_the_most_uncertain_ones_and_some_of_all():
    uncertainties = np.random.default_rng(0).random(5000)
    candidates = np.arange(0, 5000, 2)
    most = candidates[np.argsort(-uncertainties[candidates])[:MOST_CANDIDATES]]
    draws = [
        choose_rows(candidates, uncertainties, 20, np.random.default_rng(s)) for s in range(50)
    ]
    assert all(np.unique(rows).size == 20 for rows in draws)
    assert set(draws[0].tolist()) != set(draws[1].tolist())
    drawn = np.concatenate(draws)
    assert np.isin(drawn, candidates).all()
    assert abs(np.mean(~np.isin(drawn, most)) - EXPLORED) < 0.03


def test_fewer_candidates_than_rows():
    for known in (np.ones(9), None):
        rows = choose_rows(np.array([4, 7]), known, 5, np.random.default_rng(0))
        assert sorted(rows) == [4, 7]


@pytest.mark.parametrize("steepness", [2, 6])
def test_the_expected_review_is_that_of_simulated_tests(steepness):
    """Rows are wrong with known probabilities; the test is run on 200 random samples."""
    rng, n, limit = np.random.default_rng(0), 3000, 150
    errors = 0.5 * np.linspace(0, 1, n) ** steepness
    proof = expected_proof(errors[None], n, limit=limit, delta=0.05)
    left = []
    for _ in range(200):
        drawn = rng.choice(n, proof.n_test, replace=False)
        wrong = (rng.random(n) < errors)[drawn]
        found = accept_rows(np.arange(n), drawn, wrong, limit=limit, delta=0.05)
        left.append(n - proof.n_test - found.n_accepted)
    assert np.mean(left) == pytest.approx(proof.n_review, abs=0.04 * n)


def test_unsure_of_the_errors_more_review_is_expected():
    errors = np.full(3000, 0.02)
    sure = expected_proof(errors[None], 3000, limit=100, delta=0.05)
    unsure = expected_proof(np.outer([0.2, 1, 3], errors), 3000, limit=100, delta=0.05)
    assert sure.n_review == 0
    assert unsure.cost > sure.cost


def test_evenly_spaced_rows_stand_for_all():
    errors = np.linspace(0, 0.3, 40_000)[None]
    whole = expected_proof(errors, 40_000, limit=2000, delta=0.05)
    some = expected_proof(errors[:, ::20], 40_000, limit=2000, delta=0.05)
    assert some.n_test == whole.n_test
    assert some.n_review == pytest.approx(whole.n_review, rel=0.01)


@pytest.mark.parametrize("n_pool", [37, 100, 1999, 2851, 12_345])
def test_a_planned_test_can_prove_something(n_pool):
    proof = expected_proof(np.zeros((1, n_pool)), n_pool, limit=n_pool // 10, delta=0.05)
    assert allowed_errors(n_pool, proof.n_test, n_pool // 10, 0.05) >= 0
    assert proof.n_test <= least_tested(n_pool, n_pool // 10, 0.05) + 1


def test_wrong_rows_that_were_found_end_what_is_kept():
    sums = np.cumsum(np.full(2000, 0.02))
    assert rows_kept(sums, 3, 0, [10, 500, 900, 1500]) == 1500
    assert rows_kept(sums, 3, 0, [10, 500, 900]) == 2000
    assert rows_kept(sums, 3, 200, [10, 500, 900]) < 1500


def test_without_hope_all_rows_are_left():
    assert expected_proof(np.ones((1, 500)), 500, limit=5, delta=0.05).cost > 480
    assert expected_proof(np.ones((1, 5)), 5, limit=0, delta=0.05) == Proof(0, 5)
    assert expected_proof(np.zeros((1, 0)), 0, limit=5, delta=0.05) == Proof(0, 0)


def test_with_many_labels_the_curve_is_that_of_a_logistic_regression():
    rng = np.random.default_rng(0)
    u = rng.uniform(0.01, 0.6, 20_000)
    x = np.log(u / (1 - u))
    wrong = rng.random(u.size) < 1 / (1 + np.exp(-(-0.4 + 0.8 * x)))
    theirs = LogisticRegression(C=np.inf, tol=1e-8).fit(x[:, None], wrong)
    ours = fit_error_curve(wrong, u)
    assert ours.mean == pytest.approx([theirs.intercept_[0], theirs.coef_[0, 0]], abs=0.02)
    assert ours(u)[0].mean() == pytest.approx(wrong.mean(), rel=0.01)


def test_curves_come_closer_with_labels_and_grow_with_the_uncertainty():
    few, many = fit_error_curve([], []), fit_error_curve([True, False] * 400, [0.5] * 800)
    at = np.linspace(0, 1, 50)
    assert np.ptp(few(at)[:, 25]) > 3 * np.ptp(many(at)[:, 25])
    for curve in (few, many):
        assert np.all(np.diff(curve(at), axis=1) >= 0)
