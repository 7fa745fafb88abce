"""Models that were changed by hand: refused on loading, before compiled code runs into them."""

import pickle
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import BallTree, KDTree, KNeighborsClassifier
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from hedgeclipper import (
    HedgeClipperClassifier,
    HedgedVotingClassifier,
    ModelFileError,
    VoteAggregator,
    load,
    save,
)
from hedgeclipper.base.predictions import Calibration, PanelGame, ProbabilityScale
from hedgeclipper.forest.groups import GroupScorer
from hedgeclipper.forest.trees import PackedTrees
from hedgeclipper.forest.views import Components, ViewedTrees
from hedgeclipper.model_checks import check_model, parts_of
from hedgeclipper.votes.initial_model import InitialModel
from hedgeclipper.votes.matrix import Votes


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, (X[:, 0] > 0).astype(int)


def some_labels():
    X, y = rows()
    y[::2] = -1
    return X, y


def fixture_of_copies(fit):
    """Return a fixture with copies of one model, which tests damage."""
    fitted = cache(lambda: pickle.dumps(fit()))
    return pytest.fixture(name=fit.__name__)(lambda: pickle.loads(fitted()))


@fixture_of_copies
def small_forest():
    return HedgeClipperClassifier(n_estimators=16, random_state=0).fit(*some_labels())


@fixture_of_copies
def panel():
    members = [("linear", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2))]
    return HedgedVotingClassifier(members, random_state=0).fit(*some_labels())


@fixture_of_copies
def votes():
    rng = np.random.default_rng(0)
    cast = rng.integers(-1, 3, size=(60, 5))
    return VoteAggregator(random_state=0).fit(cast, np.where(rng.random(60) < 0.5, cast[:, 0], -1))


def part_of(model, kind):
    return next(part for part in parts_of(model) if isinstance(part, kind))


def put(part, field, value):
    """Set a field of an object, frozen or not, and return it."""
    object.__setattr__(part, field, value)
    return part


def entry(place, value):
    """Return a change of an array: another value at one place, in a dtype that holds it."""

    def change(array):
        wide = np.result_type(array.dtype, np.asarray(value).dtype)
        changed = array.astype(wide)
        changed.flat[place] = value
        return changed

    return change


def as_type(dtype):
    return lambda array: array.astype(dtype)


FOREST = [
    (PackedTrees, "leaf", entry(slice(None), -1)),
    (PackedTrees, "leaf", lambda leaf: np.where(leaf == 0, -1, leaf.astype(np.int32))),
    (PackedTrees, "leaf", as_type(complex)),
    (PackedTrees, "threshold", as_type(str)),
    (PackedTrees, "missing_left", as_type(float)),
    (PackedTrees, "left", as_type(float)),
    (PackedTrees, "left", lambda left: left[:, None]),
    (PackedTrees, "used", entry(0, -1)),
    (PackedTrees, "used", entry(0, 10**8)),
    (PackedTrees, "depth", lambda depth: 10**12),
    (PackedTrees, "roots", lambda roots: roots.tolist()),
    (PackedTrees, "leaf_values", entry(0, np.nan)),
    (PackedTrees, "n_leaves", lambda n_leaves: None),
    (GroupScorer, "leaf_values", entry(0, np.nan)),
    (GroupScorer, "leaf_values", entry(0, np.inf)),
    (GroupScorer, "leaf_values", as_type(object)),
    (GroupScorer, "groups", as_type(float)),
    (PanelGame, "weights", entry(0, np.nan)),
    (PanelGame, "weights", lambda weights: weights[:-1]),
    (PanelGame, "weights", lambda weights: "many"),
    (PanelGame, "scales", lambda scales: scales[:-1]),
    (Calibration, "slope", lambda slope: np.nan),
    (Calibration, "slope", lambda slope: None),
    (ProbabilityScale, "center", lambda center: np.inf),
    (HedgeClipperClassifier, "classes_", lambda classes: classes[:1]),
    (HedgeClipperClassifier, "classes_", lambda classes: np.append(classes, 2)),
    (HedgeClipperClassifier, "classes_", lambda classes: classes[:, None]),
    (HedgeClipperClassifier, "n_features_in_", lambda width: 2),
    (HedgeClipperClassifier, "n_features_in_", lambda width: "3"),
    (HedgeClipperClassifier, "_row_checks", lambda checks: {"no_such_check": 1}),
    (HedgeClipperClassifier, "_predictor", lambda predictor: None),
]
VOTES = [
    (Votes, "matrix", lambda matrix: wider(matrix, 10**8)),
    (Votes, "matrix", lambda matrix: put(matrix, "indices", matrix.indices + 10**8)),
    (Votes, "matrix", lambda matrix: put(matrix, "indices", matrix.indices - 1)),
    (Votes, "matrix", lambda matrix: put(matrix, "data", matrix.data + np.int8(100))),
    (Votes, "matrix", lambda matrix: put(matrix, "data", matrix.data - np.int8(1))),
    (Votes, "matrix", lambda matrix: put(matrix, "data", matrix.data.astype(float))),
    (Votes, "matrix", lambda matrix: matrix.toarray()),
    (Votes, "voters", lambda voters: voters[:-1]),
    (Votes, "classes", lambda classes: classes[:-1]),
    (VoteAggregator, "classes_", lambda classes: classes[:-1]),
    (VoteAggregator, "class_balance_", lambda balance: None),
    (InitialModel, "log_balance", entry(0, np.nan)),
    (InitialModel, "log_balance", entry(0, np.log(2.0))),
    (InitialModel, "log_balance", lambda balance: balance[:-1]),
]


def wider(matrix, n_columns):
    """Return a matrix with an entry in the last of so many columns."""
    indices = matrix.indices.astype(np.int64)
    indices[0] = n_columns - 1
    parts = matrix.data, indices, matrix.indptr.astype(np.int64)
    return sparse.csr_array(parts, shape=(matrix.shape[0], n_columns))


@pytest.mark.parametrize("number", range(len(FOREST) + len(VOTES)))
def test_a_changed_field_is_refused_on_loading(number, request, tmp_path):
    """Without the checks, one in three ends the process, and others predict nonsense."""
    kind, field, change = (FOREST + VOTES)[number]
    model = request.getfixturevalue("small_forest" if number < len(FOREST) else "votes")
    part = part_of(model, kind)
    put(part, field, change(getattr(part, field)))
    path = save(model, tmp_path / "model.skops")
    with pytest.raises(ModelFileError, match="is damaged"):
        load(path)


def test_a_member_without_what_it_learned(panel, tmp_path):
    del panel.members_["linear"].coef_
    with pytest.raises(ModelFileError, match="is damaged"):
        load(save(panel, tmp_path / "model.skops"))


def test_a_member_with_more_classes_than_weights(panel, tmp_path):
    """Its error is a ValueError, but not one that tells of bad rows."""
    panel.members_["linear"].classes_ = np.tile(panel.members_["linear"].classes_, 2)
    with pytest.raises(ModelFileError, match="is damaged"):
        load(save(panel, tmp_path / "model.skops"))


def test_members_that_refuse_the_rows_that_are_tried(tmp_path):
    """A ValueError is what a user would get for such rows, and no sign of damage."""
    X, y = some_labels()
    view = FunctionTransformer(np.sqrt)
    model = HedgeClipperClassifier(n_estimators=16, views=[view], random_state=0)
    model.fit(np.abs(X) + 1.0, y)
    again = load(save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.predict(np.abs(X) + 1), model.predict(np.abs(X) + 1))


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


def test_whole_models_pass(small_forest):
    X, y = rows()
    check_model(small_forest)
    check_model(HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2).fit(X, y))
    check_model(BaggingClassifier(n_estimators=3, max_features=2).fit(X, y))
    check_model(boosted())
    check_model(KNeighborsClassifier(algorithm="kd_tree").fit(X, y))
    check_model(KNeighborsClassifier(algorithm="ball_tree").fit(X, y))
    check_model(tree_with())


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
        check_model(tree_with(**changes))


def test_a_tree_that_wants_more_columns_than_its_rows_need_have():
    model = tree_with()
    model.n_features_in_ = 2
    with pytest.raises(ValueError, match="that does not exist"):
        check_model(model)


@pytest.mark.parametrize(
    ("field", "value"),
    [("depth", 0), ("left", 10_000), ("feature", 50), ("leaf", 70_000), ("roots", -3)],
)
def test_packed_trees_with_a_broken_reference(small_forest, field, value):
    trees = packed(small_forest)
    if field == "depth":
        trees.depth = value
    else:
        places = trees.left < 0 if field == "leaf" else trees.left >= 0
        array = getattr(trees, field)
        array[0 if field == "roots" else np.flatnonzero(places)[0]] = value
    with pytest.raises(ValueError, match="that does not exist"):
        check_model(small_forest)


def test_a_node_with_two_parents(small_forest):
    """Paths through such nodes may double at each step, which no check would come to the end of."""
    trees = packed(small_forest)
    inner = np.flatnonzero(trees.left >= 0)[0]
    trees.left[inner] = trees.right[inner]
    with pytest.raises(ValueError, match="that does not exist"):
        check_model(small_forest)


@pytest.mark.parametrize("parent", [-1, 0, 2, 10_000])
def test_a_parent_that_is_not_that_of_the_node(small_forest, parent):
    """Sums over nodes go up without a look; node 2 would be above itself."""
    trees = packed(small_forest)
    assert trees.parent[2] == 1
    trees.parent[2] = parent
    with pytest.raises(ValueError, match="that does not exist"):
        check_model(small_forest)


@pytest.mark.parametrize("field", ["leaf_sizes", "leaf_values", "parent", "n_leaves"])
def test_packed_trees_with_too_few_entries(small_forest, field):
    trees = packed(small_forest)
    setattr(trees, field, getattr(trees, field)[:-1])
    with pytest.raises(ValueError, match="that does not exist"):
        check_model(small_forest)


def test_numbers_of_leaves_that_only_add_up_by_an_overflow(small_forest):
    trees = packed(small_forest)
    trees.n_leaves = trees.n_leaves.copy()
    trees.n_leaves[:2] += 2**63 - 1
    trees.n_leaves[2] += 2
    assert trees.n_leaves.sum() == trees.leaf_sizes.size
    with pytest.raises(ValueError, match="that does not exist"):
        check_model(small_forest)


@pytest.mark.parametrize(
    "change",
    [
        lambda trees: trees.views.pop(),
        lambda trees: trees.parts.pop(),
        lambda trees: setattr(trees, "n_leaves", trees.n_leaves + 1),
        lambda trees: setattr(trees, "n_leaves", trees.n_leaves[:-1]),
        lambda trees: setattr(trees, "leaf_values", trees.leaf_values[1:]),
        lambda trees: trees.parts.__setitem__(0, trees),
        lambda trees: trees.looks.pop(),
        lambda trees: trees.looks.__setitem__(0, (2,)),
        lambda trees: trees.looks.__setitem__(0, (-1,)),
        lambda trees: trees.looks.__setitem__(0, ()),
        lambda trees: trees.looks.__setitem__(2, (1, 0)),
        lambda trees: trees.looks.__setitem__(2, (0, 0)),
        lambda trees: trees.looks.__setitem__(2, [0, 1]),
        lambda trees: trees.widths.pop(),
        lambda trees: trees.widths.__setitem__(0, trees.widths[0] + 1),
        lambda trees: trees.widths.__setitem__(1, -1),
    ],
)
def test_viewed_trees_that_do_not_fit_together(small_forest, change):
    change(part_of(small_forest, ViewedTrees))
    with pytest.raises(ValueError, match="that does not exist"):
        check_model(small_forest)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("leaf_values", lambda values: values[:, :-1]),
        ("leaf_values", lambda values: values[0]),
        ("leaf_values", lambda values: values[:0]),
        ("groups", lambda groups: groups[:-1]),
        ("groups", lambda groups: groups[::-1]),
        ("groups", lambda groups: groups + 1),
        ("groups", lambda groups: 2 * groups),
    ],
)
def test_groups_that_do_not_fit_their_trees(small_forest, field, change):
    scorer = part_of(small_forest, GroupScorer)
    object.__setattr__(scorer, field, change(getattr(scorer, field)))
    with pytest.raises(ValueError, match="that does not exist"):
        check_model(small_forest)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("directions_", lambda directions: directions[:-1]),
        ("directions_", lambda directions: directions[:, :-1]),
        ("directions_", lambda directions: directions * np.nan),
        ("offset_", lambda offset: offset[:-1]),
        ("offset_", lambda offset: offset + np.inf),
        ("fill_", lambda fill: fill[:1]),
        ("fill_", lambda fill: fill * np.nan),
        ("lowest_", lambda lowest: lowest[:, None]),
        ("highest_", lambda highest: highest * np.nan),
        ("n_features_in_", lambda n_columns: n_columns + 1),
    ],
)
def test_components_that_do_not_fit_their_columns(small_forest, field, change):
    view = part_of(small_forest, Components)
    setattr(view, field, change(getattr(view, field)))
    with pytest.raises(ValueError, match="that does not exist"):
        check_model(small_forest)


def test_a_sparse_matrix_whose_columns_do_not_exist():
    matrix = sparse.csr_array(np.eye(3))
    matrix.indices[0] = 10_000
    with pytest.raises(ValueError, match="indices must be"):
        check_model({"matrix": matrix})


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
        check_model(model)


def test_boosted_trees_whose_columns_are_fewer():
    model = boosted()
    model._bin_mapper.is_categorical_ = model._bin_mapper.is_categorical_[:1]
    with pytest.raises(ValueError, match="that does not exist"):
        check_model(model)


def test_boosted_trees_whose_preprocessor_is_not_their_own():
    model = boosted()
    model._preprocessor.transformers_ = model._preprocessor.transformers_[:1]
    with pytest.raises(ValueError, match="that does not exist"):
        check_model(model)


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
        check_model(model)


def test_a_boosted_tree_without_a_node():
    model = boosted()
    tree = model._predictors[0][0]
    tree.nodes = tree.nodes[:0]
    with pytest.raises(ValueError, match="that does not exist"):
        check_model(model)


@pytest.mark.parametrize(
    "costs",
    ["x", np.zeros((1, 1)), np.ones((3, 3)), np.full((2, 2), np.nan), -np.ones((2, 2))],
    ids=["a string", "too small", "too large", "NaN", "negative"],
)
def test_costs_of_errors_are_those_of_the_classes(small_forest, costs):
    object.__setattr__(small_forest._predictor, "costs", costs)
    with pytest.raises(ValueError, match="out of range"):
        check_model(small_forest)
