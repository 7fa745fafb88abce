import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgeclipper.game.losses import (
    ABSOLUTE_LOSS,
    abstention_loss,
    cost_weighted_loss,
    resolve_loss,
    zero_one_loss,
)
from tests.small_games import LOSSES, potential

GRID = np.linspace(-6, 6, 24_001)
ALL = {name: resolve_loss(loss) for name, loss in LOSSES.items()}


@pytest.mark.parametrize("name", ALL)
def test_potential_is_the_one_of_the_paper(name):
    np.testing.assert_allclose(ALL[name].potential(GRID), potential(name, GRID), atol=1e-12)


@pytest.mark.parametrize("loss", [*ALL.values(), ABSOLUTE_LOSS], ids=lambda loss: loss.name)
def test_conjugate_is_the_maximum_over_m(loss):
    z = np.linspace(-0.999, 0.999, 37)
    wide = np.linspace(-40, 40, 80_001)
    theirs = np.max(z[:, None] * wide - loss.potential(wide), axis=1)
    np.testing.assert_allclose(loss.conjugate(z), theirs, atol=2e-4)


@pytest.mark.parametrize("loss", [*ALL.values(), ABSOLUTE_LOSS], ids=lambda loss: loss.name)
@pytest.mark.parametrize("eps", [0.5, 0.01])
def test_slope_of_the_smoothed_potential_matches_finite_differences(loss, eps):
    added, z = loss.smoothing(GRID, eps)
    smoothed = loss.potential(GRID) + added
    step = GRID[1] - GRID[0]
    theirs = (smoothed[2:] - smoothed[:-2]) / (2 * step)
    np.testing.assert_allclose(z[1:-1], theirs, atol=step / eps + 1e-6)


@pytest.mark.parametrize("loss", [*ALL.values(), ABSOLUTE_LOSS], ids=lambda loss: loss.name)
def test_smoothing_only_adds_and_never_more_than_a_quarter_of_eps(loss):
    added, z = loss.smoothing(GRID, 0.2)
    assert np.all(np.asarray(added) >= 0)
    assert np.max(added) <= 0.2 / 4
    assert np.all(np.abs(z) <= 1)


@pytest.mark.parametrize("loss", [zero_one_loss(), cost_weighted_loss(3, 1)])
def test_at_a_kink_the_smoothed_slope_is_halfway(loss):
    for kink, below, above in zip(loss.kinks, loss.slopes, loss.slopes[1:], strict=False):
        _, z = loss.smoothing(np.array([kink]), 1e-3)
        assert z[0] == pytest.approx((below + above) / 2)


@given(st.floats(-5, 5), st.sampled_from(sorted(set(ALL) - {"abstain"})))
def test_link_equalizes_the_losses_of_both_labels(m, name):
    """At its link the predictor gains m more from the label + than from -, where it can."""
    g = float(ALL[name].link(np.array([m]))[0])
    costs = {"zero_one": (1, 1), "cost_weighted": (2.0, 0.7)}
    if name == "log":
        difference = np.log((1 + g) / (1 - g))
    elif name == "square":
        difference = ((1 + g) / 2) ** 2 - ((1 - g) / 2) ** 2
    else:
        plus, minus = costs[name]
        difference = minus * (1 + g) / 2 - plus * (1 - g) / 2
    if abs(g) < 1 - 1e-12:
        assert difference == pytest.approx(m, abs=1e-9)
    else:
        assert abs(difference) <= abs(m) + 1e-9


@pytest.mark.parametrize("loss", ALL.values(), ids=lambda loss: loss.name)
def test_soft_link_is_the_link_but_near_one_where_it_still_grows(loss):
    soft, link = loss.soft_link(GRID, np.array(0.05)), loss.link(GRID)
    assert np.all(np.abs(soft) < 1)
    near = np.abs(link) <= 0.95
    np.testing.assert_allclose(soft[near], link[near], atol=1e-12)
    assert np.all(np.diff(soft) > 0)


def test_soft_link_keeps_the_order_of_very_large_awake_predictions():
    soft = zero_one_loss().soft_link(np.array([2.0, 50.0, 51.0, 5e3, 6e3]), np.array(0.05))
    assert np.all(np.diff(soft) > 0)
    assert soft[-1] < 1


@pytest.mark.parametrize("loss", ALL.values(), ids=lambda loss: loss.name)
def test_awake_at_inverts_the_link(loss):
    for g in (-0.9, 0.0, 0.4):
        assert loss.link(np.array([loss.awake_at(g)]))[0] == pytest.approx(g)


def test_cost_weighted_with_equal_costs_is_zero_one():
    ours, theirs = cost_weighted_loss(1, 1), zero_one_loss()
    np.testing.assert_allclose(ours.potential(GRID), theirs.potential(GRID))
    np.testing.assert_allclose(ours.link(GRID), theirs.link(GRID))


def test_abstention_at_a_half_is_zero_one():
    np.testing.assert_allclose(
        abstention_loss(0.5).potential(GRID), zero_one_loss().potential(GRID)
    )


@pytest.mark.parametrize("cost", [0.0, -0.1, 0.51, np.nan])
def test_abstention_cost_out_of_range(cost):
    with pytest.raises(ValueError, match=r"abstain_cost must lie in \(0, 0.5\]"):
        abstention_loss(cost)


@pytest.mark.parametrize("costs", [(0, 1), (1, -1), (1, np.inf)])
def test_costs_must_be_positive(costs):
    with pytest.raises(ValueError, match="must be positive"):
        cost_weighted_loss(*costs)


def test_unknown_loss_and_misplaced_cost():
    with pytest.raises(ValueError, match=r"must be one of .*Got 'hinge'"):
        resolve_loss("hinge")
    with pytest.raises(ValueError, match="needs the cost"):
        resolve_loss("abstain")
    with pytest.raises(ValueError, match="abstain_cost belongs to zero-one loss"):
        resolve_loss("log", abstain_cost=0.1)
    assert resolve_loss("abstain", abstain_cost=0.1) == abstention_loss(0.1)
