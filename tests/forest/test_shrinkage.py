import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import log_loss

from hedgeclipper.forest.groups import STRENGTHS, choose_strength, shrink
from hedgeclipper.forest.trees import TreeNodes, leaf_finder
from hedgeclipper.forest.views import ViewedTrees

X, Y = make_classification(300, 6, n_informative=4, flip_y=0.1, random_state=0)
X = X.astype(np.float32)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, 300)
FOREST = RandomForestClassifier(4, random_state=0).fit(X, Y, sample_weight=WEIGHTS)
FINDER = leaf_finder(FOREST)
EVEN = np.array([0.0, 5.0, 40.0])


def shrunk_by_recursion(tree, strength, node=0, above=None):
    """Values of the leaves of scikit-learn's tree, left ones first, as Agarwal et al. write it."""
    mean = tree.value[node, 0, 1]
    value = mean
    if above is not None:
        value_above, mean_above, size_above = above
        value = value_above + (mean - mean_above) / (1 + strength / size_above)
    if tree.children_left[node] < 0:
        return [value]
    here = value, mean, tree.weighted_n_node_samples[node]
    left, right = tree.children_left[node], tree.children_right[node]
    return [
        *shrunk_by_recursion(tree, strength, left, here),
        *shrunk_by_recursion(tree, strength, right, here),
    ]


def test_it_is_a_recursion_from_the_root():
    ours = shrink(FINDER.nodes, FINDER.leaf_values[:, 1], EVEN)
    for strength, own in zip(EVEN, ours, strict=True):
        theirs = [
            value
            for tree in FOREST.estimators_
            for value in shrunk_by_recursion(tree.tree_, strength)
        ]
        np.testing.assert_allclose(own, theirs, atol=1e-12)


def test_from_none_to_the_mean_of_the_tree():
    values = FINDER.leaf_values[:, 1]
    none, all_of_it = shrink(FINDER.nodes, values, np.array([0.0, 1e15]))
    np.testing.assert_allclose(none, values, atol=1e-12)
    means = [tree.tree_.value[0, 0, 1] for tree in FOREST.estimators_]
    np.testing.assert_allclose(all_of_it, np.repeat(means, FINDER.n_leaves))


def test_sizes_are_those_of_the_trees():
    sizes = np.concatenate([tree.tree_.weighted_n_node_samples for tree in FOREST.estimators_])
    means = np.concatenate([tree.tree_.value[:, 0, 1] for tree in FOREST.estimators_])
    ours = FINDER.nodes.means_and_sizes(FINDER.leaf_values[:, 1])
    np.testing.assert_allclose(ours, (means, sizes))


def test_the_mean_over_the_training_rows_stays():
    """Within every node the steps of its children add up to nothing, weighted by their rows."""
    nodes = FINDER.nodes
    for own in shrink(nodes, FINDER.leaf_values[:, 1], EVEN):
        roots = nodes.means_and_sizes(own)[0][nodes.parent < 0]
        theirs = [tree.tree_.value[0, 0, 1] for tree in FOREST.estimators_]
        np.testing.assert_allclose(roots, theirs)


def booster(library):
    if library == "sklearn":
        return GradientBoostingClassifier(n_estimators=4, random_state=0).fit(X, Y)
    module = pytest.importorskip(library)
    if library == "lightgbm":
        return module.LGBMClassifier(n_estimators=4, verbose=-1).fit(X, Y)
    return module.XGBClassifier(n_estimators=4).fit(X, Y)


@pytest.mark.parametrize("library", ["sklearn", "lightgbm", "xgboost"])
def test_nodes_of_boosters(library):
    """Parents come before their children, and every node but a root has a sibling."""
    finder = leaf_finder(booster(library))
    nodes, n_leaves = finder.nodes, int(finder.n_leaves.sum())
    assert np.all(nodes.parent < np.arange(nodes.parent.size))
    assert np.sum(nodes.parent < 0) == finder.n_trees
    assert nodes.leaf_nodes.shape == nodes.leaf_sizes.shape == (n_leaves,)
    assert not np.isin(nodes.leaf_nodes, nodes.parent).any()
    n_children = np.bincount(nodes.parent[nodes.parent >= 0], minlength=nodes.parent.size)
    assert set(n_children) == {0, 2}
    np.testing.assert_array_equal(np.sort(nodes.leaf_nodes), np.flatnonzero(n_children == 0))
    # leaves of a tree have its root above them
    climbing = nodes.leaf_nodes.copy()
    while np.any(nodes.parent[climbing] >= 0):
        climbing = np.where(nodes.parent[climbing] >= 0, nodes.parent[climbing], climbing)
    roots = np.flatnonzero(nodes.parent < 0)
    np.testing.assert_array_equal(climbing, np.repeat(roots, finder.n_leaves))
    assert np.all(nodes.leaf_sizes > 0)
    if library != "xgboost":  # which counts by second derivatives
        _, sizes = nodes.means_and_sizes(finder.leaf_values[:, 0])
        np.testing.assert_allclose(sizes[roots], 300)
        pairs = zip(finder.find(X), finder.n_leaves, strict=True)
        counts = [np.bincount(own, minlength=n) for own, n in pairs]
        np.testing.assert_array_equal(nodes.leaf_sizes, np.concatenate(counts))


def test_nodes_of_several_views_are_those_of_each():
    other = leaf_finder(RandomForestClassifier(3, random_state=1).fit(X, Y))
    both = ViewedTrees([], [(0,), (0,)], [FINDER, other], [X.shape[1]])
    ours = shrink(both.nodes, both.leaf_values[:, 1], EVEN)
    theirs = [shrink(part.nodes, part.leaf_values[:, 1], EVEN) for part in (FINDER, other)]
    np.testing.assert_array_equal(ours, np.hstack(theirs))


def test_a_leaf_alone_has_its_mean():
    nodes = TreeNodes(np.array([-1]), np.array([0]), np.array([7.0]))
    np.testing.assert_array_equal(shrink(nodes, np.array([0.3]), STRENGTHS), 0.3)


# The choice of the strength.


@pytest.mark.parametrize("weighted", [False, True])
def test_the_strength_is_that_of_the_lowest_log_loss(weighted):
    rng = np.random.default_rng(0)
    for _ in range(10):
        scores, is_positive = rng.random((4, 50, 1)), rng.random((50, 1)) < 0.5
        weights = rng.random(50) if weighted else None
        losses = [log_loss(is_positive[:, 0], own[:, 0], sample_weight=weights) for own in scores]
        assert choose_strength(scores, is_positive, weights) == np.argmin(losses)


def test_rows_without_a_score_do_not_count_and_sure_errors_stay_finite():
    scores = np.array([[0.0, 0.9, 0.5], [0.5, 0.5, np.nan]])[:, :, None]
    is_positive = np.array([[True], [True], [True]])
    assert choose_strength(scores, is_positive) == 1
    assert choose_strength(np.full((3, 4, 1), np.nan), np.ones((4, 1), bool)) == 0


def test_the_losses_of_several_games_add_up():
    """The second strength is a little worse in the first game, and much better in the other."""
    scores = np.array([[[0.7, 0.1]], [[0.6, 0.8]]])
    assert choose_strength(scores, np.array([[True, True]])) == 1
    assert choose_strength(scores[:, :, :1], np.array([[True]])) == 0
