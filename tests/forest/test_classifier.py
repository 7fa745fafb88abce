import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
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
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgeclipper import (
    HedgeClipperClassifier,
    LeafGame,
    NoUnlabeledRowsWarning,
    ShiftWarning,
    cost_weighted_loss,
)

X, Y = make_classification(3000, 8, n_informative=5, flip_y=0.05, random_state=0)
X = X.astype(np.float32)
L, U, T = slice(0, 300), slice(300, 2000), slice(2000, 3000)


def fitted(y=Y, rows=X, **parameters):
    model = HedgeClipperClassifier(**{"n_estimators": 20, "random_state": 0, **parameters})
    return model.fit(rows[L], y[L], X_unlabeled=rows[U])


def assert_as_good_as_its_ensemble(model, rows, y=Y, slack=0.01):
    """By AUC, the same ensemble with leaves that are not weighed anew being the measure."""
    ours = roc_auc_score(y[T], model.decision_function(rows[T]))
    theirs = roc_auc_score(y[T], model.estimator_.predict_proba(rows[T])[:, 1])
    assert ours > theirs - slack


def out_of_bag_correlations(forest, kind):
    """Mean of vote times label over the labeled rows that a tree, or one of its leaves, has not
    been fitted to, of those of which it is positive; from scikit-learn's trees alone."""
    signs, found = 2 * Y[L] - 1, []
    for tree, bag in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        unseen = np.setdiff1d(np.arange(300), bag)
        right = signs[unseen] * np.sign(tree.predict_proba(X[L][unseen])[:, 1] - 0.5)
        nodes = tree.apply(X[L][unseen]) if kind == "leaves" else np.zeros(unseen.size, dtype=int)
        sums, counts = np.bincount(nodes, right), np.bincount(nodes)
        found.append(sums[counts > 0] / counts[counts > 0])
    values = np.concatenate(found)
    return values[values > 0]


BOOTSTRAP = "a row of weight 2 is not drawn as two rows are, as in scikit-learn's forests"
EXPECTED = {
    "check_classifiers_classes": "labels -1 and 1 without X_unlabeled: -1 marks unlabeled rows",
    "check_sample_weight_equivalence_on_dense_data": BOOTSTRAP,
    "check_sample_weight_equivalence_on_sparse_data": BOOTSTRAP,
}


@pytest.mark.filterwarnings("ignore::hedgeclipper.NoUnlabeledRowsWarning")
@pytest.mark.filterwarnings("ignore:.*:FutureWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks(
    [HedgeClipperClassifier(n_estimators=10)], expected_failed_checks=lambda estimator: EXPECTED
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_it_is_about_as_good_as_its_forest_or_better():
    assert_as_good_as_its_ensemble(fitted(n_estimators=100), X, slack=0.005)


def test_probabilities_decisions_and_predictions_agree():
    model = fitted()
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
    model = HedgeClipperClassifier(n_estimators=20, random_state=0).fit(X[:2000], y)
    np.testing.assert_array_equal(model.transduction_[:300], Y[:300])
    np.testing.assert_array_equal(model.transduction_[300:], model.predict(X[U]))
    np.testing.assert_array_equal(fitted().transduction_, fitted().predict(X[U]))
    assert model.n_unlabeled_ == 1700


@pytest.mark.parametrize("names", [("no", "yes"), (-1, 1), (False, True), (2.0, 5.0)])
def test_any_labels_with_unlabeled_rows_of_their_own(names):
    y = np.array(names)[Y]
    model = fitted(y)
    assert model.classes_.tolist() == list(names)
    np.testing.assert_array_equal(model.predict(X[T]), np.array(names)[fitted().predict(X[T])])


def test_threads_do_not_change_the_result():
    many = np.tile(X, (15, 1)) + np.linspace(0, 0.1, 45_000, dtype=np.float32)[:, None]
    one, two = (
        HedgeClipperClassifier(n_estimators=10, n_jobs=n_jobs, random_state=0).fit(
            X[L], Y[L], X_unlabeled=many
        )
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.specialist_weights_, two.specialist_weights_)
    np.testing.assert_array_equal(one.transduction_, two.transduction_)
    np.testing.assert_array_equal(one.decision_function(many), two.decision_function(many))


def test_the_way_of_passing_unlabeled_rows_does_not_change_the_result_and_seeds_do():
    one = fitted()
    y = Y[:2000].copy()
    y[300:] = -1
    marked = HedgeClipperClassifier(n_estimators=20, random_state=0).fit(X[:2000], y)
    np.testing.assert_array_equal(one.decision_function(X[T]), marked.decision_function(X[T]))
    assert not np.array_equal(fitted(random_state=1).predict_proba(X[T]), one.predict_proba(X[T]))


def test_sparse_and_frames_give_the_same():
    dense = np.where(np.abs(X) < 0.5, np.float32(0), X)
    ours = fitted(rows=sparse.csr_array(dense)).decision_function(sparse.csr_array(dense[T]))
    np.testing.assert_allclose(ours, fitted(rows=dense).decision_function(dense[T]))
    frame = pd.DataFrame(X, columns=[f"x{number}" for number in range(8)])
    model = HedgeClipperClassifier(n_estimators=20, random_state=0)
    model.fit(frame[L], Y[L], X_unlabeled=frame[U])
    assert model.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(model.predict(frame[T]), fitted().predict(X[T]))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[T].rename(columns={"x0": "other"}))


def test_polars_frame():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X, schema=[f"x{number}" for number in range(8)])
    model = HedgeClipperClassifier(n_estimators=20, random_state=0)
    model.fit(frame[:300], Y[L], X_unlabeled=frame[300:2000])
    np.testing.assert_array_equal(model.predict(frame[2000:]), fitted().predict(X[T]))


def test_missing_values():
    rows = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.float32(np.nan), X)
    assert_as_good_as_its_ensemble(fitted(rows=rows), rows)


def test_clone_pickle_and_text():
    model = fitted()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X[T]), model.predict_proba(X[T]))
    assert not hasattr(clone(model), "estimator_")
    assert "n_estimators=20" in repr(model)


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
    ours = HedgeClipperClassifier(model, random_state=0).fit(X[L], Y[L], X_unlabeled=X[U])
    assert (ours.estimator_ is model) == prefit
    assert_as_good_as_its_ensemble(ours, X, slack=0.02)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosters_of_other_libraries(library, n_classes):
    module = pytest.importorskip(library)
    y = np.array(["a", "b", "c"])[np.where((n_classes == 3) & (X[:, 0] > 1), 2, Y)]
    options = {"n_estimators": 20, "n_jobs": 1}
    model = (
        module.LGBMClassifier(verbose=-1, **options)
        if library == "lightgbm"
        else module.XGBClassifier(**options)
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        ours = HedgeClipperClassifier(model, game=LeafGame(ridge=1e9), random_state=0)
        ours.fit(X[L], y[L], X_unlabeled=X[U])
        again = pickle.loads(pickle.dumps(ours))
        np.testing.assert_array_equal(again.predict(X[T]), ours.predict(X[T]))
        raw = {"raw_score": True} if library == "lightgbm" else {"output_margin": True}
        margins = ours.estimator_.predict(X[T], **raw)
        own, theirs = ours.decision_function(X[T]), ours.estimator_.predict(X[T])
    if n_classes == 2:  # held fast at the booster's vote, it is the booster but for its scale
        assert np.corrcoef(own, margins)[0, 1] == pytest.approx(1.0, abs=1e-6)
    labels = theirs if theirs.dtype.kind == "U" else ours.classes_[theirs]
    assert ours.score(X[T], y[T]) > np.mean(labels == y[T]) - 0.02


@pytest.mark.parametrize("kind", ["leaves", "trees"])
def test_plug_in_correlations_are_those_of_out_of_bag_rows(kind):
    model = fitted(specialists=kind, bound="plug_in")
    theirs = out_of_bag_correlations(model.estimator_, kind)
    np.testing.assert_allclose(np.sort(model.label_correlations_[0]), np.sort(theirs))


def test_kinds_of_specialists_add_up():
    n = {
        kinds: fitted(specialists=kinds, bound="plug_in").n_specialists_
        for kinds in ("leaves", "nodes", "trees", ("trees", "leaves"))
    }
    assert n["trees", "leaves"] == n["trees"] + n["leaves"]
    assert n["trees"] == 20
    assert n["nodes"] > n["leaves"]


@pytest.mark.parametrize("kinds", ["leaves", "nodes", "trees", ("trees", "leaves")])
def test_of_lower_bounds_fewer_are_positive(kinds):
    shrunk, plug_in, wilson = (
        fitted(specialists=kinds, bound=bound) for bound in ("shrunk", "plug_in", "wilson")
    )
    assert shrunk.n_specialists_ >= plug_in.n_specialists_ >= wilson.n_specialists_
    assert wilson.label_correlations_[0].max() < plug_in.label_correlations_[0].max()
    if kinds == "trees":
        assert np.all(wilson.label_correlations_[0] < plug_in.label_correlations_[0])


def test_only_large_enough_specialists():
    small, large = fitted(), fitted(game=LeafGame(min_specialist_size=10))
    assert large.estimator_.min_samples_leaf == 1
    assert small.estimator_.min_samples_leaf == 4
    bags = [np.bincount(rows, minlength=300) for rows in large.estimator_.estimators_samples_]
    nodes = large.estimator_.apply(X[L])
    sizes = [np.bincount(nodes[:, tree], bag) for tree, bag in enumerate(bags)]
    assert large.n_specialists_ <= sum(int((size >= 10).sum()) for size in sizes)
    assert large.n_specialists_ < sum(tree.tree_.n_leaves for tree in large.estimator_.estimators_)


def test_leaf_size_follows_the_number_of_labels():
    model = HedgeClipperClassifier(n_estimators=5, random_state=0)
    assert model.fit(X[:1000], Y[:1000], X_unlabeled=X[U]).estimator_.min_samples_leaf == 10


def test_many_classes():
    y = Y + 2 * (X[:, 0] > 0.5)
    model = fitted(y, n_estimators=50)
    proba = model.predict_proba(X[T])
    assert proba.shape == (1000, 4)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert len(model.specialist_weights_) == len(model.certificate_) == 4
    assert model.score(X[T], y[T]) > model.estimator_.score(X[T], y[T]) - 0.03


def test_guarantee_only_with_a_confidence_level():
    assert fitted().certificate_.kind == "estimate"
    assert fitted(holdout=0.5).certificate_.kind == "estimate"
    model = HedgeClipperClassifier(
        n_estimators=20, confidence_level=0.95, random_state=0, specialists="trees"
    ).fit(X[:1500], Y[:1500], X_unlabeled=X[1500:])
    bound = model.certificate_
    assert bound.kind == "guarantee"
    assert bound.confidence_level == 0.95
    with pytest.warns(NoUnlabeledRowsWarning):
        alone = clone(model).fit(X[:1500], Y[:1500])
    assert alone.certificate_.kind == "estimate"
    weighted = clone(model).fit(X[:1500], Y[:1500], X[1500:], np.linspace(1, 2, 1500))
    assert weighted.certificate_.kind == "estimate"
    error = np.mean(model.transduction_ != Y[1500:])
    assert error <= bound.error_upper == model.worst_case_error_ < 0.5


def test_certificate_of_noise_does_not_flatter_the_trees():
    noise = np.random.default_rng(1).integers(0, 2, 3000)
    model = fitted(noise, n_estimators=50)
    assert model.certificate_.error_upper > 0.42


@pytest.mark.parametrize("loss", ["square", "zero_one", "log", cost_weighted_loss(3.0, 1.0)])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_predictions_are_the_most_probable_class_for_every_loss_and_balance(loss, share):
    score = X[:, 0] + 0.5 * X[:, 1]
    y = (score > np.quantile(score, share)).astype(int)
    model = fitted(y, loss=loss)
    p, m = model.predict_proba(X[T])[:, 1], model.decision_function(X[T])
    np.testing.assert_array_equal(model.predict(X[T]), (p > 0.5).astype(int))
    np.testing.assert_array_equal(m > 0, p > 0.5)
    assert np.all(np.diff(p[np.argsort(m)]) >= 0)


def test_a_dear_miss_makes_positives_more_frequent():
    dear, plain = fitted(loss=cost_weighted_loss(5.0, 1.0)), fitted(loss="zero_one")
    assert dear.predict(X[T]).mean() > plain.predict(X[T]).mean() + 0.02


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
    assert model.estimator_.n_estimators == 20
    np.testing.assert_array_equal(model.estimator_.predict(X[T]), forest.predict(X[T]))


def test_names_beside_minus_one_marks():
    y = np.array(["no", "yes"], dtype=object)[Y[:1000]]
    y[300:] = -1
    model = HedgeClipperClassifier(n_estimators=10, random_state=0).fit(X[:1000], y)
    assert model.classes_.tolist() == ["no", "yes"]


def test_shift_is_noticed_and_its_absence_too():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ShiftWarning)
        fitted()
        HedgeClipperClassifier(n_estimators=20, random_state=0).fit(
            X[:2000], Y[:2000], X_unlabeled=X[2000:2100]
        )
    shifted = X.copy()
    shifted[U] += 1.0
    with pytest.warns(ShiftWarning, match="look unlike the labeled ones"):
        fitted(rows=shifted)


def test_alpha_is_raised_where_most_rows_would_be_clipped():
    sure = np.where(Y, 1.0, -1.0).astype(np.float32)[:, None] + 0.01 * X[:, :3]
    loose = LeafGame(ridge=0.0, cap=1.0)
    assert fitted().unlabeled_weight_ == 1.0
    assert fitted(rows=sure, loss="zero_one", game=loose).unlabeled_weight_ == 3.0
    assert fitted(game=LeafGame(unlabeled_weight=0.3)).unlabeled_weight_ == 0.3


def test_imbalance_keeps_the_predicted_share_sensible():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 4)).astype(np.float32)
    y = (rows[:, 0] + 0.5 * rng.normal(size=4000) > 1.8).astype(int)
    model = HedgeClipperClassifier(random_state=0).fit(rows[:500], y[:500], X_unlabeled=rows[500:])
    predicted = model.predict(rows[500:]).mean()
    assert 0.3 * y.mean() < predicted < 2 * y.mean()
    assert model.score(rows[500:], y[500:]) > 1 - y.mean()


def test_paper_settings():
    model = HedgeClipperClassifier.as_in_paper(n_estimators=20, random_state=0)
    game = model.game
    assert (model.bound, game.cap, game.ridge, game.method) == ("plug_in", None, 0.0, "sgd")
    model.fit(X[L], Y[L], X_unlabeled=X[U])
    theirs = out_of_bag_correlations(model.estimator_, "leaves")
    np.testing.assert_allclose(np.sort(model.label_correlations_[0]), np.sort(theirs))
    (weights,) = model.specialist_weights_
    assert weights.min() >= 0
    assert weights.max() > 1


def test_paper_settings_of_the_game_are_given_in_one_place():
    assert HedgeClipperClassifier.as_in_paper(method="batch").game.method == "batch"
    with pytest.raises(ValueError, match=r"Set \['method'\] in the LeafGame"):
        HedgeClipperClassifier.as_in_paper(method="batch", game=LeafGame())


@pytest.mark.parametrize("method", ["stream", "sgd"])
def test_batch_size_is_that_of_the_stochastic_steps(method):
    small, large, again = (
        fitted(game=LeafGame(method=method, batch_size=size), max_iter=3) for size in (64, 1024, 64)
    )
    assert not np.array_equal(small.specialist_weights_, large.specialist_weights_)
    np.testing.assert_array_equal(again.specialist_weights_, small.specialist_weights_)


def test_sample_weight_reaches_trees_and_correlations():
    weights = np.where(X[L, 0] > 0, 3.0, 1.0)
    model = HedgeClipperClassifier(n_estimators=20, random_state=0)
    model.fit(X[L], Y[L], X_unlabeled=X[U], sample_weight=weights)
    assert not np.array_equal(model.predict_proba(X[T]), fitted().predict_proba(X[T]))
    doubled = clone(model).fit(X[L], Y[L], X_unlabeled=X[U], sample_weight=2 * weights)
    np.testing.assert_allclose(doubled.decision_function(X[T]), model.decision_function(X[T]))


def test_unlabeled_rows_in_a_pipeline_are_transformed():
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = HedgeClipperClassifier(n_estimators=20, random_state=0)
        classifier.set_fit_request(X_unlabeled=True)
        pipeline = make_pipeline(StandardScaler(), classifier, transform_input=["X_unlabeled"])
        pipeline.fit(100 * X[L], Y[L], X_unlabeled=100 * X[U])
    scaler = StandardScaler().fit(100 * X[L])
    direct = HedgeClipperClassifier(n_estimators=20, random_state=0).fit(
        scaler.transform(100 * X[L]), Y[L], X_unlabeled=scaler.transform(100 * X[U])
    )
    theirs = direct.predict(scaler.transform(100 * X[T]))
    np.testing.assert_array_equal(pipeline.predict(100 * X[T]), theirs)


def test_verbose_shows_passes(capsys):
    fitted(verbose=1)
    assert "slack" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"specialists": "twigs"}, "specialists"),
        ({"specialists": ["leaves", "twigs"]}, "must name some of"),
        ({"bound": "bayes"}, "bound"),
        ({"confidence_level": 2.0}, "confidence_level"),
        ({"holdout": 1.0}, "holdout"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"loss": "hinge"}, "loss"),
        ({"game": LeafGame(cap=-1.0)}, "cap"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(**parameters)


def test_bad_calls():
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
        fitted(lonely, holdout=0.5)


def test_ten_labels_and_no_unlabeled_rows():
    easy = X + 3 * Y[:, None]
    rows = np.r_[np.flatnonzero(Y == 0)[:5], np.flatnonzero(Y == 1)[:5]]
    model = HedgeClipperClassifier(n_estimators=50, random_state=0)
    assert_as_good_as_its_ensemble(model.fit(easy[rows], Y[rows], X_unlabeled=easy[U]), easy)
    with pytest.warns(NoUnlabeledRowsWarning):
        model.fit(X[L], Y[L])
    assert_as_good_as_its_ensemble(model, X)
