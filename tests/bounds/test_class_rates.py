"""Rates of classes: against plain counts, exact bounds, and how often intervals hold."""

import numpy as np
import pytest

from hedgeclipper.bounds.certificate import RateEvidence
from hedgeclipper.bounds.intervals import proportion_bounds, wilson_bounds

N_ROWS, RATE = 1000, 0.3


def draw(seed, n_labels, noise, *, is_guarantee=False):
    """Evidence of a random sample of labels, and the true rates in all rows."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(N_ROWS) < RATE).astype(int)
    score = truth + noise * rng.normal(size=N_ROWS)
    q = 1 / (1 + np.exp(-(score - 0.5) / max(noise, 0.1)))
    probabilities = np.stack([1 - q, q], axis=1)
    labeled = rng.permutation(N_ROWS) < n_labels
    rest = probabilities[~labeled]
    tested = np.arange(n_labels)
    evidence = RateEvidence(
        truth[labeled], probabilities[labeled], tested, rest.mean(axis=0), len(rest), is_guarantee
    )
    return evidence, np.array([1 - truth.mean(), truth.mean()])


def test_predictions_without_information_leave_the_rate_of_the_labels():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 50)
    constant = np.full((50, 2), 0.5)
    found = RateEvidence(codes, constant, np.arange(50), constant[0], 10**9, False)
    rates = found.rates([0, 1], 0.95)
    assert rates.rates[1] == pytest.approx(codes.mean())
    low, high = wilson_bounds(codes.mean(), 50, 0.025)
    assert rates.lower[1] == pytest.approx(low, abs=1e-6)
    assert rates.upper[1] == pytest.approx(high, abs=1e-6)


def test_without_a_tested_label_the_interval_is_all_that_is_possible():
    nothing = np.zeros((0, 2)), np.zeros(0, int)
    found = RateEvidence(np.array([0, 1, 1, 1]), *nothing, np.array([0.4, 0.6]), 6, False)
    rates = found.rates([0, 1], 0.95)
    assert rates.lower.tolist() == [0.1, 0.3]
    assert rates.upper.tolist() == [0.7, 0.9]


def test_good_predictions_shorten_the_interval_of_an_estimate():
    widths = []
    for noise in (0.2, 2.0):
        evidence, truth = draw(0, 200, noise)
        found = evidence.rates(["no", "yes"], 0.95)
        assert np.all((found.lower <= truth) & (truth <= found.upper))
        widths.append(found.upper[1] - found.lower[1])
    assert widths[0] < 0.5 * widths[1]


def test_a_guarantee_is_that_of_the_labels_alone():
    evidence, _ = draw(1, 100, 0.5, is_guarantee=True)
    found, count = evidence.rates([0, 1], 0.95), int(np.sum(evidence.codes))
    low, high = proportion_bounds(count, 100, 900, 0.025)
    assert found.kind == "guarantee"
    assert found.lower[1] == pytest.approx((count + 900 * low) / 1000)
    assert found.upper[1] == pytest.approx((count + 900 * high) / 1000)
    assert found.lower[1] <= found.rates[1] <= found.upper[1]


@pytest.mark.parametrize("noise", [0.05, 0.3, 2.0])
def test_estimates_hold_about_as_often_as_they_say(noise):
    """Of 300 draws 95 % would hold; less than 92 % has a probability of 2 %."""
    holds = []
    for seed in range(300):
        evidence, truth = draw(seed, 60, noise)
        found = evidence.rates([0, 1], 0.95)
        holds.append(found.lower[1] <= truth[1] <= found.upper[1])
    assert np.mean(holds) >= 0.92
