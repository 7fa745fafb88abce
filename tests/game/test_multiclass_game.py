"""A game with several scores per row, and with an offset, against games whose value is known."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from hedgeclipper.game.equations import Game, WeightTerms, dual_value
from hedgeclipper.game.losses import LargestScore, MulticlassLogLoss
from hedgeclipper.game.solution import Progress
from hedgeclipper.game.solve import set_up_game
from hedgeclipper.game.solvers import solve_batch

LOSSES = {"log": MulticlassLogLoss(), "largest_score": LargestScore()}


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
    def n_voters(self):
        return self.votes.shape[2]

    @property
    def shape(self):
        return self.n_samples, self.n_voters

    @property
    def coverage(self):
        return np.ones(self.n_voters)

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
    duals = [dual_value(game, z) for z in labels] + [seen.dual for seen in evaluations]
    progress = Progress(tol=1e-5, max_iter=3000)
    assert solve_batch(game, progress, np.zeros(4)) == "converged"
    assert max(duals) <= progress.primal + 1e-10
    assert progress.dual <= min(seen.primal for seen in evaluations) + 1e-10
    assert progress.gap <= 1e-5 * max(abs(progress.primal), 1e-3)


@pytest.mark.parametrize("name", LOSSES)
def test_both_parts_of_the_gap_are_not_negative_and_add_up(name):
    game, rng = random_game(0, LOSSES[name]), np.random.default_rng(0)
    for theta in rng.uniform(-2, 2, (10, 4)):
        seen = game.evaluate(theta, 0.1)
        z = LOSSES[name].value_and_gradient(game.specialists @ theta, 0.1)[2]
        assert min(seen.smoothing_gap, seen.weights_gap) >= -1e-12
        assert seen.primal - seen.dual == pytest.approx(seen.smoothing_gap + seen.weights_gap)
        assert seen.dual == pytest.approx(dual_value(game, z))


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
    progress = Progress(tol=1e-5, max_iter=3000)
    assert solve_batch(game, progress, np.zeros(4)) == "converged"
    for z in rng.dirichlet(np.ones(3), (10, 15)):
        assert dual_value(game, z) <= progress.primal + 1e-10


def test_log_loss_of_scores_m_and_0_is_the_game_of_two_classes():
    """Psi(m) = 2 ln(1 + e^m) - m, so all terms are half as large, and linear ones gain mean m."""
    rng = np.random.default_rng(0)
    votes = rng.uniform(-1, 1, (40, 3))
    two = set_up_game(votes, [0.3, 0.2, 0.1], loss="log", cap=4.0, ridge=0.1)
    halved = replace(
        two.terms,
        linear_term=(two.terms.linear_term + votes.mean(axis=0)) / 2,
        width=two.terms.width / 2,
        curvature=two.terms.curvature / 2,
    )
    scores = np.stack([votes, np.zeros_like(votes)], axis=1)
    many = Game(DenseScores(scores), halved, LOSSES["log"], baseline=np.log(2))
    found = [Progress(tol=1e-9, max_iter=500) for _ in range(2)]
    for game, progress in zip((two, many), found, strict=True):
        assert solve_batch(game, progress, np.zeros(3)) == "converged"
    assert found[0].best.theta == pytest.approx(found[1].best.theta, abs=1e-4)
    assert found[0].primal == pytest.approx(2 * found[1].primal)
    assert found[0].dual == pytest.approx(2 * found[1].dual)


@pytest.mark.parametrize(
    ("tol", "max_iter", "reason"),
    [(1e-3, 500, "converged"), (1e-3, 2, "max_iter"), (-1.0, 5000, "stalled")],
)
def test_why_the_solver_stops(tol, max_iter, reason):
    """No gap is below 0, so that at tol = -1 the optimizer goes on until rounding stops it."""
    progress = Progress(tol, max_iter)
    assert solve_batch(random_game(1, LOSSES["log"]), progress, np.zeros(4)) == reason
