import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import HedgeClipperClassifier, HedgedVotingClassifier, VoteAggregator
from hedgeclipper.base.inspection import inspect_estimator

X, Y = make_classification(300, n_informative=5, n_classes=3, random_state=0)
VOTES = np.where(np.random.default_rng(0).random((300, 4)) < 0.7, Y[:, None], 0)
MEMBERS = [("linear", LogisticRegression()), ("bayes", GaussianNB())]


def fitted(kind, n_classes):
    y = Y if n_classes == 3 else np.minimum(Y, 1)
    if kind == "votes":
        return VoteAggregator().fit(np.minimum(VOTES, n_classes - 1), np.where(X[:, 0] > 0, y, -1))
    model = {
        "forest": HedgeClipperClassifier(n_estimators=5, random_state=0),
        "panel": HedgedVotingClassifier(MEMBERS, random_state=0),
    }[kind]
    return model.fit(X[:150], y[:150], X_unlabeled=X[150:])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["forest", "panel", "votes"])
def test_an_inspection_has_what_the_estimator_has(kind, n_classes):
    model = fitted(kind, n_classes)
    found = inspect_estimator(model, "a test")
    n_games = n_classes if n_classes > 2 and kind != "votes" else 1
    assert found.kind == kind
    assert found.n_labeled == model.n_labeled_
    assert len(found.certificates) == len(found.histories) == len(found.stop_reasons) == n_games
    assert found.is_one_vs_rest == (n_games > 1)
    assert found.n_iter == np.sum(model.n_iter_)
    rows = VOTES[:50] if kind == "votes" else X[:50]
    rows = np.minimum(rows, n_classes - 1) if kind == "votes" else rows
    given = (rows, None) if kind == "votes" else (None, None, rows)
    read = found.read_rows(*given).X_unlabeled
    np.testing.assert_allclose(found.predict_rows(read)[0], model.predict_proba(rows))


@pytest.mark.parametrize("kind", ["forest", "panel"])
def test_reading_rows_leaves_the_estimator_as_it_was(kind):
    model = fitted(kind, 2)
    before = {name: id(value) for name, value in vars(model).items()}
    rows = inspect_estimator(model, "a test").read_rows(X[:20, ::-1], np.arange(20) % 2, None)
    assert rows.X_labeled.shape == (20, 20)
    assert {name: id(value) for name, value in vars(model).items()} == before


def test_a_panel_predicts_held_out_rows_by_weights_from_the_others():
    model = fitted("panel", 2)
    held_out = inspect_estimator(model, "a test").hold_out(None)
    train, test = np.arange(100), np.arange(100, 150)
    found = held_out.predict(train, test)
    assert list(found) == ["this model", "mean of all members", "linear", "bayes"]
    np.testing.assert_allclose(found["bayes"][:, 1], model.out_of_fold_[test, 1, 0])
    mean = (found["linear"] + found["bayes"]) / 2
    np.testing.assert_allclose(found["mean of all members"], mean)


def test_others_and_unfitted_ones_cannot_be_inspected():
    with pytest.raises(TypeError, match=r"A test is for HedgeClipperClassifier.*Got GaussianNB"):
        inspect_estimator(GaussianNB(), "A test")
    with pytest.raises(NotFittedError):
        inspect_estimator(VoteAggregator(), "A test")
