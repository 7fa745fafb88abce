import numpy as np
import pytest
from hedgeclipper.forest.growing import Ensemble, check_shift, plan_ensembles
from hedgeclipper.forest.views import Components, ViewedTrees, side_by_side
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from hedgeclipper import HedgeClipperClassifier, ShiftWarning
from tests.forest.grown import grow

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int)


def plan(n_labeled=200, views=(), **options):
    model = HedgeClipperClassifier(**{"n_estimators": 14, **options})
    return plan_ensembles(model, n_labeled, views)


@pytest.mark.parametrize(("n_labeled", "least"), [(999, 4), (1000, 10)])
def test_without_shrinkage_it_is_the_papers_forest(n_labeled, least):
    (found,) = plan(n_labeled, shrinkage=None)
    assert (found.name, found.look) == ("random forest", (0,))
    assert (found.model.n_estimators, found.model.min_samples_leaf) == (14, least)


def test_half_of_the_trees_are_a_forest_and_the_others_extra_trees():
    forest, extra = plan()
    assert (forest.name, extra.name) == ("random forest", "extra trees")
    assert (type(forest.model), type(extra.model)) == (RandomForestClassifier, ExtraTreesClassifier)
    for one in (forest, extra):
        found = one.model.n_estimators, one.model.bootstrap, one.model.min_samples_leaf, one.look
        assert found == (7, True, 1, (0,))


@pytest.mark.parametrize(
    ("views", "names"),
    [
        ([Components()], ["components", "columns and components"]),
        ([PCA(2), PCA(3)], ["PCA", "PCA 2", "columns and views"]),
    ],
)
def test_extra_trees_look_at_each_view_and_at_all_together(views, names):
    forest, *extra = plan(views=views)
    assert forest.look == (0,)
    assert [one.name for one in extra] == [f"extra trees on {name}" for name in names]
    each = [(number,) for number in range(1, len(views) + 1)]
    assert [one.look for one in extra] == [*each, tuple(range(len(views) + 1))]


@pytest.mark.parametrize("views", [[], [PCA(2)], [PCA(2), PCA(3)]])
@pytest.mark.parametrize("shrinkage", ["auto", None])
@pytest.mark.parametrize("n_trees", [8, 11, 601, 602])
def test_there_are_as_many_trees_as_asked_for_and_about_half_are_a_forest(
    n_trees, shrinkage, views
):
    sizes = [
        one.model.n_estimators
        for one in plan(views=views, n_estimators=n_trees, shrinkage=shrinkage)
    ]
    assert sum(sizes) == n_trees
    assert np.ptp(sizes[1:] if shrinkage else sizes) <= 1
    assert not shrinkage or abs(sizes[0] - n_trees / 2) <= 0.5


def test_there_is_a_tree_in_each_group():
    assert [one.model.n_estimators for one in plan(views=[PCA(2)], n_estimators=1)] == [1, 1, 1]


def test_out_of_bag_rows_are_those_not_drawn():
    grown = grow(RandomForestClassifier(5), X, Y)
    for unseen, bag in zip(grown.unseen, grown.models["forest"].estimators_samples_, strict=True):
        np.testing.assert_array_equal(np.flatnonzero(~unseen), np.unique(bag))


@pytest.mark.parametrize(
    "forest", [RandomForestClassifier(5, bootstrap=False), ExtraTreesClassifier(5)]
)
def test_without_bootstrap_trees_are_grown_on_half_of_the_rows(forest):
    grown = grow(forest, X, Y)
    assert grown.unseen.sum(axis=1).tolist() == [100] * 5
    assert np.all(grown.unseen == grown.unseen[0])


def test_to_a_fitted_model_all_rows_are_new():
    model = RandomForestClassifier(5).fit(X, Y)
    grown = grow(model, X, Y)
    assert grown.models == {"estimator": model}
    assert grown.unseen.all()


@pytest.mark.parametrize("weighted", [False, True])
def test_leaf_values_are_the_trees_own_proportions(weighted):
    weights = np.where(Y, 10.0, 1.0) if weighted else None
    grown = grow(RandomForestClassifier(5, min_samples_leaf=10), X, Y, weights)
    places = grown.finder.offsets[:, None] + grown.finder.find(X)
    theirs = grown.models["forest"].predict_proba(X)
    np.testing.assert_allclose(grown.finder.leaf_values[places].mean(axis=0), theirs)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_every_ensemble_is_grown_on_what_it_looks_at(make):
    """Groups are in the order of their names, and each one's trees find the leaves of its model."""
    view = PCA(2).fit(X)
    looks = {
        "a": (RandomForestClassifier(3), (0,)),
        "b": (ExtraTreesClassifier(2, bootstrap=True), (1,)),
        "c": (ExtraTreesClassifier(2, bootstrap=True), (0, 1)),
    }
    grown = grow([Ensemble(name, *own) for name, own in looks.items()], make(X), Y, views=[view])
    assert list(grown.models) == ["a", "b", "c"]
    assert grown.groups.tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert isinstance(grown.finder, ViewedTrees)
    places = grown.finder.offsets[:, None] + grown.finder.find(make(X))
    seen = {"a": X, "b": view.transform(X), "c": np.hstack([X, view.transform(X)])}
    for group, (name, model) in enumerate(grown.models.items()):
        own = grown.finder.leaf_values[places[grown.groups == group]].mean(axis=0)
        np.testing.assert_allclose(own, model.predict_proba(seen[name]))
        drawn = [np.bincount(bag, minlength=200) for bag in model.estimators_samples_]
        np.testing.assert_array_equal(grown.unseen[grown.groups == group], np.equal(drawn, 0))


def test_missing_values_stay_beside_a_sparse_view():
    rows = np.where(RNG.random(X.shape) < 0.1, np.float32(np.nan), X)
    table = side_by_side([rows, sparse.csr_array(X)], (0, 1))
    np.testing.assert_array_equal(table, np.hstack([rows, X]))


def test_views_of_the_same_kind_have_names_of_their_own():
    views = [PCA(2), PCA(3)]
    model = HedgeClipperClassifier(RandomForestClassifier(3), views=views, random_state=0)
    model.fit(X[:100], Y[:100], X_unlabeled=X[100:])
    assert list(model.estimators_) == ["estimator", "estimator on PCA", "estimator on PCA 2"]


def test_a_fitted_model_takes_no_views():
    fitted = RandomForestClassifier(3, random_state=0).fit(X[100:], Y[100:])
    with pytest.raises(ValueError, match="knows its own columns alone"):
        HedgeClipperClassifier(fitted, views=PCA(2)).fit(X[:100], Y[:100], X_unlabeled=X)


def test_shift_score_is_small_for_like_rows_and_large_for_others():
    rows = RNG.normal(size=(900, 4)).astype(np.float32)
    y = (rows[:300, 0] + 0.5 * RNG.normal(size=300) > 0.7).astype(int)
    grown = grow(RandomForestClassifier(20, min_samples_leaf=10), rows[:300], y)
    assert check_shift(grown, None, 1) == 0.0
    assert check_shift(grown, rows[300:], 1) < 4
    assert check_shift(grown, rows[300:320], 1) < 4
    with pytest.warns(ShiftWarning, match="unlike the labeled ones"):
        assert check_shift(grown, rows[300:] + np.float32(1.0), 1) > 10
