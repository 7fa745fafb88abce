"""From scores to votes, weights and probabilities, against closed forms."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.metrics import roc_auc_score

from hedgeclipper import NoHeldOutRowsWarning, weighing
from hedgeclipper.weighing import (
    LEAST_SCORE,
    MOST_RANKS,
    VoterScores,
    VoteScales,
    WeightedVote,
    auc_differences,
    balanced_correlations,
    choose_anchor,
    contributions_of,
    fit_line,
    scores_by_game,
    solve_weights,
    weigh,
    weigh_by_folds,
)

RNG = np.random.default_rng(0)
SCORES = RNG.random(500)
NO_TREES = np.empty(0)
TREES = np.ones(1)


def votes_of(labeled, is_positive, unlabeled=None):
    labeled = np.asarray(labeled, dtype=float)
    return VoterScores(
        labeled,
        np.asarray(is_positive, dtype=bool),
        labeled if unlabeled is None else unlabeled,
    )


def solve(votes, anchor=None):
    """Solve the game; by default the anchor weighs all voters the same."""
    n_voters = votes.labeled.shape[1]
    anchor = np.full(n_voters, 1 / n_voters) if anchor is None else anchor
    return solve_weights(votes, anchor, balanced_correlations(votes)[0])


def noisy_votes(n_rows, noise, seed=0):
    """Labels, and votes of a voter with that much noise."""
    rng = np.random.default_rng(seed)
    is_positive = rng.random(n_rows) < 0.5
    votes = np.tanh(np.where(is_positive, 1, -1)[:, None] + rng.normal(size=(n_rows, 1)) * noise)
    return is_positive, votes


# Votes of scores.


def scale_of(scores, tree_sizes=NO_TREES):
    """What makes votes of the scores of one voter."""
    scales = VoteScales.of(np.asarray(scores)[:, None], tree_sizes)
    return lambda own: scales(np.asarray(own)[:, None])[:, 0]


def ranks_of(scores):
    return VoteScales.of(scores[:, None], NO_TREES).others[0]


def test_a_vote_is_the_mean_of_rank_and_standardized_log_odds():
    scale = scale_of([0.2, 0.2, 0.5, 0.8])
    log_odds = np.log([0.25, 0.25, 1, 4])
    deviation = (np.log(4) - log_odds.mean()) / log_odds.std()
    rank = 2 * 3.5 / 4 - 1
    assert scale([0.8]) == pytest.approx((rank + deviation / 2) / 2)


def test_votes_rise_with_the_scores_and_stay_within_bounds():
    scale = scale_of(SCORES)
    votes = scale(np.linspace(0, 1, 1001))
    assert np.all(np.diff(votes) >= 0)
    assert -1 <= votes.min() < votes.max() <= 1
    assert scale([1.0]) == scale([1.0 - LEAST_SCORE / 2])


def test_equal_scores_share_a_rank_and_their_scale_does_not_matter():
    scores = np.repeat([0.1, 0.4, 0.9], [5, 2, 3])
    np.testing.assert_allclose(ranks_of(scores).ranks, [-0.5, 0.2, 0.7])
    np.testing.assert_allclose(ranks_of(scores**3).ranks, [-0.5, 0.2, 0.7])


@pytest.mark.parametrize("score", [0.0, 0.3, 1.0])
def test_one_who_always_says_the_same_has_no_vote(score):
    for tree_sizes in (NO_TREES, TREES):
        scale = scale_of(np.full(10, score), tree_sizes)
        np.testing.assert_allclose(scale(np.full(3, score)), 0, atol=1e-12)
        assert np.isfinite(scale([0.0, 1.0])).all()


def test_many_values_are_thinned_and_ends_kept(rng):
    scores = rng.random(3 * MOST_RANKS)
    scale = ranks_of(scores)
    assert scale.values.size == scale.ranks.size == MOST_RANKS
    assert (scale.values[0], scale.values[-1]) == (scores.min(), scores.max())
    exact = 2 * (np.argsort(np.argsort(scores)) + 0.5) / scores.size - 1
    np.testing.assert_allclose(np.interp(scores, scale.values, scale.ranks), exact, atol=1e-3)


def test_votes_of_trees_are_probabilities_in_units_of_two_standard_deviations(rng):
    """That of all trees together, so that the mean vote is that of the mean probability."""
    groups, sizes = rng.random((50, 3)), np.array([0.5, 0.3, 0.2])
    votes = VoteScales.of(groups, sizes)(groups)
    np.testing.assert_allclose((votes @ sizes).mean(), 0, atol=1e-12)
    np.testing.assert_allclose((votes @ sizes).std(), 0.5)
    np.testing.assert_allclose(votes @ sizes, scale_of(groups @ sizes, TREES)(groups @ sizes))


def test_log_odds_are_a_line_through_both_readings_of_the_scores():
    """Probabilities of 1/2 and 3/4, by weights of a quarter and three quarters."""
    scales, weights = VoteScales(2, 0.5, 0.5, []), np.array([0.2, 0.6])
    vote = WeightedVote(scales, weights, 0.5, 0.1, 2.0, slope=3.0, intercept=-1.0)
    votes = 0.2 * 0.0 + 0.6 * 0.5
    score = (logit(0.25 * 0.5 + 0.75 * 0.75) - 0.5 + 2.0 * (votes - 0.1)) / 2.0
    np.testing.assert_allclose(vote.log_odds(np.array([[0.5, 0.75]])), [3.0 * score - 1.0])


# b.


def test_b_of_ranks_is_the_area_under_the_curve_less_one_half():
    """Five rows by rank, - + - + +: of the six pairs five are in order."""
    ranks = np.array([-0.8, -0.4, 0.0, 0.4, 0.8])
    labels = np.array([0, 1, 0, 1, 1])
    b, _ = balanced_correlations(votes_of(ranks[:, None], labels))
    assert roc_auc_score(labels, ranks) == pytest.approx(5 / 6)
    assert b == pytest.approx([5 / 6 - 1 / 2])


def test_b_does_not_depend_on_the_class_prior():
    is_positive, votes = noisy_votes(200, 1.0)
    plain, _ = balanced_correlations(votes_of(votes, is_positive))
    rare = np.r_[np.flatnonzero(~is_positive), np.repeat(np.flatnonzero(is_positive), 9)]
    more, _ = balanced_correlations(votes_of(votes[rare], is_positive[rare]))
    assert more == pytest.approx(plain)


def test_the_standard_error_is_that_of_repeated_draws():
    draws = [noisy_votes(80, 2.0, seed) for seed in range(400)]
    found = [balanced_correlations(votes_of(votes, labels)) for labels, votes in draws]
    b, errors = (np.array(values).ravel() for values in zip(*found, strict=True))
    assert errors.mean() == pytest.approx(b.std(), rel=0.1)


def test_two_labels_of_a_class_that_agree_are_no_proof_and_none_tell_nothing():
    usual = np.linspace(-1, 1, 101)[:, None]
    b, errors = balanced_correlations(votes_of([[0.5], [0.5], [-0.5], [-0.5]], [1, 1, 0, 0], usual))
    assert b == pytest.approx(0.5)
    # the spread of three rows of 1/3 each, seen through one degree of freedom more
    assert errors == pytest.approx(np.sqrt(2 * (3 * np.var(usual) / 4) / 2 / 4))
    b, errors = balanced_correlations(votes_of(np.ones((3, 2)), [1, 1, 1]))
    assert (b.tolist(), errors.tolist()) == ([0, 0], [1, 1])


# The anchor.


def test_equally_good_trees_alone_count_by_their_numbers():
    is_positive, good = noisy_votes(60, 1.0)
    votes = votes_of(np.hstack([good, 3 * good]), is_positive)
    np.testing.assert_allclose(choose_anchor(votes, np.array([0.7, 0.3])), [0.7, 0.3])


def test_without_labels_trees_have_one_half_and_the_others_the_rest(rng):
    votes = rng.uniform(-1, 1, size=(50, 5))
    nothing = votes_of(votes[:0], [], votes)
    np.testing.assert_allclose(
        choose_anchor(nothing, np.array([0.75, 0.25])), [3 / 8, 1 / 8, *[1 / 6] * 3]
    )
    np.testing.assert_allclose(choose_anchor(nothing, NO_TREES), 1 / 5)


@pytest.mark.parametrize("tree_sizes", [np.ones(1), np.full(2, 0.5), NO_TREES])
def test_a_voter_z_standard_errors_behind_weighs_exp_of_minus_half_z(rng, tree_sizes):
    """Beside trees, among groups of trees, and beside the best of voters without trees.

    Few labels of the rarer class make z smaller.
    """
    is_positive, good = noisy_votes(60, 1.0)
    worse = 0.7 * good + 0.3 * rng.uniform(-1, 1, size=(60, 1))
    difference, error = auc_differences(worse, good[:, 0], is_positive)
    n_rare = min(is_positive.sum(), (~is_positive).sum())
    factor = np.exp(0.5 * (difference / error)[0] * n_rare / (n_rare + 10))
    assert factor < 0.95
    weights = choose_anchor(votes_of(np.hstack([good, worse]), is_positive), tree_sizes)
    np.testing.assert_allclose(weights, np.array([1, factor]) / (1 + factor))


def test_differences_of_auc_are_those_of_scikit_learn_whatever_the_scales(rng):
    is_positive, good = noisy_votes(60, 1.0)
    scores = np.hstack([np.round(good, 1), np.exp(good), -good])
    reference = np.round(good[:, 0] + rng.normal(size=60))
    aucs = [roc_auc_score(is_positive, own) for own in scores.T]
    found, _ = auc_differences(scores, reference, is_positive)
    np.testing.assert_allclose(found, np.array(aucs) - roc_auc_score(is_positive, reference))


def test_contributions_are_zero_where_all_weights_are():
    np.testing.assert_array_equal(contributions_of(np.zeros(3)), 0.0)
    np.testing.assert_allclose(contributions_of(np.array([1.0, np.nan, -3.0])), [0.25, 0.0, 0.75])


def test_without_a_prior_the_variance_is_that_of_delong(rng):
    is_positive = rng.random(80) < 0.4
    scores, others = ((is_positive + rng.normal(size=80)).round(1) for _ in range(2))  # with ties

    def pairs(own):
        """1 for each positive above a negative row, and 1/2 for a tie."""
        return (np.sign(own[is_positive][:, None] - own[~is_positive]) + 1) / 2

    table = pairs(scores) - pairs(others)
    delong = table.mean(axis=1).var(ddof=1) / len(table)
    delong += table.mean(axis=0).var(ddof=1) / table.shape[1]
    gain, error = auc_differences(scores[:, None], others, is_positive, prior_rows=0.0)
    np.testing.assert_allclose((gain[0], error[0] ** 2), (table.mean(), delong))


def test_standard_errors_of_auc_differences_are_the_spread_over_draws_of_the_labels(rng):
    found = []
    for seed in range(1, 301):
        is_positive, good = noisy_votes(100, 1.0, seed)
        worse = good + rng.uniform(-1, 1, size=good.shape)
        found.append(np.concatenate(auc_differences(worse, good[:, 0], is_positive)))
    differences, errors = np.array(found).T
    assert errors.mean() == pytest.approx(differences.std(), rel=0.15)


def test_a_class_with_one_label_tells_nothing_of_auc(rng):
    found = auc_differences(rng.normal(size=(5, 2)), rng.normal(size=5), np.arange(5) == 0)
    assert [own.tolist() for own in found] == [[0, 0], [1, 1]]


# The game.


def test_the_better_voter_weighs_more_the_more_labels_show_it(rng):
    is_positive, good = noisy_votes(400, 0.5)
    votes = np.hstack([good, rng.uniform(-1, 1, size=(400, 1))])
    ratios = []
    for n_labels in (6, 300):
        weights = solve(votes_of(votes[:n_labels], is_positive[:n_labels], votes)).weights
        ratios.append(weights[1] / weights[0])
    assert ratios[1] < 0.5 * ratios[0] <= 0.5


def test_without_labels_of_a_class_the_weights_are_those_of_the_anchor(rng):
    votes, anchor = rng.uniform(-1, 1, size=(50, 3)), np.array([0.5, 0.3, 0.2])
    weights = solve(votes_of(votes[:9], np.ones(9), votes), anchor).weights
    np.testing.assert_allclose(weights / weights.sum(), anchor, atol=1e-3)


def test_correction_is_nothing_where_labeled_rows_are_all_rows():
    is_positive, votes = noisy_votes(100, 1.0)
    half = np.r_[np.flatnonzero(is_positive)[:40], np.flatnonzero(~is_positive)[:40]]
    game = solve(votes_of(votes, is_positive))
    same = votes_of(votes[half], is_positive[half], votes[half])
    np.testing.assert_allclose(weighing._sampling_correction(same, game), 0, atol=1e-12)


@pytest.mark.parametrize(("n_labels", "part"), [(0, 0.0), (2, 0.5), (2_000, 1_000 / 1_001)])
def test_correction_counts_more_with_more_labels(n_labels, part, monkeypatch):
    """One half of it counts when labels are twice as many as voters."""
    is_positive, votes = noisy_votes(3_000, 1.0)
    game = solve(votes_of(votes, is_positive))
    some = votes_of(votes[:n_labels], is_positive[:n_labels], votes)
    found = weighing._sampling_correction(some, game)
    monkeypatch.setattr(weighing, "LABELS_PER_VOTER", 1e-9)
    np.testing.assert_allclose(found, part * weighing._sampling_correction(some, game), atol=1e-9)


@pytest.mark.parametrize(("n_labels", "is_free"), [(300, False), (1_000, True)])
def test_weights_may_be_negative_only_with_many_labels(n_labels, is_free):
    """The second voter votes against the truth."""
    is_positive, good = noisy_votes(n_labels, 1.0)
    _, other = noisy_votes(n_labels, 1.0, seed=1)
    against = np.where(is_positive, -0.9, 0.9)[:, None] + 0.1 * other
    weights = solve(votes_of(np.hstack([good, against]), is_positive)).weights
    assert (weights[1] < 0) == is_free


# Calibration.

SCORE = np.random.default_rng(0).normal(size=5_000)


def labels_for(probabilities, seed=1):
    return np.random.default_rng(seed).random(probabilities.size) < probabilities


@pytest.mark.parametrize("n_labels", [4, 80, 5_000])
def test_the_line_is_the_most_probable_one(n_labels):
    """Against a general minimizer of the same loss, in other variables."""
    scores, is_positive = SCORE[:n_labels], labels_for(expit(2 * SCORE - 1))[:n_labels]
    ours = fit_line(scores, is_positive, -0.5)

    def loss(line):
        z = line[0] * scores + line[1]
        fits = np.log1p(np.exp(-np.where(is_positive, z, -z))).sum()
        return fits + np.log(line[0]) ** 2 / (2 * 0.5**2) + (line[1] + 0.5) ** 2 / (2 * 2.0**2)

    theirs = minimize(loss, [1.0, 0.0], bounds=[(1e-6, None), (None, None)], tol=1e-12).x
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3)


def test_few_labels_leave_the_line_where_it_is_and_many_move_it():
    is_positive = labels_for(expit(3 * SCORE - 1))
    slope, intercept = fit_line(SCORE[:5], is_positive[:5], 0.0)
    assert 0.7 < slope < 1.7
    assert abs(intercept) < 1.5
    many = fit_line(SCORE, is_positive, 0.0)
    np.testing.assert_allclose(many, [3.0, -1.0], atol=0.25)


def test_the_slope_is_positive_even_if_labels_contradict_it():
    slope, _ = fit_line(SCORE, labels_for(expit(-3 * SCORE)), 0.0)
    assert 0 < slope < 0.1


def test_without_labels_a_vote_is_brought_to_mean_and_spread_of_the_log_odds(rng):
    p = expit(0.5 * rng.normal(size=5_000) - 0.5)[:, None]
    found = weigh(votes_of(p[:0], [], p), TREES).vote
    assert (found.slope, found.intercept) == (1.0, found.center)
    assert found.center == pytest.approx(logit(p).mean())
    vote = found.vote_scale * (found.scales(p)[:, 0] * found.weights - found.vote_center)
    assert (vote.mean(), vote.std()) == pytest.approx((0, logit(p).std()), abs=1e-9)


def test_the_only_label_of_a_class_does_not_move_the_line():
    """Whoever scores it has seen none of its class, and scores it lowest."""
    p = expit(SCORE)[:, None]
    is_positive = np.arange(200) == np.argmin(SCORE[:200])
    found = weigh(votes_of(p[:200], is_positive, p), NO_TREES).vote
    assert (found.slope, found.intercept) == (1.0, found.center)


# All of it.


def test_scores_are_of_rows_that_all_voters_have_scored(rng):
    labeled = rng.random((4, 2, 3))
    labeled[1, 0, 0] = np.nan
    unlabeled, codes = rng.random((5, 2, 3)), np.array([0, 1, 1, 2])
    found = scores_by_game(labeled, unlabeled, codes, [0, 1, 2])
    for k, own in enumerate(found):
        np.testing.assert_array_equal(own.labeled, labeled[[0, 2, 3], :, k])
        np.testing.assert_array_equal(own.unlabeled, unlabeled[:, :, k])
        np.testing.assert_array_equal(own.is_positive, codes[[0, 2, 3]] == k)
    labeled[3, 1, 2] = np.nan
    with pytest.warns(NoHeldOutRowsWarning, match="Some class has no held-out row"):
        scores_by_game(labeled, unlabeled, codes, [0, 1, 2])


def test_voters_are_weighed_on_their_votes_beside_trees(rng):
    """Two groups of trees share a scale; a voter that guesses is nearly left out on average."""
    shares = []
    for _ in range(10):
        is_positive, good = noisy_votes(600, 0.8)
        trees = [expit(2 * good), expit(2 * good + 0.1)]
        p = np.hstack([*trees, expit(4 * good), rng.random((600, 1))])
        found = weigh(votes_of(p[:200], is_positive[:200], p[200:]), np.array([0.5, 0.5]))
        shares.append(found.vote.weights[3] / found.vote.weights.sum())
    assert (found.vote.scales.n_groups, len(found.vote.scales.others)) == (2, 2)
    assert np.mean(shares) < 0.1
    log_odds = found.vote.log_odds(p)
    assert roc_auc_score(is_positive, log_odds) > roc_auc_score(is_positive, p[:, 3]) + 0.3
    assert expit(log_odds).mean() == pytest.approx(is_positive.mean(), abs=0.05)


def test_if_no_voter_is_better_than_a_guess_the_weights_are_those_of_the_anchor():
    is_positive, good = noisy_votes(100, 0.5)
    wrong = expit(-3 * good + logit([[0.4, 0.6]]))
    found = weigh(votes_of(wrong, is_positive), NO_TREES)
    assert np.all(found.label_correlations < 0)
    np.testing.assert_array_equal(found.vote.weights, choose_anchor(found.votes, NO_TREES))


def test_the_vote_of_a_fold_does_not_depend_on_its_labels():
    rng = np.random.default_rng(0)
    scores, is_positive = rng.random((40, 3)), rng.random(40) < 0.5
    own = VoterScores(scores, is_positive, rng.random((100, 3)))
    for number, (test, (vote,), _) in enumerate(weigh_by_folds([own], NO_TREES)):
        flipped = is_positive.copy()
        flipped[test] = ~flipped[test]
        others = [replace(own, is_positive=flipped)]
        again = list(weigh_by_folds(others, NO_TREES))[number][1][0]
        np.testing.assert_array_equal(again.log_odds(scores), vote.log_odds(scores))
