import numpy as np
import pytest

from hedgeclipper.bounds.whole_file import accept_rows
from hedgeclipper.labeling.stopping import Proof, expected_proof, fit_error_curve, rows_kept


@pytest.mark.parametrize("steepness", [2, 6])
def test_the_expected_review_is_that_of_simulated_tests(steepness):
    """Rows are wrong with known probabilities; the test is run on 200 random samples."""
    rng, n, limit = np.random.default_rng(0), 3000, 150
    errors = 0.5 * np.linspace(0, 1, n) ** steepness
    proof = expected_proof(errors, limit=limit, delta=0.05)
    left = []
    for _ in range(200):
        drawn = rng.choice(n, proof.n_test, replace=False)
        wrong = (rng.random(n) < errors)[drawn]
        found = accept_rows(np.arange(n), drawn, wrong, limit=limit, delta=0.05)
        left.append(n - proof.n_test - found.n_accepted)
    assert np.mean(left) == pytest.approx(proof.n_review, abs=0.04 * n)


def test_unsure_of_the_errors_more_review_is_expected():
    errors = np.full(3000, 0.02)
    sure, unsure = (
        expected_proof(errors, limit=100, delta=0.05, spread=np.array(spread))
        for spread in ([1.0], [0.2, 1.0, 3.0])
    )
    assert sure.n_review == 0
    assert unsure.cost > sure.cost


def test_wrong_rows_that_were_found_end_what_is_kept():
    sums = np.cumsum(np.full(2000, 0.02))
    assert rows_kept(sums, 3, 0, [10, 500, 900, 1500]) == 1500
    assert rows_kept(sums, 3, 0, [10, 500, 900]) == 2000
    assert rows_kept(sums, 3, 200, [10, 500, 900]) < 1500


def test_without_hope_all_rows_are_left():
    assert expected_proof(np.ones(500), limit=5, delta=0.05).cost > 480
    assert expected_proof(np.ones(5), limit=0, delta=0.05) == Proof(0, 5)
    assert expected_proof(np.zeros(0), limit=5, delta=0.05) == Proof(0, 0)


@pytest.mark.parametrize("power", [1.0, 3.0])
def test_the_curve_follows_the_errors(power):
    rng = np.random.default_rng(0)
    u = rng.uniform(0.02, 0.5, 4000)
    truth = 0.5 * (2 * u) ** power
    curve = fit_error_curve(rng.random(4000) < truth, u)
    assert np.abs(curve(u) - truth).max() < 0.05
    assert curve(u).sum() == pytest.approx(truth.sum(), rel=0.1)


def test_the_spread_narrows_with_errors_seen():
    few, many = fit_error_curve([], []), fit_error_curve([True, False] * 400, [0.5] * 800)
    assert few(np.array([0.3])) < 0.31
    assert np.ptp(few.spread()) > 1.5
    assert np.ptp(many.spread()) < 0.2
    assert np.median(many.spread()) == pytest.approx(1.0, abs=0.01)
