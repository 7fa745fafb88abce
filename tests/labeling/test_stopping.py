import numpy as np
import pytest

from hedgeclipper.bounds.sequential import accept_rows_so_far
from hedgeclipper.labeling.stopping import Proof, error_factor, expected_proof, is_time_to_prove


@pytest.mark.parametrize("steepness", [2, 6])
def test_the_expected_review_is_that_of_simulated_tests(steepness):
    """Rows are wrong with known probabilities; the test is run on 200 random orders."""
    rng, n, limit = np.random.default_rng(0), 3000, 150
    errors = 0.5 * np.linspace(0, 1, n) ** steepness
    proof = expected_proof(errors, limit=limit, delta=0.05)
    left = []
    for _ in range(200):
        drawn = rng.permutation(n)[: proof.n_test]
        wrong = (rng.random(n) < errors)[drawn]
        found = accept_rows_so_far(np.arange(n), drawn, wrong, limit=limit, delta=0.05)
        left.append(n - proof.n_test - found.n_accepted)
    assert np.mean(left) == pytest.approx(proof.n_review, abs=0.04 * n)


def test_wrong_rows_that_were_found_count():
    errors = np.full(2000, 0.02)
    few = expected_proof(errors, limit=100, delta=0.05, n_drawn=200, wrong_ranks=[])
    many = expected_proof(
        errors, limit=100, delta=0.05, n_drawn=200, wrong_ranks=range(0, 2000, 100)
    )
    assert few == Proof(0, 0)
    assert many.cost > 500


def test_without_hope_all_rows_are_left():
    assert expected_proof(np.ones(500), limit=5, delta=0.05).cost > 480
    assert expected_proof(np.zeros(0), limit=5, delta=0.05) == Proof(0, 0)


def test_the_factor_follows_the_labels():
    assert error_factor([], [])[0] == 1.0
    assert error_factor([True] * 30, [0.1] * 100)[0] == pytest.approx(31 / 11)


def test_it_is_no_time_to_prove_while_the_cost_falls():
    falling = [(n, 1000 - n) for n in range(100, 400, 20)]
    assert not is_time_to_prove(falling)
    assert is_time_to_prove([(n, 1000 + n) for n, _ in falling])
    assert not is_time_to_prove(falling[:1])
    assert not is_time_to_prove([])
