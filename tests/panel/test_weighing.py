import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from hedgeclipper.panel import weighing
from hedgeclipper.panel.weighing import ScoredVotes, balanced_correlations, play_panel_game

RNG = np.random.default_rng(0)


def judged(labeled, is_positive, unlabeled=None, weights=None, n_members=None):
    labeled = np.asarray(labeled, dtype=float)
    return ScoredVotes(
        labeled,
        np.asarray(is_positive, dtype=bool),
        np.ones(len(labeled)) if weights is None else np.asarray(weights, dtype=float),
        labeled if unlabeled is None else unlabeled,
        labeled.shape[1] if n_members is None else n_members,
    )


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
    b, _ = balanced_correlations(judged(ranks[:, None], labels))
    assert roc_auc_score(labels, ranks) == pytest.approx(5 / 6)
    assert b == pytest.approx([5 / 6 - 1 / 2])


def test_b_does_not_depend_on_the_share_of_the_classes():
    is_positive, votes = noisy_votes(200, 1.0)
    rare = np.r_[np.flatnonzero(~is_positive), np.repeat(np.flatnonzero(is_positive), 9)]
    plain, _ = balanced_correlations(judged(votes, is_positive))
    more, _ = balanced_correlations(judged(votes[rare], is_positive[rare]))
    assert more == pytest.approx(plain)


def test_a_weight_of_two_is_two_rows_for_b():
    is_positive, votes = noisy_votes(50, 1.0)
    twice = np.r_[0:50, 0:10]
    weights = np.where(np.arange(50) < 10, 2, 1)
    ours, _ = balanced_correlations(judged(votes, is_positive, weights=weights))
    theirs, _ = balanced_correlations(judged(votes[twice], is_positive[twice]))
    assert ours == pytest.approx(theirs)


def test_the_standard_error_is_that_of_repeated_draws():
    draws = [noisy_votes(80, 2.0, seed) for seed in range(400)]
    found = [balanced_correlations(judged(votes, labels)) for labels, votes in draws]
    b, errors = (np.array(values).ravel() for values in zip(*found, strict=True))
    assert errors.mean() == pytest.approx(b.std(), rel=0.1)


def test_two_labels_of_a_class_that_agree_are_no_proof():
    usual = np.linspace(-1, 1, 101)[:, None]
    b, errors = balanced_correlations(judged([[0.5], [0.5], [-0.5], [-0.5]], [1, 1, 0, 0], usual))
    assert b == pytest.approx(0.5)
    # the spread of three rows of 1/3 each, seen through one degree of freedom more
    assert errors == pytest.approx(np.sqrt(2 * (3 * np.var(usual) / 4) / 2 / 4))


def test_one_who_sleeps_is_judged_where_awake():
    votes = np.array([[1.0], [np.nan], [-1.0], [np.nan], [-1.0]])
    b, _ = balanced_correlations(judged(votes, [1, 1, 1, 0, 0]))
    assert b == pytest.approx([(0.25 * 0 * 2 + 0.25 * 2 * (1 - 1) + 0.25) / (1 / 3 + 0.25)])


def test_no_label_of_a_class_says_nothing():
    b, errors = balanced_correlations(judged(np.ones((3, 2)), [1, 1, 1]))
    np.testing.assert_array_equal(b, 0)
    np.testing.assert_array_equal(errors, 1)


# The game.


def test_the_better_member_weighs_more():
    is_positive, good = noisy_votes(400, 0.5)
    _, bad = noisy_votes(400, 0.5, seed=1)
    votes = np.hstack([good, bad])
    solution = play_panel_game(judged(votes[:100], is_positive[:100], votes), "square")
    assert solution.weights[0] > 2 * solution.weights[1]
    assert solution.label_correlations[0] > solution.label_correlations[1] + 0.3


def test_without_judges_all_members_weigh_the_same():
    votes = RNG.uniform(-1, 1, size=(50, 4))
    solution = play_panel_game(judged(votes[:0], [], votes), "square")
    np.testing.assert_allclose(solution.weights, solution.weights[0], rtol=1e-4)
    assert solution.weights[0] > 0


def test_few_labels_leave_the_members_nearly_equal():
    is_positive, good = noisy_votes(400, 0.5)
    votes = np.hstack([good, RNG.uniform(-1, 1, size=(400, 1))])
    ratios = []
    for n_labels in (6, 300):
        part = judged(votes[:n_labels], is_positive[:n_labels], votes)
        weights = play_panel_game(part, "square").weights
        ratios.append(weights[1] / weights[0])
    assert ratios[1] < 0.5 * ratios[0]


def test_correction_is_nothing_where_labeled_rows_are_all_rows():
    is_positive, votes = noisy_votes(100, 1.0)
    half = np.r_[np.flatnonzero(is_positive)[:40], np.flatnonzero(~is_positive)[:40]]
    game = play_panel_game(judged(votes, is_positive), "square").game
    same = judged(votes[half], is_positive[half], votes[half])
    np.testing.assert_allclose(weighing._sampling_correction(same, game), 0, atol=1e-12)
    other = judged(votes[half], is_positive[half], votes[:20])
    assert np.abs(weighing._sampling_correction(other, game)).max() > 1e-3


def test_correction_counts_more_with_more_labels():
    shares = [
        weighing._labels_share(judged(np.zeros((n, 5)), np.arange(n) % 2)) for n in (0, 10, 10_000)
    ]
    assert shares[0] == 0
    assert shares[1] == 0.5
    assert shares[2] > 0.99


def test_regions_without_labels_of_both_classes_have_no_weight():
    """The second region is where the member knows best."""
    is_positive, votes = noisy_votes(100, 3.0)
    is_right = (votes[:, 0] > 0) == is_positive
    lonely = np.where(is_positive[:, None], votes, np.nan)
    known = np.where(is_right[:, None], votes, np.nan)
    everyone = np.hstack([votes, lonely, known])
    solution = play_panel_game(judged(everyone, is_positive, n_members=1), "square")
    assert solution.weights[1] == 0
    assert solution.weights[2] > 0
    assert solution.label_correlations.shape == solution.errors.shape == (1,)


@pytest.mark.parametrize(("n_labels", "is_free"), [(300, False), (1_000, True)])
def test_weights_may_be_negative_only_with_many_labels(n_labels, is_free):
    """The second member says the opposite of the truth."""
    is_positive, good = noisy_votes(n_labels, 1.0)
    _, other = noisy_votes(n_labels, 1.0, seed=1)
    against = np.where(is_positive, -0.9, 0.9)[:, None] + 0.1 * other
    solution = play_panel_game(judged(np.hstack([good, against]), is_positive), "square")
    assert (solution.weights[1] < 0) == is_free
    assert solution.label_correlations[1] < 0


@pytest.mark.parametrize("loss", ["square", "zero_one", "log"])
def test_every_loss_is_solved(loss):
    is_positive, votes = noisy_votes(300, 1.0)
    both = np.hstack([votes, noisy_votes(300, 1.0, seed=1)[1]])
    game = play_panel_game(judged(both, is_positive), loss).game
    assert game.stop_reason == "converged"
    assert game.weights[0] > game.weights[1]
