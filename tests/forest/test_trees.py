"""Leaf numbers equal the model's own, for every supported model."""

import numpy as np
import pytest
from hedgeclipper.forest.trees import leaf_finder
from scipy import sparse
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 6)).astype(np.float32)
Y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int) + (X[:, 3] > 0.8)
MISSING = np.where(RNG.random(X.shape) < 0.15, np.float32(np.nan), X)
NEW = RNG.normal(size=(300, 6)).astype(np.float32)


def numbered(model, nodes):
    """Node numbers of leaves, as scikit-learn gives them, counted among the leaves."""
    trees = np.ravel(model.estimators_)
    return np.array(
        [
            (np.cumsum(tree.tree_.children_left < 0) - 1)[nodes[:, number].astype(int)]
            for number, tree in enumerate(trees)
        ]
    )


def summed_values(finder, rows, n_jobs=None):
    """Return the sum over the trees of the values of each row's leaves."""
    places = finder.offsets[:, None] + finder.find(rows, n_jobs)
    return finder.leaf_values[places].sum(axis=0)


@pytest.mark.parametrize("rows", [X, MISSING], ids=["whole", "missing"])
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_forests(kind, rows, n_jobs):
    model = kind(10, random_state=0).fit(rows, Y)
    finder = leaf_finder(model)
    leaves = finder.find(rows, n_jobs)
    assert leaves.dtype == np.uint16
    np.testing.assert_array_equal(leaves, numbered(model, model.apply(rows)))
    shares = summed_values(finder, rows, n_jobs) / 10
    np.testing.assert_allclose(shares, model.predict_proba(rows))


def test_values_right_at_a_threshold_in_float32():
    model = RandomForestClassifier(20, random_state=0).fit(X.astype(np.float64), Y)
    thresholds = np.concatenate([tree.tree_.threshold for tree in model.estimators_])
    edges = np.unique(thresholds[thresholds > -2]).astype(np.float32)
    around = np.concatenate([edges, np.nextafter(edges, 9), np.nextafter(edges, -9)])
    rows = np.tile(around[:, None], (1, 6)).astype(np.float32)
    np.testing.assert_array_equal(leaf_finder(model).find(rows), numbered(model, model.apply(rows)))


def test_sparse_rows():
    dense = np.where(np.abs(X) < 1, np.float32(0), X)
    model = RandomForestClassifier(10, random_state=0).fit(dense, Y)
    ours = leaf_finder(model).find(sparse.csr_array(dense))
    np.testing.assert_array_equal(ours, numbered(model, model.apply(dense)))


def test_bagging_of_trees_that_see_some_features():
    trees = DecisionTreeClassifier(max_depth=4)
    model = BaggingClassifier(trees, 10, max_features=0.5, random_state=0).fit(X, Y)
    finder = leaf_finder(model)
    shares = summed_values(finder, NEW) / 10
    np.testing.assert_allclose(shares, model.predict_proba(NEW))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gradient_boosting(n_classes):
    y = np.minimum(Y, n_classes - 1)
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
    finder = leaf_finder(model)
    theirs = numbered(model, model.apply(NEW).reshape(len(NEW), -1))
    np.testing.assert_array_equal(finder.find(NEW), theirs)
    assert finder.leaf_values.shape[1] == (1 if n_classes == 2 else 3)
    margins = model.decision_function(NEW).reshape(len(NEW), -1)
    np.testing.assert_allclose(summed_values(finder, NEW), margins)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_boosters_scores_are_sums_of_leaf_values(library, n_classes):
    module = pytest.importorskip(library)
    y = np.minimum(Y, n_classes - 1)
    if library == "lightgbm":
        model = module.LGBMClassifier(n_estimators=5, verbose=-1).fit(MISSING, y)
        theirs = model.predict(MISSING, raw_score=True)
    else:
        model = module.XGBClassifier(n_estimators=5).fit(MISSING, y)
        theirs = model.predict(MISSING, output_margin=True)
    finder = leaf_finder(model)
    ours = summed_values(finder, MISSING)
    np.testing.assert_allclose(ours, theirs.reshape(len(MISSING), -1), atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_xgboost_forests_and_early_stopping(n_classes):
    xgboost = pytest.importorskip("xgboost")
    y = np.minimum(Y, n_classes - 1)
    several = xgboost.XGBClassifier(n_estimators=3, num_parallel_tree=4, subsample=0.5).fit(X, y)
    stopped = xgboost.XGBClassifier(n_estimators=50, early_stopping_rounds=1)
    stopped.fit(X, y, eval_set=[(NEW, np.roll(y, 7)[:300])], verbose=False)
    for model in (several, stopped):
        finder = leaf_finder(model)
        ours = summed_values(finder, NEW)
        theirs = model.predict(NEW, output_margin=True).reshape(len(NEW), -1)
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_lightgbm_early_stopping():
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=50, verbose=-1)
    stop = lightgbm.early_stopping(1, verbose=False)
    model.fit(X, Y > 0, eval_set=[(NEW, np.roll(Y > 0, 7)[:300])], callbacks=[stop])
    finder = leaf_finder(model)
    assert finder.n_trees == model.best_iteration_ < 50
    ours = summed_values(finder, NEW)[:, 0]
    np.testing.assert_allclose(ours, model.predict(NEW, raw_score=True))


def test_several_blocks_in_threads():
    rows = np.tile(NEW, (150, 1))
    model = RandomForestClassifier(4, random_state=0).fit(X, Y)
    finder = leaf_finder(model)
    np.testing.assert_array_equal(finder.find(rows, 2), numbered(model, model.apply(rows)))


def test_single_leaves():
    model = RandomForestClassifier(3, max_depth=1, min_samples_leaf=400).fit(X, Y)
    assert leaf_finder(model).find(NEW).max() == 0


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (HistGradientBoostingClassifier(max_iter=2), "does not give out its leaves"),
        (LogisticRegression(), "must be a tree ensemble"),
        (RandomForestRegressor(2), "must be a classifier"),
        (BaggingClassifier(LogisticRegression(), 2), "must hold decision trees"),
    ],
)
def test_models_without_leaves(model, message):
    with pytest.raises(TypeError, match=message):
        leaf_finder(model.fit(X, Y))


def test_a_booster_that_starts_from_a_model_is_refused():
    """Its margins are not the sums of its leaves."""
    model = GradientBoostingClassifier(n_estimators=3, init=LogisticRegression(), random_state=0)
    with pytest.raises(TypeError, match="init estimator"):
        leaf_finder(model.fit(X, Y))
