import warnings

import numpy as np
import pandas as pd
import pytest

from hedgeclipper import ColumnWarning, HedgeClipperClassifier, VoteAggregator
from hedgeclipper.base.columns import APART, find_leaks

Y = np.repeat([0, 1, 2], [20, 30, 10])
OTHERS = np.random.default_rng(0).normal(size=(100, 1))


def leaks(column, y=Y, others=OTHERS):
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=y.size), column]).astype(np.float32)
    rest = np.column_stack([rng.normal(size=len(others)), others]).astype(np.float32)
    found = find_leaks(X, y, rest, np.array([0, *[1] * (X.shape[1] - 1)]))
    assert 0 not in found
    return found.get(1, "")


def test_a_column_with_one_value_for_each_class_is_a_leak(rng):
    assert leaks(7.0 - Y)
    assert leaks(np.eye(3)[Y], others=np.eye(3)[rng.integers(3, size=100)])
    assert not leaks(Y == 1)  # tells one class
    noisy = np.where(np.arange(60) == 3, 2, Y)
    assert not leaks(noisy)
    # by accident: 1 / C(9, 3) with three labels of a class
    assert not leaks(np.repeat([0, 1], [6, 3]), np.repeat([0, 1], [6, 3]))


def test_a_column_that_only_one_class_has_is_a_leak(rng):
    y = np.repeat([0, 1], [25, 25])
    date = np.where(y == 1, rng.normal(size=50), np.nan)
    others = np.where(rng.random((100, 1)) < 0.5, rng.normal(size=(100, 1)), np.nan)
    assert leaks(date, y, others)
    assert leaks(np.column_stack([date, np.isnan(date)]), y, np.hstack([others, np.isnan(others)]))
    assert leaks(np.nan_to_num(date), y)
    assert not leaks(np.where(np.arange(50) == 49, np.nan, date), y, others)  # one has none
    assert not leaks(np.where(np.arange(50) == 0, 1.0, date), y, others)
    # ten labels of a class: 1 / C(20, 10), times the values that the column may have
    assert not leaks(date[15:35], y[15:35], others)


@pytest.mark.parametrize("others", [np.full((100, 1), np.nan), np.ones((100, 1))])
def test_a_column_that_tells_classes_apart_only_where_labels_are_is_a_leak(rng, others):
    numbers = Y + rng.uniform(0, 0.9, Y.size)
    assert "empty or the same" in leaks(numbers, others=others)
    assert "empty or the same" in leaks(3 * Y + rng.integers(2, size=60), others=others)
    assert leaks(numbers) == leaks(numbers, others=others[:5]) == APART
    assert not leaks(rng.normal(size=60), others=others)
    assert not leaks(rng.permutation(60), others=others)  # each value is of one class, as any id's
    gaps = np.where(np.arange(60) % 9 == 0, np.nan, Y)
    assert not leaks(gaps, others=others)


def test_a_leak_is_refused_with_its_name_or_kept(rng):
    y = np.where(rng.random(300) < 0.5, "yes", "no").astype(object)
    rows = pd.DataFrame(
        {"a": rng.normal(size=300), "outcome": np.where(y == "yes", "paid", "lost")}
    )
    y[100:] = None
    model = HedgeClipperClassifier("trees", n_estimators=12, random_state=0)
    with pytest.raises(ValueError, match=r"'outcome' seems to be made of .*keep=\['outcome'\]"):
        model.fit(rows, y)
    model.set_params(keep=["outcome"]).fit(rows, y)
    assert model.encoding_["kind"].tolist() == ["numbers", "categories"]
    rows.loc[100:, "outcome"] = None
    with pytest.raises(ValueError, match="'outcome' seems"):
        model.set_params(keep=None).fit(rows, y)
    rows["copy"] = np.where(y == "yes", 1.0, 0.0)
    with pytest.raises(ValueError, match=r"'outcome' seems to be .* So do 'copy'"):
        model.fit(rows, y)


def test_numbers_that_separate_the_classes_are_warned_of_or_kept(rng):
    y = np.repeat([0, 1, -1], [30, 30, 60])
    rows = pd.DataFrame({"a": rng.normal(size=120), "grade": rng.uniform(size=120)})
    rows.loc[30:89, "grade"] += 1.5
    model = HedgeClipperClassifier("trees", n_estimators=12, random_state=0)
    with pytest.warns(ColumnWarning, match=r"60 labeled rows one column .*grade.*keep=\['grade'\]"):
        model.fit(rows, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ColumnWarning)
        model.set_params(keep=["grade"]).fit(rows, y)


def test_classes_that_differ_in_spelling_alone_are_warned_of(rng):
    rows, y = rng.normal(size=(90, 2)), np.array(["yes", "No ", "no"] * 30, dtype=object)
    y[60:] = None
    model = HedgeClipperClassifier("trees", n_estimators=12, random_state=0)
    with pytest.warns(ColumnWarning, match="'No ' and 'no' are two classes"):
        model.fit(rows, y)
    assert model.classes_.tolist() == ["No ", "no", "yes"]
    votes = pd.DataFrame({"a": ["pos", "neg"] * 30, "b": ["pos", "pos", "neg"] * 20})
    gold = ["POS", "neg"] * 10 + [None] * 40
    with pytest.warns(ColumnWarning, match="'POS' and 'pos' are two classes"):
        VoteAggregator().fit(votes, gold)
