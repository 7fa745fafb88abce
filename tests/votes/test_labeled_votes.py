"""Which rows have gold labels, in which order they come back, and the evidence of a fit."""

import warnings

import numpy as np
import pytest

from hedgeclipper import ShiftWarning
from hedgeclipper.base.row_reader import NoUnlabeledRowsWarning
from hedgeclipper.votes import labeled_votes
from hedgeclipper.votes.labeled_votes import (
    LabeledVotes,
    cautious_frequencies,
    class_frequencies,
    find_labels,
    gather_evidence,
    warn_of_shift,
)
from hedgeclipper.votes.matrix import VoteKernel, Votes
from tests.votes.vote_instances import kernel_of, some_votes, votes_of

TABLE = np.array([[0, 1], [1, 1], [2, -1], [-1, -1], [0, 2]])


def dense(votes):
    return votes.matrix.toarray() - 1


def rows_of(table, y, others=None, abstain_label=-1):
    others = None if others is None else Votes.of(others)
    return LabeledVotes.of(Votes.of(table, abstain_label=abstain_label), y, others, abstain_label)


@pytest.mark.parametrize("y", [[1, -1, 0, -1, 2], [1, None, 0, np.nan, 2]])
def test_rows_are_split_by_whether_their_label_is_missing(y):
    rows = rows_of(TABLE, y)
    assert (rows.labeled_rows.tolist(), rows.unlabeled_rows.tolist()) == ([0, 2, 4], [1, 3])
    assert rows.codes.tolist() == [1, 0, 2]
    assert dense(rows.labeled).tolist() == TABLE[[0, 2, 4]].tolist()
    assert dense(rows.unlabeled).tolist() == TABLE[[1, 3]].tolist()


def test_other_rows_come_after_those_without_a_label():
    rows = rows_of(TABLE, [1, None, 0, 0, 2], [[1, 1], [0, 0]])
    assert rows.is_apart
    assert dense(rows.unlabeled).tolist() == [[1, 1], [1, 1], [0, 0]]


def test_minus_one_is_a_label_beside_other_rows_and_where_it_is_a_class_and_others_are_missing():
    votes = Votes.of(TABLE[:, :1], abstain_label=None)
    marked = find_labels(votes, [1, -1, 0, -1, 2], has_others=True)[1]
    assert not marked.any()
    assert find_labels(votes, [1, None, 0, -1, 2])[1].tolist() == [False, True, False, False, False]
    with pytest.raises(ValueError, match="-1 is a class of the votes"):
        find_labels(votes, [1, -1, 0, -1, 2])


def test_codes_are_positions_among_the_classes_of_votes_and_labels():
    gold = rows_of([["b"], ["c"], ["b"]], ["d", None, "a"])
    assert gold.votes.classes.tolist() == ["a", "b", "c", "d"]
    assert gold.codes.tolist() == [3, 0]
    assert dense(gold.labeled).ravel().tolist() == [1, 1]
    assert dense(gold.unlabeled).ravel().tolist() == [2]


def test_labels_of_all_rows_are_in_the_order_they_were_passed():
    gold = rows_of(TABLE, [1, -1, 0, -1, 2])
    assert gold.all_labels(np.array([7, 8])).tolist() == [1, 7, 0, 8, 2]
    apart = rows_of(TABLE, np.arange(5) % 3, TABLE)
    assert apart.all_labels(np.arange(5)).tolist() == [0, 1, 2, 3, 4]


def test_nothing_depends_on_which_rows_test():
    """A row whose label is held out is an unlabeled row like any other, in its place."""
    truth, table = some_votes(np.random.default_rng(0), 40, 4, 3)
    y = np.where(np.arange(40) % 2 == 0, truth, -1)
    fewer = y.copy()
    fewer[[6, 20]] = -1
    held = LabeledVotes.of(votes_of(table, 3), y, None, -1).hold_out(np.array([3, 10]))
    never = LabeledVotes.of(votes_of(table, 3), fewer, None, -1)
    assert held.codes.tolist() == never.codes.tolist()
    assert held.unlabeled_rows.tolist() == never.unlabeled_rows.tolist()


def test_without_unlabeled_rows_the_labeled_ones_are_reused():
    with pytest.warns(NoUnlabeledRowsWarning, match="mark them with y = -1"):
        alone = rows_of(TABLE, [0, 1, 2, 0, 1])
    assert dense(alone.unlabeled).tolist() == dense(alone.labeled).tolist()
    assert not alone.has_unlabeled


# The evidence.


def gathered(n_rows=60, n_labeled=20, class_balance="labeled"):
    truth, table = some_votes(np.random.default_rng(0), n_rows, 4, 3)
    y = np.where(np.arange(n_rows) < n_labeled, truth, -1)
    rows = LabeledVotes.of(votes_of(table, 3), y, None, -1)
    return table, gather_evidence(rows, class_balance, random_state=0)


def test_frequencies_are_those_of_the_labels_and_one_more_of_each_class():
    counts = np.array([3.0, 0.0, 1.0])
    assert class_frequencies("labeled", counts) == pytest.approx([4 / 7, 1 / 7, 2 / 7])
    assert class_frequencies("uniform", np.arange(4.0)) == pytest.approx([0.25] * 4)
    assert class_frequencies([0.2, 0.8], np.ones(2)).tolist() == [0.2, 0.8]


def test_few_rows_are_all_used():
    _, found = gathered()
    assert found.sample is found.unlabeled
    assert found.searched is found.unlabeled


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
    monkeypatch.setattr(labeled_votes, "ROWS_IN_GAME", 30)
    monkeypatch.setattr(labeled_votes, "ROWS_IN_SEARCH", 10)
    table, found = gathered(n_rows=120)
    assert (found.sample.n_rows, found.searched.n_rows) == (30, 10)
    all_rows, drawn, searched = (
        {tuple(row) for row in rows.tolist()}
        for rows in (table[20:], dense(found.sample.votes), dense(found.searched.votes))
    )
    assert searched <= drawn <= all_rows


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
    assert not warn_of_shift(VoteKernel(labeled), VoteKernel(unlabeled))


def test_a_shift_names_the_voter_the_vote_and_how_often_it_is_cast():
    labeled = kernel_of(np.c_[np.arange(200) % 2, np.zeros(200, dtype=int)], 2)
    unlabeled = kernel_of(np.c_[np.arange(600) % 2, np.ones(600, dtype=int)], 2)
    with pytest.warns(ShiftWarning, match=r"1 votes for [01] on (0.00%|100.00%) of the former"):
        assert warn_of_shift(labeled, unlabeled)


def test_rows_drawn_at_random_hardly_ever_give_a_warning():
    kernel = kernel_of(some_votes(np.random.default_rng(1), 2000, 6, 2)[1], 2)
    rng = np.random.default_rng(0)
    n_warned = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShiftWarning)
        for _ in range(200):
            order = rng.permutation(2000)
            n_warned += warn_of_shift(kernel.take(order[:100]), kernel.take(order[100:]))
    assert n_warned <= 2
