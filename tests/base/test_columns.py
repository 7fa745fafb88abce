import pickle
from datetime import UTC, date, datetime, time, timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import HashingVectorizer

from hedgeclipper.base.columns import (
    MOST_VALUES,
    ColumnEncoder,
    ColumnWarning,
    TextView,
    letter_groups,
    needs_encoding,
    plan_column,
)
from hedgeclipper.io import as_text, frame_arrays


def plan(values, **options):
    return plan_column("x", frame_arrays(pd.DataFrame({"x": pd.Series(values, **options)}))["x"])


@pytest.mark.parametrize(
    ("values", "kind", "what"),
    [
        ([1, 2, 3], "numbers", "as they are"),
        ([1.0, None], "numbers", "as they are; 1 missing, marked in a column of their own"),
        ([True, False, None], "numbers", "as they are; 1 missing, marked in a column of their own"),
        (
            ["a", "b", None],
            "categories",
            "2 values, a column of 0 and 1 for each; 1 missing are a value",
        ),
        ([1, "a", 2], "categories", "3 values"),
        (["2020-01-31", "2021-12-01"], "dates", "read as ISO8601"),
        (["31/01/2020", "01/12/2021"], "dates", "read as %d/%m/%Y"),
        (["01/31/2020", "12/01/2021"], "dates", "read as %m/%d/%Y"),
        (["2020-01-31T10:00", None], "dates", "read as ISO8601; 1 missing"),
        (["08/18/2021 10:00", "01/02/2021 23:59"], "dates", "hour, read as %m/%d/%Y %H:%M"),
        (["8/7/2021 1:05 PM", "1/2/2021 11:59 am"], "dates", "read as %m/%d/%Y %I:%M %p"),
        (["12/26/00", "01/02/99"], "dates", "read as %m/%d/%y"),
        (["26-Dec-2000", "1-Jan-1999"], "dates", "day, year, month, weekday, read as %d-%b-%Y"),
        (["Dec 26, 2000", "Jan 1, 1999"], "dates", "read as %b %d, %Y"),
        (["1 December 2000", "12 May 1999"], "dates", "read as %d %B %Y"),
        (["May 5, 2020", "June 6, 2020"], "dates", "read as %B %d, %Y"),
        (["May 5, 2020", "Jun 6, 2020"], "dates", "read as %b %d, %Y"),
        (["May 5, 2020", "May 6, 2021"], "dates", "read as %b %d, %Y"),
        (["20:56", "07:00"], "dates", "hour, read as %H:%M"),
        ([time(20, 56), time(7)], "dates", "hour"),
        (["9999-12-31", "2020-01-31"], "dates", "read as ISO8601"),
        (["10-12", "13-19"], "categories", "2 values"),
        (["1.2.3.4", "1.2.3.5"], "categories", "2 values"),
        (["31/01/2020", "01/31/2020"], "categories", "2 values"),
        (["2020-01-31", "soon"], "categories", "2 values"),
        ([None, None], "left out", "all values are missing"),
        (["a", "a"], "left out", "the same value everywhere"),
        ([f"text {k}" for k in range(60)], "left out", "text of its own in each row (60 values)"),
        ([f"text {max(k, 9)}" for k in range(99)], "text", "text (90 values): groups of letters"),
        ([f"w{k}" for k in range(60)] * 3, "categories", "for each of the 49 most common"),
        ([f"w{k}" for k in range(50)] * 2, "categories", "50 values, a column of 0 and 1 for each"),
        (
            [None, *(f"w{k}" for k in range(50))],
            "categories",
            "50 values, a column for each of the 49 most common and one for the others; 1 missing",
        ),
    ],
)
def test_what_is_done_with_a_column(values, kind, what):
    found = plan(values)
    assert found.kind == kind
    assert what in found.what


def test_dates_of_pandas_and_categories():
    assert (
        plan(pd.to_datetime(["2020-01-31", None])).what
        == "; 1 missing, marked in a column of their own"
    )
    assert plan(["a", "b"], dtype="category").kind == "categories"


def test_numbers_strings_and_dates_become_columns_of_numbers():
    rows = pd.DataFrame(
        {
            "n": [1.0, np.nan, 3.0],
            "w": ["a", None, "b"],
            "d": ["1970-01-02", "1970-02-01", None],
            "id": ["p", "p", "p"],
        }
    )
    encoder = ColumnEncoder().fit(rows)
    # the number, whether it and the date are missing; None, a, b; day, month, weekday
    expected = [
        [1, 0, 0, 0, 1, 0, 1, 1, 4],
        [np.nan, 1, 0, 1, 0, 0, 31, 2, 6],
        [3, 0, 1, 0, 0, 1, np.nan, np.nan, np.nan],
    ]
    np.testing.assert_array_equal(encoder.transform(rows), expected)
    assert encoder.sources_.tolist() == [0, 0, 2, 1, 1, 1, 2, 2, 2]


def test_rows_of_another_kind_than_those_it_was_fitted_to():
    rows = pd.DataFrame({"n": [1, 2], "w": ["1", "b"]})
    columns = ColumnEncoder().fit(rows)
    numbers = pd.DataFrame({"w": [1.0, 7.0], "y": [0, 1], "n": ["3", "4"]})
    np.testing.assert_array_equal(columns.transform(numbers), [[3, 1, 0], [4, 0, 0]])
    with pytest.raises(ValueError, match="Column 'n' must hold numbers"):
        columns.transform(rows.assign(n="many"))
    with pytest.raises(ValueError, match="lack columns that the model knows: 'w'"):
        columns.transform(rows.drop(columns="w"))


def test_whole_numbers_are_strings_without_a_point():
    assert as_text(np.array([1.0, 2.5, np.nan])).tolist() == ["1", "2.5", ""]


FRAME = pd.DataFrame(
    {
        "size": [1.0, np.nan, 3.0, 4.0],
        "town": ["Ulm", "Bern", None, "Ulm"],
        "count": pd.array([1, None, 3, 4], dtype="Int64"),
        "kind": pd.Categorical([7, 8, 7, None]),
        "old": [True, False, True, False],
        "number": np.array([1, 2, 3, 4], dtype=object),
        "mixed": np.array([1, "a", 2.5, None], dtype=object),
    }
)


def test_numbers_stay_and_strings_and_categories_become_a_column_for_each_value():
    encoder = ColumnEncoder().fit(FRAME)
    found = encoder.transform(FRAME)
    numbers = [[1, 1, 1, 1], [np.nan, np.nan, 0, 2], [3, 3, 1, 3], [4, 4, 0, 4]]
    np.testing.assert_array_equal(found[:, :4], numbers)
    np.testing.assert_array_equal(found[:, 4:6], [[0, 0], [1, 1], [0, 0], [0, 0]])  # missing
    np.testing.assert_array_equal(found[:, 8], [1, 0, 0, 1])  # Ulm, after None and Bern
    np.testing.assert_array_equal(found[:, 9], [0, 0, 0, 1])  # no kind
    assert encoder.sources_.tolist() == [0, 2, 4, 5, 0, 2, *[1] * 3, *[3] * 3, *[6] * 4]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(encoder)).transform(FRAME), found)


def test_new_categories_are_none_of_those_known():
    known, new = ColumnEncoder().fit(FRAME[["town"]]), pd.DataFrame({"town": ["Rome", "Ulm"]})
    np.testing.assert_array_equal(known.transform(new), [[0, 0, 0], [0, 0, 1]])
    assert known.unknown_values(new) == {"town": {"Rome": 1}}


def test_categories_of_which_none_is_known_are_warned_of():
    known, new = ColumnEncoder().fit(FRAME[["town"]]), pd.DataFrame({"town": ["ULM", None] * 10})
    with pytest.warns(ColumnWarning, match="'town' has no value of the fit, .* 'ULM'"):
        known.warn_of_unknown(new)
    known.warn_of_unknown(new[:5])  # as new ones may be by accident
    known.warn_of_unknown(pd.DataFrame({"town": ["ULM", "Ulm"] * 10}))


def test_of_many_values_the_rare_ones_share_a_column():
    words = [f"w{k}" for k in range(200)]
    frame = pd.DataFrame({"word": (words + words[:20] * 3) * 2})
    found = ColumnEncoder().fit(frame).transform(frame)
    assert found.shape == (520, MOST_VALUES)
    np.testing.assert_array_equal(found.sum(axis=1), 1)


def of_pandas(columns):
    return pd.DataFrame(columns)


def of_polars(columns):
    return pytest.importorskip("polars").DataFrame(columns, strict=False)


def of_arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


DAYS = [date(1970, 1, 2), date(1970, 2, 1), None, date(2024, 2, 29)]
TIMES = [datetime(1970, 1, 2, 12), datetime(1970, 2, 1, 12), None, datetime(2024, 2, 29, 12)]


@pytest.mark.parametrize("frame_of", [of_pandas, of_polars, of_arrow])
@pytest.mark.parametrize(
    ("values", "day"),
    [
        (DAYS, 31.0),
        (TIMES, 31.5),
        ([time and time.replace(tzinfo=UTC) for time in TIMES], 31.5),
        ([day and day.isoformat() for day in DAYS], 31.0),
        ([time and time.isoformat() + "+01:00" for time in TIMES], 31.5 - 1 / 24),
        ([day and day.strftime("%d.%m.%Y") for day in DAYS], 31.0),
    ],
)
def test_dates_are_the_same_in_every_form(frame_of, values, day):
    rows = frame_of({"d": values})
    found = ColumnEncoder().fit(rows).transform(rows)
    np.testing.assert_allclose(found[1], [0, day, 1970, 2, 6])
    np.testing.assert_array_equal(found[2], [1, *[np.nan] * 4])
    np.testing.assert_array_equal(found[3, 2:], [2024, 2, 3])


def test_dates_that_are_ambiguous_are_said():
    assert "read with the day first" in plan(["01/02/2021", "03/02/2021"]).note
    assert "read with the month first" in plan(["1/2/2021 1:00 PM", "3/2/2021 2:00 PM"]).note
    assert plan(["01/02/2021", "13/02/2021"]).note == ""
    hours = ColumnEncoder().fit(pd.DataFrame({"t": ["20:30", "7:00"]}))
    assert hours.transform(pd.DataFrame({"t": ["12:45"]})).tolist() == [[12.75]]


def test_more_rows_to_learn_from():
    one, other = pd.DataFrame({"w": ["a", "b"]}), pd.DataFrame({"x": [1, 2], "w": ["c", None]})
    found = ColumnEncoder().fit(one, X_unlabeled=other)
    np.testing.assert_array_equal(found.transform(other), [[0, 0, 0, 1], [1, 0, 0, 0]])
    with pytest.raises(ValueError, match="Column 'w' holds numbers only in the labeled rows, or"):
        ColumnEncoder().fit(one, X_unlabeled=pd.DataFrame({"w": [1, 2]}))


@pytest.mark.parametrize("written", ["%Y-%m-%dT%H:%M:%S", "%m/%d/%Y %H:%M", "%b %d, %Y"])
@pytest.mark.parametrize("unit", ["s", "ns"])
def test_dates_may_be_strings_in_one_frame_and_dates_in_the_other(written, unit):
    days = pd.date_range("2020-01-20", periods=60, freq="D")
    texts = pd.DataFrame({"day": [*days[:30].strftime(written), None]})
    dates = pd.DataFrame({"day": pd.Series([*days[30:], None], dtype=f"datetime64[{unit}]")})
    both = pd.DataFrame({"day": [*days, None, None]})
    expected = ColumnEncoder().fit(both).transform(both[:61])
    for X, X_unlabeled in ((texts, dates), (dates, texts)):
        encoder = ColumnEncoder().fit(X, X_unlabeled)
        found = np.vstack([encoder.transform(texts)[:30], encoder.transform(dates)])
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="Column 'day' holds dates only in the labeled rows, or"):
        ColumnEncoder().fit(texts.replace(texts.loc[0, "day"], "soon"), dates)
    objects = pd.DataFrame({"day": pd.Series([*dates["day"][:30].dt.date, None], dtype=object)})
    known = ColumnEncoder().fit(texts)
    np.testing.assert_array_equal(known.transform(objects), known.transform(dates))


@pytest.mark.parametrize("others", [[2019, 2020], [timedelta(1), timedelta(2)]])
def test_what_is_no_date_is_refused_beside_dates_and_noted_in_new_rows(others):
    """Numbers were missing values, without a word."""
    dates = pd.DataFrame({"day": pd.to_datetime(["2020-01-20", "2020-02-21"])})
    other = pd.DataFrame({"day": others})
    for X, X_unlabeled in ((other, dates), (dates, other)):
        with pytest.raises(ValueError, match="Column 'day' holds dates only in the labeled rows"):
            ColumnEncoder().fit(X, X_unlabeled)
    for known in (dates, dates.astype(str)):
        assert ColumnEncoder().fit(known).unknown_values(other)["day"].total() == 2


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_dates_may_be_missing_in_all_unlabeled_rows(unit):
    rows = pd.DataFrame({"day": pd.date_range("2020-01-20", periods=3, unit=unit)})
    encoder = ColumnEncoder().fit(rows, pd.DataFrame({"day": [None, None]}))
    assert encoder.plans_[0].kind == "dates"
    assert encoder.transform(rows)[:, 1].tolist() == [18281, 18282, 18283]


DAYS = [date(2020, 1, 31), date(2021, 12, 1)] * 10


@pytest.mark.parametrize("in_fit", [DAYS, [*map(str, DAYS)]])
def test_dates_that_cannot_be_read_are_missing_counted_and_warned_of(in_fit):
    known = ColumnEncoder().fit(pd.DataFrame({"d": in_fit, "x": range(len(in_fit))}))
    new = pd.DataFrame({"d": ["soon", "2020-02-01", None], "x": 0})
    assert known.unknown_values(new) == {"d": {"soon": 1}}
    assert np.isnan(known.transform(new)[:, -1]).tolist() == [True, False, True]
    known.warn_of_unknown(pd.concat([new[:1]] * 20 + [new[1:2]]))
    with pytest.warns(ColumnWarning, match="'d' has no value of the fit, .* 'soon'"):
        known.warn_of_unknown(pd.concat([new[:1]] * 20))


def test_which_frames_need_encoding():
    assert needs_encoding(FRAME)
    assert not needs_encoding(FRAME[["size", "count", "old", "number"]])
    assert not needs_encoding(FRAME[["size"]].to_numpy())
    with pytest.raises(ValueError, match=r"Column 'span' must have numbers, .* Got timedelta64"):
        ColumnEncoder().fit(FRAME.assign(span=timedelta(1)))
    with pytest.raises(TypeError, match="must be a frame with named columns"):
        ColumnEncoder().fit(FRAME).transform(np.ones((2, 7)))


NAMES = [f"{first}{last}" for first in ("Hans", "Anna", "Otto") for last in ("mann", "sohn", "er")]


def test_text_that_is_written_alike_has_like_components_and_what_is_seen_often_a_count():
    """Of groups of letters: here the rows differ in a number, and in one of two words."""
    words = np.where(np.arange(120) % 2, "guitar", "piano")
    texts = np.array([f"{word} {k}" for k, word in enumerate(words)], dtype=object)
    view = TextView().fit(np.append(texts, texts[:1]))
    made = view.transform(texts)
    assert made.shape == (120, view.n_columns)
    # between the two words lies much more than between rows of the same word
    by_word = [made[words == word, :-1] for word in ("guitar", "piano")]
    between = np.linalg.norm(by_word[0].mean(axis=0) - by_word[1].mean(axis=0))
    assert between > 3 * max(own.std(axis=0).max() for own in by_word)
    assert made[:2, -1].tolist() == [np.log(2), 0]


def test_text_does_not_depend_on_the_rows_beside_it_and_may_be_new_missing_or_none():
    texts = np.array([f"{name} {k // 2}" for k in range(40) for name in NAMES], dtype=object)
    view = TextView().fit(texts)
    rows = np.array([texts[0], "never seen", None, ""], dtype=object)
    one_by_one = np.vstack([view.transform(rows[k : k + 1]) for k in range(4)])
    np.testing.assert_array_equal(view.transform(rows), one_by_one)
    np.testing.assert_array_equal(one_by_one[2], one_by_one[3])
    assert np.isfinite(one_by_one).all()
    assert view.transform(rows[:0]).shape == (0, view.n_columns)


@pytest.mark.parametrize("texts", [[""], ["a"], ["ab", "", " a  "], None])
def test_groups_of_letters_are_those_of_scikit_learn(texts):
    if texts is None:
        letters, rng = [*"abZ1ßéİ中😀\x00 \t\xa0\u2028"], np.random.default_rng(0)
        texts = ["".join(rng.choice(letters, size)) for size in rng.integers(0, 30, 500)]
    theirs = HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 4), n_features=1 << 12, alternate_sign=False
    ).transform(texts)
    ours = letter_groups(np.array(texts, dtype=object))
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
