import pickle

import numpy as np
import pandas as pd
import pytest
from hedgeclipper.panel.fitting import member_scores
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgeclipper import (
    HedgedVotingClassifier,
    MemberFailedWarning,
    NoHeldOutRowsWarning,
    NoUnlabeledRowsWarning,
    SemiSupervisedSplit,
)
from tests.few_trees import panel_of_few_trees

X, Y = make_classification(1500, 6, n_informative=4, flip_y=0.05, random_state=0)
L, U, T = slice(0, 200), slice(200, 1000), slice(1000, 1500)
THREE = np.digitize(X[:, 0] + X[:, 1], [-1.0, 1.0])


class Predicts(ClassifierMixin, BaseEstimator):
    """Has no scores, but a tree in it."""

    def fit(self, X, y):
        self.tree_ = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


class Fails(GaussianNB):
    """Cannot be fitted to, or else score, so many rows; None is any number."""

    def __init__(self, n_fitted=None, n_scored=None):
        super().__init__()
        self.n_fitted = n_fitted
        self.n_scored = n_scored

    def fit(self, X, y):
        if self.n_fitted in (None, len(y)):
            raise RuntimeError("out of order")
        return super().fit(X, y)

    def predict_proba(self, X):
        if self.n_scored == X.shape[0]:
            raise RuntimeError("cannot score")
        return super().predict_proba(X)


def quick():
    return [
        ("linear", LinearDiscriminantAnalysis()),
        ("bayes", GaussianNB()),
        ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ]


def fitted(y=Y, rows=X, estimators=None, labeled=L, **parameters):
    members = quick() if estimators is None else estimators
    model = HedgedVotingClassifier(members, **{"random_state": 0, **parameters})
    return model.fit(rows[labeled], y[labeled], X_unlabeled=rows[U])


def assert_same(ours, theirs, rows=X):
    np.testing.assert_array_equal(ours.decision_function(rows), theirs.decision_function(rows))


def auc(y, scores):
    """Of one column for two classes, or the mean over classes against the rest."""
    return roc_auc_score(y, scores, multi_class="ovr") if y.max() > 1 else roc_auc_score(y, scores)


def as_probabilities(scores):
    return scores[:, 0] if scores.shape[1] == 1 else scores / scores.sum(axis=1, keepdims=True)


def assert_as_good_as_members(model, rows, y, slack=0.02):
    """By AUC, the best of the members being the measure."""
    n_classes = model.classes_.size
    scores = [member_scores(m, rows[T], n_classes) for m in model.members_.values()]
    theirs = [auc(y[T], as_probabilities(own)) for own in scores]
    ours = model.predict_proba(rows[T])
    assert auc(y[T], ours[:, 1] if n_classes == 2 else ours) > max(theirs) - slack


# scikit-learn's own checks.

FOLDS = "folds are cut through rows: one of weight 2 is in one fold, and two rows may be in two"
EXPECTED = {
    "check_classifiers_classes": "labels -1 and 1 without X_unlabeled: -1 marks unlabeled rows",
    "check_sample_weight_equivalence_on_dense_data": FOLDS,
    "check_sample_weight_equivalence_on_sparse_data": FOLDS,
}


@pytest.mark.filterwarnings("ignore::hedgeclipper.NoUnlabeledRowsWarning")
@pytest.mark.filterwarnings("ignore::hedgeclipper.NoHeldOutRowsWarning")
@pytest.mark.filterwarnings("ignore:.*:FutureWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks(
    [HedgedVotingClassifier([("linear", RidgeClassifier()), ("tree", quick()[2][1])], cv=3)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# How good it is.


def test_it_is_no_worse_than_its_members():
    model = fitted()
    ours = roc_auc_score(Y[T], model.decision_function(X[T]))
    members = [m.predict_proba(X[T])[:, 1] for m in model.members_.values()]
    assert ours > max(roc_auc_score(Y[T], scores) for scores in members) - 0.01
    mean = np.mean(members, axis=0)
    assert ours > roc_auc_score(Y[T], mean) - 0.005
    assert log_loss(Y[T], model.predict_proba(X[T])[:, 1]) < log_loss(Y[T], mean) + 0.01


@pytest.mark.filterwarnings("ignore::hedgeclipper.NoUnlabeledRowsWarning")
def test_without_unlabeled_rows_members_are_not_scored_on_what_they_have_seen():
    gains = []
    for seed in range(4):
        X_, y_ = make_classification(1_200, 20, n_informative=4, flip_y=0.2, random_state=seed)
        members = [
            ("linear", LogisticRegression()),
            ("tree", DecisionTreeClassifier(random_state=0)),
            ("near", KNeighborsClassifier(15, weights="distance")),
        ]
        model = HedgedVotingClassifier(members, random_state=0).fit(X_[:200], y_[:200])
        scores = model.predict_proba(X_[200:])[:, 1]
        mean = np.mean([m.predict_proba(X_[200:])[:, 1] for m in model.members_.values()], axis=0)
        gains.append(roc_auc_score(y_[200:], scores) - roc_auc_score(y_[200:], mean))
        assert model.n_unlabeled_ == 200
    assert np.mean(gains) > -0.005


def test_many_rows_are_predicted_in_parts(monkeypatch):
    model = fitted()
    whole = model.decision_function(X)
    monkeypatch.setattr("hedgeclipper.panel.fitting.ROWS_AT_ONCE", 37)
    np.testing.assert_allclose(model.decision_function(X), whole)


def test_one_who_guesses_gets_little():
    guess = KNeighborsClassifier(1)
    members = [*quick(), ("guess", make_pipeline(StandardScaler(), Shuffled(guess)))]
    model = fitted(estimators=members)
    assert model.member_names_.tolist() == ["linear", "bayes", "tree", "guess"]
    (weights,) = model.weights_
    assert weights[3] < 0.5 * weights.max()


class Shuffled(ClassifierMixin, BaseEstimator):
    """Fitted to labels in disorder."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        self.model_ = clone(self.model).fit(X, np.random.default_rng(0).permutation(y))
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_probabilities_decisions_and_predictions_agree():
    model = fitted()
    m, p = model.decision_function(X[T]), model.predict_proba(X[T])
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.all((p > 0) & (p < 1))
    np.testing.assert_array_equal(np.argsort(m, kind="stable"), np.argsort(p[:, 1], kind="stable"))
    np.testing.assert_array_equal(model.predict(X[T]), (m > 0).astype(int))


def test_probabilities_of_what_is_easy_are_not_quite_one():
    easy = np.where(Y == 1, 5.0, -5.0)[:, None] + 0.01 * X
    p = fitted(rows=easy).predict_proba(easy)
    assert np.all((p > 0) & (p < 1))
    assert log_loss(Y, p) < 0.05


def test_the_default_panel(monkeypatch):
    monkeypatch.setattr("hedgeclipper.panel.members.default_panel", panel_of_few_trees)
    model = HedgedVotingClassifier(cv=2, random_state=0)
    model.fit(X[:40], Y[:40], X_unlabeled=X[U])
    assert len(model.members_) == 7
    scores = [member_scores(m, X[T], 2)[:, 0] for m in model.members_.values()]
    theirs = np.median([auc(Y[T], own) for own in scores])
    assert auc(Y[T], model.decision_function(X[T])) > theirs
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(again.predict_proba(X[T]), model.predict_proba(X[T]))


# Which members.


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),
        RidgeClassifier(),
        Predicts(),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
    ],
)
@pytest.mark.parametrize("y", [Y, THREE])
def test_every_kind_of_scores(estimator, y):
    model = fitted(y, estimators=[("a", estimator), ("b", LinearDiscriminantAnalysis())])
    assert list(model.members_) == ["a", "b"]
    assert_as_good_as_members(model, X, y)


def test_one_member_alone_keeps_its_order():
    model = fitted(estimators=quick()[:1])
    theirs = LinearDiscriminantAnalysis().fit(X[L], Y[L]).decision_function(X[T])
    assert roc_auc_score(Y[T], model.decision_function(X[T])) == pytest.approx(
        roc_auc_score(Y[T], theirs), abs=1e-3
    )


def test_dropped_members_are_left_out():
    members = [*quick()[:2], ("tree", "drop")]
    assert_same(fitted(estimators=members), fitted(estimators=quick()[:2]))


def test_parameters_by_name():
    model = HedgedVotingClassifier(quick())
    assert model.get_params()["linear__tol"] == 1e-4
    assert "linear" not in model.get_params(deep=False)
    model.set_params(linear__tol=0.1, bayes="drop", cv=3)
    assert model.estimators[0][1].tol == 0.1
    assert model.estimators[1] == ("bayes", "drop")
    copy = clone(model)
    assert copy.estimators[0][1] is not model.estimators[0][1]
    assert copy.get_params()["linear__tol"] == 0.1
    assert HedgedVotingClassifier().get_params()["estimators"] is None
    assert "cv=3" in repr(model)


def test_grid_search_over_a_members_parameter():
    y = Y[:600].copy()
    y[200:] = -1
    search = GridSearchCV(
        HedgedVotingClassifier(quick(), random_state=0),
        {"tree__max_depth": [1, 3], "bayes": ["drop", BernoulliNB()]},
        cv=SemiSupervisedSplit(2, random_state=0),
        error_score="raise",
    )
    search.fit(X[:600], y)
    assert len(search.cv_results_["params"]) == 4
    best = HedgedVotingClassifier(quick(), random_state=0).set_params(**search.best_params_)
    assert_same(search.best_estimator_, best.fit(X[:600], y))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"estimators": []}, "at least one"),
        ({"estimators": [GaussianNB()]}, r"\(name, classifier\) pairs"),
        ({"estimators": [("a", None)]}, "must be a classifier"),
        ({"estimators": [("cv", GaussianNB())]}, "conflict with constructor arguments"),
        ({"estimators": [("a", GaussianNB()), ("a", "drop")]}, r"not unique.*\['a', 'a'\]"),
        ({"estimators": [("a__b", GaussianNB())]}, r"must not contain __.*\['a__b'\]"),
        ({"estimators": "some"}, "estimators"),
        ({"cv": 1}, "cv"),
        ({"cv": "postfit"}, "cv"),
        ({"holdout": 1.0}, "holdout"),
        ({"confidence_level": 0.0}, "confidence_level"),
        ({"confidence_level": 1.0}, "confidence_level"),
        ({"loss": "hinge"}, "loss"),
        ({"holdout": 0.5}, "holdout=0.5 and no confidence_level"),
        ({"cv": [], "confidence_level": 0.9}, "cv is a list of splits of all labels"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(**parameters)


def test_bad_calls():
    with pytest.raises(ValueError, match="at least two classes"):
        fitted(np.zeros(1500, dtype=int))
    with pytest.raises(ValueError, match="X_unlabeled has no rows"):
        HedgedVotingClassifier(quick()).fit(X[L], Y[L], X_unlabeled=[X[:0]])
    with pytest.raises(ValueError, match="features"):
        HedgedVotingClassifier(quick()).fit(X[L], Y[L], X_unlabeled=X[U, :3])
    with pytest.raises(NotFittedError):
        HedgedVotingClassifier(quick()).predict(X)
    with pytest.raises(NotFittedError):
        HedgedVotingClassifier(quick()).member_summary()
    with pytest.raises(ValueError, match=r"cv='prefit' needs .* Got estimators=None"):
        HedgedVotingClassifier(cv="prefit").fit(X[L], Y[L], X_unlabeled=X[U])


def test_a_fit_that_fails_leaves_no_old_one_behind():
    model = fitted()
    with pytest.raises(ValueError, match="at least two classes"):
        model.fit(X[L], np.zeros(200, dtype=int), X_unlabeled=X[U])
    with pytest.raises(NotFittedError):
        model.predict(X)


# Members that fail.


@pytest.mark.parametrize("n_fitted", [160, 200], ids=["in a fold", "in the end"])
def test_one_who_fails_is_named_and_left_out(n_fitted):
    with pytest.warns(MemberFailedWarning, match="'bad' .* RuntimeError: out of order") as caught:
        model = fitted(estimators=[*quick(), ("bad", Fails(n_fitted))])
    assert {warning.filename for warning in caught} == {__file__}
    assert_same(model, fitted())


def test_one_who_cannot_score_held_out_labels_is_left_out():
    """They are among the unlabeled rows: 800 and 60."""
    options = {"confidence_level": 0.95, "holdout": 0.3}
    with pytest.warns(MemberFailedWarning, match="'bad' .* RuntimeError: cannot score"):
        model = fitted(estimators=[*quick(), ("bad", Fails(-1, n_scored=860))], **options)
    assert_same(model, fitted(**options))


def test_one_who_cannot_score_the_unlabeled_rows_is_left_out():
    with pytest.warns(MemberFailedWarning, match="'bad' .* RuntimeError: cannot score"):
        model = fitted(estimators=[*quick(), ("bad", Fails(-1, n_scored=800))])
    assert_same(model, fitted())


def test_all_failing_is_an_error():
    with pytest.raises(ValueError, match="All members have failed"):
        fitted(estimators=[("a", Fails()), ("b", Fails())])


# Prefit, folds, held-out labels.


def prefit():
    return [(name, model.fit(X[T], Y[T])) for name, model in quick()]


def test_fitted_members_stay_as_they_are():
    members = prefit()
    model = fitted(estimators=members, cv="prefit")
    assert [model.members_[name] is member for name, member in members] == [True] * 3
    summary = model.member_summary().set_index("member")
    for name, member in members:
        auc = roc_auc_score(Y[L], member.predict_proba(X[L])[:, 1])
        assert summary["auc"][name] == pytest.approx(auc)


def test_fitted_members_keep_their_labels():
    names = np.array(["no", "yes"])[Y]
    members = [(name, model.fit(X[T], names[T])) for name, model in quick()]
    model = fitted(names, estimators=members, cv="prefit")
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(
        model.decision_function(X), fitted(estimators=prefit(), cv="prefit").decision_function(X)
    )


def test_members_that_are_not_fitted():
    with pytest.raises(NotFittedError, match="'linear' must be fitted for cv='prefit'"):
        fitted(cv="prefit")


def test_folds_may_be_a_splitter_or_splits():
    splitter = KFold(4)
    splits = list(splitter.split(X[L]))
    assert_same(fitted(cv=splitter), fitted(cv=splits))
    assert not np.array_equal(
        fitted(cv=splitter).decision_function(X), fitted().decision_function(X)
    )


def test_members_are_not_scored_on_rows_in_no_fold():
    half = [(np.arange(100), np.arange(100, 200))]
    summary = fitted(cv=half).member_summary().set_index("member")
    theirs = GaussianNB().fit(X[:100], Y[:100]).predict_proba(X[100:200])[:, 1]
    assert summary["auc"]["bayes"] == pytest.approx(roc_auc_score(Y[100:200], theirs))


def test_held_out_labels_fit_nobody():
    class Counts(GaussianNB):
        def fit(self, X, y):
            seen.append(len(y))
            return super().fit(X, y)

    seen = []
    fitted(estimators=[("a", Counts())], confidence_level=0.95, holdout=0.25)
    assert seen == [120] * 5 + [150]


def test_held_out_rows_are_predicted_together_with_the_unlabeled_ones():
    """Else a member whose predictions depend on the rows beside them would tell both apart."""

    class Counts(GaussianNB):
        def predict_proba(self, X):
            seen.append(len(X))
            return super().predict_proba(X)

    seen = []
    fitted(estimators=[("a", Counts())], confidence_level=0.95, holdout=0.25)
    assert seen == [30] * 5 + [150, 850]


def test_members_that_learn_from_all_rows_know_the_held_out_ones():
    """Else a guarantee would compare rows they have seen with rows they have not."""

    class Knows(GaussianNB):
        def fit(self, X, y, X_unlabeled=None):
            seen.append((X, X_unlabeled))
            return super().fit(X, y)

    seen = []
    fitted(estimators=[("a", Knows())], confidence_level=0.95)
    labeled, unlabeled = seen[-1]
    assert labeled.shape == (100, 6)
    assert unlabeled.shape == (900, 6)
    assert all(rows.shape == (80, 6) and len(others) == 920 for rows, others in seen[:-1])
    everybody = np.vstack([labeled, unlabeled])
    np.testing.assert_array_equal(np.unique(everybody, axis=0), np.unique(X[:1000], axis=0))


@pytest.mark.parametrize(
    ("n_labels", "holdout", "n_held", "needed"),
    [(4, None, 2, 10), (9, None, 4, 10), (4, 0.75, 3, 8), (20, 0.1, 2, 50), (40, 0.99, 40, 200)],
)
def test_too_few_labels_to_hold_some_out(n_labels, holdout, n_held, needed):
    message = (
        f"Got {n_labels} labels, of which {n_held} would be held out. Label at least {needed} rows"
    )
    with pytest.raises(ValueError, match=message):
        fitted(labeled=slice(0, n_labels), holdout=holdout, confidence_level=0.95)


# Certificate.


@pytest.mark.parametrize("options", [{}, {"estimators": "fitted", "cv": "prefit"}])
def test_guarantee_only_with_confidence_level(options):
    if options:
        options = {**options, "estimators": prefit()}
    estimate = fitted(**options).certificate_
    assert estimate.kind == "estimate"
    assert "labels were used in the fit" in estimate.reason
    model = fitted(confidence_level=0.9, **options)
    bound = model.certificate_
    assert (bound.kind, bound.confidence_level, bound.reason) == ("guarantee", 0.9, "")
    assert bound.n_tested == 100
    assert bound.n_unlabeled == model.n_unlabeled_ == 800
    assert model.n_labeled_ == 200
    assert model.out_of_fold_.shape[0] == 100


def test_no_guarantee_with_weights():
    model = HedgedVotingClassifier(quick(), confidence_level=0.95, random_state=0)
    for weights in (np.linspace(1, 2, 200), np.arange(200) % 3):
        model.fit(X[L], Y[L], X_unlabeled=X[U], sample_weight=weights)
        assert model.certificate_.kind == "estimate"
        assert "sample weights" in model.certificate_.reason


def test_certificate_is_of_natural_proportions():
    """With one row in twenty positive, ranks balanced between classes would differ."""
    score = X[:, 0] + X[:, 1]
    rare = (score + 0.3 * X[:, 2] > np.quantile(score, 0.95)).astype(int)
    model = fitted(rare)
    error = np.mean(model.transduction_ != rare[U])
    assert model.certificate_.error_lower <= error <= model.certificate_.error_upper < 0.2


# Few labels.


def few(n_each):
    easy = X + 3 * Y[:, None]
    rows = np.r_[np.flatnonzero(Y == 0)[: n_each[0]], np.flatnonzero(Y == 1)[: n_each[1]]]
    return easy, rows


@pytest.mark.parametrize("n_each", [(5, 5), (2, 2)])
def test_ten_labels_and_four(n_each):
    easy, rows = few(n_each)
    model = fitted(rows=easy, labeled=rows, estimators=quick()[1:])
    assert_as_good_as_members(model, easy, Y)
    assert log_loss(Y[T], model.predict_proba(easy[T])) < np.log(2)


def test_one_label_in_a_class():
    easy, rows = few((5, 1))
    with pytest.warns(NoHeldOutRowsWarning, match="labels have no part in the weights") as caught:
        model = fitted(rows=easy, labeled=rows)
    assert {warning.filename for warning in caught} == {__file__}
    (weights,) = model.weights_
    assert weights[0] > 0
    np.testing.assert_allclose(weights, weights[0], rtol=1e-3)
    assert model.member_summary()["auc"].isna().all()
    bound = model.certificate_
    assert (bound.kind, bound.error_lower, bound.error_upper) == ("void", 0, 1)
    assert "no labeled row is predicted without its own label" in str(bound)
    assert not model.auto_label(max_error=0.5).is_sure.any()


def test_no_unlabeled_rows():
    with pytest.warns(NoUnlabeledRowsWarning):
        model = HedgedVotingClassifier(quick(), random_state=0).fit(X[L], Y[L])
    assert_as_good_as_members(model, X, Y)
    np.testing.assert_array_equal(model.transduction_, Y[L])


# What comes in.


def test_the_way_of_passing_unlabeled_rows_does_not_change_the_result():
    y = Y[:1000].copy()
    y[200:] = -1
    marked = HedgedVotingClassifier(quick(), random_state=0).fit(X[:1000], y)
    assert_same(marked, fitted())
    np.testing.assert_array_equal(marked.transduction_[:200], Y[L])
    np.testing.assert_array_equal(marked.transduction_[200:], marked.predict(X[U]))
    np.testing.assert_array_equal(fitted().transduction_, fitted().predict(X[U]))


@pytest.mark.parametrize("names", [("no", "yes"), (-1, 1), (False, True), (2.0, 5.0)])
def test_any_labels_with_unlabeled_rows_of_their_own(names):
    y = np.array(names)[Y]
    model = fitted(y)
    assert model.classes_.tolist() == list(names)
    np.testing.assert_array_equal(model.predict(X[T]), np.array(names)[fitted().predict(X[T])])


def test_three_classes():
    model = fitted(THREE)
    proba = model.predict_proba(X[T])
    assert proba.shape == model.decision_function(X[T]).shape == (500, 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert_as_good_as_members(model, X, THREE)
    assert len(model.weights_) == len(model.slack_) == 3
    summary = model.member_summary()
    assert summary.columns[:2].tolist() == ["member", "class"]
    assert len(summary) == 9
    assert summary.groupby("class")["contribution"].sum().tolist() == pytest.approx([1, 1, 1])


def test_the_order_of_the_classes_does_not_matter():
    order, members = np.array([2, 0, 1]), quick()[:2]
    plain, turned = (fitted(y, estimators=members) for y in (THREE, order[THREE]))
    np.testing.assert_allclose(
        turned.decision_function(X[T])[:, order], plain.decision_function(X[T]), rtol=1e-5
    )


def test_sample_weight():
    weights = np.where(X[L, 0] > 0, 3.0, 1.0)
    model = HedgedVotingClassifier(quick(), random_state=0)
    found = model.fit(X[L], Y[L], X[U], sample_weight=weights).decision_function(X)
    assert not np.array_equal(found, fitted().decision_function(X))
    plain = model.fit(X[L], Y[L], X[U], sample_weight=np.ones(200)).decision_function(X)
    np.testing.assert_allclose(plain, fitted().decision_function(X))


def test_rows_without_weight_are_left_out():
    model = HedgedVotingClassifier(quick(), random_state=0)
    some = model.fit(X[:300], Y[:300], X[U], sample_weight=np.arange(300) < 200)
    np.testing.assert_allclose(some.decision_function(X), fitted().decision_function(X))


def test_sparse_rows():
    rows = np.where(np.abs(X) < 0.5, 0, X)
    members = [("tree", quick()[2][1]), ("bayes", BernoulliNB())]
    ours = fitted(rows=sparse.csr_array(rows), estimators=members)
    theirs = fitted(rows=rows, estimators=members)
    np.testing.assert_allclose(
        ours.decision_function(sparse.csr_array(rows[T])),
        theirs.decision_function(rows[T]),
        atol=1e-3,
    )
    with pytest.raises(ValueError, match="- bayes: TypeError: Sparse data was passed"):
        fitted(rows=sparse.csr_array(rows), estimators=[("bayes", GaussianNB())])


def test_missing_values_are_for_members_that_take_them():
    rows = X.copy()
    rows[::7, 0] = np.nan
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    filled = make_pipeline(SimpleImputer(), GaussianNB())
    model = fitted(rows=rows, estimators=[("tree", tree), ("filled", filled)])
    for name, theirs in [("tree", tree), ("filled", filled)]:
        theirs = clone(theirs).fit(rows[L], Y[L])
        ours = model.members_[name].predict_proba(rows[T])
        np.testing.assert_allclose(ours, theirs.predict_proba(rows[T]), rtol=1e-10)
    assert np.isfinite(model.decision_function(rows[T])).all()
    with pytest.raises(ValueError, match="contains NaN"):
        fitted(rows=rows)


# Losses, what comes out.


@pytest.mark.parametrize("loss", ["square", "zero_one", "log"])
def test_losses(loss):
    model = fitted(loss=loss)
    assert model.stop_reason_.tolist() == ["converged"]
    assert model.duality_gap_[0] <= 1e-3 * max(abs(model.slack_[0]), 1e-3)
    assert_as_good_as_members(model, X, Y)


def test_summary():
    model = fitted()
    summary = model.member_summary()
    assert summary.columns.tolist() == [
        "member",
        "weight",
        "correlation",
        "standard_error",
        "auc",
        "agreement",
        "contribution",
        "seconds",
    ]
    assert sorted(summary["member"]) == ["bayes", "linear", "tree"]
    assert summary["contribution"].is_monotonic_decreasing
    assert summary["contribution"].sum() == pytest.approx(1)
    by_name = summary.set_index("member")["weight"]
    np.testing.assert_array_equal(by_name[model.member_names_], model.weights_[0])


def test_jobs_do_not_change_the_result_and_seeds_do():
    assert_same(fitted(n_jobs=2), fitted())
    assert_same(fitted(), fitted())
    other = fitted(random_state=1).decision_function(X)
    assert not np.array_equal(other, fitted().decision_function(X))


def test_pickle():
    model = fitted()
    again = pickle.loads(pickle.dumps(model))
    assert_same(again, model)
    np.testing.assert_array_equal(again.weights_, model.weights_)
    pd.testing.assert_frame_equal(again.member_summary(), model.member_summary())


def test_verbose_shows_members(capsys):
    fitted()
    assert capsys.readouterr().err == ""
    fitted(verbose=1)
    shown = capsys.readouterr().err
    assert "fitting members 18 of 18, done" in shown


# Frames.

FRAME = pd.DataFrame(X, columns=list("abcdef"))
MIXED = FRAME.assign(sign=np.where(X[:, 0] > 0, "plus", "minus"))


def test_a_frame_of_numbers_gives_what_the_array_gives():
    model = HedgedVotingClassifier(quick(), random_state=0)
    model.fit(FRAME[L], Y[L], X_unlabeled=FRAME[U])
    assert model.feature_names_in_.tolist() == list("abcdef")
    np.testing.assert_allclose(model.predict_proba(FRAME), fitted().predict_proba(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(FRAME.rename(columns={"a": "z"}))


def by_name():
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["sign"]), (StandardScaler(), ["a", "b", "c"])
    )
    pick = make_column_transformer(("passthrough", ["d", "e", "f", "a"]))
    return [
        ("strings", make_pipeline(encode, RidgeClassifier())),
        ("numbers", make_pipeline(pick, GaussianNB())),
    ]


@pytest.mark.parametrize("options", [{}, {"confidence_level": 0.9, "holdout": 0.3}, {"n_jobs": 2}])
def test_members_may_pick_columns_by_name(options):
    model = HedgedVotingClassifier(by_name(), random_state=0, **options)
    model.fit(MIXED[L], Y[L], X_unlabeled=MIXED[U])
    assert model.feature_names_in_.tolist() == list(MIXED.columns)
    assert_as_good_as_members(model, MIXED, Y)
    np.testing.assert_array_equal(model.transduction_, model.predict(MIXED[U]))


def test_frames_with_marks_and_weights_and_members_that_learn_from_all():
    from sklearn.semi_supervised import SelfTrainingClassifier

    y = np.where(np.arange(1000) < 200, Y[:1000], -1)
    name, model = by_name()[0]
    learns = make_pipeline(model[0], SelfTrainingClassifier(LogisticRegression()))
    panel = HedgedVotingClassifier([("all", learns), (name, model)], random_state=0)
    panel.fit(MIXED[:1000], y, sample_weight=np.arange(1000) % 5 > 0)
    assert_as_good_as_members(panel, MIXED, Y)


def test_fitted_members_get_the_frames_they_know():
    members = [(name, model.fit(MIXED[T], Y[T])) for name, model in by_name()]
    model = HedgedVotingClassifier(members, cv="prefit")
    model.fit(MIXED[L], Y[L], X_unlabeled=MIXED[U])
    assert_as_good_as_members(model, MIXED, Y)


def test_the_default_panel_encodes_strings(monkeypatch):
    monkeypatch.setattr("hedgeclipper.panel.members.default_panel", panel_of_few_trees)
    frame = pd.DataFrame(
        {"sign": np.where(X[:, 0] > 0, "plus", "minus"), "b": X[:, 1], "c": pd.Categorical(Y)}
    )
    frame.loc[::9, "sign"] = None
    model = HedgedVotingClassifier(cv=2, random_state=0)
    model.fit(frame[:30], Y[:30], X_unlabeled=frame[200:400])
    predicted = model.predict(frame[T])
    assert np.mean(predicted == Y[T]) > 0.98  # column c has the labels
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(frame[T]), predicted)
    with pytest.raises(ValueError, match=r"Column 'span' must have numbers, .* Got timedelta64"):
        model.fit(frame.assign(span=pd.Timedelta(1, "D"))[:30], Y[:30])
