import threading
import warnings

import joblib
import numpy as np
import pytest
from hedgeclipper.panel.fitting import MemberRows, out_of_bag_scores
from hedgeclipper.panel.members import (
    MemberFailedWarning,
    check_estimators,
    choose_folds,
    cross_fit,
    prefit_members,
    score_labeled,
)
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import LinearSVC

from hedgeclipper import HedgeClipperClassifier, HedgedVotingClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
TWO = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
X_UNLABELED = RNG.normal(size=(80, 3))
FOLDS = list(StratifiedKFold(4).split(X, TWO))
NO_CLASS_2 = (np.flatnonzero(THREE != 2), np.flatnonzero(THREE == 2))
CLASS_0_ALONE = (np.flatnonzero(THREE == 0), np.flatnonzero(THREE != 0))

FITS = []


class Spy(ClassifierMixin, BaseEstimator):
    """Notes what it is fitted to; gives every class of every row the same score."""

    def __init__(self, fails_at=None, error=ValueError, constant=0.5, needs_classes=2):
        self.fails_at = fails_at
        self.error = error
        self.constant = constant
        self.needs_classes = needs_classes

    def fit(self, X, y):
        return self._note(X, y)

    def _note(self, X, y, **options):
        FITS.append({"X": X, "y": y, "thread": threading.current_thread(), **options})
        self.classes_ = np.unique(y[y >= 0])
        if self.classes_.size < self.needs_classes or X.shape[0] == self.fails_at:
            raise self.error("no luck")
        return self

    def predict_proba(self, X):
        return np.full((X.shape[0], self.classes_.size), self.constant)


class WeighedSpy(Spy):
    def fit(self, X, y, sample_weight=None):
        return self._note(X, y, sample_weight=sample_weight)


class UnlabeledSpy(Spy):
    def fit(self, X, y, X_unlabeled=None):
        return self._note(X, y, X_unlabeled=X_unlabeled)


class MarkedSpy(SelfTrainingClassifier):
    def fit(self, X, y):
        FITS.append({"X": X, "y": y})
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def _no_fits_yet():
    FITS.clear()


def rows(codes=TWO, **options):
    return MemberRows(X, codes, codes.max() + 1, **options)


def only(estimator, given=None, folds=FOLDS, **options):
    (member,) = cross_fit([("it", estimator)], given or rows(), folds, **options)
    return member


# Which folds.


def test_folds_are_stratified_and_shuffled_by_the_seed():
    folds = choose_folds(TWO, 5, 0)
    theirs = StratifiedKFold(5, shuffle=True, random_state=0).split(X, TWO)
    for ours, other in zip(folds, theirs, strict=True):
        np.testing.assert_array_equal(ours[0], other[0])
        np.testing.assert_array_equal(ours[1], other[1])
    assert not np.array_equal(folds[0][1], choose_folds(TWO, 5, 1)[0][1])


@pytest.mark.parametrize(("n_rare", "n_folds"), [(1, 0), (2, 2), (4, 4), (9, 5)])
def test_no_more_folds_than_the_rarest_class_has_labels(n_rare, n_folds):
    codes = np.repeat([0, 1], [20, n_rare])
    assert len(choose_folds(codes, 5, 0)) == n_folds


def test_a_splitter_is_used_as_given():
    for ours, theirs in zip(choose_folds(TWO, KFold(3), 0), KFold(3).split(X), strict=True):
        np.testing.assert_array_equal(ours[1], theirs[1])


def test_splits_may_come_as_numbers_or_masks():
    head = np.arange(60) < 20
    ((train, test),) = choose_folds(TWO, [(~head, np.arange(20))], 0)
    np.testing.assert_array_equal(train, np.arange(20, 60))
    np.testing.assert_array_equal(test, np.arange(20))


def test_a_class_of_one_label_is_always_fitted_and_never_scored():
    codes = np.repeat([0, 1, 2], [10, 9, 1])
    folds = choose_folds(codes, 5, 0)
    assert len(folds) == 5
    assert all(19 in train and 19 not in test for train, test in folds)
    np.testing.assert_array_equal(np.sort(np.concatenate([t for _, t in folds])), np.arange(19))


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ((np.arange(15), np.arange(10, 20)), "5 rows both to fit and to score"),
        ((np.arange(15), np.arange(55, 65)), "row 64, but splits are of the labeled rows"),
    ],
)
def test_splits_that_cannot_be(split, message):
    with pytest.raises(ValueError, match=message):
        choose_folds(TWO, [split], 0)


@pytest.mark.parametrize("cv", [1, 0, "five"])
def test_folds_that_are_none(cv):
    with pytest.raises(ValueError, match=f"(cv|n_splits).*{cv}"):
        choose_folds(TWO, cv, 0)


# Which estimators.


def test_dropped_estimators_are_left_out():
    model = GaussianNB()
    assert check_estimators((["a", "drop"], ("b", model))) == [("b", model)]


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        ([], r"\(name, classifier\) pairs, at least one. Got \[\]"),
        (GaussianNB(), r"\(name, classifier\) pairs.* Got GaussianNB"),
        ([GaussianNB()], r"\(name, classifier\) pairs"),
        ([("a", GaussianNB(), 1)], r"\(name, classifier\) pairs"),
        ([(1, GaussianNB())], r"\(name, classifier\) pairs"),
        ([("a", "drop")], "All estimators are 'drop'"),
        ([("a", LinearRegression())], "'a' must be a classifier.* Got LinearRegression"),
        ([("a", KMeans())], "'a' must be a classifier.* Got KMeans"),
        ([("a", None)], "'a' must be a classifier.* Got None"),
        ([("a", "dorp")], "'a' must be a classifier.* Got 'dorp'"),
    ],
)
def test_estimators_that_will_not_do(estimators, message):
    with pytest.raises(ValueError, match=message):
        check_estimators(estimators)


def test_a_class_is_no_estimator():
    with pytest.raises(TypeError, match=r"use GaussianNB\(\)"):
        check_estimators([("a", GaussianNB)])


# Cross-fitting.


@pytest.mark.parametrize("codes", [TWO, THREE])
def test_out_of_fold_scores_are_those_of_scikit_learn(codes):
    folds = choose_folds(codes, 4, 0)
    ours = only(LogisticRegression(), rows(codes), folds).out_of_fold
    theirs = cross_val_predict(LogisticRegression(), X, codes, cv=folds, method="predict_proba")
    np.testing.assert_array_equal(ours, theirs[:, 1:] if codes is TWO else theirs)


def test_the_final_fit_is_to_all_labels():
    given = LogisticRegression()
    member = only(given)
    assert not hasattr(given, "coef_")
    np.testing.assert_array_equal(member.estimator.coef_, LogisticRegression().fit(X, TWO).coef_)


def test_without_folds_nothing_is_scored():
    member = only(GaussianNB(), folds=[])
    assert member.estimator.classes_.tolist() == [0, 1]
    assert member.out_of_fold.shape == (60, 1)
    assert np.isnan(member.out_of_fold).all()


def test_scores_of_repeated_folds_are_averaged():
    repeated = choose_folds(TWO, RepeatedStratifiedKFold(n_splits=3, n_repeats=2), 0)
    once = [only(GaussianNB(), folds=repeated[k : k + 3]).out_of_fold for k in (0, 3)]
    both = only(GaussianNB(), folds=repeated).out_of_fold
    np.testing.assert_allclose(both, np.mean(once, axis=0))


def test_rows_in_no_fold_have_no_score():
    scores = only(GaussianNB(), folds=FOLDS[:1]).out_of_fold
    expected = ~np.isin(np.arange(60), FOLDS[0][1])
    np.testing.assert_array_equal(np.isnan(scores[:, 0]), expected)


def test_sparse_rows():
    given = MemberRows(sparse.csr_array(X), TWO, 2, None, sparse.csr_array(X_UNLABELED))
    dense = only(LogisticRegression()).out_of_fold
    np.testing.assert_allclose(only(LogisticRegression(), given).out_of_fold, dense, atol=1e-4)
    only(UnlabeledSpy(), given)
    assert FITS[0]["X_unlabeled"].format == "csr"
    assert FITS[0]["X_unlabeled"].shape == (95, 3)


def panel():
    return [
        ("forest", RandomForestClassifier(5, random_state=0)),
        ("bayes", GaussianNB()),
        ("spread", LabelSpreading(kernel="knn")),
    ]


def test_the_number_of_jobs_changes_nothing():
    given = rows(X_unlabeled=X_UNLABELED)
    alone, together = (cross_fit(panel(), given, FOLDS, n_jobs=n) for n in (1, 2))
    assert [m.name for m in alone] == [m.name for m in together] == ["forest", "bayes", "spread"]
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.out_of_fold, other.out_of_fold)
        ours, theirs = (m.estimator.predict_proba(X_UNLABELED) for m in (one, other))
        np.testing.assert_array_equal(ours, theirs)


def test_jobs_are_those_of_the_context():
    only(Spy())
    assert all(fit["thread"] is threading.main_thread() for fit in FITS)
    FITS.clear()
    with joblib.parallel_config(backend="threading", n_jobs=2):
        only(Spy())
    assert all(fit["thread"] is not threading.main_thread() for fit in FITS)


def test_each_fit_is_reported_by_the_members_name():
    told = []
    members = cross_fit(panel(), rows(), FOLDS[:1], report=lambda *news: told.append(news))
    assert sorted(name for name, _, _ in told) == sorted(m.name for m in members for _ in range(2))
    assert [news[1:] for news in told] == [(k, 6) for k in range(1, 7)]


# Unlabeled rows and weights.


def test_held_out_rows_are_among_the_unlabeled_ones_in_a_fold():
    only(UnlabeledSpy(), rows(X_unlabeled=X_UNLABELED))
    for fit, (train, test) in zip(FITS, FOLDS, strict=False):
        np.testing.assert_array_equal(fit["X"], X[train])
        np.testing.assert_array_equal(fit["X_unlabeled"], np.vstack([X_UNLABELED, X[test]]))
    assert len(FITS) == 5
    assert FITS[4]["X_unlabeled"] is X_UNLABELED


@pytest.mark.parametrize("wrap", [lambda model: model, make_pipeline])
def test_unlabeled_rows_are_marked_for_those_who_read_marks(wrap):
    only(wrap(MarkedSpy(GaussianNB())), rows(X_unlabeled=X_UNLABELED), FOLDS[:1])
    (train, test), (fold, final) = FOLDS[0], FITS
    np.testing.assert_array_equal(fold["X"], np.vstack([X[train], X_UNLABELED, X[test]]))
    np.testing.assert_array_equal(fold["y"], np.append(TWO[train], np.full(80 + test.size, -1)))
    np.testing.assert_array_equal(final["y"], np.append(TWO, np.full(80, -1)))


@pytest.mark.parametrize("X_unlabeled", [None, X_UNLABELED[:0]])
def test_without_unlabeled_rows_there_are_none_in_a_fold_either(X_unlabeled):
    given = rows(X_unlabeled=X_unlabeled)
    only(UnlabeledSpy(), given, FOLDS[:1])
    assert [fit["X_unlabeled"] for fit in FITS] == [None, None]
    FITS.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        only(MarkedSpy(GaussianNB()), given, FOLDS[:1])
    assert all(np.all(fit["y"] >= 0) for fit in FITS)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "wrap", [lambda model: model, lambda m: make_pipeline(StandardScaler(), m)]
)
def test_our_forest_learns_from_the_unlabeled_rows(wrap, weighted):
    weights = np.linspace(1, 2, 60) if weighted else None
    model = wrap(HedgeClipperClassifier(n_estimators=20, random_state=0))
    given = rows(X_unlabeled=np.vstack([X_UNLABELED] * 2), weights=weights)
    fitted = only(model, given, FOLDS[:1]).estimator
    forest = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    assert forest.n_unlabeled_ == 160


def test_our_forest_is_fitted_once_if_it_may_be_scored_out_of_bag(monkeypatch):
    whole = HedgeClipperClassifier.fit
    fits = []
    monkeypatch.setattr(
        HedgeClipperClassifier,
        "fit",
        lambda self, X, y: fits.append(sum(y >= 0)) or whole(self, X, y),
    )
    model = HedgeClipperClassifier(n_estimators=80, random_state=0)
    given = rows(X_unlabeled=X_UNLABELED)
    member = only(model, given, out_of_bag=True)
    assert fits == [60]
    np.testing.assert_array_equal(member.out_of_fold, out_of_bag_scores(member.estimator, 2))
    only(model, given)
    assert fits[1:] == [45, 45, 45, 45, 60]


@pytest.mark.parametrize(
    ("cv", "weights", "is_bagged"),
    [(5, None, True), (KFold(2), None, False), (2, np.linspace(1, 2, 60), False)],
)
def test_splits_and_weights_are_not_for_the_bootstrap(monkeypatch, cv, weights, is_bagged):
    asked = []

    def note(model, n_classes):
        asked.append(model)
        return out_of_bag_scores(model, n_classes)

    monkeypatch.setattr("hedgeclipper.panel.members.out_of_bag_scores", note)
    members = [("forest", HedgeClipperClassifier(n_estimators=80, random_state=0))]
    panel = HedgedVotingClassifier(members, cv=cv)
    panel.fit(X, TWO, X_unlabeled=X_UNLABELED, sample_weight=weights)
    assert bool(asked) == is_bagged


def test_weights_go_where_they_are_taken():
    weights = np.linspace(1, 2, 60)
    given = rows(weights=weights)
    inner = make_pipeline(StandardScaler(), WeighedSpy())
    for estimator in [WeighedSpy(), inner, make_pipeline(StandardScaler(), inner)]:
        FITS.clear()
        only(estimator, given)
        for fit, (train, _) in zip(FITS, FOLDS, strict=False):
            np.testing.assert_array_equal(fit["sample_weight"], weights[train])
        np.testing.assert_array_equal(FITS[4]["sample_weight"], weights)


def test_weights_do_not_go_elsewhere():
    given = rows(weights=np.linspace(1, 2, 60))
    only(make_pipeline(StandardScaler(), KNeighborsClassifier()), given)
    only(Spy(), given)
    only(WeighedSpy())
    assert FITS[-1]["sample_weight"] is None


# Members that fail.


@pytest.mark.parametrize("fails_at", [45, 60], ids=["in a fold", "in the end"])
def test_one_who_fails_is_left_out_by_name(fails_at):
    estimators = [("a", GaussianNB()), ("bad", Spy(fails_at)), ("c", Spy())]
    with pytest.warns(MemberFailedWarning, match="'bad' has failed .* ValueError: no luck"):
        members = cross_fit(estimators, rows(), FOLDS)
    assert [member.name for member in members] == ["a", "c"]


@pytest.mark.parametrize("folds", [FOLDS, []])
def test_one_without_finite_scores_is_left_out(folds):
    estimators = [("bad", Spy(constant=np.nan)), ("b", GaussianNB())]
    with pytest.warns(MemberFailedWarning, match="bad must give finite scores"):
        members = cross_fit(estimators, rows(), folds)
    assert [member.name for member in members] == ["b"]


def test_all_failing_is_an_error_that_lists_them():
    estimators = [("a", Spy(60)), ("b", Spy(45, error=KeyError))]
    with pytest.raises(ValueError, match="- a: ValueError: no luck\n- b: KeyError: 'no luck'"):
        cross_fit(estimators, rows(), FOLDS)


def test_an_interrupt_is_no_failure():
    with pytest.raises(KeyboardInterrupt):
        only(Spy(60, error=KeyboardInterrupt))


def test_one_who_fails_only_for_want_of_a_class_stays():
    whole = choose_folds(THREE, 3, 0)[0]
    scores = only(Spy(needs_classes=3), rows(THREE), [NO_CLASS_2, whole]).out_of_fold
    told = np.isin(np.arange(60), whole[1])
    np.testing.assert_array_equal(np.isnan(scores).all(axis=1), ~told)
    np.testing.assert_array_equal(np.isnan(scores).any(axis=1), ~told)


def test_a_fold_without_a_class_has_classes_without_a_gap():
    some = np.flatnonzero(THREE != 1)
    scores = only(Spy(constant=0.25), rows(THREE), [(some, np.arange(60))]).out_of_fold
    assert np.unique(FITS[0]["y"]).tolist() == [0, 1]
    np.testing.assert_array_equal(scores, np.tile([0.25, 0.0, 0.25], (60, 1)))


def test_a_fold_of_one_class_is_passed_over():
    member = only(Spy(needs_classes=1), rows(THREE), [CLASS_0_ALONE])
    assert len(FITS) == 1
    assert np.isnan(member.out_of_fold).all()


# Prefit.


def score_prefit(estimators, labels, **options):
    return score_labeled(prefit_members(estimators, labels), rows(), labels, **options)


def test_fitted_ones_are_taken_as_they_are():
    labels, told = np.array(["yes", "no"]), []
    models = [("a", GaussianNB().fit(X, labels[TWO])), ("b", LinearSVC().fit(X, labels[TWO]))]
    members = score_prefit(models, labels, report=lambda *news: told.append(news))
    assert [member.estimator for member in members] == [model for _, model in models]
    assert told == [("a", 1, 2), ("b", 2, 2)]
    bayes, svc = (member.out_of_fold for member in members)
    np.testing.assert_array_equal(bayes, models[0][1].predict_proba(X)[:, :1])
    assert np.mean((svc[:, 0] > 0.5) == TWO) > 0.8


def test_prefit_that_is_not_fitted():
    with pytest.raises(NotFittedError, match="'a' must be fitted for cv='prefit'"):
        prefit_members([("a", GaussianNB())], [0, 1])


def test_prefit_with_other_classes():
    model = GaussianNB().fit(X, TWO + 1)
    with pytest.raises(ValueError, match=r"Estimator 'a' must know .*\[0, 1\].* knows \[2\]"):
        prefit_members([("a", model)], [0, 1])


def test_prefit_that_does_not_say_its_classes():
    model = GaussianNB().fit(X, TWO)
    del model.classes_
    with pytest.raises(ValueError, match="'a' must have classes_"):
        prefit_members([("a", model)], [0, 1])


def test_prefit_that_fails_is_left_out():
    models = [("a", GaussianNB().fit(X, TWO)), ("narrow", GaussianNB().fit(X[:, :2], TWO))]
    with pytest.warns(MemberFailedWarning, match="'narrow' .* 3 features"):
        members = score_prefit(models, [0, 1])
    assert [member.name for member in members] == ["a"]
    with pytest.raises(ValueError, match="- narrow: ValueError: X has 3 features"):
        score_prefit(models[1:], [0, 1])
