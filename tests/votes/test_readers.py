"""Readers of votes against loops over their entries, and codes against a dictionary."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hedgeclipper.votes.readers import (
    LabelNumbers,
    VoterNames,
    class_codes,
    read_wide,
    seen_classes,
)

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


KINDS = {
    "integers": st.integers(-5, 5),
    "far integers": st.integers(-(2**52), 2**52),
    "strings": st.sampled_from(["a", "b", "-1", "c"]),
    "booleans": st.booleans(),
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_a_label_comes_back_from_its_number_and_its_code(kind, data):
    parts = data.draw(st.lists(st.lists(KINDS[kind], min_size=1), min_size=1, max_size=3))
    labels = LabelNumbers(-1, "The table")
    numbers = [labels.number(np.array(part)) for part in parts]
    classes, codes = labels.classes()
    for part, found in zip(parts, numbers, strict=True):
        is_vote = np.array([label not in (-1, "-1") for label in part])
        assert (found >= 0).tolist() == is_vote.tolist()
        votes = np.array(part)[is_vote].tolist()
        assert [labels.label(number) for number in found[is_vote]] == votes
        assert classes[codes[found[is_vote]]].tolist() == votes
    assert classes.tolist() == sorted({label for part in parts for label in part} - {-1, "-1"})


def test_missing_labels_have_no_number():
    labels = LabelNumbers(None, "The table")
    first, second, third = labels.number(np.array([np.nan, 3.0, -1.0])).tolist()
    assert first == -1
    assert (labels.label(second), labels.label(third)) == (3, -1)
    assert labels.number(np.array([None, 3, pd.NA], dtype=object)).tolist() == [-1, second, -1]


def test_codes_are_positions_and_unknown_classes_are_named():
    classes = seen_classes(["b", "a", "c"], "The table")
    assert class_codes(["c", "a"], classes, "The table").tolist() == [2, 0]
    with pytest.raises(ValueError, match=r"The table has the class 'd', which is none of"):
        class_codes(["a", "d"], classes, "The table")


def test_floats_that_are_not_whole_are_no_classes():
    with pytest.raises(ValueError, match=r"must be whole. Got 0.5"):
        LabelNumbers(-1, "The table").number(np.array([1.0, 0.5]))


def voters(names, given):
    return VoterNames(np.array(names), given)


def test_voters_are_matched_by_name_or_else_by_position():
    known = voters(["ann", "bob", "eve"], True)
    assert voters(["eve", "ann"], True).positions_in(known).tolist() == [2, 0]
    assert voters([0, 1, 2], False).positions_in(known).tolist() == [0, 1, 2]
    assert known.positions_in(voters([0, 1, 2], False)).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("here", "others", "message"),
    [
        (voters([0, 1], False), voters(["a", "b", "c"], True), "2 voters without names, and 3"),
        (voters([0, 1], False), voters([1, 0], True), "either order may be meant"),
        (voters(["a", "x"], True), voters(["a", "b"], True), "1 of 2 voters are not known: 'x'"),
    ],
)
def test_voters_that_cannot_be_matched(here, others, message):
    with pytest.raises(ValueError, match=message):
        here.positions_in(others)


def test_names_count_as_given_unless_they_are_the_numbers_of_columns():
    assert not VoterNames.of([0, 1, 2], 3).given
    assert VoterNames.of([0, 2, 1], 3).given
    assert VoterNames.of(["0", "1"], 2).given
    assert not VoterNames.of(None, 2).given
    with pytest.raises(ValueError, match="Two voters have the name 'a'"):
        VoterNames.of(["b", "a", "a"], 3)
