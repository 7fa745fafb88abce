"""Component models against counting by hand, scikit-learn, and fitting again."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from hedgeclipper.votes import component_models
from hedgeclipper.votes.component_models import (
    RIDGES,
    fit_dawid_skene,
    fit_naive_bayes,
    fit_ridge,
    majority_vote,
)
from tests.votes.vote_instances import kernel_of, some_votes

UNIFORM = np.full(2, 0.5)


def test_a_single_voter_by_hand():
    """Three votes, two right; the panel has (2 + 2.8) / (3 + 4), the voter (2 + 4 p) / (3 + 4)."""
    labeled = kernel_of(np.array([[0], [1], [1]]), 2)
    weights = fit_naive_bayes(labeled, np.array([0, 1, 0]), UNIFORM).votes
    panel = 4.8 / 7
    accuracy = (2 + 4 * panel) / 7
    in_first = (1 + 8 * accuracy) / (2 + 8)  # two rows of the first class, one vote for it
    in_second = (0 + 8 * (1 - accuracy)) / (1 + 8)
    assert np.exp(weights[0, 0]) == pytest.approx([in_first, in_second])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_frequencies_of_votes_add_up_to_one_in_each_class(n_classes):
    rng = np.random.default_rng(0)
    truth, table = some_votes(rng, 30, 4, n_classes)
    balance = np.full(n_classes, 1.0 / n_classes)
    weights = fit_naive_bayes(kernel_of(table, n_classes), truth, balance).votes
    assert np.exp(weights).sum(axis=1) == pytest.approx(np.ones((4, n_classes)))


def test_scores_without_the_own_label_are_those_of_a_fit_without_it():
    """With one vote of each voter on each row, so that all fits have as many votes per row."""
    rng = np.random.default_rng(1)
    truth, table = some_votes(rng, 12, 3, 3)
    table = np.where(table < 0, 0, table)
    labeled = kernel_of(table, 3)
    balance = np.array([0.2, 0.3, 0.5])
    ours = fit_naive_bayes(labeled, truth, balance).without_own
    for row in range(12):
        rest = np.delete(np.arange(12), row)
        model = fit_naive_bayes(labeled.take(rest), truth[rest], balance)
        theirs = model.scores(labeled.take(np.array([row])))
        assert ours[[row]] == pytest.approx(theirs)


def test_a_voter_without_a_labeled_vote_has_the_accuracy_of_the_panel():
    table = np.array([[0, -1], [1, -1], [1, -1], [0, -1]])
    weights = fit_naive_bayes(kernel_of(table, 2), np.array([0, 1, 1, 0]), UNIFORM).votes
    panel = (4 + 2.8) / (4 + 4)
    assert np.exp(weights[1]) == pytest.approx(np.array([[panel, 1 - panel], [1 - panel, panel]]))


def test_dawid_skene_is_a_fixed_point_of_counting_its_own_probabilities(monkeypatch):
    """Counts of the probabilities that the tables give, with 0.3 of a row each, give the tables."""
    rng = np.random.default_rng(0)
    truth, table = some_votes(rng, 80, 4, 3)
    both, balance = kernel_of(table, 3), np.array([0.2, 0.3, 0.5])
    unlabeled, labeled = both.take(np.arange(20, 80)), both.take(np.arange(20))
    monkeypatch.setattr(component_models, "EM_TOL", 1e-12)
    monkeypatch.setattr(component_models, "EM_STEPS", 2_000)
    model = fit_dawid_skene(unlabeled, labeled, truth[:20], balance, 0.3)
    known = np.eye(3)[truth[:20]]
    counts = labeled.sums(known) + 0.3 * unlabeled.sums(softmax(model.scores(unlabeled), axis=1))
    right, total = np.trace(counts, axis1=1, axis2=2), counts.sum(axis=(1, 2))
    per_row = total.sum() / (20 + 0.3 * 60)
    panel = (right.sum() / per_row + 2.8) / (total.sum() / per_row + 4)
    accuracy = ((right + 4 * panel) / (total + 4))[:, None, None]
    prior = 8 * np.where(np.eye(3, dtype=bool), accuracy, (1 - accuracy) / 2)
    theirs = (counts + prior) / (counts + prior).sum(axis=1, keepdims=True)
    assert np.exp(model.votes) == pytest.approx(theirs, abs=1e-6)


def test_a_fold_is_predicted_by_dawid_skene_of_its_rows_as_unlabeled_ones():
    rng = np.random.default_rng(6)
    truth, table = some_votes(rng, 90, 4, 3)
    both, balance, fold = kernel_of(table, 3), np.array([0.2, 0.3, 0.5]), np.arange(20) % 4
    unlabeled, labeled = both.take(np.arange(20, 90)), both.take(np.arange(20))
    ours = fit_dawid_skene(unlabeled, labeled, truth[:20], balance, 0.3, fold)
    for k in range(4):
        rest, own = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        more = both.take(np.concatenate([np.arange(20, 90), own]))
        theirs = fit_dawid_skene(more, both.take(rest), truth[rest], balance, 0.3)
        assert ours.without_own[own] == pytest.approx(theirs.scores(labeled.take(own)))
    plain = fit_dawid_skene(unlabeled, labeled, truth[:20], balance, 0.3)
    assert ours.votes == pytest.approx(plain.votes)


def test_labels_do_not_flatter_dawid_skene_of_weak_voters():
    """Labels at random: what predicts them better than a coin has seen them."""
    rng = np.random.default_rng(0)
    right, seen = [], []
    for _ in range(20):
        table = np.where(rng.random((300, 30)) < 0.1, rng.integers(0, 2, (300, 30)), -1)
        codes, fold, both = rng.integers(0, 2, 60), np.arange(60) % 10, kernel_of(table, 2)
        rows = both.take(np.arange(60, 300)), both.take(np.arange(60)), codes, UNIFORM, 1.0
        right.append(fit_dawid_skene(*rows, fold).without_own.argmax(axis=1) == codes)
        seen.append(fit_dawid_skene(*rows).without_own.argmax(axis=1) == codes)
    assert np.mean(right) < 0.5 + 3 * np.sqrt(0.25 / 1200)
    assert np.mean(seen) > 0.5 + 6 * np.sqrt(0.25 / 1200)


def test_unlabeled_rows_of_no_weight_leave_naive_bayes():
    rng = np.random.default_rng(3)
    truth, table = some_votes(rng, 60, 4, 2)
    both = kernel_of(table, 2)
    unlabeled, labeled = both.take(np.arange(20, 60)), both.take(np.arange(20))
    ours = fit_dawid_skene(unlabeled, labeled, truth[:20], UNIFORM, 0.0)
    theirs = fit_naive_bayes(labeled, truth[:20], UNIFORM)
    assert ours.votes == pytest.approx(theirs.votes)
    assert ours.without_own == pytest.approx(theirs.without_own)


def test_the_majority_vote_counts_every_vote_alike():
    rng = np.random.default_rng(0)
    _, table = some_votes(rng, 30, 4, 3)
    votes = majority_vote(kernel_of(table, 3), np.full(3, 1 / 3)).votes
    expected = np.log([[0.7, 0.15, 0.15], [0.15, 0.7, 0.15], [0.15, 0.15, 0.7]])
    assert votes == pytest.approx(np.broadcast_to(expected, (4, 3, 3)))


# Logistic regression with a ridge.


def one_hot(table, n_classes):
    """Votes as columns, scaled by the root of the votes on a row, and a column of ones."""
    columns = (table[:, :, None] == np.arange(n_classes)).reshape(len(table), -1)
    scaled = columns / np.sqrt(max((table >= 0).sum() / len(table), 1))
    return np.hstack([scaled, np.ones((len(table), 1))])


def theirs(table, codes, n_classes, ridge, target):
    """Scores of a class against the others by scikit-learn."""
    model = LogisticRegression(C=1 / ridge, fit_intercept=False, tol=1e-8, max_iter=10_000)
    return model.fit(one_hot(table, n_classes), codes == target)


@pytest.mark.parametrize(("n_classes", "n_rows"), [(2, 15), (2, 60), (3, 40)])
def test_scores_are_those_of_scikit_learn(monkeypatch, n_classes, n_rows):
    """With fewer rows than columns, and with more; with two classes and with three."""
    monkeypatch.setattr(component_models, "RIDGES", (0.3,))
    monkeypatch.setattr(component_models, "NEWTON_TOL", 1e-9)
    rng = np.random.default_rng(n_rows)
    codes, table = some_votes(rng, n_rows, 10, n_classes)
    found = fit_ridge(kernel_of(table, n_classes), codes)
    ours = found.classes + kernel_of(table, n_classes).scores(found.votes)
    columns = one_hot(table, n_classes)
    for target in range(n_classes):
        scores = theirs(table, codes, n_classes, 0.3, target).decision_function(columns)
        factor = 2 if n_classes == 2 else 1
        assert factor * ours[:, target] == pytest.approx(scores, abs=1e-3)


def test_scores_without_the_own_label_are_close_to_those_of_fits_without_it(monkeypatch):
    monkeypatch.setattr(component_models, "RIDGES", (0.3,))
    rng = np.random.default_rng(3)
    codes, table = some_votes(rng, 40, 6, 2)
    found = fit_ridge(kernel_of(table, 2), codes)
    columns, fitted = one_hot(table, 2), found.classes + kernel_of(table, 2).scores(found.votes)
    exact = np.empty(40)
    for row in range(40):
        rest = np.delete(np.arange(40), row)
        model = LogisticRegression(C=1 / 0.3, fit_intercept=False, tol=1e-8, max_iter=10_000)
        model.fit(columns[rest], codes[rest] == 1)
        exact[row] = model.decision_function(columns[[row]])[0]
    ours, with_own = 2 * found.without_own[:, 1], 2 * fitted[:, 1]
    assert np.abs(ours - exact).max() < 0.2 * np.abs(with_own - exact).max()


def test_labels_without_information_get_the_strongest_ridge():
    rng = np.random.default_rng(4)
    table, codes = rng.integers(0, 2, (60, 20)), rng.integers(0, 2, 60)
    found = fit_ridge(kernel_of(table, 2), codes)
    columns = one_hot(table, 2)
    scores = theirs(table, codes, 2, max(RIDGES), 1).decision_function(columns)
    ours = found.classes + kernel_of(table, 2).scores(found.votes)
    assert 2 * ours[:, 1] == pytest.approx(scores, abs=0.05)


def test_with_many_classes_all_regressions_take_as_long_as_five(monkeypatch):
    shapes, regress = [], component_models._regress

    def noted(columns, *others):
        shapes.append(columns.shape)
        return regress(columns, *others)

    monkeypatch.setattr(component_models, "_regress", noted)
    monkeypatch.setattr(component_models, "MAX_LABELS_OF_RIDGE", 100)
    monkeypatch.setattr(component_models, "RIDGES", (0.3,))
    codes, table = some_votes(np.random.default_rng(0), 120, 5, 40)
    fit_ridge(kernel_of(table, 40), codes)
    assert len(shapes) == 40
    assert sum(n_rows**3 for n_rows, _ in shapes) == pytest.approx(5 * 100**3, rel=0.05)


def test_of_many_labels_some_are_fitted_and_the_others_predicted(monkeypatch):
    monkeypatch.setattr(component_models, "MAX_LABELS_OF_RIDGE", 10)
    rng = np.random.default_rng(5)
    codes, table = some_votes(rng, 40, 3, 2)
    kernel = kernel_of(table, 2)
    found = fit_ridge(kernel, codes)
    fitted = found.classes + kernel.scores(found.votes)
    assert np.isclose(found.without_own, fitted).all(axis=1).sum() == 30
