import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier
from sklearn.neighbors import BallTree, KDTree, KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.forest.trees import PackedTrees
from hedgeclipper.model_parts import check_trees, parts_of


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, (X[:, 0] > 0).astype(int)


@pytest.fixture
def forest():
    X, y = rows()
    y[::2] = -1
    return HedgeClipperClassifier(n_estimators=4, random_state=0).fit(X, y)


def packed(model):
    return next(part for part in parts_of(model) if isinstance(part, PackedTrees))


def tree_with(**changes):
    """Return a fitted tree whose nodes were changed."""
    X, y = rows()
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    tree = model.tree_
    state = tree.__getstate__()
    for field, (node, value) in changes.items():
        state["nodes"][field][node] = value
    tree.__setstate__(state)
    return model


def boosted():
    """Return boosted trees that split a column of categories."""
    categories = np.arange(60) % 3
    X = np.column_stack([rows()[0], categories])
    model = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2, categorical_features=[3])
    model.fit(X, categories == 1)
    assert model._predictors[0][0].nodes["is_categorical"].any()
    return model


def test_every_part_comes_once():
    shared = [1]
    parts = list(parts_of({"a": shared, "b": (shared, np.array([shared], dtype=object))}))
    assert sum(part is shared for part in parts) == 1


def test_whole_models_pass(forest):
    X, y = rows()
    check_trees(forest)
    check_trees(HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2).fit(X, y))
    check_trees(BaggingClassifier(n_estimators=3, max_features=2).fit(X, y))
    check_trees(boosted())
    check_trees(KNeighborsClassifier(algorithm="kd_tree").fit(X, y))
    check_trees(KNeighborsClassifier(algorithm="ball_tree").fit(X, y))
    check_trees(tree_with())


@pytest.mark.parametrize(
    "changes",
    [
        {"left_child": (0, 10_000)},
        {"right_child": (0, -7)},
        {"left_child": (0, 0)},
        {"feature": (0, 3)},
        {"feature": (0, -5)},
    ],
)
def test_a_tree_with_a_broken_reference(changes):
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(tree_with(**changes))


def test_a_tree_that_wants_more_columns_than_its_rows_need_have():
    model = tree_with()
    model.n_features_in_ = 2
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(model)


@pytest.mark.parametrize(
    ("field", "value"),
    [("depth", 0), ("left", 10_000), ("feature", 50), ("leaf", 70_000), ("roots", -3)],
)
def test_packed_trees_with_a_broken_reference(forest, field, value):
    trees = packed(forest)
    if field == "depth":
        trees.depth = value
    else:
        places = trees.left < 0 if field == "leaf" else trees.left >= 0
        array = getattr(trees, field)
        array[0 if field == "roots" else np.flatnonzero(places)[0]] = value
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(forest)


def test_leaves_without_a_score(forest):
    object.__setattr__(forest._predictor, "leaf_scores", forest._predictor.leaf_scores[:-1])
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(forest)


def change_tree(tree, changes):
    """Change parts of a boosted tree: a number in its nodes, or what it holds."""
    for name, value in changes.items():
        if name in tree.nodes.dtype.names:
            tree.nodes[name][0] = value
        else:
            setattr(tree, name, value)


@pytest.mark.parametrize(
    "changes",
    [
        {"bitset_idx": 50_000},
        {"raw_left_cat_bitsets": np.zeros((0, 8), np.uint32)},
        {"raw_left_cat_bitsets": np.zeros((1, 2), np.uint32)},
        {"feature_idx": 1},
    ],
)
def test_boosted_trees_with_a_broken_reference(changes):
    model = boosted()
    change_tree(model._predictors[0][0], changes)
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(model)


def test_boosted_trees_whose_columns_are_fewer():
    model = boosted()
    model._bin_mapper.is_categorical_ = model._bin_mapper.is_categorical_[:1]
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(model)


def test_boosted_trees_whose_preprocessor_is_not_their_own():
    model = boosted()
    model._preprocessor.transformers_ = model._preprocessor.transformers_[:1]
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(model)


DATA, ORDER, NODES, BOUNDS, METRIC = 0, 1, 2, 3, 11


def shortened(array):
    return np.ascontiguousarray(array[:, :1])


def with_first(field, value):
    def change(nodes):
        nodes = nodes.copy()
        nodes[field][0] = value
        return nodes

    return change


@pytest.mark.parametrize("kind", [KDTree, BallTree])
@pytest.mark.parametrize(
    ("place", "change"),
    [
        (ORDER, lambda order: order + 100_000_000),
        (ORDER, lambda order: order - 1),
        (ORDER, lambda order: order[:-1].copy()),
        (NODES, with_first("idx_end", 10_000_000)),
        (NODES, with_first("idx_start", -5)),
        (NODES, lambda nodes: nodes[:0].copy()),
        (NODES, lambda nodes: np.tile(nodes[:1], nodes.size)),
        (BOUNDS, shortened),
        (DATA, shortened),
        (METRIC, lambda metric: None),
    ],
)
def test_a_tree_of_neighbors_with_a_broken_reference(kind, place, change):
    tree = kind(rows()[0], leaf_size=5)
    state = list(tree.__getstate__())
    state[place] = change(state[place])
    tree.__setstate__(tuple(state))
    model = KNeighborsClassifier()
    model._tree = tree
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(model)


def test_a_boosted_tree_without_a_node():
    model = boosted()
    tree = model._predictors[0][0]
    tree.nodes = tree.nodes[:0]
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(model)
