import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgeclipper.game.losses import ZeroOneLoss, resolve_loss
from tests.small_games import LOSSES, potential

GRID = np.linspace(-6, 6, 24_001)
ALL = {name: resolve_loss(name) for name in LOSSES}


@pytest.mark.parametrize("name", ALL)
def test_potential_is_the_one_of_the_paper(name):
    np.testing.assert_allclose(ALL[name].potential(GRID), potential(name, GRID), atol=1e-12)


@pytest.mark.parametrize("loss", ALL.values(), ids=lambda loss: loss.name)
def test_conjugate_is_the_maximum_over_m(loss):
    z = np.linspace(-0.999, 0.999, 37)
    wide = np.linspace(-40, 40, 80_001)
    theirs = np.max(z[:, None] * wide - loss.potential(wide), axis=1)
    np.testing.assert_allclose(loss.conjugate(z), theirs, atol=2e-4)


@pytest.mark.parametrize("loss", ALL.values(), ids=lambda loss: loss.name)
@pytest.mark.parametrize("eps", [0.5, 0.01])
def test_slope_of_the_smoothed_potential_matches_finite_differences(loss, eps):
    _, added, z = loss.value_and_gradient(GRID, eps)
    smoothed = loss.potential(GRID) + added
    step = GRID[1] - GRID[0]
    theirs = (smoothed[2:] - smoothed[:-2]) / (2 * step)
    np.testing.assert_allclose(z[1:-1], theirs, atol=step / eps + 1e-6)


@pytest.mark.parametrize("loss", ALL.values(), ids=lambda loss: loss.name)
def test_smoothing_only_adds_and_never_more_than_a_quarter_of_eps(loss):
    _, added, z = loss.value_and_gradient(GRID, 0.2)
    assert np.all(np.asarray(added) >= 0)
    assert np.max(added) <= 0.2 / 4
    assert np.all(np.abs(z) <= 1)


def test_at_a_kink_the_smoothed_slope_is_halfway():
    z = ZeroOneLoss().value_and_gradient(np.array([-1.0, 1.0]), 1e-3)[2]
    assert z == pytest.approx([-0.5, 0.5])


@given(st.floats(-5, 5), st.sampled_from(LOSSES))
def test_link_equalizes_the_losses_of_both_labels(m, name):
    """At its link the predictor gains m more from the label + than from -, where it can."""
    g = float(ALL[name].link(np.array([m]))[0])
    if name == "log":
        difference = np.log((1 + g) / (1 - g))
    elif name == "square":
        difference = ((1 + g) / 2) ** 2 - ((1 - g) / 2) ** 2
    else:
        difference = (1 + g) / 2 - (1 - g) / 2
    if abs(g) < 1 - 1e-12:
        assert difference == pytest.approx(m, abs=1e-9)
    else:
        assert abs(difference) <= abs(m) + 1e-9


def test_an_unknown_loss_is_named():
    with pytest.raises(ValueError, match=r"must be one of .*Got 'hinge'"):
        resolve_loss("hinge")
