import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.report import data
from hedgeclipper.report.data import read_data
from tests.report.conftest import VOTES, X, Y


@pytest.mark.parametrize("kind", ["forest", "panel"])
def test_predictions_are_those_of_the_estimator(models, kind):
    found = read_data(models[kind], X[200:])
    np.testing.assert_allclose(found.probabilities, models[kind].predict_proba(X[200:]))
    assert found.row_names == [str(k) for k in range(400)]


def test_rows_that_were_drawn_keep_their_names(models, monkeypatch):
    monkeypatch.setattr(data, "MOST_ROWS", 50)
    found = read_data(models["panel"], X[200:], [f"row {k}" for k in range(400)])
    numbers = [int(name.removeprefix("row ")) for name in found.row_names]
    assert (len(numbers), found.n_passed) == (50, 400)
    np.testing.assert_array_equal(found.unlabeled, X[200:][numbers])


def test_without_unlabeled_rows_there_are_no_predictions(models):
    found = read_data(models["forest"])
    assert (found.unlabeled, found.probabilities, found.n_passed) == (None, None, 0)


def test_votes_are_by_default_those_of_the_fit(models):
    found = read_data(models["votes"])
    assert found.n_passed == 450
    np.testing.assert_allclose(found.probabilities, models["votes"].predict_proba(VOTES[150:]))


def test_rows_go_through_the_steps_of_a_pipeline():
    model = make_pipeline(
        StandardScaler(), HedgeClipperClassifier("trees", n_estimators=20, random_state=0)
    ).fit(X, np.where(np.arange(600) < 200, Y, -1))
    found = read_data(model, X[200:])
    np.testing.assert_allclose(found.probabilities, model.predict_proba(X[200:]))


def test_columns_of_frames_are_matched_by_name():
    frame = pd.DataFrame(X[:, :4], columns=list("abcd"))
    model = HedgeClipperClassifier("trees", n_estimators=20, random_state=0)
    model.fit(frame[:200], Y[:200], X_unlabeled=frame[200:])
    found = read_data(model, frame.loc[200:, ["d", "c", "b", "a"]])
    np.testing.assert_allclose(found.probabilities, model.predict_proba(frame[200:]))
    with pytest.raises(ValueError, match=r"X_unlabeled must be in memory for a report. Got str"):
        read_data(model, "rows.csv")
