import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from hedgeclipper.io import ArraySource, as_source, cut, row_slice
from hedgeclipper.io import source as sources
from hedgeclipper.io.arrays import (
    MappedSource,
    as_rows,
    draw_rows,
    merge_draws,
    stack_rows,
    tag_rows,
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


def test_every_other_row():
    source = as_source(np.arange(20.0).reshape(10, 2))
    assert isinstance(source, ArraySource)
    assert source.every(4).rows[:, 0].tolist() == [0.0, 8.0, 16.0]


def test_masked_entries_become_nan():
    masked = np.ma.masked_array(np.ones((2, 2), dtype=int), mask=[[True, False], [False, False]])
    rows = as_rows(masked)
    assert np.isnan(rows[0, 0])
    assert np.nansum(rows) == 3


def test_no_rows_still_have_columns():
    parts = list(cut(0, np.ones((0, 4))))
    assert len(parts) == 1
    assert row_slice(np.ones((0, 4)), parts[0]).shape == (0, 4)


@pytest.mark.parametrize("data", [np.zeros(3), np.zeros((2, 2, 2)), 5.0])
def test_wrong_number_of_dimensions(data):
    with pytest.raises(ValueError, match=r"must be two-dimensional, \(rows, columns\)\."):
        as_source(data)


def memory_map(folder, array):
    np.save(folder / "x.npy", array)
    return np.load(folder / "x.npy", mmap_mode="r")


@pytest.mark.parametrize("view", [lambda m: m, np.asarray, lambda m: m[::2], lambda m: m.T.T])
def test_memory_map_is_read_in_blocks_and_not_copied(tmp_path, monkeypatch, view):
    monkeypatch.setattr(sources, "_MOST_ROWS", 300)
    mapped = view(memory_map(tmp_path, np.arange(2000.0).reshape(1000, 2)))
    source = as_source(mapped)
    assert isinstance(source, MappedSource)
    assert not source.in_memory
    assert source.n_rows == len(mapped)
    blocks = list(source)
    assert max(len(block) for block in blocks) == 300
    assert all(np.shares_memory(block, mapped) for block in blocks)
    np.testing.assert_array_equal(np.vstack(blocks), mapped)
    with pytest.raises(ValueError, match="has no labels"):
        source.labeled_batches()


def test_blocks_of_a_memory_map_are_converted_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_MOST_ROWS", 300)
    mapped = memory_map(tmp_path, np.zeros((1000, 100)))
    tracemalloc.start()
    assert {block.dtype for block in as_source(mapped, dtype=np.float32)} == {np.dtype(np.float32)}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * 300 * 100 * 4


def test_copy_of_a_memory_map_is_in_memory(tmp_path):
    mapped = memory_map(tmp_path, np.ones((3, 2)))
    assert as_source(mapped.copy()).in_memory
    assert as_source(mapped[[0, 2]]).in_memory


def test_arrays_stand_for_columns_by_position():
    source = as_source(np.ones((2, 3), dtype=int), columns=["a", "b", "c"], dtype=np.float32)
    assert next(iter(source)).dtype == np.float32
    assert source.n_rows == 2
    for data in (np.ones((2, 2)), [np.ones((2, 2))], sparse.eye_array(2)):
        with pytest.raises(ValueError, match=r"must have 3 columns\. Got 2"):
            list(as_source(data, columns=["a", "b", "c"]))
        with pytest.raises(ValueError, match=r"must have 3 columns\. Got 2"):
            list(as_source(data, n_columns=3))


def test_arrays_have_no_column_to_be_the_label(tmp_path):
    for data in (np.ones((2, 2)), memory_map(tmp_path, np.ones((2, 2))), [np.ones((2, 2))]):
        with pytest.raises(TypeError, match=r"has no column 'y': \w+ has no names of columns"):
            list(as_source(data, label="y"))


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


def test_rows_are_different_ones():
    drawn = draw_rows(batches(HUNDRED, 30, 60), 50, np.random.RandomState(0))
    assert np.unique(drawn).size == 50


def test_rows_in_memory_keep_their_order():
    drawn = draw_rows(HUNDRED, 50, np.random.RandomState(0))
    assert np.all(np.diff(drawn[:, 0]) > 0)


def test_batches_are_read_once():
    drawn = draw_rows(iter(batches(HUNDRED, 50)), 20, np.random.RandomState(0))
    assert drawn.shape == (20, 1)


def test_no_more_than_there_are():
    assert draw_rows(HUNDRED, 100, np.random.RandomState(0)) is HUNDRED
    whole = draw_rows(batches(HUNDRED, 30), 100, np.random.RandomState(0))
    np.testing.assert_array_equal(whole, HUNDRED)
    assert draw_rows([], 5, np.random.RandomState(0)).shape[0] == 0


def test_memory_is_that_of_the_rows_drawn_and_one_batch():
    kept, n_seen = None, 0
    for batch in batches(HUNDRED, 40, 80):
        kept = merge_draws(kept, tag_rows(0, n_seen, batch), 10)
        n_seen += len(batch)
        _, positions, rows = kept
        assert positions.shape[0] == 10
        np.testing.assert_array_equal(rows, HUNDRED[positions])


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
