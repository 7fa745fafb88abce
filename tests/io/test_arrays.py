import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from hedgeclipper.io import cut, row_slice
from hedgeclipper.io.arrays import (
    MODULUS,
    as_rows,
    digest_rows,
    draw_batches,
    draw_rows,
    hash_rows,
    stack_rows,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 4)) * (RNG.random((50, 4)) < 0.6)


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


def draw_in_parts(rows, n_rows, random_state):
    some, numbers = draw_batches(batches(rows[:80], 1, 40, 40), n_rows, random_state, n_more=20)
    return np.concatenate([some, rows[80 + numbers]])


@pytest.mark.parametrize("draw", [draw_rows, draw_in_parts])
def test_every_row_is_as_likely_as_any_other(draw):
    random_state, counts = np.random.RandomState(0), np.zeros(100)
    for _ in range(2_000):
        drawn = draw(HUNDRED, 10, random_state)
        assert drawn.shape == (10, 1)
        counts[drawn[:, 0].astype(int)] += 1
    assert counts.sum() == 20_000
    assert np.abs(counts - 200).max() < 5 * np.sqrt(200 * 0.9)


def test_rows_in_memory_keep_their_order():
    drawn = draw_rows(HUNDRED, 50, np.random.RandomState(0))
    assert np.all(np.diff(drawn[:, 0]) > 0)


def test_no_more_than_there_are():
    assert draw_rows(HUNDRED, 100, np.random.RandomState(0)) is HUNDRED
    whole, numbers = draw_batches(batches(HUNDRED, 30), 105, np.random.RandomState(0), n_more=5)
    np.testing.assert_array_equal(whole, HUNDRED)
    np.testing.assert_array_equal(numbers, np.arange(5))
    assert draw_batches([], 5, np.random.RandomState(0))[0].shape[0] == 0


@pytest.mark.parametrize("whole", [True, False])
def test_sparse_rows_stay_sparse(whole):
    rows = sparse.csr_array(HUNDRED)
    random_state = np.random.RandomState(0)
    if whole:
        drawn = draw_rows(rows, 10, random_state)
    else:
        drawn, _ = draw_batches([rows[:60], rows[60:]], 10, random_state)
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


def test_frames_of_two_libraries_are_stacked_as_the_first_one():
    theirs = {"a": [1.5, None], "b": ["x", None]}
    one, other = pd.DataFrame(theirs), pl.DataFrame(theirs)
    for above, below in ((one, other), (other, one)):
        both = stack_rows(above, below)
        assert type(both) is type(above)
        found = {name: both[name].to_numpy().tolist() for name in theirs}
        assert found["a"][::2] == [1.5, 1.5]
        assert np.isnan(np.array(found["a"], float)[1::2]).all()
        assert found["b"][::2] == ["x", "x"]
        assert pd.isna(found["b"][1::2]).all()


def test_stacking_dense_below_sparse():
    both = stack_rows(sparse.csr_array(HUNDRED), HUNDRED)
    assert both.format == "csr"
    np.testing.assert_array_equal(both.toarray(), np.vstack([HUNDRED, HUNDRED]))


def test_order_and_batches_do_not_matter(rng):
    parts = sum(digest_rows(part) for part in np.array_split(X[rng.permutation(50)], 7)) % MODULUS
    assert parts == digest_rows(X) == digest_rows(sparse.csr_array(X))


def test_float32_rows_have_the_digest_of_their_values():
    single = X.astype(np.float32)
    assert digest_rows(single) == digest_rows(single.astype(float)) != digest_rows(X)


@pytest.mark.parametrize("change", ["a digit", "columns", "two rows", "a row twice", "sum"])
def test_other_rows_have_another_digest(change):
    other = X.copy()
    if change == "a digit":
        other[7, 2] = np.nextafter(other[7, 2], 1.0)
    elif change == "columns":
        other = other[:, [1, 0, 2, 3]]
    elif change == "two rows":
        other[[0, 1], 0] = other[[1, 0], 0]
    elif change == "a row twice":
        other[1] = other[0]
    else:  # the sums of all columns stay the same
        other[0, 0] += 1.0
        other[1, 0] -= 1.0
    assert digest_rows(other) != digest_rows(X)


def test_zeros_and_missing_values_are_alike_whatever_their_bits():
    some = np.array([[0.0, np.nan], [1.0, 2.0]])
    other = np.array([[-0.0, -np.nan], [1.0, 2.0]])
    assert digest_rows(some) == digest_rows(other) != digest_rows(np.nan_to_num(some))


def test_frames_of_numbers_are_like_arrays_and_strings_count():
    assert digest_rows(pd.DataFrame(X)) == digest_rows(X)
    frame = pd.DataFrame({"x": [1.0, 2.0], "name": ["a", None]})
    assert digest_rows(frame) == digest_rows(frame[::-1].copy())
    assert digest_rows(frame) != digest_rows(frame.assign(name=["b", None]))


@pytest.mark.parametrize("values", [[0, 1], [-1, 0, 1], range(8)])
def test_rows_of_small_integers_have_different_hashes(values):
    drawn = np.random.default_rng(0).choice(values, (20_000, 30))
    rows = np.unique(drawn, axis=0).astype(float)
    assert np.unique(hash_rows(rows)).size == len(rows)
    np.testing.assert_array_equal(hash_rows(rows), hash_rows(sparse.csr_array(rows)))
    np.testing.assert_array_equal(hash_rows(rows), hash_rows(pd.DataFrame(rows)))
