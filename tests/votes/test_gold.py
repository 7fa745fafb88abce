"""Which rows have gold labels, and in which order they come back."""

import numpy as np
import pytest

from hedgeclipper.base.semi_supervised import NoUnlabeledRowsWarning
from hedgeclipper.votes.gold import GoldRows, read_votes, split_votes
from hedgeclipper.votes.matrix import Votes

TABLE = np.array([[0, 1], [1, 1], [2, -1], [-1, -1], [0, 2]])


def dense(votes):
    return votes.matrix.toarray() - 1


@pytest.mark.parametrize("y", [[1, -1, 0, -1, 2], [1, None, 0, np.nan, 2]])
def test_rows_are_split_by_whether_their_label_is_missing(y):
    labeled, labels, rest, marked = split_votes(Votes.of(TABLE), y)
    assert marked.tolist() == [False, True, False, True, False]
    assert labels == [1, 0, 2]
    assert dense(labeled).tolist() == TABLE[~marked].tolist()
    assert dense(rest).tolist() == TABLE[marked].tolist()


def test_other_rows_come_after_those_without_a_label():
    others = Votes.of([[1, 1], [0, 0]])
    split = split_votes(Votes.of(TABLE), [1, None, 0, 0, 2], others)
    assert split.marked is None
    assert dense(split.rest).tolist() == [[1, 1], [1, 1], [0, 0]]


def test_minus_one_is_a_label_beside_other_rows_and_where_it_is_a_class_and_others_are_missing():
    votes = Votes.of(TABLE[:, :1], abstain_label=None)
    assert split_votes(votes, [1, -1, 0, -1, 2], votes).labels == [1, -1, 0, -1, 2]
    assert split_votes(votes, [1, None, 0, -1, 2]).labels == [1, 0, -1, 2]
    with pytest.raises(ValueError, match="-1 is a class of the votes"):
        split_votes(votes, [1, -1, 0, -1, 2])


def test_codes_are_positions_among_the_classes_of_votes_and_labels():
    gold = GoldRows.of(split_votes(Votes.of([["b"], ["c"], ["b"]]), ["d", None, "a"]))
    assert gold.labeled.classes.tolist() == ["a", "b", "c", "d"]
    assert gold.codes.tolist() == [3, 0]
    assert dense(gold.labeled).ravel().tolist() == [1, 1]
    assert dense(gold.unlabeled).ravel().tolist() == [2]


def test_labels_of_all_rows_are_in_the_order_they_were_passed():
    gold = GoldRows.of(split_votes(Votes.of(TABLE), [1, -1, 0, -1, 2]))
    assert gold.all_labels(np.array([7, 8])).tolist() == [1, 7, 0, 8, 2]
    apart = GoldRows.of(split_votes(Votes.of(TABLE), np.arange(5) % 3, Votes.of(TABLE)))
    assert apart.all_labels(np.arange(5)).tolist() == [0, 1, 2, 3, 4]


def test_without_unlabeled_rows_the_labeled_ones_are_reused():
    with pytest.warns(NoUnlabeledRowsWarning, match="mark them with y = -1"):
        alone = GoldRows.of(split_votes(Votes.of(TABLE), [0, 1, 2, 0, 1]))
    assert alone.unlabeled is alone.labeled
    assert not alone.has_unlabeled


def test_a_list_of_votes_is_stacked_and_batches_are_read_once():
    assert dense(read_votes([Votes.of(TABLE[:2]), Votes.of(TABLE[2:])], -1)).tolist() == (
        TABLE.tolist()
    )
    assert dense(read_votes(iter([TABLE[:2], TABLE[2:]]), -1)).tolist() == TABLE.tolist()
