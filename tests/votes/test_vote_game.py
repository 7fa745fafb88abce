"""The parts of the votes' game, each against an independent computation."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from scipy.special import logsumexp, softmax

from hedgeclipper.game.multiclass_losses import MULTICLASS_LOSSES as LOSSES
from hedgeclipper.game.multiclass_losses import row_favorites, row_maxima, row_sums, soft_maximum
from hedgeclipper.votes import dawid_skene, vote_game
from hedgeclipper.votes.auxiliary_voters import NAMES, AuxiliaryVoters
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.dawid_skene import fit_dawid_skene, prior_votes
from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.shift import shift_of_votes
from hedgeclipper.votes.vote_game import scores_of, solve_vote_game, sums_of
from hedgeclipper.votes.voter_bounds import bound_voters, joined, parted
from hedgeclipper.votes.worst_case import bound_by_weights, largest_mean, total_violation
from tests.game.test_multiclass_losses import losses_of, potential_by_search


def some_votes(rng, n_rows, n_voters, n_classes, accuracy=0.7, coverage=0.7, truth=None):
    """Truth, and votes that are right that often; -1 abstains."""
    truth = rng.integers(n_classes, size=n_rows) if truth is None else truth
    shape = (n_rows, n_voters)
    wrong = (truth[:, None] + rng.integers(1, n_classes, size=shape)) % n_classes
    votes = np.where(rng.random(shape) < accuracy, truth[:, None], wrong)
    return truth, np.where(rng.random(shape) < coverage, votes, -1)


def ballots_of(table, n_classes):
    return Ballots(Votes.of(table, classes=np.arange(n_classes)))


def instance(seed, n_classes=3, n_rows=12, n_voters=3, n_labeled=8, **options):
    """Votes on unlabeled rows, their truth, and what some labels say."""
    rng = np.random.default_rng(seed)
    truth, table = some_votes(rng, n_rows + n_labeled, n_voters, n_classes)
    table[0] = table[n_labeled] = np.arange(n_voters) % n_classes  # nobody sleeps all the time
    both = ballots_of(table, n_classes)
    labeled, unlabeled = (
        both.take(np.arange(n_labeled)),
        both.take(np.arange(n_labeled, len(table))),
    )
    settings = {"bound": "wilson", "delta": 0.05, "constraints": "both", **options}
    bounds = bound_voters(labeled, truth[:n_labeled], unlabeled, **settings)
    return unlabeled, truth[n_labeled:], bounds


def features(ballots, n_used):
    """f as a matrix, (n_rows * n_classes, n_weights): what weights add to scores."""
    units = np.eye(n_used)
    return np.stack([scores_of(ballots, unit).ravel() for unit in units], axis=1)


def constraints(ballots, bounds):
    """A z <= b for labels z within bounds, and E z = 1, all rows behind each other."""
    f = features(ballots, bounds.is_used.size)[:, bounds.is_used].T / ballots.n_rows
    centers, widths = (part[bounds.is_used] for part in (bounds.centers, bounds.widths))
    simplex = np.kron(np.eye(ballots.n_rows), np.ones(ballots.n_classes))
    return np.vstack([f, -f]), np.r_[centers + widths, widths - centers], simplex


# Scores and sums.


def test_scores_and_sums_are_one_matrix_and_its_transpose():
    unlabeled, _, bounds = instance(0)
    rng = np.random.default_rng(0)
    weights, z = rng.normal(size=bounds.is_used.size), rng.dirichlet(np.ones(3), 12)
    assert np.sum(scores_of(unlabeled, weights) * z) / 12 == pytest.approx(
        sums_of(unlabeled, z) @ weights / 12
    )


# Knowledge.


def test_wilson_bounds_are_those_of_the_formula():
    """Three of four right at 95 %: (0.75 + q / 8 +- sqrt(q (3/16 + q / 16) / 4)) / (1 + q / 4)."""
    labeled = ballots_of([[0], [0], [0], [0], [1]], 2)
    codes = np.array([0, 0, 0, 1, 0])
    bounds = bound_voters(labeled, codes, labeled, bound="wilson", delta=0.05, constraints="both")
    q = 1.959964**2
    middle, radius = 0.75 + q / 8, np.sqrt(q * (3 / 16 + q / 16) / 4)
    assert bounds.votes.estimate[0, 0] == 0.75
    assert bounds.votes.lower[0, 0] == pytest.approx((middle - radius) / (1 + q / 4), abs=1e-6)
    assert bounds.votes.upper[0, 0] == pytest.approx((middle + radius) / (1 + q / 4), abs=1e-6)
    assert bounds.voters.estimate == pytest.approx([3 / 5])
    assert bounds.classes.estimate == pytest.approx([4 / 5, 1 / 5])


def test_symmetric_bounds_are_as_far_to_both_sides_as_the_farther_of_wilsons():
    labeled = ballots_of([[0], [0], [0], [0], [1]], 2)
    codes = np.array([0, 0, 0, 1, 0])
    plain, symmetric = (
        bound_voters(labeled, codes, labeled, bound=bound, delta=0.05, constraints="both")
        for bound in ("wilson", "wilson_symmetric")
    )
    estimate, lower, upper, _ = plain.classes
    radius = np.maximum(estimate - lower, upper - estimate)
    assert np.all(radius > np.minimum(estimate - lower, upper - estimate) + 0.1)
    assert symmetric.classes.estimate.tolist() == estimate.tolist()
    assert symmetric.classes.lower == pytest.approx(np.maximum(estimate - radius, 0.0))
    assert symmetric.classes.upper == pytest.approx(np.minimum(estimate + radius, 1.0))


def test_transductive_bounds_are_hoeffdings_for_all_shares_together():
    rng = np.random.default_rng(0)
    truth, table = some_votes(rng, 600, 2, 2, coverage=1.0)
    both = ballots_of(table, 2)
    bounds = bound_voters(
        both.take(np.arange(200)),
        truth[:200],
        both.take(np.arange(200, 600)),
        bound="transductive",
        delta=0.1,
        constraints="both",
    )
    n_shares = 2 + 4 + 2
    radius = np.sqrt((1 / 200 + 1 / 400) * np.log(2 * n_shares / 0.1) / 2)
    estimate = (table[:200] == truth[:200, None]).mean(axis=0)
    assert bounds.voters.lower == pytest.approx(estimate - radius)
    assert bounds.voters.upper == pytest.approx(np.minimum(estimate + radius, 1))


def test_a_voter_without_labels_is_between_0_and_1_and_not_used():
    labeled, unlabeled = ballots_of([[0, -1], [1, -1]], 2), ballots_of([[0, 1], [1, 1]], 2)
    bounds = bound_voters(
        labeled, np.array([0, 1]), unlabeled, bound="wilson", delta=0.05, constraints="accuracy"
    )
    assert (bounds.voters.lower[1], bounds.voters.upper[1]) == (0, 1)
    voters, votes, classes = parted(bounds.is_used, 2, 2)
    assert voters.tolist() == [True, False]
    assert not votes.any()
    assert classes.all()


def test_known_class_frequencies_are_exact_for_wilson_and_nearly_so_for_a_guarantee():
    balance = np.array([0.3, 0.7])
    ballots = ballots_of(np.zeros((50, 1), dtype=int), 2)
    settings = {"delta": 0.05, "constraints": "both", "balance": balance}
    codes = np.zeros(50, dtype=int)
    exact = bound_voters(ballots, codes, ballots, bound="wilson", **settings)
    assert exact.classes.lower == pytest.approx(balance)
    assert exact.classes.upper == pytest.approx(balance)
    near = bound_voters(ballots, codes, ballots, bound="transductive", **settings)
    assert near.classes.upper - balance == pytest.approx(
        np.minimum(np.sqrt(np.log(2 * 5 / 0.05) / 2 / 50), 1 - balance)
    )


def test_bounds_are_held_against_the_rows_at_hand():
    unlabeled, _, bounds = instance(0)
    some = unlabeled.take(np.arange(4))
    here = bounds.on(some)
    said = (some.votes.matrix.toarray() > 0).mean(axis=0)
    assert here.coverage[:3] == pytest.approx(said)
    assert here.voters is bounds.voters
    np.testing.assert_array_equal(bounds.on(unlabeled).centers, bounds.centers)


# The game.


@pytest.fixture
def _no_ridge(monkeypatch):
    monkeypatch.setattr(vote_game, "RIDGE", 1e-9)


def solved(unlabeled, bounds, initial, name, **options):
    options = {"n_labeled": 8, "tol": 1e-9, "max_iter": 20_000, **options}
    return solve_vote_game(unlabeled, bounds, initial, LOSSES[name], **options)


def even(ballots):
    return np.full((ballots.n_rows, ballots.n_classes), -np.log(ballots.n_classes))


@pytest.mark.usefixtures("_no_ridge")
@pytest.mark.parametrize("seed", range(3))
def test_log_loss_from_nothing_is_the_largest_entropy_within_the_bounds(seed):
    """An and Dasgupta's primal. The value is that entropy less that of the initial."""
    unlabeled, _, bounds = instance(seed)
    A, b, simplex = constraints(unlabeled, bounds)
    found = minimize(
        lambda z: np.sum(z * np.log(np.maximum(z, 1e-12))) / 12,
        np.full(36, 1 / 3),
        jac=lambda z: (np.log(np.maximum(z, 1e-12)) + 1) / 12,
        bounds=[(1e-9, 1)] * 36,
        constraints=[
            {"type": "ineq", "fun": lambda z: b - A @ z, "jac": lambda z: -A},
            {"type": "eq", "fun": lambda z: simplex @ z - 1, "jac": lambda z: simplex},
        ],
        options={"ftol": 1e-10, "maxiter": 1000},
    )
    assert found.success
    ours = solved(unlabeled, bounds, even(unlabeled), "log")
    assert ours.slack == pytest.approx(-found.fun - np.log(3), abs=2e-4)
    g = softmax(even(unlabeled) + scores_of(unlabeled, ours.weights), axis=1)
    assert g == pytest.approx(found.x.reshape(12, 3), abs=0.02)


@pytest.mark.usefixtures("_no_ridge")
@pytest.mark.parametrize("seed", range(5))
def test_zero_one_loss_is_the_linear_program(seed):
    """The most s . z + 1 - max z for labels within the bounds, less what the initial has."""
    unlabeled, _, bounds = instance(seed)
    initial = np.log(np.random.default_rng(seed).dirichlet(np.ones(3), 12))
    A, b, simplex = constraints(unlabeled, bounds)
    top = np.kron(np.eye(12), -np.ones((3, 1)))  # z_jk <= t_j
    found = linprog(
        np.r_[-np.exp(initial).ravel(), np.ones(12)] / 12,
        A_ub=np.block([[A, np.zeros((len(A), 12))], [np.eye(36), top]]),
        b_ub=np.r_[b, np.zeros(36)],
        A_eq=np.c_[simplex, np.zeros((12, 12))],
        b_eq=np.ones(12),
    )
    already = np.mean([potential_by_search("zero_one", row) for row in np.exp(initial)])
    ours = solved(unlabeled, bounds, initial, "zero_one")
    assert ours.slack == pytest.approx(1 - found.fun - already, abs=1e-5)


@pytest.mark.usefixtures("_no_ridge")
def test_square_loss_is_the_quadratic_program():
    unlabeled, _, bounds = instance(3)
    A, b, simplex = constraints(unlabeled, bounds)
    found = minimize(
        lambda z: (z @ z / 2 - 6.0) / 12 - z.sum() / 36,
        np.full(36, 1 / 3),
        jac=lambda z: z / 12 - 1 / 36,
        bounds=[(0, 1)] * 36,
        constraints=[
            {"type": "ineq", "fun": lambda z: b - A @ z, "jac": lambda z: -A},
            {"type": "eq", "fun": lambda z: simplex @ z - 1, "jac": lambda z: simplex},
        ],
        options={"ftol": 1e-12, "maxiter": 500},
    )
    ours = solved(unlabeled, bounds, even(unlabeled), "square")
    assert found.success
    assert ours.slack == pytest.approx(-found.fun - (0.5 + 1 / 3 - 1 / 6), abs=1e-5)


@given(
    seed=st.integers(0, 10_000),
    name=st.sampled_from(sorted(LOSSES)),
    max_iter=st.sampled_from([1, 3, 50]),
    bound=st.sampled_from(["wilson", "plug_in"]),
    far=st.booleans(),
)
def test_the_value_is_never_above_0_wherever_the_solver_starts_and_stops(
    seed, name, max_iter, bound, far
):
    unlabeled, _, bounds = instance(seed, bound=bound)
    rng = np.random.default_rng(seed)
    initial = np.log(rng.dirichlet(np.ones(3), 12))
    start = 20 * rng.normal(size=bounds.is_used.size) if far else None
    found = solved(unlabeled, bounds, initial, name, max_iter=max_iter, start=start)
    assert found.slack <= 0
    assert np.all(np.isfinite(found.weights))


@pytest.mark.parametrize("name", LOSSES)
def test_the_objective_is_within_the_gap_of_the_least_one(name):
    unlabeled, _, bounds = instance(0)
    initial = np.log(np.random.default_rng(0).dirichlet(np.ones(3), 12))
    rough = solved(unlabeled, bounds, initial, name, tol=0.1)
    fine = solved(unlabeled, bounds, initial, name, tol=1e-6)
    assert (rough.stop_reason, fine.stop_reason) == ("converged", "converged")
    assert fine.duality_gap <= 1e-6 * max(abs(fine.objective), 1e-3)
    assert rough.objective - rough.duality_gap <= fine.objective + 1e-12
    assert fine.objective <= rough.objective + fine.duality_gap
    assert fine.slack <= fine.objective <= 0


@pytest.mark.parametrize(("max_iter", "reason"), [(200, "converged"), (2, "max_iter")])
def test_why_the_game_stops(max_iter, reason):
    unlabeled, _, bounds = instance(0)
    found = solved(unlabeled, bounds, even(unlabeled), "log", tol=1e-3, max_iter=max_iter)
    assert found.stop_reason == reason
    assert len(found.history) == found.n_iter <= max_iter
    assert found.history[-1].primal == found.objective
    assert found.history[-1].primal - found.history[-1].dual == pytest.approx(found.duality_gap)


@given(seed=st.integers(0, 10_000), name=st.sampled_from(sorted(LOSSES)))
def test_the_prediction_beats_the_initial_model_by_the_value_if_the_bounds_hold(seed, name):
    """Bounds that the truth meets just so: those that it gives itself, made wider at random."""
    unlabeled, truth, _ = instance(seed)
    rng = np.random.default_rng(seed)
    own = bound_voters(unlabeled, truth, unlabeled, bound="plug_in", delta=0.05, constraints="both")
    parts = [
        part._replace(
            lower=np.maximum(part.lower - rng.random(part.lower.shape) * 0.2, 0),
            upper=np.minimum(part.upper + rng.random(part.upper.shape) * 0.2, 1),
        )
        for part in (own.voters, own.votes, own.classes)
    ]
    bounds = replace(own, voters=parts[0], votes=parts[1], classes=parts[2])
    initial = np.log(rng.dirichlet(np.ones(3), 12))
    found = solved(unlabeled, bounds, initial, name, max_iter=30)
    loss = LOSSES[name]
    after = loss.link(loss.scores(initial) + scores_of(unlabeled, found.weights))
    rows = np.arange(12)
    gained = losses_of(name, after)[rows, truth] - losses_of(name, np.exp(initial))[rows, truth]
    assert gained.mean() <= found.slack + 1e-9


# The worst case.


def by_linear_program(gains, ballots, bounds):
    A, b, simplex = constraints(ballots, bounds)
    found = linprog(
        -gains.ravel() / ballots.n_rows, A_ub=A, b_ub=b, A_eq=simplex, b_eq=np.ones(len(gains))
    )
    return -found.fun


@pytest.mark.parametrize("seed", range(8))
def test_the_largest_mean_is_never_below_the_linear_program_and_close_to_it(seed):
    unlabeled, _, bounds = instance(seed, n_rows=30, n_labeled=20)
    gains = np.random.default_rng(seed).random((30, 3))
    rows = np.arange(30)
    for sign in (1, -1):
        ours = largest_mean(sign * gains, unlabeled, rows, unlabeled, bounds).bound
        theirs = by_linear_program(sign * gains, unlabeled, bounds)
        assert theirs - 1e-9 <= ours <= theirs + 0.01


def test_weights_sought_on_a_part_prove_a_bound_on_all_rows():
    unlabeled, _, bounds = instance(0, n_rows=60, n_labeled=30)
    gains = np.random.default_rng(0).random((60, 3))
    part = np.arange(0, 60, 2)
    found = largest_mean(gains, unlabeled.take(part), part, unlabeled, bounds)
    assert found.bound >= by_linear_program(gains, unlabeled, bounds) - 1e-9
    assert found.bound == bound_by_weights(gains, unlabeled, bounds, found.weights).bound


def smallest_violation(ballots, bounds):
    """By how much z must break the bounds, added up, by linear programming."""
    A, b, simplex = constraints(ballots, bounds)
    n_z, n_bounds = A.shape[1], len(A)
    found = linprog(
        np.r_[np.zeros(n_z), np.ones(n_bounds)],
        A_ub=np.c_[A, -np.eye(n_bounds)],
        b_ub=b,
        A_eq=np.c_[simplex, np.zeros((ballots.n_rows, n_bounds))],
        b_eq=np.ones(ballots.n_rows),
    )
    return found.fun


@pytest.mark.parametrize("seed", range(6))
def test_the_total_violation_is_the_linear_programs(seed):
    unlabeled, _, bounds = instance(seed, n_rows=20, n_labeled=6, bound="plug_in")
    theirs = smallest_violation(unlabeled, bounds)
    ours = total_violation(unlabeled, bounds)
    assert ours.bound == pytest.approx(theirs, abs=0.01)
    assert ours.bound <= theirs + 1e-9
    assert np.abs(ours.weights).max() <= 1


def test_bounds_that_hold_are_not_violated():
    unlabeled, truth, _ = instance(0, n_rows=30)
    own = bound_voters(unlabeled, truth, unlabeled, bound="plug_in", delta=0.05, constraints="both")
    assert total_violation(unlabeled, own).bound == pytest.approx(0, abs=1e-9)


def test_rows_left_out_of_a_sample_are_no_contradiction():
    """A voter that is always right, awake on half of all rows, and on more of the sample."""
    table = np.where(np.arange(40) % 2 == 0, 0, -1)[:, None]
    both = ballots_of(table, 2)
    truth = np.zeros(40, dtype=int)
    bounds = bound_voters(both, truth, both, bound="plug_in", delta=0.05, constraints="both")
    sample = both.take(np.arange(10))
    awake = both.take(np.arange(0, 40, 2))
    for rows in (sample, awake):
        assert total_violation(rows, bounds).bound == pytest.approx(0, abs=1e-9)


# Dawid and Skene.


def penalized_likelihood(model, unlabeled, labeled, codes):
    weights, n_classes = model.weights, model.log_balance.size
    unknown = logsumexp(model.scores(unlabeled), axis=1).sum()
    known = model.scores(labeled)[np.arange(codes.size), codes].sum()
    return unknown + known + np.sum(prior_votes(n_classes) * weights)


def test_rounds_do_not_lower_the_penalized_likelihood(monkeypatch):
    rng = np.random.default_rng(0)
    truth, table = some_votes(rng, 80, 4, 3)
    both = ballots_of(table, 3)
    unlabeled, labeled = both.take(np.arange(20, 80)), both.take(np.arange(20))
    monkeypatch.setattr(dawid_skene, "TOL", 0.0)
    found = []
    for rounds in range(1, 12):
        monkeypatch.setattr(dawid_skene, "MAX_ITER", rounds)
        model = fit_dawid_skene(unlabeled, labeled, truth[:20], np.full(3, 1 / 3))
        found.append(penalized_likelihood(model, unlabeled, labeled, truth[:20]))
    assert np.all(np.diff(found) >= -1e-9)
    assert found[-1] > found[0] + 0.1


def test_scores_without_the_own_label_are_those_of_a_recount_without_it():
    rng = np.random.default_rng(1)
    truth, table = some_votes(rng, 40, 3, 3)
    both = ballots_of(table, 3)
    unlabeled, labeled, codes = both.take(np.arange(10, 40)), both.take(np.arange(10)), truth[:10]
    model = fit_dawid_skene(unlabeled, labeled, codes, np.array([0.2, 0.3, 0.5]))
    ours = model.scores_without_own(labeled, codes)
    for row in range(10):
        own = labeled.take(np.array([row]))
        counts = model.counts - own.sums(np.eye(3)[codes[[row]]])
        theirs = dawid_skene.DawidSkene(counts, model.log_balance).scores(own)
        assert ours[[row]] == pytest.approx(theirs)


def test_agreement_tells_good_voters_from_bad_ones_without_a_label():
    rng = np.random.default_rng(2)
    truth, good = some_votes(rng, 500, 3, 2, accuracy=0.9)
    _, bad = some_votes(rng, 500, 2, 2, accuracy=0.5, truth=truth)
    ballots = ballots_of(np.hstack([good, bad]), 2)
    nobody = ballots.take(np.arange(0))
    model = fit_dawid_skene(ballots, nobody, np.empty(0, dtype=int), np.full(2, 0.5))
    accuracy = np.exp(np.diagonal(model.weights, axis1=1, axis2=2)).mean(axis=1)
    assert accuracy == pytest.approx([0.9] * 3 + [0.5] * 2, abs=0.08)


# Auxiliary voters.


def test_auxiliary_voters_vote_where_one_class_is_ahead_and_nowhere_else():
    table = np.array([[0, 0, 1], [0, 1, -1], [-1, -1, -1], [2, -1, -1], [2, 1, 0]])
    ballots = ballots_of(table, 3)
    auxiliary = AuxiliaryVoters.fit(ballots)
    votes, lead = auxiliary.predict(ballots)
    assert votes[:, 0].tolist() == [1, 0, 0, 3, 0]
    scores = np.sort(auxiliary.model.scores(ballots), axis=1)
    voted = np.array([True, True, False, True, True])
    assert lead[voted] == pytest.approx(scores[voted, 2] - scores[voted, 1])
    assert lead.tolist()[2] == -1.0
    assert votes.tolist()[2] == [0, 0]
    best = auxiliary.model.scores(ballots).argmax(axis=1) + 1
    assert votes[[0, 3], 1].tolist() == best[[0, 3]].tolist()


def test_auxiliary_voters_are_the_last_columns():
    table = np.array([[0, -1], [-1, -1], [1, 0]])
    ballots = ballots_of(table, 2)
    predicted = AuxiliaryVoters.fit(ballots).predict(ballots)
    both = ballots.and_voters(predicted.votes, NAMES).votes
    assert both.matrix.toarray()[:, :2].tolist() == (table + 1).tolist()
    assert both.matrix.toarray()[:, 2:].tolist() == predicted.votes.tolist()
    assert both.voters.tolist() == [0, 1, "majority vote", "Dawid-Skene"]


# Shift.


def test_a_rare_vote_among_the_labeled_ones_is_no_shift():
    """One of 4,000 voters has two of its three rows among 100 labeled ones of 10,000."""
    rng = np.random.default_rng(0)
    columns = np.array([rng.choice(10_000, 3, replace=False) for _ in range(4000)])
    columns[0] = [0, 1, 5000]
    votes = Votes.from_long(
        {
            "task": np.r_[np.arange(10_000), columns.ravel()],
            "worker": np.r_[np.full(10_000, -1), np.repeat(np.arange(4000), 3)],
            "label": np.r_[np.arange(10_000) % 2, np.zeros(12_000, dtype=int)],
        }
    )
    labeled, unlabeled = votes.take(slice(0, 100)), votes.take(slice(100, None))
    assert shift_of_votes(Ballots(labeled), Ballots(unlabeled)) is None


def test_a_shift_names_the_voter_the_vote_and_how_often_it_is_cast():
    labeled = ballots_of(np.c_[np.arange(200) % 2, np.zeros(200, dtype=int)], 2)
    unlabeled = ballots_of(np.c_[np.arange(600) % 2, np.ones(600, dtype=int)], 2)
    found = shift_of_votes(labeled, unlabeled)
    assert found.voter == 1
    assert {found.labeled, found.unlabeled} == {0.0, 1.0}


def test_parts_of_a_vector_come_back():
    voters, votes, classes = np.arange(2), np.arange(6).reshape(2, 3), np.arange(3)
    back = parted(joined(voters, votes, classes), 2, 3)
    for part, whole in zip(back, (voters, votes, classes), strict=True):
        np.testing.assert_array_equal(part, whole)


def test_bounds_that_hold_together_are_those_of_a_smaller_delta_each():
    _, _, each = instance(0, n_classes=2, delta=0.05 / 11)  # 3 voters, 6 votes, 2 classes
    _, _, together = instance(0, n_classes=2, delta=0.05, together=True)
    assert together.widths == pytest.approx(each.widths)


def test_sums_and_maxima_of_rows():
    values = np.random.default_rng(0).normal(size=(7, 4))
    assert row_sums(values) == pytest.approx(values.sum(axis=1))
    assert np.array_equal(row_maxima(values), values.max(axis=1))
    assert np.array_equal(row_favorites(values), values.argmax(axis=1))
    logarithm, slopes = soft_maximum(1000.0 * values)
    assert logarithm == pytest.approx(logsumexp(1000.0 * values, axis=1))
    assert slopes == pytest.approx(softmax(1000.0 * values, axis=1))
