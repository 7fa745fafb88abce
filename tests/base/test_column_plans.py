import numpy as np
import pandas as pd
import pytest

from hedgeclipper.base.columns import (
    ColumnEncoder,
    amount_of,
    are_amounts,
    plan_column,
)

AMOUNTS = {
    "$1,234.50": 1234.5,
    "-$3": -3,
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
    assert plan.note == "'$1,000' is read as the number 1000"
    np.testing.assert_array_equal(encoder.transform(frame[:3])[:, 0], [1000, 20, np.nan])
    np.testing.assert_array_equal(encoder.transform(more)[:, 0], [7.5, 8])
    with pytest.raises(ValueError, match="'price' holds numbers only in"):
        ColumnEncoder().fit(frame.assign(price="much"), X_unlabeled=more)


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (["7", "8"] * 20 + ["-"], "'-' and the like in 1 rows make its numbers strings"),
        (["$1,234.50", "$8"] * 20 + ["-"], "'-' and the like in 1 rows make its numbers strings"),
        (["1.234,50", "3,5 €"], "'1.234,50' and the like in 2 rows make its numbers strings"),
        (["$7", "8", "-"] * 20, ""),  # not even most are numbers
        (["01067", "10115"], ""),
        (["31.01.2020", "soon"], ""),
    ],
)
def test_strings_that_are_nearly_numbers_are_noted(texts, note):
    plan = plan_column("a", np.array(texts, dtype=object))
    assert plan.kind == "categories"
    assert plan.note.startswith(note) if note else not plan.note


def test_strings_that_are_all_different_are_left_out():
    texts = np.array([f"row {k}" for k in range(20)], dtype=object)
    assert plan_column("a", texts).kind == "left out"
    assert plan_column("a", texts[:19]).kind == "categories"
    texts[0] = None
    assert plan_column("a", texts).kind == "categories"
    dates = np.array([f"2020-01-{k:02}" for k in range(1, 31)], dtype=object)
    assert plan_column("a", dates).kind == "dates"
