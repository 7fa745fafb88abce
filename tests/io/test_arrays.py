import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from hedgeclipper.io import cut, row_slice
from hedgeclipper.io.arrays import (
    as_rows,
    draw_rows,
    stack_rows,
)


def test_array_is_handed_out_in_views():
    rows = np.zeros((100_000, 50))
    batches = [row_slice(rows, part) for part in cut(100_000, rows)]
    assert len(batches) > 1
    assert sum(batch.shape[0] for batch in batches) == 100_000
    assert all(np.shares_memory(batch, rows) for batch in batches)


def test_csr_slices_share_memory_and_add_up():
    values = np.random.default_rng(0).normal(size=(50_000, 30))
    rows = sparse.csr_array(np.where(values > 1.3, values, 0.0))
    batches = [row_slice(rows, part) for part in cut(50_000, rows)]
    assert len(batches) > 1
    assert np.shares_memory(batches[1].data, rows.data)
    assert (sparse.vstack(batches) != rows).nnz == 0


@pytest.mark.parametrize("kind", [sparse.csc_array, sparse.coo_array, sparse.csr_matrix])
def test_other_sparse_formats_become_csr_arrays(kind):
    rows = as_rows(kind(np.eye(3)))
    assert isinstance(rows, sparse.csr_array)


def test_duplicate_entries_are_summed_and_the_input_is_left_alone():
    data = sparse.csr_array((np.array([0.25, 0.5]), np.array([1, 1]), np.array([0, 2])), (1, 2))
    rows = as_rows(data)
    assert rows.nnz == 1
    assert rows[0, 1] == 0.75
    assert data.nnz == 2


def test_masked_entries_become_nan():
    masked = np.ma.masked_array(np.ones((2, 2), dtype=int), mask=[[True, False], [False, False]])
    rows = as_rows(masked)
    assert np.isnan(rows[0, 0])
    assert np.nansum(rows) == 3


def test_no_rows_still_have_columns():
    parts = list(cut(0, np.ones((0, 4))))
    assert len(parts) == 1
    assert row_slice(np.ones((0, 4)), parts[0]).shape == (0, 4)


HUNDRED = np.arange(100.0)[:, None]


def batches(rows, *cuts):
    return np.split(rows, cuts)


@pytest.mark.parametrize("cut", [lambda rows: rows, lambda rows: batches(rows, 1, 40, 40, 90)])
def test_every_row_is_as_likely_as_any_other(cut):
    random_state, counts = np.random.RandomState(0), np.zeros(100)
    for _ in range(2_000):
        drawn = draw_rows(cut(HUNDRED), 10, random_state)
        assert drawn.shape == (10, 1)
        counts[drawn[:, 0].astype(int)] += 1
    assert counts.sum() == 20_000
    assert np.abs(counts - 200).max() < 5 * np.sqrt(200 * 0.9)


def test_rows_in_memory_keep_their_order():
    drawn = draw_rows(HUNDRED, 50, np.random.RandomState(0))
    assert np.all(np.diff(drawn[:, 0]) > 0)


def test_no_more_than_there_are():
    assert draw_rows(HUNDRED, 100, np.random.RandomState(0)) is HUNDRED
    whole = draw_rows(batches(HUNDRED, 30), 100, np.random.RandomState(0))
    np.testing.assert_array_equal(whole, HUNDRED)
    assert draw_rows([], 5, np.random.RandomState(0)).shape[0] == 0


@pytest.mark.parametrize("whole", [True, False])
def test_sparse_rows_stay_sparse(whole):
    rows = sparse.csr_array(HUNDRED)
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
    both = stack_rows(sparse.csr_array(HUNDRED), HUNDRED)
    assert both.format == "csr"
    np.testing.assert_array_equal(both.toarray(), np.vstack([HUNDRED, HUNDRED]))
