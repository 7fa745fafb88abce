"""What the forest and the panel have from their base: predictions of rows in any form."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import HedgeClipperClassifier, HedgedVotingClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4)).astype(np.float32)
TWO = (X[:, 0] + 0.5 * RNG.normal(size=600) > 0).astype(int)
THREE = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=600), [-0.5, 0.5])
MEMBERS = [("linear", LogisticRegression()), ("bayes", GaussianNB())]
METHODS = ("predict", "predict_proba", "decision_function")


def new(kind):
    if kind == "forest":
        return HedgeClipperClassifier(n_estimators=20, random_state=0)
    return HedgedVotingClassifier(MEMBERS, cv=2, random_state=0)


@pytest.fixture(scope="module", params=["forest", "panel"])
def kind(request):
    return request.param


@pytest.fixture(scope="module", params=[TWO, THREE], ids=["two classes", "three classes"])
def model(kind, request):
    return new(kind).fit(X, np.where(np.arange(600) < 200, request.param, -1))


def test_classes_probabilities_and_scores_agree(model):
    probabilities, scores = model.predict_proba(X), model.decision_function(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probabilities.argmax(axis=1)])
    if model.classes_.size == 2:
        np.testing.assert_array_equal(np.argsort(scores), np.argsort(probabilities[:, 1]))
        np.testing.assert_array_equal(model.predict(X) == 1, scores > 0)
    else:
        assert scores.shape == (600, 3)
        np.testing.assert_array_equal(scores.argmax(axis=1), model.predict(X))


@pytest.mark.parametrize("method", METHODS)
def test_batches_are_predicted_one_after_the_other(model, method):
    whole = getattr(model, method)(X)
    np.testing.assert_allclose(getattr(model, method)(iter([X[:7], X[7:]])), whole, atol=1e-12)
    nothing = getattr(model, method)(iter([X[:0]]))
    assert nothing.shape == (0, *whole.shape[1:])


def test_files_of_predictions_have_a_column_for_each_class(model, tmp_path):
    path = tmp_path / "out.parquet"
    assert model.predict_to(path, X) == 600
    found = pd.read_parquet(path)
    names = [f"probability_{label}" for label in model.classes_]
    assert found.columns.tolist() == ["prediction", *names]
    np.testing.assert_array_equal(found["prediction"], model.predict(X))
    np.testing.assert_allclose(found[names], model.predict_proba(X))


def test_labels_of_all_rows_are_given_or_predicted(model):
    np.testing.assert_array_equal(model.transduction_[200:], model.predict(X[200:]))


def test_a_fit_that_fails_leaves_an_estimator_that_is_not_fitted(kind):
    model = new(kind).fit(X, np.where(np.arange(600) < 200, TWO, -1))
    with pytest.raises(ValueError, match="at least two classes"):
        model.fit(X[:9], np.zeros(9), X_unlabeled=X)
    with pytest.raises(NotFittedError):
        model.predict(X)
