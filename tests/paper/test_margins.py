import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from hedgeclipper.paper import MarginDisplay, PaperHedgeClipper

X, Y = make_classification(1500, 8, n_informative=5, random_state=0)
L, U = slice(0, 300), slice(300, None)


@pytest.fixture
def ax():
    return Figure().subplots()


def test_densities_are_those_of_each_class_and_ends_hold_the_rows_beyond(ax):
    m = np.array([-0.5, 0.5, -0.5, 2.0])
    drawn = MarginDisplay.from_predictions([0, 0, 1, 1], m, bins=2, limits=(-1, 1), ax=ax)
    assert drawn.densities.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert drawn.n_clipped.tolist() == [0, 1]
    assert drawn.clipped_proportion == 0.25
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["class 0: 0.0% clipped", "class 1: 50.0% clipped", "hedged"]


@pytest.mark.filterwarnings("ignore::hedgeclipper.paper.ContradictoryCorrelationsWarning")
def test_a_fitted_classifier_and_its_forest(ax):
    model = PaperHedgeClipper(10, random_state=0).fit(X[L], Y[L], X_unlabeled=X[U])
    drawn = MarginDisplay.from_estimator(model, X[U], Y[U], ax=ax)
    assert drawn.clipped_proportion == np.mean(np.abs(model.decision_function(X[U])) >= 1)
    forest = MarginDisplay.from_estimator(model.forest_, X[U], ax=Figure().subplots())
    assert forest.counts.sum() == 1200
    assert forest.name == "RandomForestClassifier"


def test_what_cannot_be_drawn_is_said(ax):
    with pytest.raises(ValueError, match="two classes"):
        MarginDisplay.from_predictions([0, 1, 2], [0.0, 1.0, 2.0], ax=ax)
    three = RandomForestClassifier(2).fit(X[:90], np.arange(90) % 3)
    with pytest.raises(ValueError, match="one column of decision_function"):
        MarginDisplay.from_estimator(three, X)
