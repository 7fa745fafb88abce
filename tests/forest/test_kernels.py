"""Every kernel against its NumPy twin."""

import numpy as np
import pytest

from hedgeclipper.forest import kernels

RNG = np.random.default_rng(0)
LEAVES = RNG.integers(0, 7, (3, 50)).astype(np.uint16)
OFFSETS = np.array([0, 7, 14])


def test_sum_leaf_scores():
    scores, ours = RNG.normal(size=21), np.empty(50)
    kernels.sum_leaf_scores(LEAVES, OFFSETS, scores, ours)
    np.testing.assert_allclose(ours, scores[LEAVES + OFFSETS[:, None]].sum(axis=0))


def test_add_to_leaves():
    rows, values, ours = np.array([3, 40, 7]), RNG.normal(size=3), np.zeros(21)
    kernels.add_to_leaves(LEAVES, OFFSETS, rows, values, ours)
    theirs = np.zeros(21)
    for tree in range(3):
        np.add.at(theirs, LEAVES[tree, rows] + OFFSETS[tree], values)
    np.testing.assert_allclose(ours, theirs)


def test_add_all_to_leaves():
    values, ours = RNG.normal(size=50), np.zeros(21)
    kernels.add_all_to_leaves(LEAVES, OFFSETS, values, ours)
    theirs = np.zeros(21)
    np.add.at(theirs, (LEAVES + OFFSETS[:, None]).ravel(), np.tile(values, 3))
    np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize("missing_left", [True, False])
def test_split_rows(missing_left):
    values = RNG.normal(size=20).astype(np.float32)
    values[::4] = np.nan
    rows, out = RNG.permutation(20).astype(np.uint16), np.zeros(20, np.uint16)
    border = kernels.split_rows(rows, 3, 17, values, np.float32(0.1), missing_left, out)
    part = rows[3:17]
    goes_left = np.where(np.isnan(values[part]), missing_left, values[part] <= np.float32(0.1))
    assert border == 3 + goes_left.sum()
    assert set(out[3:border]) == set(part[goes_left])
    assert set(out[border:17]) == set(part[~goes_left])


def test_find_leaves_walks_a_small_tree():
    # column 0 <= 0.5 ? leaf 0 : (column 1 <= 2 ? leaf 1 : leaf 2)
    columns = np.array([[0.0, 1.0, 1.0, 0.5], [9.0, 1.0, 3.0, 9.0]], dtype=np.float32)
    out = np.empty((1, 4), np.uint16)
    kernels.find_leaves(
        columns,
        np.array([0, 0, 1, 0, 0], np.int32),
        np.array([0.5, 0, 2.0, 0, 0], np.float32),
        np.array([1, -1, 3, -1, -1], np.int32),
        np.array([2, -1, 4, -1, -1], np.int32),
        np.ones(5, bool),
        np.array([0, 0, 0, 1, 2], np.uint32),
        np.array([0], np.int32),
        2,
        out,
    )
    assert out.tolist() == [[0, 1, 2, 0]]
