import numpy as np
import pytest
from scipy.special import expit

from hedgeclipper.panel.panel_game import Calibration, calibrate

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=5_000)
PRIOR = expit(0.5 * SCORES)


def labels_for(shares, seed=1):
    return np.random.default_rng(seed).random(shares.size) < shares


def fit(n_labels, shares, prior=PRIOR, weights=None):
    is_positive = labels_for(shares)[:n_labels]
    weights = np.ones(n_labels) if weights is None else weights
    return calibrate(SCORES[:n_labels], is_positive, weights, SCORES, prior)


def test_log_odds_are_a_line():
    np.testing.assert_array_equal(Calibration(2.0, -1.0).log_odds(np.array([0.0, 3.0])), [-1, 5])


@pytest.mark.parametrize("n_labels", [0, 2])
def test_few_labels_stay_near_the_mean_of_the_members(n_labels):
    found = expit(fit(n_labels, expit(3 * SCORES - 1)).log_odds(SCORES))
    assert np.abs(found - PRIOR).mean() < 0.06


def test_many_labels_are_believed():
    truth = expit(3 * SCORES - 1)
    found = fit(5_000, truth)
    np.testing.assert_allclose(expit(found.log_odds(SCORES)), truth, atol=0.05)
    assert expit(found.log_odds(SCORES)).mean() == pytest.approx(labels_for(truth).mean(), abs=1e-3)


@pytest.mark.parametrize("n_labels", [10, 5_000])
def test_the_slope_is_positive_even_if_labels_say_otherwise(n_labels):
    found = fit(n_labels, expit(-3 * SCORES), prior=np.full(5_000, 0.5))
    assert 0 < found.slope < 0.01


def test_the_size_of_the_scores_does_not_matter():
    is_positive = labels_for(PRIOR)[:50]
    one, other = (
        calibrate(s * SCORES[:50], is_positive, np.ones(50), s * SCORES, PRIOR) for s in (1, 1e-4)
    )
    np.testing.assert_allclose(one.log_odds(SCORES), other.log_odds(1e-4 * SCORES), rtol=1e-6)


def test_only_the_shares_of_the_weights_matter():
    plain = fit(50, PRIOR)
    double = fit(50, PRIOR, weights=np.full(50, 2.0))
    assert double == plain
    uneven = fit(50, PRIOR, weights=np.where(labels_for(PRIOR)[:50], 3.0, 1.0))
    assert uneven.intercept > plain.intercept + 0.3


def test_scores_that_do_not_differ():
    found = calibrate(np.zeros(4), np.array([1, 1, 1, 0]), np.ones(4), np.zeros(9), np.full(9, 0.5))
    assert found.slope > 0
    assert expit(found.intercept) == pytest.approx((3 + 10) / 24, abs=1e-3)
