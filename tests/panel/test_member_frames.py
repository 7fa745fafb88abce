import pickle

import numpy as np
import pandas as pd
import pytest

from hedgeclipper.panel.member_frames import MOST_VALUES, ColumnCodes, NamedColumns, word_columns

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


def test_words_are_text_categories_and_mixtures():
    assert word_columns(FRAME) == [1, 3, 6]
    assert word_columns(FRAME[["size", "old"]]) == []


def test_other_columns_are_named():
    frame = FRAME.assign(day=pd.to_datetime(["2020-01-01"] * 4))
    with pytest.raises(ValueError, match=r"Column 'day' must have numbers, .* Got datetime64"):
        word_columns(frame)


def test_numbers_stay_and_words_become_a_column_for_each_value():
    found = ColumnCodes.of(FRAME)(FRAME)
    assert found.dtype == float
    numbers = [[1, 1, 1, 1], [np.nan, np.nan, 0, 2], [3, 3, 1, 3], [4, 4, 0, 4]]
    np.testing.assert_array_equal(found[:, :4], numbers)
    np.testing.assert_array_equal(found[:, 4:7], [[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 1]])
    np.testing.assert_array_equal(found[:, 7:10], [[0, 1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]])
    assert found.shape == (4, 14)


def test_new_words_are_no_value():
    found = ColumnCodes.of(FRAME[["town"]])(pd.DataFrame({"town": ["Rome"]}))
    np.testing.assert_array_equal(found, [[0, 0, 0]])


def test_of_many_values_the_rare_ones_share_a_column():
    words = [f"w{k}" for k in range(200)]
    frame = pd.DataFrame({"word": words + words[:20] * 3})
    codes = ColumnCodes.of(frame)
    assert codes(frame).shape == (260, MOST_VALUES)
    np.testing.assert_array_equal(codes(frame).sum(axis=1), 1)


def test_codes_can_be_pickled():
    codes = ColumnCodes.of(FRAME)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(codes))(FRAME), codes(FRAME))


def test_rows_without_names_get_some_and_frames_stay():
    named = NamedColumns(["a", "b"])
    pd.testing.assert_frame_equal(named(np.ones((2, 2))), pd.DataFrame({"a": [1.0] * 2, "b": 1.0}))
    assert named(FRAME) is FRAME
