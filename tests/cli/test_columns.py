import numpy as np
import pandas as pd
import pytest

from hedgeclipper.cli.columns import ColumnPreparation, as_text, different_names
from hedgeclipper.cli.plans import plan_column


def plan(values, **options):
    return plan_column(pd.Series(values, name="x", **options))


@pytest.mark.parametrize(
    ("values", "kind", "what"),
    [
        ([1, 2, 3], "numbers", "as they are"),
        ([1.0, None], "numbers", "as they are; 1 missing, marked in a column of their own"),
        ([True, False, None], "numbers", "as they are; 1 missing, marked in a column of their own"),
        (
            ["a", "b", None],
            "words",
            "2 values, a column of 0 and 1 for each; 1 missing are a value",
        ),
        ([1, "a", 2], "words", "3 values"),
        (["2020-01-31", "2021-12-01"], "dates", "read as ISO8601"),
        (["31/01/2020", "01/12/2021"], "dates", "read as %d/%m/%Y"),
        (["01/31/2020", "12/01/2021"], "dates", "read as %m/%d/%Y"),
        (["2020-01-31T10:00", None], "dates", "read as ISO8601; 1 missing"),
        (["2020-01-31", "soon"], "words", "2 values"),
        ([None, None], "left out", "all values are missing"),
        (["a", "a"], "left out", "the same value everywhere"),
        ([[1], [2]], "left out", "cannot be used"),
        ([f"text {k}" for k in range(60)], "left out", "text of its own in most rows (60 values)"),
        ([f"w{k}" for k in range(60)] * 3, "words", "for each of the 49 most common"),
    ],
)
def test_what_is_done_with_a_column(values, kind, what):
    found = plan(values)
    assert found.kind == kind
    assert what in found.what


def test_dates_of_pandas_and_categories():
    assert plan(pd.to_datetime(["2020-01-31", None])).what == "day, month and weekday; 1 missing"
    assert plan(["a", "b"], dtype="category").kind == "words"


def test_numbers_words_and_dates_become_columns_of_numbers():
    rows = pd.DataFrame(
        {
            "n": [1.0, np.nan, 3.0],
            "w": ["a", None, "b"],
            "d": ["1970-01-02", "1970-02-01", None],
            "id": ["p", "p", "p"],
        }
    )
    out = ColumnPreparation("y").fit(rows).transform(rows)
    assert list(out) == ["n", "n_missing", "w_", "w_a", "w_b", "d_day", "d_month", "d_weekday"]
    assert {dtype.kind for dtype in out.dtypes} == {"f"}
    np.testing.assert_array_equal(out["n_missing"], [0, 1, 0])
    np.testing.assert_array_equal(out["w_"], [0, 1, 0])
    np.testing.assert_array_equal(out["d_day"], [1, 31, np.nan])
    np.testing.assert_array_equal(out["d_weekday"], [4, 6, np.nan])


def test_rows_of_another_kind_than_those_it_was_fitted_to():
    rows = pd.DataFrame({"n": [1, 2], "w": ["1", "b"]})
    columns = ColumnPreparation("y").fit(rows)
    numbers = pd.DataFrame({"w": [1.0, 7.0], "y": [0, 1], "n": ["3", "4"]})
    np.testing.assert_array_equal(columns.transform(numbers), [[3, 1, 0], [4, 0, 0]])
    with pytest.raises(ValueError, match="Column 'n' must hold numbers"):
        columns.transform(rows.assign(n="many"))
    with pytest.raises(ValueError, match="lack 1 of the columns that the model knows: 'w'"):
        columns.transform(rows.drop(columns="w"))


def test_plain_columns_keep_order_and_names():
    columns = ColumnPreparation("y").fit_plain(["a", "b"], [0, 3])
    assert columns.is_plain_
    assert [plan.what for plan in columns.plans_] == [
        "as they are",
        "as they are; 3 missing stay so",
    ]
    out = columns.transform(pd.DataFrame({"b": [1], "y": [9], "a": [2]}))
    assert out.to_dict("list") == {"a": [2.0], "b": [1.0]}
    assert columns.get_feature_names_out().tolist() == ["a", "b"]


def test_whole_numbers_are_words_without_a_point():
    assert as_text(pd.Series([1.0, 2.5, np.nan])).tolist() == ["1", "2.5", ""]


@pytest.mark.parametrize(
    "columns",
    [
        {"score": [1.0, None, 2.0], "score_missing": [3.0, 4.0, 5.0]},
        {"job": ["a", "b", "a"], "job_a": [1.0, 2.0, 3.0]},
        {"job": ["a_b", "c", "c"], "job_a": ["b", "c", "c"]},
        {"seen": ["2020-01-31", "2021-12-01", None], "seen_day": [1.0, 2.0, 3.0]},
        {"job": ["a", "b", "a"], "job_a": [1.0, 2.0, 3.0], "job_a_2": [4.0, 5.0, 6.0]},
    ],
)
def test_new_columns_never_take_the_name_of_another(columns):
    rows = pd.DataFrame(columns)
    prepared = ColumnPreparation("y").fit(rows)
    out = prepared.transform(rows)
    assert len(set(out)) == out.shape[1] == prepared.get_feature_names_out().size
    for name in prepared.names_of("numbers"):
        np.testing.assert_array_equal(out[name], rows[name])


def test_different_names():
    assert different_names(["a", "a", "a_2", "a"]) == ["a", "a_2", "a_2_2", "a_3"]
