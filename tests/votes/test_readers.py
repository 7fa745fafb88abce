"""Readers of votes against loops over their entries."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hedgeclipper.votes.label_codes import LabelNumbers
from hedgeclipper.votes.readers import read_long, read_wide

TABLE = np.array([[3, -1, 0], [-1, -1, -1], [0, 0, 7]])


def labels_in(reading, labels):
    """The labels as a table with None for an abstention."""
    numbers = reading.numbers.toarray() - 1
    return [[None if n < 0 else labels.label(n) for n in row] for row in numbers]


def as_sparse(table, kind):
    row, voter = np.nonzero(table >= 0)
    return sparse.coo_array((table[row, voter], (row, voter)), shape=table.shape).asformat(kind)


FORMS = {
    "array": TABLE,
    "list": TABLE.tolist(),
    "pandas": pd.DataFrame(TABLE, columns=["a", "b", "c"]),
    "polars": pl.DataFrame(TABLE, schema=["a", "b", "c"]),
    "csr": as_sparse(TABLE, "csr"),
    "csc": as_sparse(TABLE, "csc"),
    "coo": as_sparse(TABLE, "coo"),
}


@pytest.mark.parametrize("form", FORMS)
def test_wide_tables_have_the_labels_of_their_entries(form):
    labels = LabelNumbers(-1, "The table")
    reading = read_wide(FORMS[form], labels, None)
    theirs = [[None if value == -1 else value for value in row] for row in TABLE.tolist()]
    assert labels_in(reading, labels) == theirs
    assert reading.numbers.has_canonical_format
    assert reading.numbers.nnz == 5
    assert reading.voters.given == (form in ("pandas", "polars"))


def test_votes_stored_twice_are_an_error():
    twice = sparse.coo_array(([1, 1], ([0, 0], [0, 0])), shape=(2, 2))
    with pytest.raises(ValueError, match="store some votes twice"):
        read_wide(twice, LabelNumbers(-1, "The table"), None)


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
