"""Losses for several classes, each against a search over the adversary's labels."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from hedgeclipper.game.losses import (
    LargestScore,
    LogLoss,
    MulticlassLogLoss,
    row_favorites,
    row_maxima,
    row_sums,
    soft_maximum,
)

ALL = {"log": MulticlassLogLoss(), "largest_score": LargestScore()}


def entropy(name, z):
    """What the best prediction against z loses, for each row of z."""
    if name == "log":
        return -np.sum(z * np.log(np.maximum(z, 1e-300)), axis=-1)
    return np.zeros(z.shape[:-1])


def potential_by_search(name, scores):
    """The largest s . z + H(z), by SLSQP."""
    k = scores.size
    found = minimize(
        lambda z: -(scores @ z + entropy(name, z)),
        np.full(k, 1 / k),
        bounds=[(0, 1)] * k,
        constraints={"type": "eq", "fun": lambda z: z.sum() - 1},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    return -found.fun


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("name", ALL)
def test_the_potential_is_the_most_an_adversary_can_have(name, n_classes):
    scores = np.random.default_rng(n_classes).normal(size=(12, n_classes)) * 1.5
    theirs = [potential_by_search(name, row) for row in scores]
    assert ALL[name].potential(scores) == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("name", ALL)
def test_the_conjugate_is_minus_the_loss_of_the_best_prediction(name, n_classes):
    z = np.random.default_rng(0).dirichlet(np.ones(n_classes), size=20)
    assert ALL[name].conjugate(z) == pytest.approx(-entropy(name, z))


@pytest.mark.parametrize("eps", [0.5, 0.01])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("name", ALL)
def test_the_slope_of_the_smoothed_potential_matches_finite_differences(name, n_classes, eps):
    scores = np.random.default_rng(n_classes).normal(size=(8, n_classes))
    z = ALL[name].value_and_gradient(scores, eps)[2]
    step = 1e-6

    def smoothed(m):
        potential, added, _ = ALL[name].value_and_gradient(m, eps)
        return potential + added

    for k in range(n_classes):
        more = scores + step * np.eye(n_classes)[k]
        less = scores - step * np.eye(n_classes)[k]
        slope = (smoothed(more) - smoothed(less)) / (2 * step)
        assert z[:, k] == pytest.approx(slope, abs=1e-4)


@pytest.mark.parametrize("name", ALL)
def test_smoothing_only_adds_and_costs_at_most_eps_log_k(name):
    """Psi(m) + Psi*(z) - z . m, which is 0 at most where z is a slope of Psi, bounds both."""
    scores = np.random.default_rng(0).normal(size=(50, 4))
    potential, added, z = ALL[name].value_and_gradient(scores, 0.2)
    gap = potential + ALL[name].conjugate(z) - np.sum(z * scores, axis=1)
    most = 0.0 if ALL[name].is_smooth else 0.2 * np.log(4)
    assert np.all(np.asarray(added) >= 0)
    assert np.all(np.asarray(added) <= most + 1e-12)
    assert gap.min() >= -1e-12
    assert gap.max() <= most + 1e-12


@pytest.mark.parametrize("name", ALL)
def test_the_gradient_is_a_distribution(name):
    scores = np.random.default_rng(0).normal(size=(30, 4)) * 10
    z = ALL[name].value_and_gradient(scores, 0.01)[2]
    assert z.min() >= 0
    assert z.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("name", ALL)
def test_the_size_is_the_potential_from_far_away(name):
    scores = np.random.default_rng(0).normal(size=(30, 4))
    assert ALL[name].potential(1e8 * scores) / 1e8 == pytest.approx(ALL[name].size(scores))


def test_no_other_prediction_does_better_against_the_worst_class():
    """The prediction's loss and s_k are at most the potential, whatever the class k."""
    scores, loss = np.random.default_rng(1).normal(size=(40, 4)), MulticlassLogLoss()
    losses = -np.log(loss.link(scores))
    assert np.all(losses + scores <= loss.potential(scores)[:, None] + 1e-9)
    q = np.random.default_rng(0).dirichlet(np.ones(4), size=20)
    assert loss.link(loss.scores(np.log(q))) == pytest.approx(q)


def test_log_loss_of_scores_m_and_0_is_that_of_two_classes():
    """ln(e^m + 1) = (Psi(m) + m) / 2, its slope (1 + z) / 2, and P(+) = (1 + g) / 2."""
    m = np.linspace(-5, 5, 41)
    scores, (many, two) = np.c_[m, np.zeros(41)], (MulticlassLogLoss(), LogLoss())
    assert many.potential(scores) == pytest.approx((two.potential(m) + m) / 2)
    ours, theirs = many.value_and_gradient(scores, 0.1)[2], two.value_and_gradient(m, 0.1)[2]
    assert ours[:, 0] == pytest.approx((1 + theirs) / 2)
    assert many.link(scores)[:, 0] == pytest.approx((1 + two.link(m)) / 2)
    z = np.linspace(0.01, 0.99, 41)
    assert many.conjugate(np.c_[z, 1 - z]) == pytest.approx(two.conjugate(2 * z - 1) / 2)


def test_sums_and_maxima_of_rows():
    values = np.random.default_rng(0).normal(size=(7, 4))
    assert row_sums(values) == pytest.approx(values.sum(axis=1))
    assert np.array_equal(row_maxima(values), values.max(axis=1))
    assert np.array_equal(row_favorites(values), values.argmax(axis=1))
    logarithm, slopes = soft_maximum(1000.0 * values)
    assert logarithm == pytest.approx(logsumexp(1000.0 * values, axis=1))
    assert slopes == pytest.approx(softmax(1000.0 * values, axis=1))
