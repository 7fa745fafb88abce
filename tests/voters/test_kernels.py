"""Every kernel against its NumPy twin."""

import numpy as np
import pytest
from scipy import sparse

from hedgeclipper.voters import trees, views

LEAVES = np.random.default_rng(0).integers(0, 7, (3, 50)).astype(np.uint16)
OFFSETS = np.array([0, 7, 14])


def test_sum_leaf_scores(rng):
    scores, ours = rng.normal(size=21), np.empty(50)
    trees.sum_leaf_scores(LEAVES, OFFSETS, scores, ours)
    np.testing.assert_allclose(ours, scores[LEAVES + OFFSETS[:, None]].sum(axis=0))


def test_sum_unseen_scores(rng):
    scores, ours, unseen = rng.normal(size=21), np.empty(50), rng.random((3, 50)) < 0.4
    trees.sum_unseen_scores(LEAVES, unseen, OFFSETS, scores, ours)
    np.testing.assert_allclose(ours, (scores[LEAVES + OFFSETS[:, None]] * unseen).sum(axis=0))


def test_add_to_leaves(rng):
    rows, values, ours = np.array([3, 40, 7]), rng.normal(size=3), np.zeros(21)
    trees.add_to_leaves(LEAVES, OFFSETS, rows, values, ours)
    theirs = np.zeros(21)
    for tree in range(3):
        np.add.at(theirs, LEAVES[tree, rows] + OFFSETS[tree], values)
    np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize("missing_left", [True, False])
def test_split_rows(rng, missing_left):
    values = rng.normal(size=20).astype(np.float32)
    values[::4] = np.nan
    rows, out = rng.permutation(20).astype(np.uint16), np.zeros(20, np.uint16)
    border = trees.divide_rows(rows, 3, 17, values, np.float32(0.1), missing_left, out)
    part = rows[3:17]
    goes_left = np.where(np.isnan(values[part]), missing_left, values[part] <= np.float32(0.1))
    assert border == 3 + goes_left.sum()
    assert set(out[3:border]) == set(part[goes_left])
    assert set(out[border:17]) == set(part[~goes_left])


@pytest.mark.parametrize("has_unit_rows", [False, True])
def test_project_rows(rng, has_unit_rows):
    """Rows are filled and cut, column by column, or divided by their length."""
    X = rng.normal(size=(20, 5)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[3] = 0.0
    fill, lowest, highest = rng.normal(size=5), np.full(5, -0.8), np.full(5, 0.9)
    if has_unit_rows:
        fill, lowest, highest = np.zeros(5), np.full(5, -np.inf), np.full(5, np.inf)
    directions, offset, ours = rng.normal(size=(5, 3)), rng.normal(size=3), np.empty((20, 3))
    views.project_rows(X, fill, lowest, highest, has_unit_rows, directions, offset, ours)
    rows = np.clip(np.where(np.isnan(X), fill, X), lowest, highest)
    if has_unit_rows:
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(lengths > 0, lengths, 1)
    np.testing.assert_allclose(ours, rows @ directions + offset, rtol=1e-6, atol=1e-6)


def test_project_sparse_rows(rng):
    """What the dense kernel gives for rows of unit length, to the last bit."""
    X = np.where(rng.random((20, 9)) < 0.7, 0, rng.normal(size=(20, 9))).astype(np.float32)
    X[2], X[5, 3] = 0.0, np.nan
    directions, offset = rng.normal(size=(9, 3)), np.zeros(3)
    rows, ours, theirs = sparse.csr_array(X), np.empty((20, 3)), np.empty((20, 3))
    views.project_sparse_rows(rows.indptr, rows.indices, rows.data, directions, offset, ours)
    ends = np.zeros(9), np.full(9, -np.inf), np.full(9, np.inf)
    views.project_rows(X, *ends, True, directions, offset, theirs)
    np.testing.assert_array_equal(ours, theirs)


def test_shrink_leaves(rng):
    """A sum along the path from the root, of means over all leaves below."""
    parent = np.array([rng.integers(0, max(node, 1)) for node in range(30)], np.int32)
    parent[[0, 15]] = -1  # two trees
    is_leaf, strengths = ~np.isin(np.arange(30), parent), np.array([0.0, 3.0])
    paths = []
    for node in range(30):
        path = [node]
        while parent[path[-1]] >= 0:
            path.append(parent[path[-1]])
        paths.append(path)
    sizes, sums = is_leaf * rng.uniform(1, 20, 30), is_leaf * rng.normal(size=30)
    below = np.array([[node in path for path in paths] for node in range(30)])
    all_sizes, means = below @ sizes, below @ sums / (below @ sizes)
    ours = np.empty((2, is_leaf.sum()))
    trees.shrink_leaves(parent, is_leaf, sums, sizes, strengths, ours)
    for strength, values in zip(strengths, ours, strict=True):
        for leaf, value in zip(np.flatnonzero(is_leaf), values, strict=True):
            *lower, root = paths[leaf]
            above = parent[lower]
            steps = (means[lower] - means[above]) / (1 + strength / all_sizes[above])
            assert value == pytest.approx(means[root] + np.sum(steps))
