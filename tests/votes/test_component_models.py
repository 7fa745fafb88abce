"""Component models against counting by hand and fitting again."""

import numpy as np
import pytest
from scipy.special import softmax

from hedgeclipper.votes import component_models
from hedgeclipper.votes.component_models import (
    fit_agreement,
    fit_dawid_skene,
    fit_naive_bayes,
    majority_vote,
)
from tests.votes.vote_instances import ballots_of, some_votes

UNIFORM = np.full(2, 0.5)


def test_a_single_voter_by_hand():
    """Three votes, two right; the panel has (2 + 2.8) / (3 + 4), the voter (2 + 4 p) / (3 + 4)."""
    labeled = ballots_of(np.array([[0], [1], [1]]), 2)
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
    weights = fit_naive_bayes(ballots_of(table, n_classes), truth, balance).votes
    assert np.exp(weights).sum(axis=1) == pytest.approx(np.ones((4, n_classes)))


def test_scores_without_the_own_label_are_those_of_a_fit_without_it():
    """With one vote of each voter on each row, so that all fits have as many votes per row."""
    rng = np.random.default_rng(1)
    truth, table = some_votes(rng, 12, 3, 3)
    table = np.where(table < 0, 0, table)
    labeled = ballots_of(table, 3)
    balance = np.array([0.2, 0.3, 0.5])
    ours = fit_naive_bayes(labeled, truth, balance).without_own
    for row in range(12):
        rest = np.delete(np.arange(12), row)
        model = fit_naive_bayes(labeled.take(rest), truth[rest], balance)
        theirs = model.scores(labeled.take(np.array([row])))
        assert ours[[row]] == pytest.approx(theirs)


def test_a_voter_without_a_labeled_vote_has_the_accuracy_of_the_panel():
    table = np.array([[0, -1], [1, -1], [1, -1], [0, -1]])
    weights = fit_naive_bayes(ballots_of(table, 2), np.array([0, 1, 1, 0]), UNIFORM).votes
    panel = (4 + 2.8) / (4 + 4)
    assert np.exp(weights[1]) == pytest.approx(np.array([[panel, 1 - panel], [1 - panel, panel]]))


def test_dawid_skene_is_a_fixed_point_of_counting_its_own_probabilities(monkeypatch):
    """Counts of the probabilities that the tables give, with 0.3 of a row each, give the tables."""
    rng = np.random.default_rng(0)
    truth, table = some_votes(rng, 80, 4, 3)
    both, balance = ballots_of(table, 3), np.array([0.2, 0.3, 0.5])
    unlabeled, labeled = both.take(np.arange(20, 80)), both.take(np.arange(20))
    monkeypatch.setattr(component_models, "TOL", 1e-12)
    monkeypatch.setattr(component_models, "MAX_ITER", 2_000)
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


def test_unlabeled_rows_of_no_weight_leave_naive_bayes():
    rng = np.random.default_rng(3)
    truth, table = some_votes(rng, 60, 4, 2)
    both = ballots_of(table, 2)
    unlabeled, labeled = both.take(np.arange(20, 60)), both.take(np.arange(20))
    ours = fit_dawid_skene(unlabeled, labeled, truth[:20], UNIFORM, 0.0)
    theirs = fit_naive_bayes(labeled, truth[:20], UNIFORM)
    assert ours.votes == pytest.approx(theirs.votes)
    assert ours.without_own == pytest.approx(theirs.without_own)


def test_agreement_tells_good_voters_from_bad_ones_without_a_label():
    rng = np.random.default_rng(2)
    truth, good = some_votes(rng, 500, 3, 2, accuracy=0.9)
    _, bad = some_votes(rng, 500, 2, 2, accuracy=0.5, truth=truth)
    ballots = ballots_of(np.hstack([good, bad]), 2)
    model = fit_agreement(ballots)
    accuracy = np.exp(np.diagonal(model.votes, axis1=1, axis2=2)).mean(axis=1)
    assert accuracy == pytest.approx([0.9] * 3 + [0.5] * 2, abs=0.08)


def test_a_lead_is_that_of_the_largest_score_over_the_next():
    table = np.array([[0, 0, 1], [0, 1, -1], [-1, -1, -1], [2, -1, -1], [2, 1, 0]])
    ballots = ballots_of(table, 3)
    model = fit_agreement(ballots)
    scores, voted = np.sort(model.scores(ballots), axis=1), np.array([0, 1, 3, 4])
    assert model.leads(ballots)[voted] == pytest.approx(scores[voted, 2] - scores[voted, 1])
    assert model.leads(ballots)[2] == -1.0


def test_the_majority_vote_counts_every_vote_alike():
    rng = np.random.default_rng(0)
    _, table = some_votes(rng, 30, 4, 3)
    votes = majority_vote(ballots_of(table, 3), np.full(3, 1 / 3)).votes
    expected = np.log([[0.7, 0.15, 0.15], [0.15, 0.7, 0.15], [0.15, 0.15, 0.7]])
    assert votes == pytest.approx(np.broadcast_to(expected, (4, 3, 3)))
