import numpy as np
import pytest
from hedgeclipper.base.weighing import (
    Aggregate,
    NoHeldOutRowsWarning,
    PanelScores,
    PanelSolution,
    balanced_correlations,
    calibrate,
    panel_scores,
    solve_panel_game,
    summarize,
    weights_near_best,
)
from scipy.special import expit
from scipy.stats import ttest_ind
from sklearn.metrics import roc_auc_score

from hedgeclipper.base import weighing

RNG = np.random.default_rng(0)


def scored(labeled, is_positive, unlabeled=None, weights=None):
    labeled = np.asarray(labeled, dtype=float)
    return PanelScores(
        labeled,
        np.asarray(is_positive, dtype=bool),
        np.ones(len(labeled)) if weights is None else np.asarray(weights, dtype=float),
        labeled if unlabeled is None else unlabeled,
    )


def solve(votes, prior=None, loss="square", **options):
    """Solve the game; by default the prior weights of the members are equal."""
    n_members = votes.labeled.shape[1]
    prior = np.full(n_members, 1 / n_members) if prior is None else prior
    return solve_panel_game(votes, prior, loss, **options)


def noisy_votes(n_rows, noise, seed=0):
    """Labels, and votes of members with that much noise each."""
    rng = np.random.default_rng(seed)
    is_positive = rng.random(n_rows) < 0.5
    votes = np.tanh(np.where(is_positive, 1, -1)[:, None] + rng.normal(size=(n_rows, 1)) * noise)
    return is_positive, votes


# b.


def test_b_of_ranks_is_the_area_under_the_curve_less_one_half():
    """Five rows by rank, - + - + +: of the six pairs five are in order."""
    ranks = np.array([-0.8, -0.4, 0.0, 0.4, 0.8])
    labels = np.array([0, 1, 0, 1, 1])
    b, _ = balanced_correlations(scored(ranks[:, None], labels))
    assert roc_auc_score(labels, ranks) == pytest.approx(5 / 6)
    assert b == pytest.approx([5 / 6 - 1 / 2])


def test_b_does_not_depend_on_the_class_prior():
    is_positive, votes = noisy_votes(200, 1.0)
    rare = np.r_[np.flatnonzero(~is_positive), np.repeat(np.flatnonzero(is_positive), 9)]
    plain, _ = balanced_correlations(scored(votes, is_positive))
    more, _ = balanced_correlations(scored(votes[rare], is_positive[rare]))
    assert more == pytest.approx(plain)


def test_a_weight_of_two_is_two_rows_for_b():
    is_positive, votes = noisy_votes(50, 1.0)
    twice = np.r_[0:50, 0:10]
    weights = np.where(np.arange(50) < 10, 2, 1)
    ours, _ = balanced_correlations(scored(votes, is_positive, weights=weights))
    theirs, _ = balanced_correlations(scored(votes[twice], is_positive[twice]))
    assert ours == pytest.approx(theirs)


def test_the_standard_error_is_that_of_repeated_draws():
    draws = [noisy_votes(80, 2.0, seed) for seed in range(400)]
    found = [balanced_correlations(scored(votes, labels)) for labels, votes in draws]
    b, errors = (np.array(values).ravel() for values in zip(*found, strict=True))
    assert errors.mean() == pytest.approx(b.std(), rel=0.1)


def test_two_labels_of_a_class_that_agree_are_no_proof():
    usual = np.linspace(-1, 1, 101)[:, None]
    b, errors = balanced_correlations(scored([[0.5], [0.5], [-0.5], [-0.5]], [1, 1, 0, 0], usual))
    assert b == pytest.approx(0.5)
    # the spread of three rows of 1/3 each, seen through one degree of freedom more
    assert errors == pytest.approx(np.sqrt(2 * (3 * np.var(usual) / 4) / 2 / 4))


def test_without_labels_of_a_class_b_is_zero():
    b, errors = balanced_correlations(scored(np.ones((3, 2)), [1, 1, 1]))
    np.testing.assert_array_equal(b, 0)
    np.testing.assert_array_equal(errors, 1)


# The anchor.


def test_a_member_z_standard_errors_behind_weighs_exp_of_minus_half_z(monkeypatch):
    """z is Welch's t of the difference of two members' votes, between the classes."""
    monkeypatch.setattr(weighing, "PRIOR_ROWS", 0.0)
    is_positive, good = noisy_votes(60, 1.0)
    worse = 0.7 * good + 0.3 * RNG.uniform(-1, 1, size=(60, 1))
    difference = (good - worse)[:, 0]
    z = ttest_ind(difference[is_positive], difference[~is_positive], equal_var=False).statistic
    assert z > 0.5
    weights = weights_near_best(scored(np.hstack([worse, good]), is_positive))
    np.testing.assert_allclose(weights, np.array([np.exp(-z / 2), 1]) / (1 + np.exp(-z / 2)))


def test_the_anchor_is_that_of_the_best_where_all_others_are_clearly_behind():
    is_positive, good = noisy_votes(400, 0.5)
    guesses = RNG.uniform(-1, 1, size=(400, 10))
    assert weights_near_best(scored(np.hstack([guesses, good]), is_positive))[-1] > 0.99


def test_members_that_vote_alike_share_the_anchor_and_so_do_all_without_labels():
    is_positive, good = noisy_votes(40, 1.0)
    np.testing.assert_allclose(weights_near_best(scored(np.tile(good, 3), is_positive)), 1 / 3)
    votes = np.hstack([good, -good])
    np.testing.assert_allclose(weights_near_best(scored(votes[:0], [], votes)), 1 / 2)


# The game.


def test_the_better_member_weighs_more():
    is_positive, good = noisy_votes(400, 0.5)
    _, bad = noisy_votes(400, 0.5, seed=1)
    votes = np.hstack([good, bad])
    solution = solve(scored(votes[:100], is_positive[:100], votes))
    assert solution.weights[0] > 2 * solution.weights[1]
    assert solution.label_correlations[0] > solution.label_correlations[1] + 0.3


def test_without_held_out_rows_all_members_weigh_the_same():
    votes = RNG.uniform(-1, 1, size=(50, 4))
    solution = solve(scored(votes[:0], [], votes))
    np.testing.assert_allclose(solution.weights, solution.weights[0], rtol=1e-4)
    assert solution.weights[0] > 0


def test_few_labels_leave_the_members_nearly_equal():
    is_positive, good = noisy_votes(400, 0.5)
    votes = np.hstack([good, RNG.uniform(-1, 1, size=(400, 1))])
    ratios = []
    for n_labels in (6, 300):
        part = scored(votes[:n_labels], is_positive[:n_labels], votes)
        weights = solve(part).weights
        ratios.append(weights[1] / weights[0])
    assert ratios[1] < 0.5 * ratios[0]


def test_correction_is_nothing_where_labeled_rows_are_all_rows():
    is_positive, votes = noisy_votes(100, 1.0)
    half = np.r_[np.flatnonzero(is_positive)[:40], np.flatnonzero(~is_positive)[:40]]
    game = solve(scored(votes, is_positive)).game
    same = scored(votes[half], is_positive[half], votes[half])
    np.testing.assert_allclose(weighing._sampling_correction(same, game), 0, atol=1e-12)
    other = scored(votes[half], is_positive[half], votes[:20])
    assert np.abs(weighing._sampling_correction(other, game)).max() > 1e-3


@pytest.mark.parametrize(("n_labels", "part"), [(0, 0.0), (2, 0.5), (2_000, 1_000 / 1_001)])
def test_correction_counts_more_with_more_labels(n_labels, part, monkeypatch):
    """One half of it counts when labels are twice as many as voters."""
    is_positive, votes = noisy_votes(3_000, 1.0)
    game = solve(scored(votes, is_positive)).game
    some = scored(votes[:n_labels], is_positive[:n_labels], votes)
    found = weighing._sampling_correction(some, game)
    monkeypatch.setattr(weighing, "LABELS_PER_VOTER", 1e-9)
    np.testing.assert_allclose(found, part * weighing._sampling_correction(some, game), atol=1e-9)


@pytest.mark.parametrize(("n_labels", "is_free"), [(300, False), (1_000, True)])
def test_weights_may_be_negative_only_with_many_labels(n_labels, is_free):
    """The second member votes against the truth."""
    is_positive, good = noisy_votes(n_labels, 1.0)
    _, other = noisy_votes(n_labels, 1.0, seed=1)
    against = np.where(is_positive, -0.9, 0.9)[:, None] + 0.1 * other
    solution = solve(scored(np.hstack([good, against]), is_positive))
    assert (solution.weights[1] < 0) == is_free
    assert solution.label_correlations[1] < 0


@pytest.mark.parametrize("loss", ["square", "zero_one", "log"])
def test_every_loss_is_solved(loss):
    is_positive, votes = noisy_votes(300, 1.0)
    both = np.hstack([votes, noisy_votes(300, 1.0, seed=1)[1]])
    game = solve(scored(both, is_positive), loss=loss).game
    assert game.stop_reason == "converged"
    assert game.weights[0] > game.weights[1]


# Calibration.

SCORES = np.random.default_rng(0).normal(size=5_000)
PRIOR = expit(0.5 * SCORES)


def labels_for(probabilities, seed=1):
    return np.random.default_rng(seed).random(probabilities.size) < probabilities


def fit(n_labels, probabilities, prior=PRIOR, weights=None):
    is_positive = labels_for(probabilities)[:n_labels]
    weights = np.ones(n_labels) if weights is None else weights
    return calibrate(SCORES[:n_labels], is_positive, weights, SCORES, prior)


@pytest.mark.parametrize("n_labels", [0, 2])
def test_few_labels_stay_near_the_mean_of_the_members(n_labels):
    found = expit(fit(n_labels, expit(3 * SCORES - 1)).log_odds(SCORES))
    assert np.abs(found - PRIOR).mean() < 0.06


def test_many_labels_outweigh_the_members():
    truth = expit(3 * SCORES - 1)
    found = fit(5_000, truth)
    np.testing.assert_allclose(expit(found.log_odds(SCORES)), truth, atol=0.05)
    assert expit(found.log_odds(SCORES)).mean() == pytest.approx(labels_for(truth).mean(), abs=1e-3)


@pytest.mark.parametrize("n_labels", [10, 5_000])
def test_the_slope_is_positive_even_if_labels_contradict_it(n_labels):
    found = fit(n_labels, expit(-3 * SCORES), prior=np.full(5_000, 0.5))
    assert 0 < found.slope < 0.01


def test_the_size_of_the_scores_does_not_matter():
    is_positive = labels_for(PRIOR)[:50]
    one, other = (
        calibrate(s * SCORES[:50], is_positive, np.ones(50), s * SCORES, PRIOR) for s in (1, 1e-4)
    )
    np.testing.assert_allclose(one.log_odds(SCORES), other.log_odds(1e-4 * SCORES), rtol=1e-6)


def test_only_relative_weights_matter():
    plain = fit(50, PRIOR)
    double = fit(50, PRIOR, weights=np.full(50, 2.0))
    assert double == plain
    uneven = fit(50, PRIOR, weights=np.where(labels_for(PRIOR)[:50], 3.0, 1.0))
    assert uneven.intercept > plain.intercept + 0.3


def test_scores_that_do_not_differ():
    labels = np.array([1, 1, 1, 0, 0])
    found = calibrate(np.zeros(5), labels, np.ones(5), np.zeros(9), np.full(9, 0.5))
    assert found.slope > 0
    assert expit(found.intercept) == pytest.approx((3 + 10) / 25, abs=1e-3)


def test_the_only_label_of_a_class_does_not_turn_its_scores_round():
    """Whoever scores it has seen none of its class, and scores it lowest."""
    is_positive = np.arange(200) == np.argmin(SCORES[:200])
    found = calibrate(SCORES[:200], is_positive, np.ones(200), SCORES, PRIOR)
    np.testing.assert_allclose(expit(found.log_odds(SCORES)), PRIOR, atol=0.01)


# Scores of each game.


def test_scores_are_of_rows_that_all_members_have_scored():
    out_of_fold = RNG.random((4, 2, 3))
    out_of_fold[1, 0, 0] = np.nan
    unlabeled, codes = RNG.random((5, 2, 3)), np.array([0, 1, 1, 2])
    found = panel_scores(out_of_fold, unlabeled, codes, np.arange(1.0, 5.0), [0, 1, 2])
    for k, own in enumerate(found):
        np.testing.assert_array_equal(own.labeled, out_of_fold[[0, 2, 3], :, k])
        np.testing.assert_array_equal(own.unlabeled, unlabeled[:, :, k])
        np.testing.assert_array_equal(own.is_positive, codes[[0, 2, 3]] == k)
        np.testing.assert_array_equal(own.weights, [1, 3, 4])
    out_of_fold[3, 1, 2] = np.nan
    with pytest.warns(NoHeldOutRowsWarning, match="Some class has no held-out row"):
        panel_scores(out_of_fold, unlabeled, codes, None, [0, 1, 2])


def test_weights_are_pulled_to_the_prior_ones():
    is_positive, good = noisy_votes(400, 1.0)
    guesses = RNG.uniform(-1, 1, size=(400, 1))
    votes = scored(np.hstack([good, good + 1e-3, guesses]), is_positive)
    prior = np.array([0.5, 0.3, 0.2])
    held = solve(votes, prior, ridge=1e9)
    np.testing.assert_allclose(held.weights / held.weights.sum(), prior, atol=1e-4)
    free = solve(votes, prior, ridge=1e-3)
    assert free.weights[2] < 0.1 * free.weights.sum()


# What is told of the members.

IS_POSITIVE = np.arange(10) % 2 == 0


def summary(votes, weights, seen=None, is_positive=IS_POSITIVE):
    n_members = votes.shape[1]
    seen = np.tile(np.linspace(0, 1, 10)[:, None], n_members) if seen is None else seen
    b = np.linspace(0.1, 0.2, n_members)
    names = [f"m{k}" for k in range(n_members)]
    scores = PanelScores(seen, is_positive, None, None)
    solution = PanelSolution(np.asarray(weights), b, b / 10, None)
    seen_votes = PanelScores(None, is_positive, None, votes)
    return summarize(names, scores, Aggregate(None, solution, seen_votes, None))


def test_each_member_has_an_entry_in_each_column():
    found = summary(RNG.normal(size=(50, 3)), [0.1, 0.2, 0.3])
    assert list(found) == [
        "member",
        "weight",
        "correlation",
        "standard_error",
        "auc",
        "agreement",
        "contribution",
    ]
    assert all(len(column) == 3 for column in found.values())
    assert found["member"] == ["m0", "m1", "m2"]
    assert found["correlation"] == pytest.approx([0.1, 0.15, 0.2])
    assert found["standard_error"] == pytest.approx([0.01, 0.015, 0.02])


def test_shares_are_of_weight_times_spread():
    votes = RNG.normal(size=(50, 2))
    votes /= votes.std(axis=0)
    found = summary(votes * [1, 2], [0.3, -0.3])
    assert found["contribution"] == pytest.approx([1 / 3, 2 / 3])
    assert summary(votes, [0, 0])["contribution"] == [0, 0]


def test_agreement_is_with_the_mean_of_the_others():
    first, other = RNG.normal(size=(2, 500))
    votes = np.column_stack([first, first, -first, other])
    found = summary(votes, np.ones(4))["agreement"]
    rest = votes[:, 1:].mean(axis=1)
    assert found[0] == pytest.approx(np.corrcoef(first, rest)[0, 1])
    assert found[2] < -0.5
    assert abs(found[3]) < 0.15
    assert np.isnan(summary(votes[:, :1], [1.0])["agreement"]).all()
    assert summary(np.column_stack([first, np.ones(500)]), np.ones(2))["agreement"] == [0, 0]


def test_area_under_the_curve_is_that_of_the_scores():
    seen = np.where(IS_POSITIVE, 0.9, 0.1)[:, None] * [1, -1, 0]
    assert summary(RNG.normal(size=(5, 3)), np.ones(3), seen)["auc"] == [1, 0, 0.5]
    one_class = summary(RNG.normal(size=(5, 3)), np.ones(3), seen, np.ones(10, dtype=bool))
    assert np.isnan(one_class["auc"]).all()
