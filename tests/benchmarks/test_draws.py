"""Draws of labels: their sizes and classes, and that all methods get the same ones."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils import Bunch

from benchmarks import draws
from benchmarks.draws import Draw, make_draw, one_hot, ordinal


def numbered(n_rows, first=0):
    """Rows that can be told apart."""
    return (first + np.arange(n_rows, dtype=np.float32))[:, None]


@pytest.fixture
def files(monkeypatch):
    """Three files: no split, a split, and extra rows; row number tells where a row is from."""
    y = np.arange(1000) % 3 == 0
    plain = Bunch(data=numbered(1000), target=y.astype(int), n_train=1000, data_unlabeled=None)
    split = Bunch(**{**plain, "n_train": 300, "data": sparse.csr_array(numbered(1000))})
    extra = Bunch(**{**plain, "data_unlabeled": numbered(2000, first=1000)})
    known = {"plain": plain, "split": split, "extra": extra}
    monkeypatch.setattr(draws, "whole", known.__getitem__)
    return known


def test_labeled_and_unlabeled_rows_are_all_rows_once(files):
    draw = make_draw("plain", 50, 0)
    every = np.concatenate([draw.X, draw.X_unlabeled]).ravel()
    assert sorted(every) == list(range(1000))
    assert draw.n_scored == 950


def test_labels_belong_to_their_rows(files):
    draw = make_draw("extra", 50, 0, max_unlabeled=500)
    for rows, labels in ((draw.X, draw.y), (draw.X_scored, draw.y_scored)):
        np.testing.assert_array_equal(rows.ravel() % 3 == 0, labels)


def test_where_the_file_has_a_split_the_test_rows_are_scored(files):
    draw = make_draw("split", 50, 0)
    assert draw.X.max() < 300
    assert sorted(draw.X_scored.ravel()) == list(range(300, 1000))
    assert draw.X_unlabeled.shape == (950, 1)
    assert draw.is_sparse


def test_extra_rows_are_unlabeled_but_not_scored(files):
    draw = make_draw("extra", 50, 0)
    assert draw.X_unlabeled.shape == (2950, 1)
    assert draw.X_scored.max() < 1000
    assert draw.X_unlabeled[draw.n_scored :].min() >= 1000


def test_a_limit_takes_half_from_either_kind(files):
    draw = make_draw("extra", 50, 0, max_unlabeled=600)
    assert draw.n_scored == 300
    assert draw.X_unlabeled.shape == (600, 1)


def test_each_class_has_two_labels(files):
    files["plain"].target[:] = np.arange(1000) % 100 == 0
    assert all(make_draw("plain", 20, seed).y.sum() >= 2 for seed in range(20))


def test_a_fold_scores_the_held_out_rows_and_hides_their_labels(files):
    draw = make_draw("plain", 50, 0)
    kept, held_out = np.arange(40), np.arange(40, 50)
    fold = draw.fold(kept, held_out, 100)
    np.testing.assert_array_equal(fold.X_scored, draw.X[held_out])
    np.testing.assert_array_equal(fold.y_scored, draw.y[held_out])
    np.testing.assert_array_equal(fold.y, draw.y[kept])
    assert fold.X_unlabeled.shape == (110, 1)


def test_a_rare_class_has_its_percentage_of_the_rows(files):
    draw = make_draw("plain 5 %", 100, 0, max_unlabeled=300)
    labels = np.append(draw.y, draw.y_scored)
    assert (draw.y.size, labels.size, labels.sum()) == (100, 400, 20)
    rows = np.concatenate([draw.X, draw.X_unlabeled]).ravel()
    np.testing.assert_array_equal(rows % 3 == 0, labels)
    assert np.unique(rows).size == rows.size


@pytest.fixture
def frames():
    """A draw of frames with strings, missing values and dates."""
    rows = pd.DataFrame(
        {
            "color": ["red", "blue", None, "red", "green"],
            "size": [1.0, np.nan, 3.0, 4.0, 5.0],
            "day": pd.to_datetime(["2024-01-01"] * 4 + ["2025-03-02"]),
        }
    )
    X, more = rows[:3], rows[3:].reset_index(drop=True)
    return Draw(X, np.array([0, 1, 0]), more, np.array([0, 1]), seed=0, is_sparse=False)


def test_frames_are_encoded_by_columns_or_codes(frames):
    codes = ordinal(frames)
    # three colors in their order, then size, year, month, day and weekday
    expected = [[2, 1, 2024, 1, 1, 0], [0, np.nan, 2024, 1, 1, 0], [np.nan, 3, 2024, 1, 1, 0]]
    np.testing.assert_array_equal(codes.X, expected)
    np.testing.assert_array_equal(codes.X_scored, [[2, 4, 2024, 1, 1, 0], [1, 5, 2025, 3, 2, 6]])
    columns = one_hot(frames)
    colors = columns.X[:, -4:]  # blue, green, missing, red
    np.testing.assert_array_equal(colors, [[0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]])
    assert np.isfinite(columns.X_unlabeled).all()


def test_draw_of_a_file_has_codes_of_its_labels(monkeypatch):
    frame = pd.DataFrame({"x": np.arange(1_000)})
    y = np.where(frame["x"] % 3 == 0, "three", "no")
    monkeypatch.setattr(draws, "read_frame", lambda name: (frame, y))
    draw = make_draw("fair (statsmodels)", 200, 0)
    assert draw.y.size == 200
    np.testing.assert_array_equal(draw.y, draw.X["x"] % 3 == 0)
    np.testing.assert_array_equal(draw.y_scored, draw.X_scored["x"] % 3 == 0)
    assert not set(draw.X["x"]) & set(draw.X_unlabeled["x"])
