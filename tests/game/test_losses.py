"""Losses of two classes against grids, and of several against a search over labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from hedgeclipper.game.losses import (
    LargestScore,
    LogLoss,
    ZeroOneLoss,
    row_favorites,
    row_maxima,
    row_sums,
    soft_maximum,
)
from tests.small_games import LOSSES, potential

GRID = np.linspace(-6, 6, 24_001)
BINARY = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
MULTICLASS = {"log": LogLoss(), "largest_score": LargestScore()}


@pytest.mark.parametrize("name", LOSSES)
def test_potential_is_the_one_of_the_paper(name):
    np.testing.assert_allclose(LOSSES[name].potential(GRID), potential(name, GRID), atol=1e-12)


@BINARY
def test_conjugate_is_the_maximum_over_m(loss):
    z = np.linspace(-0.999, 0.999, 37)
    wide = np.linspace(-40, 40, 80_001)
    theirs = np.max(z[:, None] * wide - loss.potential(wide), axis=1)
    np.testing.assert_allclose(loss.conjugate(z), theirs, atol=2e-4)


@BINARY
@pytest.mark.parametrize("eps", [0.5, 0.01])
def test_slope_of_the_smoothed_potential_matches_finite_differences(loss, eps):
    _, added, z = loss.value_and_gradient(GRID, eps)
    smoothed = loss.potential(GRID) + added
    step = GRID[1] - GRID[0]
    theirs = (smoothed[2:] - smoothed[:-2]) / (2 * step)
    np.testing.assert_allclose(z[1:-1], theirs, atol=step / eps + 1e-6)


@BINARY
def test_smoothing_only_adds_and_never_more_than_a_quarter_of_eps(loss):
    _, added, z = loss.value_and_gradient(GRID, 0.2)
    assert np.all(np.asarray(added) >= 0)
    assert np.max(added) <= 0.2 / 4
    assert np.all(np.abs(z) <= 1)


def test_at_a_kink_the_smoothed_slope_is_halfway():
    z = ZeroOneLoss().value_and_gradient(np.array([-1.0, 1.0]), 1e-3)[2]
    assert z == pytest.approx([-0.5, 0.5])


@given(st.floats(-5, 5), st.sampled_from(list(LOSSES)))
def test_clipping_equalizes_the_losses_of_both_labels(m, name):
    """Clipped, the predictor gains m more from the label + than from -, where it can."""
    g = float(np.clip(m, -1, 1))
    difference = (1 + g) / 2 - (1 - g) / 2
    if name == "square":
        difference = ((1 + g) / 2) ** 2 - ((1 - g) / 2) ** 2
    if abs(g) < 1 - 1e-12:
        assert difference == pytest.approx(m, abs=1e-9)
    else:
        assert abs(difference) <= abs(m) + 1e-9


# Several classes.


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
@pytest.mark.parametrize("name", MULTICLASS)
def test_the_potential_is_the_most_an_adversary_can_have(name, n_classes):
    scores = np.random.default_rng(n_classes).normal(size=(12, n_classes)) * 1.5
    theirs = [potential_by_search(name, row) for row in scores]
    assert MULTICLASS[name].potential(scores) == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("name", MULTICLASS)
def test_the_conjugate_is_minus_the_loss_of_the_best_prediction(name, n_classes):
    z = np.random.default_rng(0).dirichlet(np.ones(n_classes), size=20)
    assert MULTICLASS[name].conjugate(z) == pytest.approx(-entropy(name, z))


@pytest.mark.parametrize("eps", [0.5, 0.01])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("name", MULTICLASS)
def test_the_slope_of_the_smoothed_potential_matches_finite_differences(name, n_classes, eps):
    scores = np.random.default_rng(n_classes).normal(size=(8, n_classes))
    z = MULTICLASS[name].value_and_gradient(scores, eps)[2]
    step = 1e-6

    def smoothed(m):
        potential, added, _ = MULTICLASS[name].value_and_gradient(m, eps)
        return potential + added

    for k in range(n_classes):
        more = scores + step * np.eye(n_classes)[k]
        less = scores - step * np.eye(n_classes)[k]
        slope = (smoothed(more) - smoothed(less)) / (2 * step)
        assert z[:, k] == pytest.approx(slope, abs=1e-4)


@pytest.mark.parametrize("name", MULTICLASS)
def test_smoothing_only_adds_and_costs_at_most_eps_log_k(name):
    """Psi(m) + Psi*(z) - z . m, which is 0 at most where z is a slope of Psi, bounds both."""
    scores = np.random.default_rng(0).normal(size=(50, 4))
    potential, added, z = MULTICLASS[name].value_and_gradient(scores, 0.2)
    gap = potential + MULTICLASS[name].conjugate(z) - np.sum(z * scores, axis=1)
    most = 0.0 if MULTICLASS[name].is_smooth else 0.2 * np.log(4)
    assert np.all(np.asarray(added) >= 0)
    assert np.all(np.asarray(added) <= most + 1e-12)
    assert gap.min() >= -1e-12
    assert gap.max() <= most + 1e-12


@pytest.mark.parametrize("name", MULTICLASS)
def test_the_gradient_is_a_distribution(name):
    scores = np.random.default_rng(0).normal(size=(30, 4)) * 10
    z = MULTICLASS[name].value_and_gradient(scores, 0.01)[2]
    assert z.min() >= 0
    assert z.sum(axis=1) == pytest.approx(1)


def test_no_other_prediction_does_better_against_the_worst_class():
    """The prediction's loss and s_k are at most the potential, whatever the class k."""
    scores, loss = np.random.default_rng(1).normal(size=(40, 4)), LogLoss()
    losses = -np.log(softmax(scores, axis=1))
    assert np.all(losses + scores <= loss.potential(scores)[:, None] + 1e-9)


def test_sums_and_maxima_of_rows():
    values = np.random.default_rng(0).normal(size=(7, 4))
    assert row_sums(values) == pytest.approx(values.sum(axis=1))
    assert np.array_equal(row_maxima(values), values.max(axis=1))
    assert np.array_equal(row_favorites(values), values.argmax(axis=1))
    logarithm, slopes = soft_maximum(1000.0 * values)
    assert logarithm == pytest.approx(logsumexp(1000.0 * values, axis=1))
    assert slopes == pytest.approx(softmax(1000.0 * values, axis=1))
