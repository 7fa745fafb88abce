"""Leaf numbers and values equal those of scikit-learn's trees."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from hedgeclipper.voters.trees import leaf_proportions, pack_trees

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 6)).astype(np.float32)
Y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int) + (X[:, 3] > 0.8)
MISSING = np.where(RNG.random(X.shape) < 0.15, np.float32(np.nan), X)


def packed(model):
    return pack_trees(model.estimators_)


def leaves_of(model, rows):
    """Node numbers of leaves, as scikit-learn gives them, counted among the leaves of a tree."""
    return np.array(
        [
            (np.cumsum(tree.tree_.children_left < 0) - 1)[nodes]
            for tree, nodes in zip(model.estimators_, model.apply(rows).T, strict=True)
        ]
    )


@pytest.mark.parametrize("rows", [X, MISSING], ids=["whole", "missing"])
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_forests(kind, rows):
    model = kind(10, random_state=0).fit(rows, Y)
    trees = packed(model)
    leaves = trees.apply(rows)
    assert leaves.dtype == np.uint16
    np.testing.assert_array_equal(leaves, leaves_of(model, rows))
    values = leaf_proportions(model.estimators_).toarray()[:, 1][trees.offsets[:, None] + leaves]
    np.testing.assert_allclose(values.mean(axis=0), model.predict_proba(rows)[:, 1])


def test_values_right_at_a_threshold_in_float32():
    model = RandomForestClassifier(20, random_state=0).fit(X.astype(np.float64), Y)
    thresholds = np.concatenate([tree.tree_.threshold for tree in model.estimators_])
    edges = np.unique(thresholds[thresholds > -2]).astype(np.float32)
    around = np.concatenate([edges, np.nextafter(edges, 9), np.nextafter(edges, -9)])
    rows = np.tile(around[:, None], (1, 6)).astype(np.float32)
    np.testing.assert_array_equal(packed(model).apply(rows), leaves_of(model, rows))


def test_sparse_rows():
    dense = np.where(np.abs(X) < 1, np.float32(0), X)
    model = RandomForestClassifier(10, random_state=0).fit(dense, Y)
    ours = packed(model).apply(sparse.csr_array(dense))
    np.testing.assert_array_equal(ours, leaves_of(model, dense))


def test_several_blocks():
    rows = np.tile(X, (100, 1))
    model = RandomForestClassifier(4, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(packed(model).apply(rows), leaves_of(model, rows))


def test_single_leaves():
    model = RandomForestClassifier(3, min_samples_leaf=400, random_state=0).fit(X, Y)
    trees = packed(model)
    assert trees.n_leaves.tolist() == [1, 1, 1]
    assert trees.apply(X).shape == (3, 400)
    assert trees.apply(X).max() == 0
