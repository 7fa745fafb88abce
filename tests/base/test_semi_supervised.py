import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, cross_val_score

from hedgeclipper import (
    HedgeClipperClassifier,
    NoUnlabeledRowsWarning,
    SemiSupervisedSplit,
    VoteAggregator,
)
from hedgeclipper.base.row_reader import split_rows

X = np.arange(12.0).reshape(6, 2)


def test_minus_one_marks_unlabeled_rows():
    rows = split_rows(X, [0, -1, 1, -1, 0, 1], None)
    assert rows.y_labeled.tolist() == [0, 1, 0, 1]
    assert rows.X_unlabeled.tolist() == X[[1, 3]].tolist()
    assert rows.marked.tolist() == [False, True, False, True, False, False]


def test_with_unlabeled_rows_of_their_own_minus_one_is_a_class():
    rows = split_rows(X, [-1, 1, -1, 1, 1, 1], X[:2])
    assert rows.y_labeled.tolist() == [-1, 1, -1, 1, 1, 1]
    assert rows.marked is None


def test_the_ambiguous_call_explains_both_ways_out():
    with pytest.raises(ValueError, match=r"one class, 1,.*'unlabeled'.*Encode.*X_unlabeled"):
        split_rows(X, [-1, 1, -1, 1, 1, 1], None)
    with pytest.raises(ValueError, match="no class once -1"):
        split_rows(X, [-1] * 6, None)


def test_without_unlabeled_rows_the_labeled_ones_take_their_place():
    with pytest.warns(NoUnlabeledRowsWarning, match="nothing is learned beyond them"):
        rows = split_rows(X, [0, 1, 0, 1, 0, 1], None)
    assert rows.X_unlabeled is X


def test_minus_one_among_strings_marks_unlabeled_rows_too():
    y = np.array(["a", "b", "c", "a", "b", "c"], dtype="<U5")
    y[[2, 5]] = -1  # NumPy makes a string of it
    assert y[2] == "-1"
    rows = split_rows(X, y, None)
    assert rows.y_labeled.tolist() == ["a", "b", "a", "b"]
    assert split_rows(X, y, X).y_labeled.size == 6


@pytest.mark.parametrize(
    "labels", [[0, 1, 1], [0.0, 1.0, 1.0], ["a", "b", "b"], [False, True, True]]
)
def test_what_a_masked_array_hides_is_unlabeled(labels):
    """NumPy fills strings with "N/A", which was a class."""
    y = np.ma.masked_array(np.array([*labels, *labels]), mask=[False] * 4 + [True] * 2)
    rows = split_rows(X, y, None)
    assert rows.y_labeled.tolist() == [*labels, labels[0]]
    np.testing.assert_array_equal(rows.X_unlabeled, X[4:])


def test_split_tests_labeled_rows_only_and_trains_on_all_unlabeled():
    y = np.array([0, 1, -1] * 10)
    tested = []
    for train, test in SemiSupervisedSplit(cv=4, random_state=0).split(np.zeros((30, 1)), y):
        assert np.all(y[test] != -1)
        assert set(np.flatnonzero(y == -1)) <= set(train)
        assert not set(train) & set(test)
        tested += test.tolist()
    assert sorted(tested) == np.flatnonzero(y != -1).tolist()


def test_split_takes_other_splitters_and_groups():
    y, groups = np.array([0, 1, -1, 0, 1, -1]), [0, 0, 1, 1, 1, 2]
    splitter = SemiSupervisedSplit(GroupKFold(2))
    assert splitter.get_n_splits() == 2
    for _, test in splitter.split(np.zeros((6, 1)), y, groups):
        assert len({groups[row] for row in test}) == 1


def test_split_without_labels():
    with pytest.raises(ValueError, match="nothing to score"):
        list(SemiSupervisedSplit().split(np.zeros((3, 1)), [-1, -1, -1]))


@pytest.mark.parametrize(
    "model", [HedgeClipperClassifier("trees", n_estimators=20), VoteAggregator()]
)
def test_a_warning_names_the_line_that_called_fit(model):
    y = np.arange(40) % 2
    with pytest.warns(NoUnlabeledRowsWarning) as caught:
        model.fit(np.column_stack([y ^ (np.arange(40) < 3), y ^ (np.arange(40) > 36), y * 0]), y)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
@pytest.mark.parametrize("form", ["none", "nan", "list", "categories", "nullable"])
def test_labels_may_be_missing_in_any_way_in_a_cross_validation(form, scoring):
    X = np.random.default_rng(0).normal(size=(80, 2))
    truth, known = np.where(X[:, 0] > 0, "a", "b"), np.arange(80) < 40
    strings, numbers = np.where(known, truth, None), np.where(known, X[:, 0] > 0, np.nan)
    forms = {
        "none": strings,
        "nan": numbers,
        "list": strings.tolist(),
        "categories": pd.Series(pd.Categorical(strings)),
        "nullable": pd.Series(numbers).astype("Int64"),
    }
    model = HedgeClipperClassifier("trees", n_estimators=6, random_state=0)
    split = SemiSupervisedSplit(2, random_state=0)
    scores = cross_val_score(model, X, forms[form], cv=split, scoring=scoring, error_score="raise")
    assert scores.min() > 0.8
