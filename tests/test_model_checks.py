"""Models that were changed by hand: refused on loading, before compiled code runs into them."""

import pickle
from functools import cache, partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from hedgeclipper import (
    HedgeClipperClassifier,
    ModelFileError,
    VoteAggregator,
    load,
    save,
)
from hedgeclipper.persistence import check_model, parts_of
from hedgeclipper.voters.tree_groups import TreeGroup
from hedgeclipper.voters.trees import PackedTrees
from hedgeclipper.voters.views import Components
from hedgeclipper.votes.initial_model import VoteModel
from hedgeclipper.votes.matrix import VoteKernel, Votes
from hedgeclipper.weighing import RankScale, VoteScales, WeightedVote


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, (X[:, 0] + rng.normal(size=60) > 0).astype(int)


def some_labels():
    X, y = rows()
    y[::2] = -1
    return X, y


def fixture_of_copies(fit):
    """Return a fixture with copies of one model, which tests damage."""
    fitted = cache(lambda: pickle.dumps(fit()))
    return pytest.fixture(name=fit.__name__)(lambda: pickle.loads(fitted()))


@fixture_of_copies
def trees():
    return HedgeClipperClassifier("trees", n_estimators=16, random_state=0).fit(*some_labels())


@fixture_of_copies
def own():
    voters = [("linear", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2))]
    return HedgeClipperClassifier(voters, random_state=0).fit(*some_labels())


@fixture_of_copies
def votes():
    rng = np.random.default_rng(0)
    cast = rng.integers(-1, 3, size=(60, 5))
    return VoteAggregator(random_state=0).fit(cast, np.where(rng.random(60) < 0.5, cast[:, 0], -1))


def put(part, field, value):
    """Set a field of an object, frozen or not, and return it."""
    object.__setattr__(part, field, value)
    return part


def entry(place, value):
    """Return a change of an array: another value at one place, in a dtype that holds it."""

    def change(array):
        changed = array.astype(np.result_type(array.dtype, np.asarray(value).dtype))
        changed.flat[place] = value
        return changed

    return change


def as_type(dtype):
    return lambda array: array.astype(dtype)


def shorter(array):
    return array[:-1]


def overflowing(n_leaves):
    """Return numbers of leaves whose sum is right by an overflow."""
    changed = n_leaves.copy()
    changed[:3] += np.array([2**63 - 1, 2**63 - 1, 2])
    assert changed.sum() == n_leaves.sum()
    return changed


CHANGES = {
    "trees": [
        (PackedTrees, "left", entry(0, 10_000)),
        (PackedTrees, "left", entry(0, 0)),  # a path without an end
        (PackedTrees, "right", entry(0, -7)),
        (PackedTrees, "right", entry(0, 1)),  # both children are one: paths double at each step
        (PackedTrees, "left", as_type(float)),
        (PackedTrees, "left", as_type(np.uint32)),
        (PackedTrees, "left", lambda left: left[:, None]),
        (PackedTrees, "parent", entry(2, -1)),
        (PackedTrees, "parent", entry(2, 0)),
        (PackedTrees, "parent", entry(2, 2)),  # above itself
        (PackedTrees, "parent", entry(2, 10_000)),
        (PackedTrees, "parent", shorter),
        (PackedTrees, "feature", entry(0, 50)),
        (PackedTrees, "feature", entry(0, -1)),
        (PackedTrees, "leaf", entry(slice(None), -1)),
        (PackedTrees, "leaf", entry(slice(None), 70_000)),
        (PackedTrees, "leaf", as_type(complex)),
        (PackedTrees, "threshold", as_type(str)),
        (PackedTrees, "threshold", shorter),
        (PackedTrees, "missing_left", as_type(float)),
        (PackedTrees, "used", lambda used: used[:0]),
        (PackedTrees, "roots", entry(0, -3)),
        (PackedTrees, "roots", lambda roots: roots[::-1].copy()),
        (PackedTrees, "roots", lambda roots: roots.tolist()),
        (PackedTrees, "depth", lambda depth: 0),
        (PackedTrees, "depth", lambda depth: 10**12),
        (PackedTrees, "n_leaves", overflowing),
        (PackedTrees, "n_leaves", shorter),
        (PackedTrees, "n_leaves", lambda n_leaves: None),
        (Components, "directions_", shorter),
        (Components, "directions_", lambda directions: directions[:, :-1]),
        (Components, "directions_", as_type(int)),
        (Components, "offset_", shorter),
        (Components, "fill_", lambda fill: fill[:1]),
        (Components, "lowest_", lambda lowest: lowest[:, None]),
        (Components, "n_features_in_", lambda n_columns: n_columns + 1),
        (TreeGroup, "trees", lambda trees: None),
        (TreeGroup, "view", lambda view: "rows"),
        (TreeGroup, "leaf_values", lambda values: values[:, :-1]),
        (TreeGroup, "leaf_values", lambda values: values[0]),
        (TreeGroup, "leaf_values", lambda values: values[:0]),
        (TreeGroup, "leaf_values", entry(0, np.nan)),
        (TreeGroup, "leaf_values", as_type(object)),
        (WeightedVote, "weights", entry(0, np.nan)),
        (WeightedVote, "weights", shorter),
        (WeightedVote, "slope", lambda slope: np.nan),
        (WeightedVote, "slope", lambda slope: None),
        (VoteScales, "tree_center", lambda center: np.inf),
        (VoteScales, "n_groups", lambda n_groups: n_groups + 1),
        (HedgeClipperClassifier, "classes_", shorter),
        (HedgeClipperClassifier, "classes_", lambda classes: classes[:, None]),
    ],
    "own": [
        (RankScale, "ranks", entry(0, np.nan)),
        (RankScale, "values", shorter),
        (VoteScales, "others", shorter),
        (HedgeClipperClassifier, "classes_", lambda classes: np.append(classes, 2)),
    ],
    "votes": [
        (Votes, "matrix", lambda matrix: wider(matrix, 10**8)),
        (Votes, "matrix", lambda matrix: put(matrix, "indices", matrix.indices + 10**8)),
        (Votes, "matrix", lambda matrix: put(matrix, "indices", matrix.indices - 1)),
        (Votes, "matrix", lambda matrix: put(matrix, "data", matrix.data + np.int8(100))),
        (Votes, "matrix", lambda matrix: put(matrix, "data", matrix.data - np.int8(1))),
        (Votes, "matrix", lambda matrix: put(matrix, "data", matrix.data.astype(float))),
        (Votes, "matrix", lambda matrix: matrix.tocsc()),
        (Votes, "matrix", lambda matrix: matrix.toarray()),
        (Votes, "voters", shorter),
        (Votes, "classes", shorter),
        (VoteAggregator, "classes_", shorter),
        (VoteModel, "log_balance", entry(0, np.nan)),
        (VoteModel, "log_balance", entry(0, np.log(2.0))),
        (VoteModel, "log_balance", shorter),
        (VoteModel, "votes", entry(0, np.inf)),
    ],
}


def wider(matrix, n_columns):
    """Return a matrix with an entry in the last of so many columns."""
    indices = matrix.indices.astype(np.int64)
    indices[0] = n_columns - 1
    parts = matrix.data, indices, matrix.indptr.astype(np.int64)
    return sparse.csr_array(parts, shape=(matrix.shape[0], n_columns))


@pytest.mark.parametrize(
    ("name", "number"),
    [(name, k) for name, changes in CHANGES.items() for k in range(len(changes))],
)
def test_a_changed_field_is_refused_on_loading(name, number, request, tmp_path):
    """Without the checks, one in three ends the process, and others predict nonsense."""
    model, (kind, field, change) = request.getfixturevalue(name), CHANGES[name][number]
    part = next(part for part in parts_of(model) if isinstance(part, kind))
    put(part, field, change(getattr(part, field)))
    path = save(model, tmp_path / "model.skops")
    with pytest.raises(ModelFileError, match="is damaged"):
        load(path)


def test_a_function_in_the_place_of_a_method(trees, tmp_path):
    """It would be called instead, and could return leaves that do not exist."""
    trees._predictor.scorer.trees.groups[0].trees.apply = np.add
    with pytest.raises(ModelFileError, match="its methods do not fit together"):
        load(save(trees, tmp_path / "model.skops"))


def test_votes_of_another_type_reach_no_kernel(votes):
    fake = HedgeClipperClassifier()
    vars(fake).update(matrix=votes._gold.labeled.matrix, n_rows=10**6, n_voters=1, n_classes=1)
    with pytest.raises(TypeError, match="A VoteKernel needs Votes"):
        VoteKernel(fake)


def test_every_part_comes_once():
    shared = [1]
    parts = list(parts_of({"a": shared, "b": (shared, np.array([shared], dtype=object))}))
    assert sum(part is shared for part in parts) == 1


def boosted():
    """Return boosted trees that split a column of categories."""
    categories = np.arange(60) % 3
    X = np.column_stack([rows()[0], categories])
    model = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2, categorical_features=[3])
    model.fit(X, categories == 1)
    assert model._predictors[0][0].nodes["is_categorical"].any()
    return model


WHOLE = [
    HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2),
    GradientBoostingClassifier(n_estimators=2),
    RandomForestClassifier(3),
    BaggingClassifier(n_estimators=3, max_features=2),
    IsolationForest(n_estimators=3, max_features=2),
    # a tree on more columns than the rows have
    VotingClassifier([("a", make_pipeline(OneHotEncoder(), DecisionTreeClassifier()))]),
]


@pytest.mark.parametrize("model", WHOLE, ids=lambda model: type(model).__name__)
def test_whole_models_pass(model):
    check_model(model)
    check_model(model.fit(*rows()))


def test_a_whole_booster_of_categories_passes():
    check_model(boosted())


refused = partial(pytest.raises, ValueError, match="do not fit together")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("left_child", 10_000),
        ("right_child", -7),
        ("left_child", 0),
        ("feature", 3),
        ("feature", -5),
    ],
)
def test_a_tree_with_a_broken_reference(field, value):
    model = DecisionTreeClassifier(random_state=0).fit(*rows())
    state = model.tree_.__getstate__()
    state["nodes"][field][0] = value
    model.tree_.__setstate__(state)
    with refused():
        check_model(model)


@pytest.mark.parametrize(
    "model", [DecisionTreeClassifier(), RandomForestClassifier(2), GradientBoostingClassifier()]
)
def test_trees_that_want_more_columns_than_their_rows_need_have(model):
    model.fit(*rows())
    model.n_features_in_ = 2
    with refused():
        check_model(model)
    del model.n_features_in_  # scikit-learn then takes rows of any width
    with pytest.raises(AttributeError, match="n_features_in_"):
        check_model(model)


def test_columns_of_a_member_are_as_many_as_its_tree_uses():
    model = IsolationForest(n_estimators=2).fit(*rows())
    model.estimators_features_[0] = model.estimators_features_[0][:1]
    with refused():
        check_model(model)


def test_what_gradient_boosting_would_take_for_a_tree():
    model = GradientBoostingClassifier(n_estimators=2).fit(*rows())
    tree, model.estimators_[0, 0] = model.estimators_[0, 0], LogisticRegression()
    with refused():
        check_model(model)
    model.estimators_[0, 0], tree.tree_ = tree, LogisticRegression()
    with refused():
        check_model(model)


def test_a_tree_that_nobody_checks_the_rows_of():
    tree = DecisionTreeClassifier().fit(*rows()).tree_
    with refused():
        check_model(make_pipeline(FunctionTransformer(np.float32), tree))


def test_a_sparse_matrix_whose_columns_do_not_exist():
    matrix = sparse.csr_array(np.eye(3))
    matrix.indices[0] = 10_000
    with pytest.raises(ValueError, match="indices must be"):
        check_model({"matrix": matrix})
    with refused():
        check_model({"matrix": sparse.coo_array(np.eye(3))})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bitset_idx", 50_000),
        ("feature_idx", 1),
        ("left", 0),
        ("raw_left_cat_bitsets", np.zeros((0, 8), np.uint32)),
        ("raw_left_cat_bitsets", np.zeros((1, 2), np.uint32)),
        ("nodes", boosted()._predictors[0][0].nodes[:0]),
    ],
)
def test_boosted_trees_with_a_broken_reference(name, value):
    model = boosted()
    tree = model._predictors[0][0]
    if name in tree.nodes.dtype.names:
        tree.nodes[name][0] = value
    else:
        setattr(tree, name, value)
    with refused():
        check_model(model)


def test_boosted_trees_whose_columns_are_fewer():
    model = boosted()
    model._bin_mapper.is_categorical_ = model._bin_mapper.is_categorical_[:1]
    with refused():
        check_model(model)


def test_boosted_trees_whose_preprocessor_is_not_their_own():
    model = boosted()
    model._preprocessor.transformers_ = model._preprocessor.transformers_[:1]
    with refused():
        check_model(model)
