import threading

import joblib
import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from hedgeclipper import VoterFailedWarning
from hedgeclipper.base.row_reader import RowReader
from hedgeclipper.voters.classifiers import (
    DEFAULT_VOTERS,
    LabeledRows,
    check_estimators,
    choose_folds,
    classifier_scores,
    default_classifiers,
    fit_classifiers,
)
from hedgeclipper.voters.views import Components

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
TWO = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
X_UNLABELED = RNG.normal(size=(80, 3))
FOLDS = choose_folds(TWO, 0)

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


class UnlabeledSpy(Spy):
    def fit(self, X, y, X_unlabeled=None):
        return self._note(X, y, X_unlabeled=X_unlabeled)


class MarkedSpy(SelfTrainingClassifier):
    def fit(self, X, y):
        FITS.append({"X": X, "y": y})
        return super().fit(X, y)


class Predicts(ClassifierMixin, BaseEstimator):
    """Has no scores: predicts the class whose number is in the first column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[X[:, 0].astype(int)]


@pytest.fixture(autouse=True)
def _no_fits_yet():
    FITS.clear()


def rows(codes=TWO, **options):
    return LabeledRows(X, codes, np.arange(codes.max() + 1), **options)


def only(estimator, given=None, **options):
    (found,) = fit_classifiers([("it", estimator)], given or rows(), 0, **options)
    return found


# Which folds.


def test_folds_are_stratified_and_shuffled_by_the_seed():
    theirs = StratifiedKFold(5, shuffle=True, random_state=0).split(X, TWO)
    for ours, other in zip(FOLDS, theirs, strict=True):
        np.testing.assert_array_equal(ours[0], other[0])
        np.testing.assert_array_equal(ours[1], other[1])
    assert not np.array_equal(FOLDS[0][1], choose_folds(TWO, 1)[0][1])


@pytest.mark.parametrize(("n_rare", "n_folds"), [(1, 0), (2, 2), (4, 4), (9, 5)])
def test_no_more_folds_than_the_rarest_class_has_labels(n_rare, n_folds):
    assert len(choose_folds(np.repeat([0, 1], [20, n_rare]), 0)) == n_folds


def test_a_class_of_one_label_is_always_fitted_and_never_scored():
    folds = choose_folds(np.repeat([0, 1, 2], [10, 9, 1]), 0)
    assert all(19 in train and 19 not in test for train, test in folds)
    np.testing.assert_array_equal(np.sort(np.concatenate([t for _, t in folds])), np.arange(19))


# Which estimators.


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        ([], "nothing but 'drop'"),
        ([("a", "drop")], "nothing but 'drop'"),
        ("forest", "must be 'default', 'trees', or a list"),
        (GaussianNB(), r"\(name, classifier\) pairs.* Got GaussianNB"),
        ([GaussianNB()], r"\(name, classifier\) pairs"),
        ([("a", GaussianNB(), 1)], r"\(name, classifier\) pairs"),
        ([(1, GaussianNB())], r"\(name, classifier\) pairs"),
        ([("a", LinearRegression())], "'a' must be a classifier.* Got LinearRegression"),
        ([("a", KMeans())], "'a' must be a classifier.* Got KMeans"),
        ([("a", None)], "'a' must be a classifier.* Got None"),
        ([("lineal", "default")], r"'lineal' is no default voter\. Choose from trees, linear"),
        ([("linear", "dorp")], "'linear' is no default voter.* Got 'dorp'"),
    ],
)
def test_estimators_that_will_not_do(estimators, message):
    with pytest.raises(ValueError, match=message):
        check_estimators(estimators)


def test_a_class_is_no_estimator():
    with pytest.raises(TypeError, match=r"use GaussianNB\(\)"):
        check_estimators([("a", GaussianNB)])


# Fits to all labels and to folds.


@pytest.mark.parametrize("codes", [TWO, THREE])
def test_out_of_fold_scores_are_those_of_scikit_learn(codes):
    ours = only(LogisticRegression(), rows(codes)).out_of_fold
    folds = choose_folds(codes, 0)
    theirs = cross_val_predict(LogisticRegression(), X, codes, cv=folds, method="predict_proba")
    np.testing.assert_array_equal(ours, theirs[:, 1:] if codes is TWO else theirs)


def test_the_final_fit_is_to_all_labels():
    given = LogisticRegression()
    found = only(given)
    assert not hasattr(given, "coef_")
    np.testing.assert_array_equal(found.estimator.coef_, LogisticRegression().fit(X, TWO).coef_)
    assert found.seconds > 0


def test_without_folds_nothing_is_scored():
    codes = (np.arange(60) == 0).astype(int)
    found = only(GaussianNB(), rows(codes))
    assert found.estimator.classes_.tolist() == [0, 1]
    assert found.out_of_fold.shape == (60, 1)
    assert np.isnan(found.out_of_fold).all()


def test_sparse_rows():
    labels = np.arange(2)
    given = LabeledRows(sparse.csr_array(X), TWO, labels, sparse.csr_array(X_UNLABELED))
    dense = only(LogisticRegression()).out_of_fold
    np.testing.assert_allclose(only(LogisticRegression(), given).out_of_fold, dense, atol=1e-4)
    only(UnlabeledSpy(), given)
    assert FITS[0]["X_unlabeled"].format == "csr"
    assert FITS[0]["X_unlabeled"].shape == (92, 3)


def test_quick_fits_start_no_processes_and_others_run_in_the_jobs_of_the_context(monkeypatch):
    only(Spy(), n_jobs=2)
    assert len(FITS) == 6, "fits in other processes would be noted there"
    assert all(fit["thread"] is threading.main_thread() for fit in FITS)
    FITS.clear()
    monkeypatch.setattr("hedgeclipper.voters.classifiers.SECONDS_TO_START", 0.0)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        only(Spy())
    assert len(FITS) == 6
    assert all(fit["thread"] is not threading.main_thread() for fit in FITS)


# Unlabeled rows.


def test_held_out_rows_are_among_the_unlabeled_ones_in_a_fold():
    only(UnlabeledSpy(), rows(X_unlabeled=X_UNLABELED))
    for fit, (train, test) in zip(FITS, FOLDS, strict=False):
        np.testing.assert_array_equal(fit["X"], X[train])
        np.testing.assert_array_equal(fit["X_unlabeled"], np.vstack([X_UNLABELED, X[test]]))
    assert len(FITS) == 6
    np.testing.assert_array_equal(FITS[5]["X_unlabeled"], X_UNLABELED)


@pytest.mark.parametrize("wrap", [lambda model: model, make_pipeline])
def test_unlabeled_rows_are_marked_for_those_who_read_marks(wrap):
    only(wrap(MarkedSpy(GaussianNB())), rows(X_unlabeled=X_UNLABELED))
    (train, test), fold, final = FOLDS[0], FITS[0], FITS[-1]
    np.testing.assert_array_equal(fold["X"], np.vstack([X[train], X_UNLABELED, X[test]]))
    np.testing.assert_array_equal(fold["y"], np.append(TWO[train], np.full(80 + test.size, -1)))
    np.testing.assert_array_equal(final["y"], np.append(TWO, np.full(80, -1)))


@pytest.mark.filterwarnings("ignore:y contains no unlabeled samples")
def test_without_unlabeled_rows_there_are_none_in_a_fold_either():
    only(UnlabeledSpy())
    assert [fit["X_unlabeled"] for fit in FITS] == [None] * 6
    FITS.clear()
    only(MarkedSpy(GaussianNB()))
    assert all(np.all(fit["y"] >= 0) for fit in FITS)


# Voters that fail.


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (Spy(fails_at=48), "ValueError: no luck"),  # in a fold
        (Spy(fails_at=60, error=KeyError), "KeyError: 'no luck'"),  # in the end
        (Spy(constant=np.nan), "it must give finite scores. Got NaN or infinity for 12 of 12 rows"),
        (FrozenEstimator(GaussianNB().fit(X[:, :2], TWO)), "3 features"),
        (FrozenEstimator(GaussianNB().fit(X, TWO + 1)), r"classes \[0, 1\].* also knows \[2\]"),
        (FrozenEstimator(GaussianNB()), "not fitted"),
    ],
)
def test_one_who_fails_is_left_out_by_name(bad, message):
    estimators = [("a", GaussianNB()), ("bad", bad), ("c", Spy())]
    with pytest.warns(VoterFailedWarning, match=f"'bad' has failed .*{message}"):
        found = fit_classifiers(estimators, rows(), 0)
    assert [one.name for one in found] == ["a", "c"]


def test_an_interrupt_is_no_failure():
    with pytest.raises(KeyboardInterrupt):
        only(Spy(60, error=KeyboardInterrupt))


def test_a_fold_without_a_class_is_fitted_without_a_gap(monkeypatch):
    """One who needs all classes has no scores there, but stays."""
    some, split = np.flatnonzero(THREE != 1), choose_folds(THREE, 0)[0]
    folds = [(some, np.flatnonzero(THREE == 1))]
    monkeypatch.setattr("hedgeclipper.voters.classifiers.choose_folds", lambda *_: folds)
    scores = only(Spy(constant=0.25), rows(THREE)).out_of_fold
    assert np.unique(FITS[0]["y"]).tolist() == [0, 1]
    np.testing.assert_array_equal(
        scores[THREE == 1], np.tile([0.25, 0, 0.25], (len(folds[0][1]), 1))
    )
    folds.append((split[0], np.setdiff1d(split[1], folds[0][1])))
    scores = only(Spy(needs_classes=3), rows(THREE)).out_of_fold
    np.testing.assert_array_equal(np.flatnonzero(~np.isnan(scores[:, 0])), folds[1][1])


# Scores.


def scores_of(model, X, n_classes):
    return classifier_scores(model, X, np.arange(n_classes))


@pytest.mark.parametrize("codes", [TWO, THREE])
def test_scores_are_probabilities_or_squashed_decisions(codes):
    n_classes = codes.max() + 1
    model, svc = LogisticRegression().fit(X, codes), LinearSVC().fit(X, codes)
    theirs = model.predict_proba(X)
    np.testing.assert_array_equal(
        scores_of(model, X, n_classes), theirs[:, 1 if codes is TWO else 0 :]
    )
    decisions = svc.decision_function(X).reshape(60, -1)
    np.testing.assert_allclose(scores_of(svc, X, n_classes), expit(decisions))
    assert scores_of(model, X[:0], n_classes).shape == (0, decisions.shape[1])


@pytest.mark.parametrize(
    ("labels", "scores"), [([0, 1], [[0], [1]]), ([0, 1, 2], [[1, 0, 0], [0, 1, 0]])]
)
def test_scores_are_indicators_without_decisions(labels, scores):
    model = Predicts().fit(None, np.array(labels))
    found = scores_of(model, np.array([[0.0], [1.0]]), len(labels))
    np.testing.assert_array_equal(found, scores)


@pytest.mark.parametrize("estimator", [GaussianNB(), RidgeClassifier(), Predicts()])
def test_a_class_that_is_not_known_gets_nothing(estimator):
    some = THREE != 1
    model = clone(estimator).fit(np.abs(X[some]) > 1, THREE[some])
    scores = scores_of(model, np.abs(X) > 1, 3)
    np.testing.assert_array_equal(scores[:, 1], 0)
    np.testing.assert_allclose(scores.sum(axis=1), 1)


@pytest.mark.parametrize("code", [0, 1])
def test_one_who_knows_one_class_is_sure_of_it(code):
    for estimator in (GaussianNB(), DecisionTreeClassifier(), Predicts()):
        model = estimator.fit(X, np.full(60, code))
        np.testing.assert_array_equal(scores_of(model, X, 2), code)


def test_scores_of_the_wrong_shape():
    model = Spy().fit(X, TWO)
    model.predict_proba = lambda X: np.zeros((X.shape[0], 1))
    with pytest.raises(ValueError, match=r"one score for each of its 2 classes.*\(60, 1\)"):
        scores_of(model, X, 2)


# Default classifiers.

TEXT = sparse.random_array((150, 550), density=0.02, random_state=0, format="csr")
HOLES = np.vstack([X, X_UNLABELED])
HOLES[::3, 0], HOLES[:, 1] = np.nan, np.nan
CASES = {
    "dense": np.vstack([X, X_UNLABELED]),
    "sparse": sparse.csr_array(np.where(np.abs(HOLES) > 0.3, HOLES, 0)),
    "missing": HOLES,
    "constant": np.ones((140, 3)),
    "one column": HOLES[:, 2:],
    "like text": TEXT,
    "empty text": sparse.csr_array((140, 550)),
}


@pytest.mark.parametrize(("case", "n_classes"), [*((name, 3) for name in CASES), ("dense", 2)])
def test_no_default_fails_whatever_the_rows(case, n_classes, recwarn):
    rows = CASES[case].astype(np.float32)
    sample = RowReader({}, rows.shape[1]).finish(rows, rows)
    names = list(DEFAULT_VOTERS[1:])
    models = default_classifiers(names, sample, None, 0)
    given = LabeledRows(sample[:30], np.arange(30) % n_classes, np.arange(n_classes))
    found = fit_classifiers(list(models.items()), given, 0)
    assert [one.name for one in found] == names
    assert all(np.all((one.out_of_fold >= 0) & (one.out_of_fold <= 1)) for one in found)
    assert not recwarn.list


def test_the_linear_model_of_wide_and_sparse_rows_sees_them_at_unit_length():
    rows, y = TEXT.astype(np.float32), (TEXT.sum(axis=1) > np.median(TEXT.sum(axis=1))).astype(int)
    ours = default_classifiers(["linear"], rows, None, 0)["linear"].fit(rows, y)
    theirs = LogisticRegression(C=10.0, max_iter=1000).fit(normalize(rows), y)
    expected = theirs.predict_proba(normalize(rows))
    np.testing.assert_allclose(ours.predict_proba(rows), expected, atol=1e-4)


def test_views_of_the_defaults_are_learned_from_all_rows_and_never_again():
    sample = CASES["dense"]
    components = Components(random_state=0).fit(sample)
    models = default_classifiers(["components", "kernel"], sample, components, 0)
    for model in models.values():
        view = model[:-1].transform(sample)
        again = clone(model).fit(sample[:20] + 5, TWO[:20])
        np.testing.assert_array_equal(again[:-1].transform(sample), view)
    np.testing.assert_array_equal(
        models["components"][0].transform(sample), components.transform(sample)
    )


def test_the_width_of_the_kernel_is_not_that_of_the_first_rows(rng):
    sample = rng.normal(size=(1000, 3))
    in_order = sample[np.argsort(np.abs(sample).max(axis=1))]  # the densest part comes first
    widths = [
        default_classifiers(["kernel"], rows, Components(random_state=0).fit(rows), 0)["kernel"]
        for rows in (sample, in_order)
    ]
    gammas = [model[0].estimator["map"].gamma for model in widths]
    assert gammas[0] == pytest.approx(gammas[1], rel=0.15)
