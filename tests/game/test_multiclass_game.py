"""A game with several scores per row, and with an offset, against games whose value is known."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from hedgeclipper.game.equations import Game, WeightTerms
from hedgeclipper.game.losses import LargestScore, LogLoss
from hedgeclipper.game.solvers import solve_batch

LOSSES = {"log": LogLoss(), "largest_score": LargestScore()}


@dataclass(frozen=True, eq=False)
class DenseScores:
    """Votes of shape (n_rows, n_classes, n_voters), all rows in one block, and an offset."""

    votes: np.ndarray
    offset: np.ndarray | float = 0.0
    __array_ufunc__ = None

    @property
    def n_samples(self):
        return self.votes.shape[0]

    @property
    def shape(self):
        return self.n_samples, self.votes.shape[2]

    @property
    def coverage(self):
        return np.ones(self.votes.shape[2])

    def __matmul__(self, theta):
        return self.votes @ theta + self.offset

    def __rmatmul__(self, z):
        return np.einsum("jk,jki->i", z, self.votes)

    def blocks(self):
        yield self


def random_game(seed, loss, ridge=0.1, n_rows=15, n_classes=3, n_voters=4):
    rng = np.random.default_rng(seed)
    votes = rng.normal(size=(n_rows, n_classes, n_voters))
    terms = WeightTerms(
        linear_term=rng.normal(size=n_voters) / 3,
        width=rng.uniform(0, 0.2, n_voters),
        curvature=np.full(n_voters, ridge),
        anchor=np.zeros(n_voters),
        lower=np.full(n_voters, -2.0),
        upper=np.full(n_voters, 2.0),
    )
    return Game(DenseScores(votes), terms, loss, baseline=0.3)


def with_offset(game, offset):
    return replace(game, specialists=replace(game.specialists, offset=offset))


@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_every_dual_value_is_below_every_primal_value_and_both_meet(seed, name, ridge):
    game, rng = random_game(seed, LOSSES[name], ridge), np.random.default_rng(seed)
    thetas, labels = rng.uniform(-2, 2, (10, 4)), rng.dirichlet(np.ones(3), (10, 15))
    evaluations = [game.evaluate(theta, 0.1) for theta in thetas]
    duals = [game.dual_value(z) for z in labels] + [seen.dual for seen in evaluations]
    found = solve_batch(game, tol=1e-5, max_iter=3000)
    assert found.stop_reason == "converged"
    assert max(duals) <= found.objective + 1e-10
    least = min(seen.primal for seen in evaluations)
    assert found.objective - found.duality_gap <= least + 1e-10
    assert found.duality_gap <= 1e-5 * max(abs(found.objective), 1e-3)


@pytest.mark.parametrize("name", LOSSES)
def test_both_parts_of_the_gap_are_not_negative_and_add_up(name):
    game, rng = random_game(0, LOSSES[name]), np.random.default_rng(0)
    for theta in rng.uniform(-2, 2, (10, 4)):
        seen = game.evaluate(theta, 0.1)
        z = LOSSES[name].value_and_gradient(game.specialists @ theta, 0.1)[2]
        assert min(seen.smoothing_gap, seen.weights_gap) >= -1e-12
        assert seen.primal - seen.dual == pytest.approx(seen.smoothing_gap + seen.weights_gap)
        assert seen.dual == pytest.approx(game.dual_value(z))


@pytest.mark.parametrize("name", LOSSES)
def test_the_vote_gradient_is_the_gradient_of_the_smoothed_rows(name):
    game = random_game(0, LOSSES[name])
    theta, step = np.array([0.4, -0.2, 0.7, 0.1]), 1e-6
    theirs = [
        (game.evaluate(theta + e, 0.3).smoothed - game.evaluate(theta - e, 0.3).smoothed)
        / (2 * step)
        for e in np.eye(4) * step
    ]
    np.testing.assert_allclose(game.evaluate(theta, 0.3).vote_gradient, theirs, atol=1e-5)


@pytest.mark.parametrize("name", LOSSES)
def test_an_offset_made_by_weights_is_as_good_as_these_weights(name):
    """The rows' part at theta with the offset f w is that at theta + w without."""
    game, rng = random_game(0, LOSSES[name]), np.random.default_rng(1)
    theta, before = rng.uniform(-1, 1, (2, 4))
    shifted = with_offset(game, game.specialists @ before)
    ours, theirs = shifted.evaluate(theta, 0.1), game.evaluate(theta + before, 0.1)
    assert ours.smoothed == pytest.approx(theirs.smoothed)
    assert ours.vote_gradient == pytest.approx(theirs.vote_gradient)
    assert ours.primal - game.terms.value(theta) == pytest.approx(
        theirs.primal - game.terms.value(theta + before)
    )


@pytest.mark.parametrize("name", LOSSES)
def test_with_an_offset_both_sides_meet_too(name):
    rng = np.random.default_rng(0)
    game = with_offset(random_game(0, LOSSES[name]), rng.normal(size=(15, 3)))
    found = solve_batch(game, tol=1e-5, max_iter=3000)
    assert found.stop_reason == "converged"
    for z in rng.dirichlet(np.ones(3), (10, 15)):
        assert game.dual_value(z) <= found.objective + 1e-10


@pytest.mark.parametrize(
    ("tol", "max_iter", "reason"),
    [(1e-3, 500, "converged"), (1e-3, 2, "max_iter"), (-1.0, 5000, "stalled")],
)
def test_why_the_solver_stops(tol, max_iter, reason):
    """No gap is below 0, so that at tol = -1 the optimizer goes on until rounding stops it."""
    assert solve_batch(random_game(1, LOSSES["log"]), tol, max_iter).stop_reason == reason
