import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from hedgeclipper import AbstentionDisplay, HedgeClipperClassifier
from tests.inspection.conftest import LABELS, PROBABILITIES, THREE, X, Y


def new_ax():
    return Figure().subplots()


@pytest.mark.parametrize("kind", ["forest", "panel", "votes"])
def test_without_abstention_the_error_is_that_of_predict(models, rows_of, kind):
    rows, y = rows_of(kind)
    display = AbstentionDisplay.from_estimator(models[kind], rows, y, ax=new_ax())
    assert display.abstained[0] == 0
    assert display.errors[0] == pytest.approx(np.mean(models[kind].predict(rows) != y), abs=0.01)
    assert np.all(np.diff(display.abstained) > 0)
    assert np.all((display.lower <= display.errors) & (display.errors <= display.upper))


def test_error_is_that_of_the_rows_above_the_threshold():
    display = AbstentionDisplay.from_predictions(LABELS, PROBABILITIES, ax=new_ax())
    middle = display.errors.size // 2
    sure = np.maximum(PROBABILITIES, 1 - PROBABILITIES) >= display.thresholds[middle]
    assert display.errors[middle] == pytest.approx(
        np.mean((PROBABILITIES > 0.5)[sure] != LABELS[sure])
    )
    assert display.abstained[middle] == pytest.approx(np.mean(~sure))


def test_the_model_abstains_on_equally_certain_rows_together():
    display = AbstentionDisplay.from_predictions([0, 1] * 10, [0.3, 0.7] * 10, ax=new_ax())
    assert display.abstained.tolist() == [0.0]


def test_abstention_is_for_many_classes_too(of_three):
    display = AbstentionDisplay.from_estimator(of_three, X[200:], THREE[200:], ax=new_ax())
    error = np.mean(of_three.predict(X[200:]) != THREE[200:])
    assert display.errors[0] == pytest.approx(error)


def test_labels_and_probabilities_are_checked(models):
    display, name = AbstentionDisplay, "AbstentionDisplay"
    with pytest.raises(TypeError, match=f"{name} needs predict_proba. Got LinearSVC"):
        display.from_estimator(LinearSVC().fit(X, Y), X, Y, ax=new_ax())
    with pytest.raises(TypeError, match=f"{name} is for classifiers. Got StandardScaler"):
        display.from_estimator(StandardScaler().fit(X), X, Y, ax=new_ax())
    with pytest.raises(ValueError, match=r"y has 5 unlabeled rows"):
        display.from_estimator(models["forest"], X, np.where(np.arange(600) < 5, -1, Y))
    with pytest.raises(ValueError, match=r"must be probabilities"):
        display.from_predictions(LABELS, PROBABILITIES * 3, ax=new_ax())
    with pytest.raises(ValueError, match="not fitted"):
        display.from_estimator(HedgeClipperClassifier(), X, Y)
