"""Decisions by class weights and costs, and what is known of them."""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import HedgeClipperClassifier, NeverPredictedWarning, load, save

X, SIX = make_classification(
    900, 6, n_informative=4, n_classes=3, weights=[0.75, 0.15], flip_y=0.1, random_state=0
)
TWO = (SIX == 0).astype(int)  # 1 is the frequent class
L, U = slice(0, 150), slice(150, 900)
KINDS = ["trees", "own"]
OWN = [("linear", LogisticRegression()), ("bayes", GaussianNB())]


def make(kind, **parameters):
    voters = OWN if kind == "own" else kind
    return HedgeClipperClassifier(voters, n_estimators=40, random_state=0, **parameters)


def fit(kind, y, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeverPredictedWarning)
        return make(kind, **parameters).fit(X[L], y[L], X_unlabeled=X[U])


@cache
def plain(kind, n_classes):
    return fit(kind, TWO if n_classes == 2 else SIX)


# What is decided.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weight", [0.02, 4.0])
def test_two_classes_have_a_threshold(kind, weight):
    model = fit(kind, TWO, class_weight={0: weight})
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(p, plain(kind, 2).predict_proba(X)[:, 1])
    np.testing.assert_array_equal(model.predict(X), p > weight / (1.0 + weight))
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)
    shift = model.decision_function(X) - plain(kind, 2).decision_function(X)
    np.testing.assert_allclose(shift, shift[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("class_weight", [{1: 3.0, 2: 0.5}, "balanced"], ids=str)
def test_several_classes_have_expected_costs(kind, class_weight, tmp_path):
    model = fit(kind, SIX, class_weight=class_weight)
    p = model.predict_proba(X)
    np.testing.assert_array_equal(p, plain(kind, 3).predict_proba(X))
    weights = {0: 1.0, 1: 3.0, 2: 0.5}
    if class_weight == "balanced":
        weights = {k: 1.0 / np.mean(SIX[L] == k) for k in range(3)}
        before = balanced_accuracy_score(SIX[U], plain(kind, 3).predict(X[U]))
        assert balanced_accuracy_score(SIX[U], model.predict(X[U])) > before + 0.02
    costs = [[weights[true] * (true != k) for k in range(3)] for true in range(3)]
    np.testing.assert_array_equal(model.predict(X), np.argmin(p @ np.array(costs), axis=1))
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), model.predict(X))
    again = load(save(model, tmp_path / "m.skops"))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({"yes": 2.0}, r"class_weight has weights for \['yes'\], .* labels of \[0, 1\]"),
        ({0: 0.0}, "must be positive and finite"),
        ({0: np.inf}, "must be positive and finite"),
        (np.eye(2), "class_weight"),
    ],
)
def test_weights_that_are_none(class_weight, message):
    with pytest.raises(ValueError, match=message):
        fit("own", TWO, class_weight=class_weight)


def test_a_class_whose_labels_are_all_held_out_may_have_a_weight():
    held = np.random.RandomState(0).choice(150, 60, replace=False)
    y = TWO.copy()
    y[held[0]] = 2
    options = {"confidence_level": 0.9, "holdout": 0.4}
    model = fit("own", y, class_weight={0: 4.0, 2: 9.0}, **options)
    assert model.classes_.tolist() == [0, 1]
    theirs = fit("own", y, class_weight={0: 4.0}, **options).predict(X)
    np.testing.assert_array_equal(model.predict(X), theirs)


# What is known of it.


@pytest.mark.parametrize("kind", KINDS)
def test_errors_and_uncertainties_are_those_of_the_decisions(kind):
    """Errors of held-out labels, which are the same for all weights: other rules, other counts."""
    counts = []
    for weight in (1e-6, 1e6):  # the frequent class for all, and the other one
        model = fit(kind, TWO, class_weight={0: weight}, confidence_level=0.9)
        predicted = model.predict(X[U])
        assert np.unique(predicted).size == 1
        counts.append(model.certificate_.n_errors)
        p = model.predict_proba(X[U])[np.arange(750), predicted]
        uncertainties = model.tested_predictions_.unlabeled_uncertainties
        np.testing.assert_allclose(uncertainties, 1.0 - p)
        np.testing.assert_array_equal(model.auto_label().labels, predicted)
    assert sum(counts) == model.certificate_.n_tested


def test_balanced_weights_do_not_look_at_held_out_labels():
    model = fit("own", TWO, class_weight="balanced", confidence_level=0.9, holdout=0.4)
    held = np.random.RandomState(0).choice(150, 60, replace=False)
    kept = np.setdiff1d(np.arange(150), held)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(model.predict(X), p > TWO[kept].mean())


# In scikit-learn.


def test_thresholds_can_be_tuned():
    with config_context(enable_metadata_routing=True):
        model = TunedThresholdClassifierCV(
            make("own").set_fit_request(X_unlabeled=True), scoring="balanced_accuracy", cv=2
        ).fit(X[L], TWO[L], X_unlabeled=X[U])
    fitted = model.estimator_
    assert fitted.n_unlabeled_ == 750
    p = fitted.predict_proba(X[U])[:, 1]
    np.testing.assert_array_equal(model.predict(X[U]), p >= model.best_threshold_)


@pytest.mark.filterwarnings("ignore::hedgeclipper.NoUnlabeledRowsWarning")
def test_probabilities_can_be_calibrated_again():
    model = CalibratedClassifierCV(make("trees", class_weight="balanced"), cv=2)
    p = model.fit(X[L], SIX[L]).predict_proba(X[U])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.abs(p.mean(axis=0) - np.bincount(SIX[U]) / 750).max() < 0.1


# Classes that are never predicted.

NOISE = np.random.default_rng(0).normal(size=(600, 3))
RARE = np.where(np.arange(600) % 10 == 0, "rare", "common")


def test_a_class_that_is_never_predicted():
    told = "Class 'rare' has 10 labels and is predicted for none of 500 unlabeled rows"
    model = make("own")
    with pytest.warns(NeverPredictedWarning, match=told):
        model.fit(NOISE[:100], RARE[:100], X_unlabeled=NOISE[100:])
    assert set(model.predict(NOISE[100:])) == {"common"}
    assert model.never_predicted_ == {"rare": 10}
    assert "rare, which 10 labels have" in model._repr_html_()
    weighed = clone(model).set_params(class_weight={"rare": 100.0})
    with pytest.warns(NeverPredictedWarning, match="Class 'common' has 90 labels"):
        weighed.fit(NOISE[:100], RARE[:100], X_unlabeled=NOISE[100:])
    few = make("own").fit(NOISE[:100], RARE[:100], X_unlabeled=NOISE[100:105])
    assert few.never_predicted_ == {}  # too few rows to expect one
