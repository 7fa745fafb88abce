import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hedgeclipper.game.terms import SplitWeights, WeightTerms


@st.composite
def terms_of_one_voter(draw):
    number = st.floats(-1, 1)
    cap = draw(st.floats(0.2, 3))
    return WeightTerms(
        edge=np.array([draw(number)]),
        width=np.array([draw(st.floats(0, 0.5))]),
        curvature=np.array([draw(st.sampled_from([0.0, 0.1, 2.0]))]),
        anchor=np.array([draw(number)]),
        lower=np.array([draw(st.sampled_from([0.0, -cap]))]),
        upper=np.array([cap]),
    )


@given(terms_of_one_voter(), st.floats(-1, 1))
def test_minimum_is_that_of_a_grid(terms, tilt):
    grid = np.append(np.linspace(terms.lower[0], terms.upper[0], 4001), 0.0)
    values = [terms.value(np.array([theta])) + tilt * theta for theta in grid]
    ours = terms.minimum(np.array([tilt]))
    assert ours <= min(values) + 1e-12
    assert ours >= min(values) - 5e-3


@given(terms_of_one_voter(), st.floats(-1, 1))
def test_minimizer_lies_in_the_box(terms, tilt):
    theta = terms.minimizer(np.array([tilt]))
    assert terms.lower[0] <= theta[0] <= terms.upper[0]


def test_without_box_or_anchor_the_minimum_runs_away():
    one, zero, infinite = np.ones(1), np.zeros(1), np.full(1, np.inf)
    terms = WeightTerms(one, zero, zero, zero, zero, infinite)
    assert terms.minimum(np.array([0.5])) == -np.inf
    assert terms.minimum(np.array([1.5])) == 0.0
    assert terms.within(4.0).minimum(np.array([0.5])) == -2.0


def test_split_weights_go_there_and_back():
    split = SplitWeights(np.array([0.0, -2.0]), np.array([1.0, 2.0]), np.array([0.5, 2.0]))
    theta = np.array([0.7, -1.5])
    x = split.divide(theta)
    np.testing.assert_allclose(split.join(x), theta)
    np.testing.assert_allclose(split.size(x), np.abs(theta))
    assert split.bounds == [(0.0, 0.5), (0.0, 4.0), (0.0, 4.0)]


def test_split_gradient_matches_finite_differences():
    split = SplitWeights(np.array([0.0, -2.0]), np.array([1.0, 2.0]), np.array([0.5, 2.0]))
    slope, width = np.array([0.3, -0.8]), np.array([0.1, 0.2])
    x = np.array([0.2, 0.3, 0.4])

    def value(x):
        return slope @ split.join(x) + width @ split.size(x)

    theirs = [(value(x + step) - value(x - step)) / 2e-6 for step in np.eye(3) * 1e-6]
    np.testing.assert_allclose(split.gradient(slope, width), theirs, atol=1e-8)
