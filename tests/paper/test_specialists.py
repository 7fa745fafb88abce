"""Specialists against what scikit-learn's trees say of the same rows."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from hedgeclipper.bounds.intervals import proportion_bounds
from hedgeclipper.paper.algorithm import LeafRows, grow_forest, set_up_specialists

X, Y = make_classification(900, 6, n_informative=4, flip_y=0.1, random_state=0)
X = X.astype(np.float32)
L, U = slice(0, 300), slice(300, None)
SIGNS = 2 * Y[L] - 1


def grown(rows=X[L], y=Y[L], **options):
    settings = {
        "n_estimators": 7,
        "min_leaf_size": "auto",
        "filter_leaves": False,
        "b_from": "oob",
        "train_size": 0.2,
        "is_for_bounds": False,
        "random_state": np.random.RandomState(0),
        "n_jobs": None,
        **options,
    }
    return grow_forest(rows, y, **settings)


def specialists(forest, delta=None):
    counts = LeafRows(forest.trees, X[U]).leaf_counts
    return set_up_specialists(forest, 1, counts, delta, alpha=1.0)


def by_hand(forest, weights):
    """Vote, b and coverage of each leaf and each tree, from scikit-learn's trees alone."""
    leaves, trees = [], []
    for tree, own in zip(forest.forest.estimators_, weights, strict=True):
        is_leaf = tree.tree_.children_left < 0
        votes = np.sign(tree.tree_.value[:, 0, 1] - 0.5)
        at, unlabeled = tree.apply(X[L]), tree.apply(X[U])
        for node in np.flatnonzero(is_leaf):
            inside = own * (at == node) * (votes[node] != 0)
            b = np.sum(inside * votes[node] * SIGNS) / inside.sum() if inside.sum() else 0.0
            leaves.append((votes[node], b, np.mean(unlabeled == node) * (votes[node] != 0)))
        awake = own * (votes[at] != 0)
        b = np.sum(awake * votes[at] * SIGNS) / awake.sum()
        trees.append((np.nan, b, np.mean(votes[unlabeled] != 0)))
    return np.array(leaves + trees).T


def test_out_of_bag_correlations_of_leaves_and_trees():
    forest = grown()
    bags = [np.bincount(own, minlength=300) for own in forest.forest.estimators_samples_]
    votes, b, coverage = by_hand(forest, [(bag == 0).astype(float) for bag in bags])
    ours = specialists(forest)
    np.testing.assert_array_equal(ours.votes, votes[: ours.votes.size])
    np.testing.assert_allclose(ours.b, b, atol=1e-12)
    used = ours.is_used
    np.testing.assert_allclose(ours.coverage[used], coverage[used])
    np.testing.assert_array_equal(used, (b > 0) & (coverage > 0))
    assert used[-7:].all(), "trees are specialists, too"


@pytest.mark.parametrize(("b_from", "n_grown"), [("holdout", 60), ("bootstrap", 110)])
def test_rows_that_estimate_b_did_not_grow_the_trees(b_from, n_grown):
    forest = grown(b_from=b_from)
    counts = forest.counts[0]
    assert np.sum(counts == 0) == pytest.approx(n_grown, abs=25 * (b_from == "bootstrap"))
    assert forest.forest.estimators_samples_[0].size == np.sum(counts == 0)
    _, b, _ = by_hand(forest, forest.counts)
    np.testing.assert_allclose(specialists(forest).b, b, atol=1e-12)


def test_leaf_sizes_are_those_of_the_paper():
    assert grown().forest.min_samples_leaf == 4
    many = grown(np.tile(X, (2, 1)), np.tile(Y, 2), n_estimators=1)
    assert many.forest.min_samples_leaf == 10


def test_small_leaves_of_free_trees_are_left_out_but_their_trees_vote_there():
    forest = grown(filter_leaves=True)
    sizes = np.concatenate(
        [t.tree_.weighted_n_node_samples[t.tree_.children_left < 0] for t in forest.forest]
    )
    assert forest.forest.min_samples_leaf == 1
    assert sizes.min() < 4
    ours = specialists(forest)
    assert not ours.is_used[: ours.votes.size][sizes < 4].any()
    assert ours.coverage[-7:].min() == pytest.approx(1.0, abs=0.05)


def test_lower_bounds_are_exact_at_half_of_delta_for_leaves_and_for_trees():
    forest, delta = grown(), 0.1
    plug_in, ours = specialists(forest), specialists(forest, delta)
    for number, (tree, unseen) in enumerate(zip(forest.forest, forest.counts > 0, strict=True)):
        p, p_unlabeled = (tree.predict_proba(rows)[:, 1] for rows in (X[L], X[U]))
        awake = unseen & (p != 0.5)
        right, n_awake = np.sum((p > 0.5) == Y[L], where=awake), np.sum(p_unlabeled != 0.5)
        lower, _ = proportion_bounds(right, awake.sum(), n_awake, delta / 2 / 7)
        assert ours.b[ours.votes.size + number] == pytest.approx(2 * lower - 1)
    known = plug_in.is_used
    assert np.all(ours.b[known] < plug_in.b[known])


def test_a_class_without_a_row_to_grow_trees_gets_one_but_not_for_bounds():
    rare = (np.arange(300) < 2).astype(int)
    options = {"b_from": "holdout", "train_size": 0.01}
    counts = grown(y=rare, **options).counts[0]
    assert np.sum(counts[:2] == 0) == 1
    with pytest.raises(ValueError, match=r"none of class number 1 .* raise train_size"):
        grown(y=rare, is_for_bounds=True, **options)
