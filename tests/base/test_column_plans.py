import numpy as np
import pandas as pd
import pytest

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.base.columns import (
    ColumnEncoder,
    ColumnWarning,
    amount_of,
    are_amounts,
    plan_column,
)

AMOUNTS = {
    "$1,234.50": 1234.5,
    "-$3": -3,
    "$-3": -3,
    "€ 5": 5,
    "5 €": 5,
    "1,234,567": 1234567,
    " 12% ": 0.12,
    "7": 7,
    "1e3": 1000,
}


@pytest.mark.parametrize(("text", "number"), AMOUNTS.items())
def test_amounts_are_numbers(text, number):
    assert amount_of(text) == pytest.approx(number)


@pytest.mark.parametrize(
    "texts",
    [
        ["1,5", "2,5"],  # may be decimals
        ["1,234", "1,23"],
        ["01067", "10115"],  # codes
        ["12%", "0.5"],
        ["$5", "much"],
        ["$"],
        ["$5", "."],
        ["$5", ".e5"],
        ["$5", "--5"],
        ["$5", "-$-5"],
        [],
    ],
)
def test_other_strings_are_not(texts):
    assert not are_amounts(texts)


def test_amounts_are_encoded_as_numbers_also_beside_numbers():
    frame = pd.DataFrame({"price": ["$1,000", "$20", None] * 20, "x": np.arange(60.0)})
    more = pd.DataFrame({"price": [7.5, 8.0], "x": [1.0, 2.0]})
    encoder = ColumnEncoder().fit(frame, X_unlabeled=more)
    plan = encoder.plans_[0]
    assert plan.kind == "numbers"
    assert "'$1,000' is read as 1000" in plan.what
    np.testing.assert_array_equal(encoder.transform(frame[:3])[:, 0], [1000, 20, np.nan])
    np.testing.assert_array_equal(encoder.transform(more)[:, 0], [7.5, 8])
    with pytest.raises(ValueError, match="'price' holds numbers only in"):
        ColumnEncoder().fit(frame.assign(price="much"), X_unlabeled=more)


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (["7", "8"] * 20 + ["-"], "'-' and the like in 1 row make its numbers strings"),
        (["$1,234.50", "$8"] * 20 + ["-"], "'-' and the like in 1 row make its numbers strings"),
        (["1.234,50", "3,5 €"], "'1.234,50' and the like in 2 rows make its numbers strings"),
        ([f"{k}.5" for k in range(60)] + ["n.k."] * 20, "'n.k.' and the like in 20 rows make its"),
        ([f"{k}.5" for k in range(60)] + [f"A{k}" for k in range(20)] * 2, ""),  # codes
        (["$7", "8", "-"] * 20, ""),  # not even most are numbers
        (["01067", "10115"], ""),
        (["31.01.2020", "soon"], ""),
        (["31.01.2020", "1.2.2020"] * 10 + ["soon"], "'soon' and the like in 1 row make its dates"),
    ],
)
def test_strings_that_are_nearly_numbers_are_noted(texts, note):
    plan = plan_column("a", np.array(texts, dtype=object))
    assert plan.kind in ("categories", "text")
    assert plan.note.startswith(note) if note else not plan.note


def test_a_few_strings_among_numbers_are_missing_and_counted():
    sizes = [f"{k}.5" for k in range(40)]
    frame = pd.DataFrame({"size": [*sizes, "n.k.", "unknown"]})
    encoder = ColumnEncoder().fit(frame)
    note = "'n.k.' and the like in 2 rows are no numbers, and are read as missing"
    assert encoder.plans_[0].note == note
    expected = [[39.5, 0], [np.nan, 1], [np.nan, 1]]
    np.testing.assert_array_equal(encoder.transform(frame[-3:]), expected)
    np.testing.assert_array_equal(encoder.transform(pd.DataFrame({"size": ["?"]})), [[np.nan, 1]])
    codes = [f"0{k}" for k in range(40)]
    assert plan_column("a", np.array([*codes, "D1"], dtype=object)).kind == "left out"
    # numbers in the labeled rows, and a string among those of the unlabeled ones
    both = ColumnEncoder().fit(pd.DataFrame({"size": np.arange(5.0)}), X_unlabeled=frame)
    assert both.plans_[0].kind == "numbers"


def test_numbers_that_may_be_dates_are_noted():
    days = pd.date_range("2021-06-25", periods=20).strftime("%Y%m%d").astype(int).to_numpy()
    plan = plan_column("day", days)
    assert plan.kind == "numbers"
    assert plan.note.startswith("20210625 and the like may be dates")
    assert plan.note.endswith("write them as 2021-06-25")
    for others in (days[:9], np.append(days, 20210631), np.append(days, 7), days + 0.5):
        assert not plan_column("a", others).note


@pytest.mark.parametrize("as_array", [True, False])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_marks_of_missing_values_are_warned_of_with_their_count(as_array, shift):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 1] + rng.normal(size=60) > 0, "yes", "no").astype(object)
    y[40:] = None
    X[:, 1] += shift  # another column that is scaled
    X[::10, 0] = -999
    model = HedgeClipperClassifier("trees", n_estimators=12, random_state=0)
    rows = X if as_array else pd.DataFrame(X, columns=["a", "b"]).assign(c=["u", "v"] * 30)
    with pytest.warns(ColumnWarning, match="'(x0|a)': -999 in 6 of 60 rows may mark missing"):
        model.fit(rows, y)
    assert model.encoding_["note"].str.contains("-999").tolist()[:2] == [True, False]


def test_a_column_that_is_left_out_is_warned_of():
    rows = pd.DataFrame({"a": np.arange(60) % 7, "id": [f"row {k}" for k in range(60)]})
    model = HedgeClipperClassifier("trees", n_estimators=12, random_state=0)
    with pytest.warns(ColumnWarning, match="'id' is left out: text that is different in each"):
        model.fit(rows, [0, 1] * 20 + [-1] * 20)
    assert "text of its own in each row" in model._repr_html_inner()


def test_strings_that_are_all_different_are_left_out():
    texts = np.array([f"row {k}" for k in range(20)], dtype=object)
    assert plan_column("a", texts).kind == "left out"
    assert plan_column("a", texts[:19]).kind == "categories"
    texts[0] = None
    assert plan_column("a", texts).kind == "categories"
    dates = np.array([f"2020-01-{k:02}" for k in range(1, 31)], dtype=object)
    assert plan_column("a", dates).kind == "dates"
