import pickle
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
import sklearn
from hedgeclipper.forest.groups import STRENGTHS
from hedgeclipper.forest.views import Components
from scipy import sparse
from scipy.special import expit
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgeclipper import (
    HedgeClipperClassifier,
    NoUnlabeledRowsWarning,
    ShiftWarning,
)

X, Y = make_classification(3000, 8, n_informative=5, flip_y=0.05, random_state=0)
X = X.astype(np.float32)
L, U, T = slice(0, 300), slice(300, 2000), slice(2000, 3000)


def fitted(y=Y, rows=X, **parameters):
    model = HedgeClipperClassifier(**{"n_estimators": 32, "random_state": 0, **parameters})
    return model.fit(rows[L], y[L], X_unlabeled=rows[U])


@cache
def usual():
    """The model of most tests, which do not change it."""
    return fitted()


def first_forest(model):
    return next(iter(model.estimators_.values()))


def assert_as_good_as_its_ensemble(model, rows, y=Y, slack=0.01):
    """By AUC, its first ensemble being the measure, as it predicts by itself."""
    ours = roc_auc_score(y[T], model.decision_function(rows[T]))
    theirs = roc_auc_score(y[T], first_forest(model).predict_proba(rows[T])[:, 1])
    assert ours > theirs - slack


BOOTSTRAP = "a row of weight 2 is not drawn as two rows are, as in scikit-learn's forests"
EXPECTED = {
    "check_classifiers_classes": "labels -1 and 1 without X_unlabeled: -1 marks unlabeled rows",
    "check_sample_weight_equivalence_on_dense_data": BOOTSTRAP,
    "check_sample_weight_equivalence_on_sparse_data": BOOTSTRAP,
}


@pytest.mark.filterwarnings("ignore::hedgeclipper.NoUnlabeledRowsWarning")
# a label may be in the samples of all three trees, whose seeds are random in some checks
@pytest.mark.filterwarnings("ignore::hedgeclipper.NoHeldOutRowsWarning")
@pytest.mark.filterwarnings("ignore:.*:FutureWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks(
    [HedgeClipperClassifier(n_estimators=12)], expected_failed_checks=lambda estimator: EXPECTED
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_there_is_a_forest_on_the_columns_and_extra_trees_on_views():
    model = usual()
    sizes = {
        "random forest": (8, 16),
        "extra trees on components": (8, 8),  # there are no more components than columns
        "extra trees on columns and components": (16, 8),
    }
    found = model.estimators_.items()
    assert {name: (own.n_features_in_, own.n_estimators) for name, own in found} == sizes
    assert model.weights_.shape == (1, 3)
    assert model.shrinkage_.shape == (3,)


def test_it_is_as_good_as_a_forest_of_as_many_trees():
    forest = RandomForestClassifier(100, random_state=0).fit(X[L], Y[L])
    ours = roc_auc_score(Y[T], fitted(n_estimators=100).decision_function(X[T]))
    assert ours > roc_auc_score(Y[T], forest.predict_proba(X[T])[:, 1])


def test_probabilities_decisions_and_predictions_agree():
    model = usual()
    m, p = model.decision_function(X[T]), model.predict_proba(X[T])
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.all((p > 0) & (p < 1))
    np.testing.assert_array_equal(np.argsort(m, kind="stable"), np.argsort(p[:, 1], kind="stable"))
    np.testing.assert_array_equal(model.predict(X[T]), (m > 0).astype(int))
    np.testing.assert_array_equal(model.predict(X[T]), p.argmax(axis=1))
    assert log_loss(Y[T], p) < log_loss(Y[T], np.full((1000, 2), 0.5))


def test_transduction_has_given_and_predicted_labels():
    y = Y[:2000].copy()
    y[300:] = -1
    model = HedgeClipperClassifier(n_estimators=32, random_state=0).fit(X[:2000], y)
    np.testing.assert_array_equal(model.transduction_[:300], Y[:300])
    np.testing.assert_array_equal(model.transduction_[300:], model.predict(X[U]))
    np.testing.assert_array_equal(usual().transduction_, usual().predict(X[U]))
    assert model.n_unlabeled_ == 1700


@pytest.mark.parametrize("names", [("no", "yes"), (-1, 1), (False, True), (2.0, 5.0)])
def test_any_labels_with_unlabeled_rows_of_their_own(names):
    y = np.array(names)[Y]
    model = fitted(y)
    assert model.classes_.tolist() == list(names)
    np.testing.assert_array_equal(model.predict(X[T]), np.array(names)[usual().predict(X[T])])


def test_threads_do_not_change_the_result():
    many = np.tile(X, (15, 1)) + np.linspace(0, 0.01, 45_000, dtype=np.float32)[:, None]
    one, two = (
        HedgeClipperClassifier(n_estimators=16, n_jobs=n_jobs, random_state=0).fit(
            X[L], Y[L], X_unlabeled=many
        )
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.weights_, two.weights_)
    np.testing.assert_array_equal(one.transduction_, two.transduction_)
    np.testing.assert_array_equal(one.decision_function(many), two.decision_function(many))


def test_the_way_of_passing_unlabeled_rows_does_not_change_the_result_and_seeds_do():
    one = usual()
    y = Y[:2000].copy()
    y[300:] = -1
    marked = HedgeClipperClassifier(n_estimators=32, random_state=0).fit(X[:2000], y)
    np.testing.assert_array_equal(one.decision_function(X[T]), marked.decision_function(X[T]))
    assert not np.array_equal(fitted(random_state=1).predict_proba(X[T]), one.predict_proba(X[T]))


def test_sparse_and_frames_give_the_same():
    dense = np.where(np.abs(X) < 0.5, np.float32(0), X)
    ours = fitted(rows=sparse.csr_array(dense)).decision_function(sparse.csr_array(dense[T]))
    np.testing.assert_allclose(ours, fitted(rows=dense).decision_function(dense[T]), rtol=1e-6)
    frame = pd.DataFrame(X, columns=[f"x{number}" for number in range(8)])
    model = HedgeClipperClassifier(n_estimators=32, random_state=0)
    model.fit(frame[L], Y[L], X_unlabeled=frame[U])
    assert model.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(model.predict(frame[T]), usual().predict(X[T]))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[T].rename(columns={"x0": "other"}))


def test_polars_frame():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X, schema=[f"x{number}" for number in range(8)])
    model = HedgeClipperClassifier(n_estimators=32, random_state=0)
    model.fit(frame[:300], Y[L], X_unlabeled=frame[300:2000])
    np.testing.assert_array_equal(model.predict(frame[2000:]), usual().predict(X[T]))


def test_missing_values_in_all_groups():
    """Every group scores rows with missing values as its own forest does."""
    rows = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.float32(np.nan), X)
    model = fitted(rows=rows, shrinkage=0)
    assert_groups_predict_as_their_forests(model, rows)
    assert_as_good_as_its_ensemble(model, rows)


def assert_groups_predict_as_their_forests(model, rows):
    """Without shrinkage: scores of new rows are the probabilities of scikit-learn's forests."""
    scores = model._predictor.scorer.score(rows[T])
    for group, (name, forest) in enumerate(model.estimators_.items()):
        seen = rows[T]
        if " on " in name:
            seen = model._predictor.finder.views[0].transform(rows[T])
        if " and " in name:
            seen = np.hstack([rows[T], seen])
        theirs = forest.predict_proba(seen)
        theirs = theirs[:, 1:] if theirs.shape[1] == 2 else theirs
        np.testing.assert_allclose(scores[:, group], theirs, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_without_shrinkage_are_the_forests_probabilities(n_classes):
    y = Y + 2 * (X[:, 0] > 0.5) if n_classes == 4 else Y
    model = fitted(y, shrinkage=0)
    assert_groups_predict_as_their_forests(model, X)
    np.testing.assert_array_equal(model.shrinkage_, 0)


# Views.


def test_a_transformer_is_one_more_view_and_a_list_several():
    one, several = fitted(views=PCA(2)), fitted(views=[PCA(2), QuantileTransformer(n_quantiles=50)])
    names = ["random forest", "extra trees on PCA", "extra trees on columns and PCA"]
    assert list(one.estimators_) == names
    assert one.estimators_["extra trees on PCA"].n_features_in_ == 2
    *more, last = list(several.estimators_)
    assert more == [*names[:2], "extra trees on QuantileTransformer"]
    assert last == "extra trees on columns and views"
    assert several.estimators_[last].n_features_in_ == 8 + 2 + 8
    # the trees of a view are those of its forest on what the transformer makes
    (view,) = one._predictor.finder.views
    theirs = PCA(2).fit(X[:2000])
    np.testing.assert_allclose(np.abs(view.components_), np.abs(theirs.components_), atol=1e-4)


def test_two_views_of_a_kind_are_a_group_each():
    model = fitted(views=[PCA(2), PCA(3)])
    assert model.weights_.shape == (1, 4)
    assert list(model.estimators_)[1:3] == ["extra trees on PCA", "extra trees on PCA 2"]
    assert model._inspect().voters.names == list(model.estimators_)


def test_without_views_there_are_two_groups_on_the_columns_as_they_are():
    model = fitted(views=None)
    assert list(model.estimators_) == ["random forest", "extra trees"]
    few = fitted(rows=X[:, :2])  # two columns have no components
    assert list(few.estimators_) == ["random forest", "extra trees"]


def test_views_of_another_ensemble_are_only_those_that_are_given():
    forest = RandomForestClassifier(5)
    assert list(fitted(estimator=forest).estimators_) == ["estimator"]
    model = fitted(estimator=forest, views=PCA(2))
    assert list(model.estimators_) == ["estimator", "estimator on PCA"]


def test_components_are_learned_from_unlabeled_rows_too():
    """Other unlabeled rows, other directions; other labels, the same."""
    model, again = usual(), fitted(1 - Y)
    other = HedgeClipperClassifier(n_estimators=32, random_state=0)
    other.fit(X[L], Y[L], X_unlabeled=X[T])
    directions, same, others = (
        one._predictor.finder.views[0].directions_ for one in (model, again, other)
    )
    np.testing.assert_array_equal(same, directions)
    assert np.abs(np.abs(others) - np.abs(directions)).max() > 1e-3
    theirs = Components(random_state=0).fit(X[:2000]).directions_
    np.testing.assert_allclose(np.abs(directions), np.abs(theirs), atol=1e-4)


def test_string_columns_missing_values_and_dates_in_all_groups():
    frame = pd.DataFrame(X[:, :4].copy(), columns=list("abcd"))
    frame["word"] = np.array(["red", "green", "blue"])[np.digitize(X[:, 4], [-1, 1])]
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(X[:, 5] * 100, unit="D")
    frame.loc[::7, ["a", "word"]] = None
    model = HedgeClipperClassifier(n_estimators=32, random_state=0)
    model.fit(frame[L], Y[L], X_unlabeled=frame[U])
    assert len(model.estimators_) == 3
    np.testing.assert_array_equal(model.transduction_, model.predict(frame[U]))
    numbers = model._predictor.prepare(frame)
    plain = HedgeClipperClassifier(n_estimators=32, random_state=0)
    plain.fit(numbers[L], Y[L], X_unlabeled=numbers[U])
    ours, theirs = model.decision_function(frame[T]), plain.decision_function(numbers[T])
    np.testing.assert_allclose(ours, theirs)


# Shrinkage.


def test_shrinkage_of_each_group_is_chosen_or_given():
    auto = usual()
    assert set(auto.shrinkage_) <= set(STRENGTHS)
    np.testing.assert_array_equal(fitted(shrinkage=7.5).shrinkage_, 7.5)
    np.testing.assert_array_equal(fitted(shrinkage=0).shrinkage_, 0)
    np.testing.assert_array_equal(fitted(shrinkage=None).shrinkage_, 0)


def test_noise_is_shrunk_and_labels_without_it_are_not():
    clear = (X[:, 0] > 0).astype(int)
    noise = np.random.default_rng(0).integers(0, 2, 3000)
    assert np.all(fitted(noise).shrinkage_ >= 30)
    assert np.all(fitted(clear).shrinkage_[:2] < 30)


def test_very_strong_shrinkage_leaves_nothing_but_the_class_prior():
    p = fitted(shrinkage=1e12).predict_proba(X[T])
    np.testing.assert_allclose(p, np.tile(p[:1], (1000, 1)), atol=1e-3)
    assert p[0, 1] == pytest.approx(Y[L].mean(), abs=0.05)


def test_class_weights_come_as_weights_of_rows():
    """Rows of the rarer class that weigh more are predicted more often, by trees that know it."""
    score = X[:, 0] + 2.0 * np.random.default_rng(0).normal(size=3000)
    rare = (score > np.quantile(score, 0.9)).astype(int)
    weights = np.where(rare[L] == 1, 3.0, 1.0)
    model = HedgeClipperClassifier(n_estimators=120, random_state=0)
    heavy = model.fit(X[L], rare[L], X_unlabeled=X[U], sample_weight=weights).predict_proba(X[T])
    plain = fitted(rare, n_estimators=120).predict_proba(X[T])
    assert heavy[:, 1].mean() > 1.5 * plain[:, 1].mean()
    roots = [tree.tree_.value[0, 0, 1] for tree in first_forest(model).estimators_]
    assert np.mean(roots) == pytest.approx(np.average(rare[L], weights=weights), abs=0.03)


def test_clone_pickle_and_text():
    model = usual()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X[T]), model.predict_proba(X[T]))
    assert not hasattr(clone(model), "estimators_")
    assert "n_estimators=32" in repr(model)


MODELS = {
    "forest": RandomForestClassifier(20, min_samples_leaf=4),
    "extra trees": ExtraTreesClassifier(20, min_samples_leaf=4),
    "bagging": BaggingClassifier(DecisionTreeClassifier(min_samples_leaf=4), 20),
    "boosting": GradientBoostingClassifier(n_estimators=30),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("prefit", [False, True])
def test_every_kind_of_ensemble_fitted_or_not(name, prefit):
    model = clone(MODELS[name]).set_params(random_state=0)
    if prefit:
        model.fit(X[U], Y[U])
    ours = HedgeClipperClassifier(model, random_state=0)
    ours.fit(X[L], Y[L], X_unlabeled=X[U])
    assert list(ours.estimators_) == ["estimator"]
    assert (ours.estimators_["estimator"] is model) == prefit
    assert_as_good_as_its_ensemble(ours, X, slack=0.02)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_boosters_of_other_libraries(library, n_classes):
    """Without shrinkage a group's score is the sigmoid of the booster's margin."""
    module = pytest.importorskip(library)
    y = np.array(["a", "b", "c"])[np.where((n_classes == 3) & (X[:, 0] > 1), 2, Y)]
    options = {"n_estimators": 20, "n_jobs": 1}
    model = (
        module.LGBMClassifier(verbose=-1, **options)
        if library == "lightgbm"
        else module.XGBClassifier(**options)
    )
    ours = HedgeClipperClassifier(model, shrinkage=0, random_state=0)
    ours.fit(X[L], y[L], X_unlabeled=X[U])
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.predict(X[T]), ours.predict(X[T]))
    (booster,) = ours.estimators_.values()
    raw = {"raw_score": True} if library == "lightgbm" else {"output_margin": True}
    margins = booster.predict(X[T], **raw).reshape(1000, -1)
    scores = ours._predictor.scorer.score(X[T])
    np.testing.assert_allclose(scores[:, 0], expit(margins), atol=1e-5)
    if n_classes == 2:  # one group: its ranks are the booster's
        own = ours.decision_function(X[T])
        assert spearmanr(own, margins[:, 0])[0] == pytest.approx(1.0, abs=1e-6)


def test_leaf_size_without_shrinkage_follows_the_number_of_labels():
    model = HedgeClipperClassifier(n_estimators=5, shrinkage=None, random_state=0)
    model.fit(X[:1000], Y[:1000], X_unlabeled=X[U])
    assert [forest.min_samples_leaf for forest in model.estimators_.values()] == [10, 10]


def test_many_classes():
    y = Y + 2 * (X[:, 0] > 0.5)
    model = fitted(y, n_estimators=80)
    proba = model.predict_proba(X[T])
    assert proba.shape == (1000, 4)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert model.weights_.shape == model.label_correlations_.shape == (4, 3)
    assert model.score(X[T], y[T]) > first_forest(model).score(X[T], y[T])


def test_guarantee_only_with_a_confidence_level():
    estimate = usual().certificate_
    assert estimate.kind == "estimate"
    assert "labels were used in the fit" in estimate.reason
    model = fitted(confidence_level=0.9, holdout=0.4)
    bound = model.certificate_
    assert (bound.kind, bound.confidence_level, bound.reason) == ("guarantee", 0.9, "")
    assert (bound.n_tested, bound.n_unlabeled) == (120, 1700)
    assert (model.n_labeled_, model.n_unlabeled_) == (300, 1700)
    assert model.transduction_.shape == (1700,)


def test_labels_that_are_no_random_sample_make_no_guarantee():
    model = HedgeClipperClassifier(n_estimators=80, confidence_level=0.95, random_state=0)
    model.fit(X[L], Y[L], X[U], np.linspace(1, 2, 300))
    assert model.certificate_.kind == "estimate"
    assert "sample weights" in model.certificate_.reason
    with pytest.warns(ShiftWarning):
        model.fit(X[L], Y[L], X_unlabeled=X[U] + 2)
    assert model.certificate_.kind == model.auto_label().kind == "estimate"
    assert "labeled and unlabeled rows differ" in model.certificate_.reason


def test_certificate_of_noise_does_not_flatter_the_trees():
    noise = np.random.default_rng(1).integers(0, 2, 3000)
    model = fitted(noise, n_estimators=80)
    assert model.certificate_.error_lower < 0.5 < model.certificate_.error_upper


@pytest.mark.parametrize("loss", ["square", "zero_one", "log"])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_predictions_are_the_most_probable_class_for_every_loss_and_balance(loss, share):
    score = X[:, 0] + 0.5 * X[:, 1]
    y = (score > np.quantile(score, share)).astype(int)
    model = fitted(y, loss=loss)
    p, m = model.predict_proba(X[T])[:, 1], model.decision_function(X[T])
    np.testing.assert_array_equal(model.predict(X[T]), (p > 0.5).astype(int))
    np.testing.assert_array_equal(m > 0, p > 0.5)
    assert np.all(np.diff(p[np.argsort(m)]) >= 0)


def test_prefit_models_see_the_columns_they_know():
    narrow = RandomForestClassifier(3).fit(X[U, :5], Y[U])
    with pytest.raises(ValueError, match="expects 5 features"):
        fitted(estimator=narrow)
    frame = pd.DataFrame(X, columns=[f"x{number}" for number in range(8)])
    named = RandomForestClassifier(3).fit(frame[U], Y[U])
    backwards = frame.iloc[:, ::-1]
    with pytest.raises(ValueError, match="other feature names"):
        HedgeClipperClassifier(named).fit(backwards[L], Y[L], X_unlabeled=backwards[U])


def test_frozen_models_stay_fitted_in_a_clone():
    forest = RandomForestClassifier(20, min_samples_leaf=4, random_state=0).fit(X[U], Y[U])
    model = clone(HedgeClipperClassifier(FrozenEstimator(forest)))
    model.fit(X[L], Y[L], X_unlabeled=X[T])
    (own,) = model.estimators_.values()
    np.testing.assert_array_equal(own.predict_proba(X[T]), forest.predict_proba(X[T]))


def test_names_beside_minus_one_marks():
    y = np.array(["no", "yes"], dtype=object)[Y[:1000]]
    y[300:] = -1
    model = HedgeClipperClassifier(n_estimators=40, random_state=0).fit(X[:1000], y)
    assert model.classes_.tolist() == ["no", "yes"]


def test_shift_is_noticed_and_its_absence_too():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ShiftWarning)
        fitted()
        HedgeClipperClassifier(n_estimators=32, random_state=0).fit(
            X[:2000], Y[:2000], X_unlabeled=X[2000:2100]
        )
    shifted = X.copy()
    shifted[U] += 1.0
    with pytest.warns(ShiftWarning, match="look unlike the labeled ones"):
        fitted(rows=shifted)


def test_imbalance_keeps_the_predicted_share_sensible():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 4)).astype(np.float32)
    y = (rows[:, 0] + 0.5 * rng.normal(size=4000) > 1.8).astype(int)
    model = HedgeClipperClassifier(n_estimators=100, random_state=0)
    model.fit(rows[:500], y[:500], X_unlabeled=rows[500:])
    predicted = model.predict(rows[500:]).mean()
    assert 0.3 * y.mean() < predicted < 2 * y.mean()
    assert model.score(rows[500:], y[500:]) > 1 - y.mean()


def test_sample_weight_reaches_trees_and_correlations():
    weights = np.where(X[L, 0] > 0, 3.0, 1.0)
    model = HedgeClipperClassifier(n_estimators=32, random_state=0)
    model.fit(X[L], Y[L], X_unlabeled=X[U], sample_weight=weights)
    assert not np.array_equal(model.predict_proba(X[T]), usual().predict_proba(X[T]))
    doubled = clone(model).fit(X[L], Y[L], X_unlabeled=X[U], sample_weight=2 * weights)
    np.testing.assert_allclose(doubled.decision_function(X[T]), model.decision_function(X[T]))


def test_unlabeled_rows_in_a_pipeline_are_transformed():
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = HedgeClipperClassifier(n_estimators=32, random_state=0)
        classifier.set_fit_request(X_unlabeled=True)
        pipeline = make_pipeline(StandardScaler(), classifier, transform_input=["X_unlabeled"])
        pipeline.fit(100 * X[L], Y[L], X_unlabeled=100 * X[U])
    scaler = StandardScaler().fit(100 * X[L])
    direct = HedgeClipperClassifier(n_estimators=32, random_state=0).fit(
        scaler.transform(100 * X[L]), Y[L], X_unlabeled=scaler.transform(100 * X[U])
    )
    theirs = direct.predict(scaler.transform(100 * X[T]))
    np.testing.assert_array_equal(pipeline.predict(100 * X[T]), theirs)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"views": "pca"}, "views"),
        ({"shrinkage": -1.0}, "shrinkage"),
        ({"shrinkage": "strong"}, "shrinkage"),
        ({"confidence_level": 2.0}, "confidence_level"),
        ({"holdout": 1.0}, "holdout"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"loss": "hinge"}, "loss"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(**parameters)


def test_bad_calls():
    with pytest.raises(TypeError, match=r"'views' parameter .* Got 3 in it"):
        fitted(views=[StandardScaler(), 3])
    with pytest.raises(TypeError, match="must be a tree ensemble"):
        fitted(estimator=LogisticRegression())
    with pytest.raises(ValueError, match="at least two classes"):
        fitted(np.zeros(3000, dtype=int))
    prefit = RandomForestClassifier(3).fit(X[U], np.array(["a", "b"])[Y[U]])
    with pytest.raises(ValueError, match="knows the classes"):
        fitted(estimator=prefit)
    with pytest.raises(ValueError, match="features"):
        HedgeClipperClassifier().fit(X[L], Y[L], X_unlabeled=X[U, :3])
    lonely = np.zeros(3000, dtype=int)
    lonely[0] = 1
    with pytest.raises(ValueError, match="two rows of every class"):
        fitted(lonely, estimator=ExtraTreesClassifier(5))


def test_ten_labels_and_no_unlabeled_rows():
    easy = X + 3 * Y[:, None]
    rows = np.r_[np.flatnonzero(Y == 0)[:5], np.flatnonzero(Y == 1)[:5]]
    model = HedgeClipperClassifier(n_estimators=80, random_state=0)
    assert_as_good_as_its_ensemble(model.fit(easy[rows], Y[rows], X_unlabeled=easy[U]), easy)
    with pytest.warns(NoUnlabeledRowsWarning):
        model.fit(X[L], Y[L])
    assert_as_good_as_its_ensemble(model, X)
