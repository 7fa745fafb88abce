"""Votes by line against loops, and verdicts of judges by hand and against such a table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgeclipper import Votes
from hedgeclipper.votes.long_tables import number_names, read_long
from hedgeclipper.votes.readers import LabelNumbers
from tests.votes.test_readers import labels_in

lines = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("xyz"), st.integers(-1, 2)), min_size=1
)


@given(lines, st.sampled_from(["first", "last"]))
def test_of_votes_on_the_same_task_the_first_or_the_last_counts(votes, repeated):
    labels = LabelNumbers(-1, "The column 'label'")
    columns = dict(
        zip(("task", "worker", "label"), map(list, zip(*votes, strict=True)), strict=True)
    )
    reading = read_long(columns, ("task", "worker", "label"), labels, repeated)
    tasks, workers = dict.fromkeys(columns["task"]), dict.fromkeys(columns["worker"])
    assert reading.rows.tolist() == list(tasks)
    assert reading.voters.names.tolist() == list(workers)
    counted = {}
    for task, worker, label in votes if repeated == "last" else reversed(votes):
        if label != -1:
            counted[task, worker] = label
    theirs = [[counted.get((task, worker)) for worker in workers] for task in tasks]
    assert labels_in(reading, labels) == theirs


def test_votes_that_differ_are_named():
    table = {"task": [1, 1, 1], "worker": ["a", "b", "a"], "label": ["no", "no", "yes"]}
    labels = LabelNumbers(None, "The column 'label'")
    with pytest.raises(ValueError, match="Worker 'a' votes more than once on task 1: for 'no' and"):
        read_long(table, ("task", "worker", "label"), labels, "error")


@pytest.mark.parametrize("values", [[7, 3, 7, 10**9, 3], ["x", "y", "x", "w", "y"]])
@pytest.mark.parametrize("kind", [np.array, pd.Series, pl.Series, lambda v: pa.chunked_array([v])])
def test_names_are_numbered_as_they_first_appear(kind, values):
    names, numbers = number_names(kind(values), "The column")
    number_of = {}
    theirs = [number_of.setdefault(value, len(number_of)) for value in values]
    assert names.tolist() == list(number_of)
    assert np.asarray(numbers).tolist() == theirs


# Verdicts of judges.

VERDICTS = {"1": "A", "2": "B", "tie": None, "error": None}
LINES = {
    "pair": ["x", "x", "x", "y", "y", "z"],
    "model": ["m", "m", "n", "m", "n", "n"],
    "turn": ["AB", "BA", "AB", "AB", "AB", "BA"],
    "said": ["1", "2", "tie", "2", None, "error"],
}
NAMES = {"item": "pair", "judge": "model", "verdict": "said"}


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame])
def test_each_order_of_a_judge_is_a_voter_and_words_mean_classes(kind):
    votes = Votes.from_judges(kind(LINES), **NAMES, order="turn", verdicts=VERDICTS)
    assert votes.voters.tolist() == ["m (AB)", "m (BA)", "n (AB)", "n (BA)"]
    assert votes.rows.tolist() == ["x", "y", "z"]
    assert votes.classes.tolist() == ["A", "B"]
    assert votes.matrix.toarray().tolist() == [[1, 2, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0]]


def test_without_more_it_is_a_long_table():
    table = {"item": [1, 1, 2], "judge": ["m", "n", "m"], "verdict": ["A", "B", "A"]}
    ours = Votes.from_judges(table)
    theirs = Votes.from_long(table, task="item", worker="judge", label="verdict")
    np.testing.assert_array_equal(ours.matrix.toarray(), theirs.matrix.toarray())


def test_two_verdicts_of_a_judge_on_an_item_are_an_error_unless_one_is_chosen():
    with pytest.raises(ValueError, match="votes more than once on task 'x'"):
        Votes.from_judges(LINES, **NAMES, verdicts=VERDICTS)
    last = Votes.from_judges(LINES, **NAMES, verdicts=VERDICTS, repeated="last")
    assert last.matrix.toarray()[0].tolist() == [2, 0]


def test_unknown_verdicts_are_named():
    with pytest.raises(ValueError, match=r"1 verdicts are not among.*'error'"):
        Votes.from_judges(LINES, **NAMES, order="turn", verdicts={"1": "A", "2": "B", "tie": None})


def test_scores_become_votes_at_quantiles():
    """Each judge has its own scale; a cut that all scores reach tells nothing."""
    scores = {"item": [1, 2, 3, 4] * 2, "judge": ["m"] * 4 + ["n"] * 4,
              "verdict": [1, 2, 3, 4, 70, 70, 90, None]}  # fmt: skip
    votes = Votes.from_judges(scores, cuts=3)
    assert votes.voters.tolist() == ["m >= 2", "m >= 3", "m >= 4", "n >= 90"]
    assert votes.classes.tolist() == [False, True]
    expected = [[1, 1, 1, 1], [2, 1, 1, 1], [2, 2, 1, 2], [2, 2, 2, 0]]
    assert votes.matrix.toarray().tolist() == expected


def test_cuts_are_for_numbers():
    with pytest.raises(ValueError, match="verdicts must be numbers"):
        Votes.from_judges(LINES, **NAMES, order="turn", cuts=2)
