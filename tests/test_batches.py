import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from hedgeclipper.batches import ArraySource, as_rows, as_source, cut, row_slice


def test_array_is_handed_out_in_views():
    rows = np.zeros((100_000, 50))
    batches = [row_slice(rows, part) for part in cut(100_000, rows)]
    assert len(batches) > 1
    assert sum(batch.shape[0] for batch in batches) == 100_000
    assert all(np.shares_memory(batch, rows) for batch in batches)


def test_csr_slices_share_memory_and_add_up():
    rows = sparse.random_array((50_000, 30), density=0.1, format="csr", rng=0)
    rows.sum_duplicates()
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


class Reiterable:
    def __iter__(self):
        return iter([np.zeros((2, 3)), np.ones((1, 3))])


@pytest.mark.parametrize(
    "data",
    [
        [np.zeros((2, 3)), np.ones((1, 3))],
        Reiterable(),
        lambda: (batch for batch in [np.zeros((2, 3)), np.ones((1, 3))]),
    ],
    ids=["list", "object", "function"],
)
def test_batches_can_be_read_twice(data):
    source = as_source(data)
    assert [batch.shape for batch in source] == [(2, 3), (1, 3)]
    assert [batch.shape for batch in source] == [(2, 3), (1, 3)]
    assert not source.in_memory


def test_iterator_is_refused():
    with pytest.raises(TypeError, match=r"can be read only once: got generator.*several passes"):
        as_source(batch for batch in [np.zeros((2, 3))])


def test_masked_entries_become_nan():
    masked = np.ma.masked_array(np.ones((2, 2), dtype=int), mask=[[True, False], [False, False]])
    rows = as_rows(masked)
    assert np.isnan(rows[0, 0])
    assert np.nansum(rows) == 3


def test_no_rows_still_have_columns():
    parts = list(cut(0, np.ones((0, 4))))
    assert len(parts) == 1
    assert row_slice(np.ones((0, 4)), parts[0]).shape == (0, 4)


def test_frame_and_nested_lists_are_arrays():
    assert as_source(pd.DataFrame({"a": [1, -1], "b": [1, 1]})).in_memory
    assert as_source([[1, -1], [1, 1]]).in_memory


@pytest.mark.parametrize("data", [np.zeros(3), np.zeros((2, 2, 2)), 5.0])
def test_wrong_number_of_dimensions(data):
    with pytest.raises(ValueError, match="must be two-dimensional"):
        as_source(data)
