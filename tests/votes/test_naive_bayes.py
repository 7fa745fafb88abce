"""Naive Bayes against counting by hand, and leaving out against fitting again."""

import numpy as np
import pytest

from hedgeclipper.votes.naive_bayes import fit_naive_bayes
from tests.votes.vote_instances import ballots_of, some_votes


def test_a_single_voter_by_hand():
    """Three votes, two right; the panel has (2 + 2.8) / (3 + 4), the voter (2 + 4 p) / (3 + 4)."""
    labeled = ballots_of(np.array([[0], [1], [1]]), 2)
    weights, _ = fit_naive_bayes(labeled, np.array([0, 1, 0]))
    panel = 4.8 / 7
    accuracy = (2 + 4 * panel) / 7
    in_first = (1 + 8 * accuracy) / (2 + 8)  # two rows of the first class, one vote for it
    in_second = (0 + 8 * (1 - accuracy)) / (1 + 8)
    assert np.exp(weights[0, 0]) == pytest.approx([in_first, in_second])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_frequencies_of_votes_add_up_to_one_in_each_class(n_classes):
    rng = np.random.default_rng(0)
    truth, table = some_votes(rng, 30, 4, n_classes)
    weights, _ = fit_naive_bayes(ballots_of(table, n_classes), truth)
    assert np.exp(weights).sum(axis=1) == pytest.approx(np.ones((4, n_classes)))


def test_scores_without_the_own_label_are_those_of_a_fit_without_it():
    """With one vote of each voter on each row, so that all fits have as many votes per row."""
    rng = np.random.default_rng(1)
    truth, table = some_votes(rng, 12, 3, 3)
    table = np.where(table < 0, 0, table)
    labeled = ballots_of(table, 3)
    ours = fit_naive_bayes(labeled, truth)[1]
    for row in range(12):
        rest = np.delete(np.arange(12), row)
        weights, _ = fit_naive_bayes(labeled.take(rest), truth[rest])
        theirs = labeled.take(np.array([row])).scores(weights)
        assert ours[[row]] == pytest.approx(theirs)


def test_a_voter_without_a_labeled_vote_has_the_accuracy_of_the_panel():
    table = np.array([[0, -1], [1, -1], [1, -1], [0, -1]])
    weights, _ = fit_naive_bayes(ballots_of(table, 2), np.array([0, 1, 1, 0]))
    panel = (4 + 2.8) / (4 + 4)
    assert np.exp(weights[1]) == pytest.approx(np.array([[panel, 1 - panel], [1 - panel, panel]]))
