"""The summary of the voters against loops over the votes."""

import numpy as np
import pytest

from hedgeclipper import VoteAggregator
from tests.votes.vote_instances import some_votes

N_LABELED, N_CLASSES = 40, 3


@pytest.fixture(scope="module")
def summary():
    """The frame, the table of votes, the truth, and the model."""
    truth, table = some_votes(np.random.default_rng(3), 150, 4, N_CLASSES)
    table = np.c_[table, np.full(150, -1)]  # the last voter always abstains
    y = np.where(np.arange(150) < N_LABELED, truth, -1)
    model = VoteAggregator(random_state=0).fit(table, y)
    return model.voter_summary(), table, truth, model


def test_coverage_overlaps_and_conflicts_are_proportions_of_the_unlabeled_rows(summary):
    frame, table, _, _ = summary
    rows = table[N_LABELED:]
    for j in range(5):
        others = np.delete(rows, j, axis=1)
        voted = rows[:, j] >= 0
        beside = voted & (others >= 0).any(axis=1)
        against = voted & ((others >= 0) & (others != rows[:, [j]])).any(axis=1)
        assert frame["Coverage"].iloc[j] == pytest.approx(voted.mean())
        assert frame["Overlaps"].iloc[j] == pytest.approx(beside.mean())
        assert frame["Conflicts"].iloc[j] == pytest.approx(against.mean())


def test_right_and_wrong_votes_are_counted_on_the_labeled_rows(summary):
    frame, table, truth, _ = summary
    rows, gold = table[:N_LABELED], truth[:N_LABELED, None]
    right, wrong = (rows == gold).sum(axis=0), ((rows >= 0) & (rows != gold)).sum(axis=0)
    assert frame["Correct"].tolist() == right.tolist()
    assert frame["Incorrect"].tolist() == wrong.tolist()
    assert frame["Emp. Acc."].to_numpy()[:4] == pytest.approx(right[:4] / (right + wrong)[:4])
    assert np.isnan(frame["Emp. Acc."].iloc[4])


def test_estimated_accuracy_is_the_mean_probability_of_what_a_voter_votes_for(summary):
    frame, table, _, model = summary
    probabilities = model.predict_proba(table[N_LABELED:])
    for j in range(4):
        (rows,) = np.nonzero(table[N_LABELED:, j] >= 0)
        own = probabilities[rows, table[N_LABELED:][rows, j]]
        assert frame["Est. Acc."].iloc[j] == pytest.approx(own.mean())


def test_the_weight_is_what_votes_add_to_their_class_less_the_mean_of_the_others(summary):
    frame, table, _, model = summary
    for j in range(4):
        votes = table[N_LABELED:, j]
        added = model.vote_weights_[j][votes[votes >= 0]]
        own = added[np.arange(len(added)), votes[votes >= 0]]
        others = (added.sum(axis=1) - own) / (N_CLASSES - 1)
        assert frame["Weight"].iloc[j] == pytest.approx((own - others).mean())


def test_polarity_lists_the_classes_a_voter_ever_votes_for(summary):
    frame, table, _, _ = summary
    for j in range(5):
        assert frame["Polarity"].iloc[j] == sorted(set(table[:, j].tolist()) - {-1})


def test_contributions_are_weights_by_coverage_as_parts_of_their_sum(summary):
    frame = summary[0]
    sizes = (frame["Weight"].abs() * frame["Coverage"]).fillna(0.0)
    np.testing.assert_allclose(frame["Contribution"], sizes / sizes.sum())


@pytest.mark.parametrize("level", [None, 0.9])
def test_rows_that_test_are_those_of_the_certificate(summary, level):
    _, table, truth, _ = summary
    y = np.where(np.arange(150) < N_LABELED, truth, -1)
    model = VoteAggregator(confidence_level=level, random_state=0).fit(table, y)
    labels, found = model.tested_probabilities()
    errors = np.sum(found.argmax(axis=1) != labels)
    assert (labels.size, errors) == (model.certificate_.n_tested, model.certificate_.n_errors)


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
