import io
import json
import os
import pickle
import warnings
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import BallTree, KDTree, KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import hedgeclipper
from hedgeclipper import (
    HedgeClipperClassifier,
    HedgedVotingClassifier,
    LeafGame,
    ModelFileError,
    SemiSupervisedSplit,
    VoteAggregator,
    abstention_loss,
    load,
    save,
    saved_types,
)
from hedgeclipper.datasets import fetch_a1a
from hedgeclipper.forest.groups import GroupScorer
from hedgeclipper.forest.trees import PackedTrees, ViewedTrees
from hedgeclipper.forest.views import Components
from hedgeclipper.panel.defaults import default_panel
from hedgeclipper.persistence import (
    FORMAT,
    HEADER,
    TRUSTED,
    OtherVersionWarning,
    check_trees,
    parts_of,
)

VOTES = [[0, 0, 1], [1, 1, 1], [0, -1, 0], [1, 0, 1], [0, 0, -1], [-1, 1, 1]]
GOLD = [0, 1, -1, -1, -1, -1]


def rows_of_blobs(n_classes=2, n_rows=90):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, 3)) + 2.0 * y[:, None]
    return X, np.where(np.arange(n_rows) % 5 < 2, y, -1)


@pytest.fixture(scope="module")
def forest():
    return HedgeClipperClassifier(n_estimators=10, random_state=0).fit(*rows_of_blobs())


def reloaded(model, tmp_path):
    return load(save(model, tmp_path / "model.skops"))


def assert_same(model, again, X):
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.certificate_ == model.certificate_
    assert again.get_params().keys() == model.get_params().keys()


FORESTS = {
    "two classes": {},
    "random state": {"random_state": np.random.RandomState(0)},
    "log loss": {"loss": "log"},
    "zero-one loss": {"loss": "zero_one", "game": LeafGame(specialists=["leaves", "trees"])},
    "no view": {"views": None},
    "other views": {"views": [PCA(2), StandardScaler()]},
    "no shrinkage": {"shrinkage": None},
    "leaves": {"game": LeafGame()},
    "a loss of one's own": {"loss": abstention_loss(0.2)},
    "another forest": {"estimator": RandomForestClassifier(5, bootstrap=True)},
    "fitted": {"estimator": FrozenEstimator(RandomForestClassifier(5))},
}


@pytest.mark.parametrize("options", FORESTS.values(), ids=FORESTS.keys())
def test_forests_predict_the_same(tmp_path, options):
    X, y = rows_of_blobs()
    if isinstance(options.get("estimator"), FrozenEstimator):
        options["estimator"].estimator.fit(X[y >= 0], y[y >= 0])
    model = HedgeClipperClassifier(**{"n_estimators": 5, "random_state": 0, **options})
    assert_same(model.fit(X, y), reloaded(model, tmp_path), X)


def test_many_classes_with_names_and_frames(tmp_path):
    X, codes = rows_of_blobs(3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    y = np.array(["no", "perhaps", "yes"])[codes[codes >= 0]]
    model = HedgeClipperClassifier(n_estimators=5, random_state=0)
    model.fit(frame[codes >= 0], y, X_unlabeled=frame[codes < 0])
    again = reloaded(model, tmp_path)
    assert_same(model, again, frame)
    assert again.feature_names_in_.tolist() == ["a", "b", "c"]


def test_a_loaded_forest_can_go_on(tmp_path, forest):
    X, _ = rows_of_blobs()
    again = reloaded(forest, tmp_path).partial_fit(X[:20])
    assert again.n_unlabeled_ == forest.n_unlabeled_ + 20


def test_what_was_measured_is_saved_and_what_was_not_is_not_known(tmp_path):
    X, y = rows_of_blobs()
    model = HedgeClipperClassifier(n_estimators=5, random_state=0).fit(X, y)
    gain = model.unlabeled_gain_
    again = reloaded(model, tmp_path)
    assert again.unlabeled_gain_ == gain
    with pytest.raises(AttributeError, match=r"feature_importances_ needs the labeled rows"):
        again.feature_importances_


def small(panel):
    """Return the same classifiers with few trees each."""
    for _, member in panel:
        trees = [name for name in member.get_params() if name.endswith("n_estimators")]
        member.set_params(**dict.fromkeys(trees, 3))
    return panel


@pytest.mark.slow
def test_the_default_panel_predicts_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "hedgeclipper.panel.members.default_panel", lambda *a, **k: small(default_panel(*a, **k))
    )
    X, y = rows_of_blobs(n_rows=60)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["word"] = np.where(X[:, 0] > 0, "yes", "no")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HedgedVotingClassifier(random_state=0).fit(frame, y)
    again = reloaded(model, tmp_path)
    assert_same(model, again, frame)
    pd.testing.assert_frame_equal(again.member_summary(), model.member_summary())


def test_a_panel_on_sparse_rows_and_with_named_members(tmp_path):
    X, y = fetch_a1a(return_X_y=True)
    members = [
        ("near", KNeighborsClassifier(3)),
        ("linear", LogisticRegression()),
        ("dropped", "drop"),
    ]
    model = HedgedVotingClassifier(members, cv=SemiSupervisedSplit(3), regions="bins")
    model.fit(X[:60], y[:60], X_unlabeled=X[60:200])
    assert_same(model, reloaded(model, tmp_path), X[200:260])


def test_a_panel_with_boosted_histograms(tmp_path):
    X, y = rows_of_blobs()
    members = [
        ("boosted", HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=2)),
        ("near", KNeighborsClassifier(3, algorithm="ball_tree")),
    ]
    model = HedgedVotingClassifier(members, random_state=0).fit(X, y)
    assert_same(model, reloaded(model, tmp_path), X)


VOTE_OPTIONS = {
    "default": {},
    "majority": {"initial_model": "majority", "loss": "square"},
    "no initial model": {"initial_model": None, "loss": "zero_one", "constraints": "accuracy"},
    "known balance": {"class_balance": [0.4, 0.6], "abstain_cost": 0.3},
}


@pytest.mark.parametrize("options", VOTE_OPTIONS.values(), ids=VOTE_OPTIONS.keys())
def test_votes_predict_the_same(tmp_path, options):
    model = VoteAggregator(random_state=0, **options).fit(VOTES, GOLD)
    again = reloaded(model, tmp_path)
    assert_same(model, again, VOTES)
    np.testing.assert_array_equal(again.transduction_, model.transduction_)
    pd.testing.assert_frame_equal(again.voter_summary(), model.voter_summary())
    np.testing.assert_array_equal(again.suggest_labels(2), model.suggest_labels(2))


def test_pickle_works_too(forest):
    X, _ = rows_of_blobs()
    assert_same(forest, pickle.loads(pickle.dumps(forest)), X)


def test_saving_leaves_the_model_as_it_is(tmp_path):
    X, y = rows_of_blobs()
    members = [("boosted", GradientBoostingClassifier(n_estimators=2))]
    model = HedgedVotingClassifier(members, random_state=0).fit(X, y)
    tree = model.members_["boosted"].estimators_[0, 0]
    state = tree.random_state
    save(model, tmp_path / "model.skops")
    assert tree.random_state is state
    assert isinstance(state, np.random.RandomState)


def test_a_file_is_not_replaced_unless_forced(tmp_path, forest):
    path = save(forest, tmp_path / "model.skops")
    before = path.read_bytes()
    with pytest.raises(FileExistsError):
        save(VoteAggregator(), path)
    assert path.read_bytes() == before
    save(VoteAggregator(), path, force=True)
    assert isinstance(load(path), VoteAggregator)


class Hostile:
    """Writes a file where it is loaded."""

    def __init__(self, path):
        self.path = path

    def __deepcopy__(self, memo):
        return self

    def __setstate__(self, state):
        with open(state["path"], "w") as file:
            file.write("run")


def with_header(content, **versions):
    buffer = io.BytesIO(content)
    with ZipFile(buffer, "a") as archive:
        known = {
            "format": FORMAT,
            "hedgeclipper": hedgeclipper.__version__,
            "scikit-learn": "1.0",
        }
        archive.writestr(HEADER, json.dumps({**known, **versions}))
    return buffer.getvalue()


def test_a_hostile_file_does_not_run(tmp_path, forest):
    trace, path = tmp_path / "trace", tmp_path / "model.skops"
    save({"model": forest, "more": Hostile(str(trace))}, path)
    with pytest.raises(ModelFileError, match=r"holds .*Hostile, which is not trusted"):
        load(path)
    assert not trace.exists()
    load(path, trusted=[f"{__name__}.Hostile"])
    assert trace.read_text() == "run"


def modules_of(path):
    """Return our modules that the description in a file names."""
    found = set()
    schema = ZipFile(path).read("schema.json")
    json.loads(schema, object_hook=lambda node: found.add(str(node.get("__module__"))))
    return {module for module in found if module.startswith("hedgeclipper")}


def test_a_file_names_one_module_of_ours(tmp_path, forest):
    votes = VoteAggregator(random_state=0).fit(VOTES, GOLD)
    for number, model in enumerate([forest, votes]):
        path = save(model, tmp_path / f"{number}.skops")
        assert modules_of(path) == {"hedgeclipper.saved_types"}


def test_a_type_is_found_by_its_name_in_files_and_not_by_its_module(tmp_path, monkeypatch):
    class Renamed(VoteAggregator):
        pass

    path = save(VoteAggregator(random_state=0), tmp_path / "model.skops")
    monkeypatch.setattr(saved_types, "VoteAggregator", Renamed)
    assert type(load(path)) is Renamed


@pytest.mark.parametrize("module", ["hedgeclipper", "hedgeclipper.votes.matrix"])
def test_other_names_for_our_types_are_not_trusted(tmp_path, module):
    path = tmp_path / "model.skops"
    content = io.BytesIO(skops.io.dumps(VoteAggregator()))
    schema = json.loads(ZipFile(content).read("schema.json"))
    with ZipFile(content, "w") as archive:
        archive.writestr("schema.json", json.dumps({**schema, "__module__": module}))
    path.write_bytes(with_header(content.getvalue()))
    with (
        pytest.warns(OtherVersionWarning),
        pytest.raises(ModelFileError, match=f"holds {module}.VoteAggregator, which is not trusted"),
    ):
        load(path)


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree"])
def test_neighbors_that_do_not_exist_are_not_looked_for(tmp_path, algorithm):
    X, y = rows_of_blobs()
    members = [("near", KNeighborsClassifier(3, algorithm=algorithm))]
    model = HedgedVotingClassifier(members, random_state=0).fit(X, y)
    tree = model.members_["near"]._tree
    data, order, *more = tree.__getstate__()
    tree.__setstate__((data, order + 100_000_000, *more))
    with pytest.raises(ModelFileError, match="that does not exist"):
        reloaded(model, tmp_path)


@pytest.mark.parametrize("function", [os.system, eval, pickle.loads, warnings.warn])
def test_a_function_in_a_file_is_not_even_looked_up(tmp_path, function):
    path = tmp_path / "model.skops"
    schema = {
        "__class__": function.__name__,
        "__module__": function.__module__,
        "__loader__": "FunctionNode",
        "protocol": json.loads(ZipFile(io.BytesIO(skops.io.dumps(1))).read("schema.json"))[
            "protocol"
        ],
    }
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        archive.writestr("schema.json", json.dumps(schema))
    path.write_bytes(with_header(buffer.getvalue()))
    with pytest.warns(OtherVersionWarning), pytest.raises(ModelFileError, match="not trusted"):
        load(path)


def test_a_pickle_in_disguise_is_refused(tmp_path, forest):
    path = tmp_path / "model.skops"
    path.write_bytes(pickle.dumps(forest))
    with pytest.raises(ModelFileError, match="is no model of HedgeClipper"):
        load(path)


def test_what_is_trusted_is_ours_or_of_scikit_learn_numpy_and_scipy():
    roots = {name.partition(".")[0] for name in TRUSTED}
    assert roots == {"hedgeclipper", "numpy", "scipy", "sklearn"}
    until_1_8 = {"sklearn.compose._column_transformer._RemainderColsList"}
    for name in set(TRUSTED) - until_1_8:
        module, _, thing = name.rpartition(".")
        assert hasattr(__import__(module, fromlist=[thing]), thing), name


@pytest.mark.parametrize("fraction", [0.01, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_short(tmp_path, forest, fraction):
    path = save(forest, tmp_path / "model.skops")
    content = path.read_bytes()
    path.write_bytes(content[: int(fraction * len(content))])
    with pytest.raises(ModelFileError, match="cut short or damaged"):
        load(path)


def test_a_file_with_a_damaged_byte(tmp_path, forest):
    path = save(forest, tmp_path / "model.skops")
    content = bytearray(path.read_bytes())
    content[200] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="is damaged"):
        load(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"a,b\n1,2\n"])
def test_a_file_that_is_no_model(tmp_path, content):
    path = tmp_path / "model.skops"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="is no model of HedgeClipper"):
        load(path)


def test_an_archive_of_another_kind(tmp_path):
    path = tmp_path / "model.skops"
    skops.io.dump(LogisticRegression(), path)
    with pytest.raises(ModelFileError, match="is no model of HedgeClipper"):
        load(path)


@pytest.mark.parametrize("version", ["99.0", "0.2.0", "1.0.0.dev0"])
def test_a_model_of_a_newer_version(tmp_path, version):
    path = tmp_path / "model.skops"
    path.write_bytes(with_header(skops.io.dumps({}), hedgeclipper=version))
    with pytest.raises(ModelFileError, match=rf"saved by HedgeClipper {version}.* Update with pip"):
        load(path)


@pytest.mark.parametrize(
    ("its_format", "advice"), [(FORMAT + 1, "Update with pip"), (0, "Fit the model again")]
)
def test_a_model_of_another_format(tmp_path, its_format, advice):
    path = tmp_path / "model.skops"
    path.write_bytes(with_header(skops.io.dumps({}), format=its_format))
    with pytest.raises(ModelFileError, match=rf"in format {its_format}, .* {advice}"):
        load(path)


def test_a_model_of_an_older_version_loads(tmp_path):
    path = tmp_path / "model.skops"
    path.write_bytes(with_header(skops.io.dumps({}), hedgeclipper="0.0.1"))
    with pytest.warns(OtherVersionWarning, match=r"scikit-learn 1\.0, and this is"):
        assert load(path) == {}


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, (X[:, 0] > 0).astype(int)


@pytest.fixture
def small_forest():
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


def test_whole_models_pass(small_forest):
    X, y = rows()
    check_trees(small_forest)
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
def test_packed_trees_with_a_broken_reference(small_forest, field, value):
    trees = packed(small_forest)
    if field == "depth":
        trees.depth = value
    else:
        places = trees.left < 0 if field == "leaf" else trees.left >= 0
        array = getattr(trees, field)
        array[0 if field == "roots" else np.flatnonzero(places)[0]] = value
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(small_forest)


def test_leaves_without_a_score():
    X, y = rows()
    y[::2] = -1
    model = HedgeClipperClassifier(n_estimators=4, game=LeafGame(), random_state=0).fit(X, y)
    check_trees(model)
    object.__setattr__(model._predictor, "leaf_scores", model._predictor.leaf_scores[:-1])
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(model)


def test_rows_to_go_on_with_in_leaves_that_do_not_exist():
    """A game of leaves adds up in places that it does not check."""
    X, y = rows()
    y[::2] = -1
    model = HedgeClipperClassifier(n_estimators=4, game=LeafGame(), random_state=0).fit(X, y)
    sample = model._stream.reservoir._sample
    for broken in (sample[:-1], sample + np.uint16(1000), sample.astype(np.int64) - 1):
        model._stream.reservoir._sample = broken
        with pytest.raises(ValueError, match="that does not exist"):
            check_trees(model)


def test_a_node_with_two_parents(small_forest):
    """Paths through such nodes may double at each step, which no check would come to the end of."""
    trees = packed(small_forest)
    inner = np.flatnonzero(trees.left >= 0)[0]
    trees.left[inner] = trees.right[inner]
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(small_forest)


@pytest.mark.parametrize("parent", [-1, 0, 2, 10_000])
def test_a_parent_that_is_not_that_of_the_node(small_forest, parent):
    """Sums over nodes go up without a look; node 2 would be above itself."""
    trees = packed(small_forest)
    assert trees.parent[2] == 1
    trees.parent[2] = parent
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(small_forest)


@pytest.mark.parametrize("field", ["leaf_sizes", "leaf_values", "parent", "n_leaves"])
def test_packed_trees_with_too_few_entries(small_forest, field):
    trees = packed(small_forest)
    setattr(trees, field, getattr(trees, field)[:-1])
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(small_forest)


def test_numbers_of_leaves_that_only_add_up_by_an_overflow(small_forest):
    trees = packed(small_forest)
    trees.n_leaves = trees.n_leaves.copy()
    trees.n_leaves[:2] += 2**63 - 1
    trees.n_leaves[2] += 2
    assert trees.n_leaves.sum() == trees.leaf_sizes.size
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(small_forest)


def part_of(model, kind):
    return next(part for part in parts_of(model) if isinstance(part, kind))


@pytest.mark.parametrize(
    "change",
    [
        lambda trees: trees.views.pop(),
        lambda trees: trees.parts.pop(),
        lambda trees: setattr(trees, "n_leaves", trees.n_leaves + 1),
        lambda trees: setattr(trees, "n_leaves", trees.n_leaves[:-1]),
        lambda trees: setattr(trees, "leaf_values", trees.leaf_values[1:]),
        lambda trees: trees.parts.__setitem__(0, trees),
    ],
)
def test_viewed_trees_that_do_not_fit_together(small_forest, change):
    change(part_of(small_forest, ViewedTrees))
    with pytest.raises(ValueError, match="that does not exist"):
        check_trees(small_forest)


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
        check_trees(small_forest)


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
        check_trees(small_forest)


def test_a_sparse_matrix_whose_columns_do_not_exist():
    matrix = sparse.csr_array(np.eye(3))
    matrix.indices[0] = 10_000
    with pytest.raises(ValueError, match="indices must be"):
        check_trees({"matrix": matrix})


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
