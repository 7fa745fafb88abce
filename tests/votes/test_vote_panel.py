"""The panel as a whole: agreement counted by hand, and voters that add nothing."""

import numpy as np
import pytest

from hedgeclipper import VoteAggregator, Votes
from hedgeclipper.votes.vote_panel import _agreement, describe_panel


def test_agreement_counts_rows_on_which_both_vote():
    votes = Votes.of([[0, 0, -1], [1, 0, 1], [1, 1, -1], [-1, 1, -1]])
    found = _agreement(votes.matrix)
    assert found[0, 1] == pytest.approx(2 / 3)
    assert (found[0, 2], found[1, 2], found[2, 2]) == (1, 0, 1)
    nobody = _agreement(Votes.of([[0, -1], [-1, 1]]).matrix)
    assert np.isnan(nobody[0, 1])


def test_few_good_voters_are_enough_among_many_that_guess():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 800)
    accuracy = np.array([0.9] * 3 + [0.5] * 27)
    votes = np.where(rng.random((800, 30)) < accuracy, truth[:, None], 1 - truth[:, None])
    model = VoteAggregator().fit(votes, np.where(np.arange(800) < 200, truth, -1))
    weights = model.voter_summary()["Weight"].to_numpy()
    panel = describe_panel(model._gold.unlabeled, model._predictor, weights)
    assert panel.n_best == [1, 2, 3, 5, 10, 20, 30]
    assert set(panel.names[:3]) == {"0", "1", "2"}
    assert panel.n_enough <= 10
    probabilities = model.predict_proba(model._gold.unlabeled)
    assert panel.accuracies[-1] == pytest.approx(probabilities.max(axis=1).mean())


def test_a_voter_below_one_half_counts_the_other_way_and_the_summary_says_so():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 500)
    accuracy = np.array([0.8, 0.7, 0.1, 0.7])
    votes = np.where(rng.random((500, 4)) < accuracy, truth[:, None], 1 - truth[:, None])
    model = VoteAggregator().fit(votes, np.where(np.arange(500) < 80, truth, -1))
    summary = model.voter_summary()
    assert summary["Reversed"].tolist() == [False, False, True, False]
    assert summary["Weight"].iloc[2] < 0
    others = VoteAggregator().fit(votes[:, [0, 1, 3]], np.where(np.arange(500) < 80, truth, -1))
    assert np.mean(model.transduction_ == truth) > np.mean(others.transduction_ == truth)
