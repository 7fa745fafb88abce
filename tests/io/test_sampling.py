import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from hedgeclipper.io.sampling import draw_rows, merge_draws, stack_rows

ROWS = np.arange(100.0)[:, None]


def batches(rows, *cuts):
    return np.split(rows, cuts)


@pytest.mark.parametrize("cut", [lambda rows: rows, lambda rows: batches(rows, 1, 40, 40, 90)])
def test_every_row_is_as_likely_as_any_other(cut):
    random_state, counts = np.random.RandomState(0), np.zeros(100)
    for _ in range(2_000):
        drawn = draw_rows(cut(ROWS), 10, random_state)
        assert drawn.shape == (10, 1)
        counts[drawn[:, 0].astype(int)] += 1
    assert counts.sum() == 20_000
    assert np.abs(counts - 200).max() < 5 * np.sqrt(200 * 0.9)


def test_rows_are_different_ones():
    drawn = draw_rows(batches(ROWS, 30, 60), 50, np.random.RandomState(0))
    assert np.unique(drawn).size == 50


def test_rows_in_memory_keep_their_order():
    drawn = draw_rows(ROWS, 50, np.random.RandomState(0))
    assert np.all(np.diff(drawn[:, 0]) > 0)


def test_batches_are_read_once():
    drawn = draw_rows(iter(batches(ROWS, 50)), 20, np.random.RandomState(0))
    assert drawn.shape == (20, 1)


def test_no_more_than_there_are():
    assert draw_rows(ROWS, 100, np.random.RandomState(0)) is ROWS
    whole = draw_rows(batches(ROWS, 30), 100, np.random.RandomState(0))
    np.testing.assert_array_equal(whole, ROWS)
    assert draw_rows([], 5, np.random.RandomState(0)).shape[0] == 0


def test_memory_is_that_of_the_rows_drawn_and_one_batch():
    kept = None
    for batch in batches(ROWS, 40, 80):
        kept = merge_draws(kept, (np.random.default_rng(0).random(len(batch)), batch), 10)
        assert kept[1].shape[0] == 10


@pytest.mark.parametrize("whole", [True, False])
def test_sparse_rows_stay_sparse(whole):
    rows = sparse.csr_array(ROWS)
    drawn = draw_rows(rows if whole else [rows[:60], rows[60:]], 10, np.random.RandomState(0))
    assert drawn.format == "csr"
    assert drawn.shape == (10, 1)


def test_frames_stay_frames():
    frame = pd.DataFrame({"a": np.arange(10), "b": list("abcdefghij")}, index=range(5, 15))
    drawn = draw_rows(frame, 4, np.random.RandomState(0))
    pd.testing.assert_frame_equal(drawn, frame.loc[drawn.index])
    both = stack_rows(drawn, frame)
    assert both.shape == (14, 2)
    assert both.index.tolist() == list(range(14))
    assert both["b"].tolist()[4:] == list("abcdefghij")


def test_stacking_dense_below_sparse():
    both = stack_rows(sparse.csr_array(ROWS), ROWS)
    assert both.format == "csr"
    np.testing.assert_array_equal(both.toarray(), np.vstack([ROWS, ROWS]))
