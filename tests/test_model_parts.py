import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.model_parts import check_trees, parts_of
from hedgeclipper.specialists.trees import PackedTrees


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


def test_every_part_comes_once():
    shared = [1]
    parts = list(parts_of({"a": shared, "b": (shared, np.array([shared], dtype=object))}))
    assert sum(part is shared for part in parts) == 1


def test_whole_models_pass(forest):
    X, y = rows()
    check_trees(forest)
    check_trees(HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2).fit(X, y))
    check_trees(BaggingClassifier(n_estimators=3, max_features=2).fit(X, y))
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
def test_a_tree_that_leads_astray(changes):
    with pytest.raises(ValueError, match="leads to where there is nothing"):
        check_trees(tree_with(**changes))


def test_a_tree_that_wants_more_columns_than_its_rows_need_have():
    model = tree_with()
    model.n_features_in_ = 2
    with pytest.raises(ValueError, match="leads to where"):
        check_trees(model)


@pytest.mark.parametrize(
    ("field", "value"),
    [("depth", 0), ("left", 10_000), ("feature", 50), ("leaf", 70_000), ("roots", -3)],
)
def test_packed_trees_that_lead_astray(forest, field, value):
    trees = packed(forest)
    if field == "depth":
        trees.depth = value
    else:
        places = trees.left < 0 if field == "leaf" else trees.left >= 0
        array = getattr(trees, field)
        array[0 if field == "roots" else np.flatnonzero(places)[0]] = value
    with pytest.raises(ValueError, match="leads to where"):
        check_trees(forest)


def test_leaves_without_a_score(forest):
    object.__setattr__(forest._predictor, "leaf_scores", forest._predictor.leaf_scores[:-1])
    with pytest.raises(ValueError, match="leads to where"):
        check_trees(forest)
