import numpy as np
import pandas as pd
import pytest
from hedgeclipper.panel.fitting import (
    NamedColumns,
    member_scores,
    out_of_bag_scores,
    scores_out_of_bag,
)
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from hedgeclipper import HedgeClipperClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
TWO = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])


class Constant(ClassifierMixin, BaseEstimator):
    """Gives every class of every row the same score."""

    def __init__(self, score=0.5):
        self.score_of_all = score
        self.classes_ = np.array([0, 1])

    def predict_proba(self, X):
        return np.full((X.shape[0], 2), self.score_of_all)


class Predicts(ClassifierMixin, BaseEstimator):
    """Has no scores: predicts the digit in the first column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[X[:, 0].astype(int)]


def test_scores_are_probabilities_where_there_are_any():
    model = LogisticRegression().fit(X, TWO)
    np.testing.assert_array_equal(member_scores(model, X, 2), model.predict_proba(X)[:, 1:])
    model = LogisticRegression().fit(X, THREE)
    np.testing.assert_array_equal(member_scores(model, X, 3), model.predict_proba(X))


@pytest.mark.parametrize("codes", [TWO, THREE])
def test_scores_are_squashed_decisions_without_probabilities(codes):
    model = LinearSVC().fit(X, codes)
    decisions = model.decision_function(X).reshape(60, -1)
    np.testing.assert_allclose(member_scores(model, X, codes.max() + 1), expit(decisions))


@pytest.mark.parametrize(
    ("labels", "scores"), [([0, 1], [[0], [1]]), ([0, 1, 2], [[1, 0, 0], [0, 1, 0]])]
)
def test_scores_are_indicators_without_decisions(labels, scores):
    model = Predicts().fit(None, np.array(labels))
    found = member_scores(model, np.array([[0.0], [1.0]]), len(labels))
    assert found.dtype == float
    np.testing.assert_array_equal(found, scores)


@pytest.mark.parametrize("estimator", [GaussianNB(), RidgeClassifier(), Predicts()])
def test_a_class_that_is_not_known_gets_nothing(estimator):
    some = THREE != 1
    model = estimator.fit(np.abs(X[some]) > 1, THREE[some])
    scores = member_scores(model, np.abs(X) > 1, 3)
    assert np.all(scores[:, 1] == 0)
    assert np.all(scores.sum(axis=1) == pytest.approx(1))
    assert np.ptp(scores[:, 2]) > 0


@pytest.mark.parametrize("estimator", [GaussianNB(), Predicts(), DecisionTreeClassifier()])
@pytest.mark.parametrize("code", [0, 1])
def test_one_who_knows_one_class_is_sure_of_it(estimator, code):
    model = estimator.fit(X, np.full(60, code))
    np.testing.assert_array_equal(member_scores(model, X, 2), np.full((60, 1), code))


def test_classes_are_found_by_their_labels():
    labels = np.array(["b", "a"])
    model = LogisticRegression().fit(X, labels[TWO])
    scores = member_scores(model, X, 2, labels)
    np.testing.assert_array_equal(scores, model.predict_proba(X)[:, :1])


def test_labels_that_are_no_class():
    model = LogisticRegression().fit(X, THREE)
    with pytest.raises(ValueError, match=r"LogisticRegression must know .*\[0, 1\].* \[2\]"):
        member_scores(model, X, 2)


@pytest.mark.parametrize(("n_classes", "shape"), [(2, (0, 1)), (3, (0, 3))])
def test_scores_of_no_rows(n_classes, shape):
    model = LogisticRegression().fit(X, THREE % n_classes)
    assert member_scores(model, X[:0], n_classes).shape == shape


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_not_finite(bad):
    model = Constant(bad)
    with pytest.raises(ValueError, match=r"wild must give finite scores.* 60 of 60 rows"):
        member_scores(model, X, 2, name="wild")


def test_scores_of_the_wrong_shape():
    model = Constant()
    model.predict_proba = lambda X: np.zeros((X.shape[0], 1))
    with pytest.raises(ValueError, match=r"Constant must give one column .* 2 classes.*\(60, 1\)"):
        member_scores(model, X, 2)


def forest(codes, seed=0, rows=X, **options):
    model = HedgeClipperClassifier(n_estimators=40, random_state=seed, views=None, **options)
    return model.fit(rows, codes, X_unlabeled=rows)


def test_out_of_bag_scores_have_the_columns_of_scores():
    for codes, n_classes in [(TWO, 2), (THREE, 3)]:
        scores = out_of_bag_scores(forest(codes), n_classes)
        assert scores.shape == member_scores(forest(codes), X, n_classes).shape
        assert np.all((scores > 0) & (scores < 1))


def test_rows_that_all_trees_have_seen_have_no_out_of_bag_score():
    model = HedgeClipperClassifier(n_estimators=8, random_state=0).fit(X, TWO, X_unlabeled=X)
    is_seen = np.isnan(model._groups.out_of_bag).any(axis=(1, 2))
    assert 0 < is_seen.sum() < 60
    np.testing.assert_array_equal(np.isnan(out_of_bag_scores(model, 2)[:, 0]), is_seen)


def test_a_rare_class_is_not_scored_low_out_of_bag():
    """Columns that know nothing of 4 labels in 60 rank them at one half, on average."""
    plain, ours = [], []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        rows, codes = rng.normal(size=(60, 3)), (rng.permutation(60) < 4).astype(int)
        model = forest(codes, seed, rows)
        raw = model._predictor.raw_of(model._groups.out_of_bag)
        plain.append(roc_auc_score(codes, raw[:, 0]))
        ours.append(roc_auc_score(codes, out_of_bag_scores(model, 2)[:, 0]))
    error = np.std(ours) / np.sqrt(len(ours))
    assert abs(np.mean(ours) - 0.5) < 2.5 * error
    assert np.mean(plain) < 0.5 - 2.5 * error


@pytest.mark.parametrize(
    ("estimator", "can"),
    [
        (HedgeClipperClassifier(), True),
        (HedgeClipperClassifier(GaussianNB()), False),
        (HedgeClipperClassifier(confidence_level=0.9), False),
        (GaussianNB(), False),
    ],
)
def test_who_scores_out_of_bag(estimator, can):
    assert scores_out_of_bag(estimator) == can


def test_rows_without_names_get_some_and_frames_stay():
    named = NamedColumns(["a", "b"])
    frame = pd.DataFrame({"a": [1.0] * 2, "b": 1.0})
    pd.testing.assert_frame_equal(named(np.ones((2, 2))), frame)
    assert named(frame) is frame
