import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from hedgeclipper.forest.growing import default_forest, grow_trees

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int)


def grow(estimator, **options):
    settings = {"holdout": None, "stratify": True, **options}
    weights = settings.pop("sample_weight", None)
    return grow_trees(estimator, X, Y, weights, random_state=np.random.RandomState(0), **settings)


@pytest.mark.parametrize(
    ("size", "n_labeled", "given"), [(None, 999, 4), (None, 1000, 10), (5, 1000, 1)]
)
def test_least_leaf(size, n_labeled, given):
    forest = default_forest(7, n_labeled, size, None, 0)
    assert (forest.n_estimators, forest.min_samples_leaf) == (7, given)


def test_out_of_bag_rows_are_those_not_drawn():
    grown = grow(RandomForestClassifier(5))
    assert grown.source == "oob"
    np.testing.assert_array_equal(grown.bags.sum(axis=1), 200)
    np.testing.assert_array_equal(grown.unseen, grown.bags == 0)


@pytest.mark.parametrize("options", [{"holdout": 0.5}, {}])
def test_without_bootstrap_rows_are_held_out(options):
    kind = RandomForestClassifier if options else ExtraTreesClassifier
    grown = grow(kind(5), **options)
    assert grown.source == "holdout"
    assert grown.unseen.sum(axis=1).tolist() == [100] * 5
    assert np.all(grown.unseen == grown.unseen[0])


def test_to_a_fitted_model_all_rows_are_new():
    model = RandomForestClassifier(5).fit(X, Y)
    grown = grow(model)
    assert (grown.model, grown.source) == (model, "prefit")
    assert grown.unseen.all()


@pytest.mark.parametrize("weighted", [False, True])
def test_leaf_values_are_the_trees_own_proportions(weighted):
    weights = np.where(Y, 10.0, 1.0) if weighted else None
    grown = grow(RandomForestClassifier(5, min_samples_leaf=10), sample_weight=weights)
    leaves = grown.finder.find(X)
    labeled = grown.labeled(leaves, Y, weights, 1)
    assert labeled.are_proportions
    mean = labeled.values[grown.finder.offsets[:, None] + leaves].mean(axis=0)
    np.testing.assert_allclose(mean, grown.model.predict_proba(X)[:, 1])
