"""The evidence of a fit against a recount."""

import numpy as np
import pytest

from hedgeclipper.votes import evidence
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.evidence import (
    cautious_frequencies,
    class_frequencies,
    gather_evidence,
    shift_of_votes,
)
from hedgeclipper.votes.gold import GoldRows, split_votes
from hedgeclipper.votes.matrix import Votes
from tests.votes.vote_instances import ballots_of, some_votes


def gathered(n_rows=60, n_labeled=20, class_balance="labeled"):
    truth, table = some_votes(np.random.default_rng(0), n_rows, 4, 3)
    y = np.where(np.arange(n_rows) < n_labeled, truth, -1)
    gold = GoldRows.of(split_votes(Votes.of(table, classes=[0, 1, 2]), y))
    return table, gather_evidence(gold, class_balance, random_state=0)


def test_frequencies_are_those_of_the_labels_and_one_more_of_each_class():
    counts = np.array([3.0, 0.0, 1.0])
    assert class_frequencies("labeled", counts) == pytest.approx([4 / 7, 1 / 7, 2 / 7])
    assert class_frequencies("uniform", np.arange(4.0)) == pytest.approx([0.25] * 4)
    assert class_frequencies([0.2, 0.8], np.ones(2)).tolist() == [0.2, 0.8]


@pytest.mark.parametrize("balance", [[0.5, 0.6], [1.0, 0.0], [0.2, 0.3, 0.5], ["a", "b"]])
def test_frequencies_must_be_positive_and_add_up_to_one(balance):
    with pytest.raises(ValueError, match="2 positive frequencies that add up to 1"):
        class_frequencies(balance, np.ones(2))


def test_few_rows_are_all_used():
    _, found = gathered()
    assert found.sample is found.unlabeled
    assert found.searched.tolist() == list(range(40))


def test_frequencies_within_two_standard_errors_of_equal_ones_are_taken_as_equal():
    """Of 20 labels 14 are 1.8 standard errors above one half, and 15 are 2.2 above it."""
    assert cautious_frequencies(np.array([14, 6])).tolist() == [0.5, 0.5]
    first, second = cautious_frequencies(np.array([15, 5]))
    assert 0.5 < first < 0.75
    assert first + second == pytest.approx(1.0)
    assert cautious_frequencies(np.array([7_000, 3_000])) == pytest.approx([0.7, 0.3], abs=1e-3)


def test_component_models_get_a_balance_that_is_known_as_it_is():
    _, found = gathered()
    labels = np.bincount(found.codes, minlength=3)
    assert found.cautious_balance == pytest.approx(cautious_frequencies(labels))
    _, known = gathered(class_balance="uniform")
    assert known.cautious_balance is known.balance


def test_of_many_rows_some_are_drawn_and_weights_are_searched_on_some_of_these(monkeypatch):
    monkeypatch.setattr(evidence, "MAX_ROWS_IN_GAME", 30)
    monkeypatch.setattr(evidence, "MAX_ROWS_IN_SEARCH", 10)
    table, found = gathered(n_rows=120)
    assert (found.sample.n_rows, found.searched.size) == (30, 10)
    assert np.all(np.diff(found.searched) > 0)
    drawn = {tuple(row) for row in (found.sample.votes.matrix.toarray() - 1).tolist()}
    assert {tuple(row) for row in table[20:][found.searched].tolist()} <= drawn


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
