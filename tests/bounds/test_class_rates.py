"""Rates of classes: against plain counts, exact bounds, and how often intervals hold."""

import numpy as np
import pytest

from hedgeclipper.bounds.class_rates import RateEvidence, prediction_powered
from hedgeclipper.bounds.intervals import wilson_bounds

N_ROWS, RATE = 1000, 0.3


def draw(seed, n_labels, noise, *, is_held_out=False):
    """Evidence of a random sample of labels, and the true rates in all rows."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(N_ROWS) < RATE).astype(int)
    score = truth + noise * rng.normal(size=N_ROWS)
    q = 1 / (1 + np.exp(-(score - 0.5) / max(noise, 0.1)))
    probabilities = np.stack([1 - q, q], axis=1)
    labeled = rng.permutation(N_ROWS) < n_labels
    rest = probabilities[~labeled]
    evidence = RateEvidence(
        truth[labeled],
        probabilities[labeled],
        np.zeros(2),
        rest.mean(axis=0),
        len(rest),
        is_held_out,
    )
    return evidence, np.array([1 - truth.mean(), truth.mean()])


def test_predictions_without_information_leave_the_rate_of_the_labels():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 50)
    constant = np.full((50, 2), 0.5)
    found = RateEvidence(codes, constant, np.zeros(2), constant.mean(axis=0), 10**9, False)
    rates = found.rates([0, 1], 0.95)
    assert rates.rates[1] == pytest.approx(codes.mean())
    low, high = wilson_bounds(np.array([2 * codes.mean() - 1]), np.array([50.0]), 0.025)
    assert rates.lower[1] == pytest.approx((1 + low[0]) / 2, abs=1e-6)
    assert rates.upper[1] == pytest.approx((1 + high[0]) / 2, abs=1e-6)


@pytest.mark.parametrize("is_held_out", [False, True])
def test_perfect_predictions_give_the_rate_itself(is_held_out):
    evidence, truth = draw(0, 200, 0.001, is_held_out=is_held_out)
    found = evidence.rates(["no", "yes"], 0.95)
    assert found.rates == pytest.approx(truth, abs=0.01)
    assert np.all(found.upper - found.lower < (0.06 if is_held_out else 0.03))


def test_known_labels_count_as_they_are():
    evidence, _ = draw(1, 100, 0.5)
    more = RateEvidence(
        evidence.codes, evidence.probabilities, np.array([0.0, 900.0]),
        evidence.mean_unlabeled, evidence.n_unlabeled, False,
    )  # fmt: skip
    before, after = evidence.rates([0, 1], 0.95), more.rates([0, 1], 0.95)
    assert after.n_rows == before.n_rows + 900
    assert after.rates[1] * 1900 == pytest.approx(before.rates[1] * 1000 + 900)


@pytest.mark.parametrize("noise", [0.3, 2.0])
def test_estimates_hold_about_as_often_as_they_say(noise):
    """Of 300 draws 95 % would hold; less than 92 % has a probability of 2 %."""
    holds = []
    for seed in range(300):
        evidence, truth = draw(seed, 60, noise)
        found = evidence.rates([0, 1], 0.95)
        holds.append(found.lower[1] <= truth[1] <= found.upper[1])
    assert 0.92 <= np.mean(holds) <= 0.99


def test_guarantees_hold_and_good_predictions_shorten_them():
    widths = {}
    for noise in (0.3, 2.0):
        found = []
        for seed in range(60):
            evidence, truth = draw(seed, 100, noise, is_held_out=True)
            rates = evidence.rates([0, 1], 0.9)
            assert rates.kind == "guarantee"
            found.append(
                (rates.lower[1] <= truth[1] <= rates.upper[1], rates.upper[1] - rates.lower[1])
            )
        holds, widths[noise] = np.mean(found, axis=0)
        assert holds >= 0.9
    assert widths[0.3] < 0.7 * widths[2.0]


def test_the_correction_is_that_of_a_regression():
    """With one slope for all folds the estimate is the intercept at the center."""
    rng = np.random.default_rng(3)
    q = np.repeat([0.1, 0.9], 500)
    e = (rng.random(1000) < q).astype(float)
    mean, ratio = prediction_powered(e, q, 0.3)
    slope = np.polyfit(q, e, 1)[0]
    assert mean == pytest.approx(e.mean() - slope * (q.mean() - 0.3), abs=2e-3)
    assert ratio == pytest.approx(1 - np.corrcoef(e, q)[0, 1] ** 2, abs=0.01)
