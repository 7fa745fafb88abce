"""HedgeClipperClassifier with its default voters, with trees alone, and with classifiers given."""

import pickle
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from hedgeclipper import (
    HedgeClipperClassifier,
    NoHeldOutRowsWarning,
    SemiSupervisedSplit,
    ShiftWarning,
    VoterFailedWarning,
    default_estimators,
)
from hedgeclipper.voters.classifiers import DEFAULT_VOTERS

X, Y = make_classification(1500, 6, n_informative=4, flip_y=0.05, random_state=0)
X = X.astype(np.float32)
L, U, T = slice(0, 200), slice(200, 1000), slice(1000, 1500)
THREE = np.digitize(X[:, 0] + X[:, 1], [-1.0, 1.0])
GROUPS = ["random forest", "extra trees on components", "extra trees on columns and components"]


def own():
    return [
        ("linear", LinearDiscriminantAnalysis()),
        ("bayes", GaussianNB()),
        ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ]


def new(estimators="trees", **parameters):
    chosen = own() if estimators == "own" else estimators
    return HedgeClipperClassifier(chosen, **{"n_estimators": 24, "random_state": 0, **parameters})


def fitted(estimators="trees", y=Y, rows=X, labeled=L, **parameters):
    return new(estimators, **parameters).fit(rows[labeled], y[labeled], X_unlabeled=rows[U])


@cache
def usual(estimators="trees"):
    """A model that tests do not change."""
    return fitted(estimators)


def assert_same(ours, theirs, rows=X):
    np.testing.assert_array_equal(ours.decision_function(rows), theirs.decision_function(rows))


def auc(y, scores):
    return roc_auc_score(y, scores if scores.ndim == 1 else scores[:, 1])


# scikit-learn's own checks.

EXPECTED = {
    "check_classifiers_classes": "labels -1 and 1 without X_unlabeled: -1 marks unlabeled rows",
}


IGNORED = (
    "ignore::hedgeclipper.NoUnlabeledRowsWarning",
    # a label may be in the samples of all trees, and some checks have one label of a class
    "ignore::hedgeclipper.NoHeldOutRowsWarning",
    "ignore::hedgeclipper.VoterFailedWarning",
    "ignore::hedgeclipper.ColumnWarning",
    "ignore:.*:FutureWarning",
    "ignore::sklearn.exceptions.SkipTestWarning",
    "ignore::sklearn.exceptions.DataConversionWarning",
)


def with_checks(*estimators):
    checks = parametrize_with_checks(
        list(estimators), expected_failed_checks=lambda estimator: EXPECTED
    )
    return lambda test: checks(pytest.mark.filterwarnings(*IGNORED)(test))


@with_checks(HedgeClipperClassifier("trees", n_estimators=12))
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@with_checks(
    HedgeClipperClassifier(n_estimators=12),
    HedgeClipperClassifier([("linear", RidgeClassifier()), ("tree", own()[2][1])]),
)
def test_scikit_learns_checks_of_other_voters(estimator, check):
    check(estimator)


# How good it is.


def test_trees_are_as_good_as_a_forest_of_as_many():
    forest = RandomForestClassifier(100, random_state=0).fit(X[L], Y[L])
    ours = auc(Y[T], fitted(n_estimators=100).decision_function(X[T]))
    assert ours > auc(Y[T], forest.predict_proba(X[T])) - 0.005


def test_it_is_no_worse_than_its_voters_and_their_mean():
    model = usual("own")
    each = [one.predict_proba(X[T])[:, 1] for one in model.estimators_.values()]
    ours, mean = model.predict_proba(X[T])[:, 1], np.mean(each, axis=0)
    assert auc(Y[T], ours) > max(auc(Y[T], scores) for scores in [*each, mean]) - 0.01
    assert log_loss(Y[T], ours) < log_loss(Y[T], mean) + 0.01


@pytest.mark.parametrize("kind", ["trees", "own"])
@pytest.mark.parametrize("y", [Y, THREE], ids=["two", "three"])
def test_probabilities_decisions_and_predictions_agree(kind, y):
    model = fitted(kind, y)
    m, p, n_games = model.decision_function(X[T]), model.predict_proba(X[T]), 1 if y is Y else 3
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.all((p > 0) & (p < 1))
    np.testing.assert_array_equal(model.predict(X[T]), p.argmax(axis=1))
    if n_games == 1:
        np.testing.assert_array_equal(np.argsort(m), np.argsort(p[:, 1]))
        np.testing.assert_array_equal(model.predict(X[T]), m > 0)
    else:
        np.testing.assert_array_equal(model.predict(X[T]), m.argmax(axis=1))
    assert log_loss(y[T], p) < log_loss(y[T], np.full(p.shape, 1 / p.shape[1]))
    assert model.weights_.shape == model.label_correlations_.shape == (n_games, 3)
    assert model.stop_reason_.tolist() == ["converged"] * n_games


def test_the_order_of_the_classes_does_not_matter():
    order, voters = np.array([2, 0, 1]), own()[:2]
    plain, turned = (fitted(voters, y) for y in (THREE, order[THREE]))
    np.testing.assert_allclose(
        turned.decision_function(X[T])[:, order],
        plain.decision_function(X[T]),
        rtol=1e-4,
        atol=1e-4,
    )


# Which voters.


def test_default_voters_and_trees_alone():
    model = usual("default")
    assert model.voter_names_.tolist() == [*GROUPS, *DEFAULT_VOTERS[1:]]
    assert list(model.estimators_) == list(DEFAULT_VOTERS[1:])
    assert usual().voter_names_.tolist() == GROUPS
    again = pickle.loads(pickle.dumps(model))
    assert_same(again, model)


def test_others_beside_some_defaults_and_dropped_ones():
    given = [voter for voter in default_estimators() if voter[0] in ("trees", "linear", "boosting")]
    model = new([*given, *own()[1:]])
    model.set_params(boosting="drop", tree="drop", bayes__var_smoothing=0.1)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(g=np.where(X[:, 0] > 0, "up", "down"))
    model.fit(frame[L], Y[L], X_unlabeled=frame[U])
    assert model.voter_names_.tolist() == [*GROUPS, "linear", "bayes"]
    assert model.estimators_["bayes"].n_features_in_ == 8  # strings are encoded for all
    assert model.estimators_["bayes"].var_smoothing == 0.1
    np.testing.assert_array_equal(model.transduction_, model.predict(frame[U]))


def test_parameters_by_name():
    model = new("own")
    assert model.get_params()["linear__tol"] == 1e-4
    assert "linear" not in model.get_params(deep=False)
    model.set_params(linear__tol=0.1, bayes="drop", n_jobs=2)
    copy = clone(model)
    assert copy.estimators[0][1] is not model.estimators[0][1]
    assert (copy.get_params()["linear__tol"], copy.estimators[1]) == (0.1, ("bayes", "drop"))
    assert HedgeClipperClassifier().set_params(estimators="trees").estimators == "trees"


def test_grid_search_over_parameters_of_voters():
    y = np.where(np.arange(600) < 200, Y[:600], -1)
    search = GridSearchCV(
        new("own"),
        {"tree__max_depth": [1, 3], "bayes": ["drop", BernoulliNB()]},
        cv=SemiSupervisedSplit(2, random_state=0),
        error_score="raise",
    )
    search.fit(X[:600], y)
    best = new("own").set_params(**search.best_params_).fit(X[:600], y)
    assert_same(search.best_estimator_, best)


class Predicts(ClassifierMixin, BaseEstimator):
    """Has no scores, but a tree in it."""

    def fit(self, X, y):
        self.tree_ = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


@pytest.mark.parametrize("y", [Y, THREE], ids=["two", "three"])
@pytest.mark.parametrize("estimator", [RidgeClassifier(), Predicts()])
def test_a_voter_alone_ranks_rows_as_it_does_itself(estimator, y):
    model = fitted([("it", estimator)], y)
    alone = clone(estimator).fit(X[L], y[L])
    scores = model.decision_function(X[T])
    if y is THREE:
        assert np.mean(model.predict(X[T]) == alone.predict(X[T])) > 0.85
    elif isinstance(estimator, Predicts):
        assert np.unique(scores).size == 2
        assert scores[alone.predict(X[T]) == 1].min() == scores.max()
    else:
        np.testing.assert_array_equal(
            np.argsort(scores, kind="stable"), np.argsort(alone.decision_function(X[T]))
        )


def test_fitted_classifiers_stay_as_they_are():
    names = np.array(["no", "yes"])[Y]
    members = [(name, FrozenEstimator(model.fit(X[T], names[T]))) for name, model in own()]
    model = clone(new(members)).fit(X[L], names[L], X_unlabeled=X[U])
    summary = model.voter_summary().set_index("voter")
    for name, member in members:
        p = member.predict_proba(X)[:, 1]
        np.testing.assert_array_equal(model.estimators_[name].predict_proba(X)[:, 1], p)
        assert summary["auc"][name] == pytest.approx(roc_auc_score(Y[L], p[L]), abs=1e-6)
    assert model.classes_.tolist() == ["no", "yes"]


# Voters that fail.


class Fails(GaussianNB):
    """Cannot be fitted to so many rows; None is any number."""

    def __init__(self, n_rows=None):
        super().__init__()
        self.n_rows = n_rows

    def fit(self, X, y):
        if self.n_rows in (None, len(y)):
            raise RuntimeError("out of order")
        return super().fit(X, y)


@pytest.mark.parametrize("n_rows", [160, 200], ids=["in a fold", "in the end"])
def test_one_who_fails_is_named_and_left_out(n_rows):
    with pytest.warns(VoterFailedWarning, match=r"'bad' .* RuntimeError: out of order") as caught:
        model = fitted([*own(), ("bad", Fails(n_rows))])
    assert {warning.filename for warning in caught} == {__file__}
    assert_same(model, usual("own"))


# What comes in.


@pytest.mark.parametrize("kind", ["trees", "own"])
def test_marks_give_what_rows_of_their_own_give(kind):
    marked = new(kind).fit(X[:1000], np.where(np.arange(1000) < 200, Y[:1000], -1))
    assert_same(marked, usual(kind))
    np.testing.assert_array_equal(marked.transduction_[:200], Y[L])
    np.testing.assert_array_equal(marked.transduction_[200:], usual(kind).transduction_)
    np.testing.assert_array_equal(usual(kind).transduction_, usual(kind).predict(X[U]))
    assert (marked.n_labeled_, marked.n_unlabeled_) == (200, 800)


def test_labels_may_be_floats():
    names = np.array([2.0, 5.0])
    found = fitted("own", names[Y]).predict(X[T])
    np.testing.assert_array_equal(found, names[usual("own").predict(X[T])])


@pytest.mark.parametrize("kind", ["default", "trees", "own"])
def test_jobs_do_not_change_the_result_and_seeds_do(kind):
    assert_same(fitted(kind, n_jobs=2), usual(kind))
    other = fitted(kind, random_state=1).decision_function(X)
    assert not np.array_equal(other, usual(kind).decision_function(X))


def test_sparse_rows_give_what_dense_ones_give():
    dense = np.where(np.abs(X) < 0.5, np.float32(0), X)
    for voters in ("trees", [("tree", own()[2][1]), ("bayes", BernoulliNB())]):
        ours = fitted(voters, rows=sparse.csr_array(dense))
        theirs = fitted(voters, rows=dense)
        found = ours.decision_function(sparse.csr_array(dense[T]))
        np.testing.assert_allclose(found, theirs.decision_function(dense[T]), atol=1e-3)
    with pytest.warns(VoterFailedWarning, match="'bayes' .* Sparse data was passed"):
        fitted(own()[1:], rows=sparse.csr_array(dense))


def test_rows_may_be_sparse_beside_dense_labeled_ones():
    rows = np.where(np.abs(X) < 0.5, np.float32(0), X)
    theirs = fitted("default", rows=rows).predict_proba(rows[T])
    ours = new("default").fit(rows[L], Y[L], X_unlabeled=sparse.csr_array(rows[U]))
    for some in (rows[T], sparse.csr_array(rows[T])):
        np.testing.assert_allclose(ours.predict_proba(some), theirs, atol=1e-6)


def test_missing_values_are_for_voters_that_take_them():
    rows = X.copy()
    rows[::7, 0] = np.nan
    filled = make_pipeline(SimpleImputer(), GaussianNB())
    for voters in ("default", [("trees", "default"), own()[2], ("filled", filled)]):
        model = fitted(voters, rows=rows)
        assert np.isfinite(model.decision_function(rows[T])).all()
    theirs = clone(filled).fit(rows[L], Y[L]).predict_proba(rows[T])
    np.testing.assert_allclose(model.estimators_["filled"].predict_proba(rows[T]), theirs)
    with pytest.raises(ValueError, match="contains NaN"):
        fitted("own", rows=rows)


MIXED = pd.DataFrame(X, columns=list("abcdef")).assign(sign=np.where(X[:, 0] > 0, "plus", "minus"))


@pytest.mark.parametrize("options", [{}, {"confidence_level": 0.9}, {"n_jobs": 2}])
def test_voters_may_pick_columns_by_name_and_learn_from_unlabeled_rows(options):
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["sign"]), (StandardScaler(), ["a", "b", "c"])
    )
    pick = make_column_transformer(("passthrough", ["d", "e", "f", "a"]))
    voters = [
        ("all", make_pipeline(encode, SelfTrainingClassifier(LogisticRegression()))),
        ("numbers", make_pipeline(pick, GaussianNB())),
        ("fitted", FrozenEstimator(make_pipeline(encode, RidgeClassifier()).fit(MIXED[T], Y[T]))),
    ]
    model = new(voters, **options).fit(MIXED[L], Y[L], X_unlabeled=MIXED[U])
    assert model.voter_names_.tolist() == ["all", "numbers", "fitted"]
    assert model.feature_names_in_.tolist() == list(MIXED.columns)
    np.testing.assert_array_equal(model.transduction_, model.predict(MIXED[U]))


def test_unlabeled_rows_in_a_pipeline_are_transformed():
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = new().set_fit_request(X_unlabeled=True)
        pipeline = make_pipeline(StandardScaler(), classifier, transform_input=["X_unlabeled"])
        pipeline.fit(100 * X[L], Y[L], X_unlabeled=100 * X[U])
    scaler = StandardScaler().fit(100 * X[L])
    rows = scaler.transform(100 * X)
    np.testing.assert_array_equal(pipeline.predict(100 * X), fitted(rows=rows).predict(rows))


# Few labels, shift, and what is not allowed.


def test_one_label_in_a_class():
    rows = np.r_[np.flatnonzero(Y == 0)[:5], np.flatnonzero(Y == 1)[:1]]
    with pytest.warns(NoHeldOutRowsWarning, match="labels have no part in the weights") as caught:
        model = fitted("own", labeled=rows)
    assert {warning.filename for warning in caught} == {__file__}
    np.testing.assert_allclose(model.weights_, model.weights_[0, 0], rtol=1e-3)
    assert model.voter_summary()["auc"].isna().all()
    bound = model.certificate_
    assert (bound.kind, bound.error_lower, bound.error_upper) == ("void", 0, 1)
    assert model.auto_label(max_error=0.5).needs_review.all()


def test_shift_is_noticed_and_its_absence_too():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ShiftWarning)
        assert fitted().shift_score_ < 4
    shifted = X.copy()
    shifted[U] += 2.0
    with pytest.warns(ShiftWarning, match="look unlike the labeled ones"):
        model = fitted(rows=shifted, confidence_level=0.9, n_estimators=80)
    assert model.certificate_.kind == "estimate"
    assert "labeled and unlabeled rows differ" in model.certificate_.reason
    assert usual("own").shift_score_ == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"estimators": [("n_jobs", GaussianNB())]}, "conflict with constructor arguments"),
        ({"estimators": [("a", GaussianNB()), ("a", "drop")]}, r"not unique.*\['a', 'a'\]"),
        ({"estimators": [("a__b", GaussianNB())]}, r"must not contain __.*\['a__b'\]"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"class_weight": "equal"}, "class_weight"),
        ({"random_state": "one"}, "random_state"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(**parameters)


def test_a_fit_that_fails_leaves_no_old_one_behind():
    model = fitted("own")
    for rows, y, unlabeled, message in [
        (X[L], np.zeros(200, int), X[U], "at least two classes"),
        (X[L], Y[L], X[U, :3], "features"),
        (X[L], Y[L], [X[:0]], "X_unlabeled has no rows"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(rows, y, X_unlabeled=unlabeled)
        with pytest.raises(NotFittedError):
            model.predict(X)


@pytest.mark.parametrize(("step", "level"), [("check_by_folds", None), ("check_on_held_out", 0.9)])
def test_a_fit_that_is_interrupted_leaves_no_model(step, level, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    model = fitted("own", confidence_level=level)
    model.fit_files_ = {"target": "y"}
    monkeypatch.setattr(f"hedgeclipper.classifier.{step}", stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[T], Y[T], X_unlabeled=X[U])
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert not hasattr(model, "certificate_")
    assert not hasattr(model, "fit_files_")
