import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.forest.growing import default_ensembles
from hedgeclipper.forest.trees import ViewedTrees
from tests.forest.grown import grow

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int)


def ensembles(n_labeled=200, **options):
    options = {"is_shrunk": True, "has_least_leaf": True, **options}
    state = np.random.RandomState(0)
    return default_ensembles(7, n_labeled, n_jobs=None, random_state=state, **options)


@pytest.mark.parametrize(
    ("has_least_leaf", "n_labeled", "least"), [(True, 999, 4), (True, 1000, 10), (False, 1000, 1)]
)
def test_without_shrinkage_it_is_the_papers_forest(has_least_leaf, n_labeled, least):
    found = ensembles(n_labeled, is_shrunk=False, has_least_leaf=has_least_leaf)
    assert list(found) == ["random forest"]
    forest = found["random forest"]
    assert (forest.n_estimators, forest.min_samples_leaf) == (7, least)


def test_with_shrinkage_both_kinds_are_bootstrapped_and_grown_freely():
    forest, extra = ensembles().values()
    assert (type(forest), type(extra)) == (RandomForestClassifier, ExtraTreesClassifier)
    for model in (forest, extra):
        assert (model.n_estimators, model.bootstrap, model.min_samples_leaf) == (7, True, 1)
    assert forest.random_state != extra.random_state


def test_out_of_bag_rows_are_those_not_drawn():
    grown = grow(RandomForestClassifier(5), X, Y)
    assert grown.source == "oob"
    np.testing.assert_array_equal(grown.bags.sum(axis=1), 200)
    np.testing.assert_array_equal(grown.unseen, grown.bags == 0)


@pytest.mark.parametrize(
    "forest", [RandomForestClassifier(5, bootstrap=False), ExtraTreesClassifier(5)]
)
def test_without_bootstrap_trees_are_grown_on_half_of_the_rows(forest):
    grown = grow(forest, X, Y)
    assert grown.source == "half"
    assert grown.unseen.sum(axis=1).tolist() == [100] * 5
    assert np.all(grown.unseen == grown.unseen[0])


def test_to_a_fitted_model_all_rows_are_new():
    model = RandomForestClassifier(5).fit(X, Y)
    grown = grow(model, X, Y)
    assert (grown.models, grown.source) == ({"estimator": model}, "prefit")
    assert grown.unseen.all()


@pytest.mark.parametrize("weighted", [False, True])
def test_leaf_values_are_the_trees_own_proportions(weighted):
    weights = np.where(Y, 10.0, 1.0) if weighted else None
    grown = grow(RandomForestClassifier(5, min_samples_leaf=10), X, Y, weights)
    assert grown.predicts_proportions
    places = grown.finder.offsets[:, None] + grown.finder.find(X)
    theirs = grown.models["forest"].predict_proba(X)
    np.testing.assert_allclose(grown.finder.leaf_values[places].mean(axis=0), theirs)


def test_every_ensemble_is_grown_on_every_view():
    """Groups are in the order of their names, and each one's trees find the leaves of its model."""
    view = PCA(2).fit(X)
    kinds = {"a": RandomForestClassifier(3), "b": ExtraTreesClassifier(2, bootstrap=True)}
    grown = grow(kinds, X, Y, views=[None, view])
    assert list(grown.models) == ["a", "b", "a on PCA", "b on PCA"]
    assert grown.groups.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 3, 3]
    assert isinstance(grown.finder, ViewedTrees)
    places = grown.finder.offsets[:, None] + grown.finder.find(X)
    for group, (name, model) in enumerate(grown.models.items()):
        rows = view.transform(X) if name.endswith("PCA") else X
        own = grown.finder.leaf_values[places[grown.groups == group]].mean(axis=0)
        np.testing.assert_allclose(own, model.predict_proba(rows))
        drawn = [np.bincount(bag, minlength=200) for bag in model.estimators_samples_]
        np.testing.assert_array_equal(grown.bags[grown.groups == group], drawn)


def test_views_of_the_same_kind_have_names_of_their_own():
    views = [PCA(2), PCA(3)]
    model = HedgeClipperClassifier(RandomForestClassifier(3), views=views, random_state=0)
    model.fit(X[:100], Y[:100], X_unlabeled=X[100:])
    assert list(model.estimators_) == ["estimator", "estimator on PCA", "estimator on PCA 2"]


def test_a_fitted_model_takes_no_views():
    fitted = RandomForestClassifier(3, random_state=0).fit(X[100:], Y[100:])
    with pytest.raises(ValueError, match="knows its own columns alone"):
        HedgeClipperClassifier(fitted, views=PCA(2)).fit(X[:100], Y[:100], X_unlabeled=X)
