import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.inspection import subject
from hedgeclipper.inspection.subject import read_subject
from tests.inspection.conftest import VOTES, X, Y


def test_rows_that_were_drawn_keep_their_names(models, monkeypatch):
    monkeypatch.setitem(subject.MOST_ROWS, "panel", 50)
    names = [f"row {k}" for k in range(400)]
    about = read_subject(models["panel"], {"X_unlabeled": X[200:]}, row_names=names)
    assert about.row_names.tolist() == [f"row {k}" for k in about.numbers]
    np.testing.assert_array_equal(about.unlabeled, X[200:][about.numbers])


@pytest.mark.parametrize("kind", ["forest", "panel"])
def test_predictions_are_those_of_the_estimator(models, kind):
    about = read_subject(models[kind], {"X": X[:200], "y": Y[:200], "X_unlabeled": X[200:]})
    np.testing.assert_allclose(about.probabilities, models[kind].predict_proba(X[200:]))
    np.testing.assert_array_equal(about.y, Y[:200])
    assert (about.n_unlabeled, about.numbered_in) == (400, "X_unlabeled")


def test_marked_rows_are_counted_among_all(models):
    marked = np.arange(600) % 3 > 0
    about = read_subject(models["forest"], {"X": X, "y": np.where(marked, -1, Y)})
    np.testing.assert_array_equal(about.numbers, np.flatnonzero(marked))
    assert about.numbered_in == "X"


def test_without_unlabeled_rows_labeled_ones_are_reused(models):
    about = read_subject(models["forest"], {"X": X[:200], "y": Y[:200]})
    assert not about.has_own_unlabeled
    np.testing.assert_allclose(about.unlabeled, X[:200], rtol=1e-6)


def test_votes_are_by_default_those_of_the_fit(models):
    about = read_subject(models["votes"], {})
    assert (about.n_unlabeled, about.y.size) == (540, 60)
    theirs = models["votes"].predict_proba(VOTES[60:])
    np.testing.assert_allclose(about.probabilities, theirs)


def test_rows_go_through_the_steps_of_a_pipeline():
    model = make_pipeline(
        StandardScaler(), HedgeClipperClassifier(n_estimators=20, random_state=0)
    ).fit(X, np.where(np.arange(600) < 200, Y, -1))
    about = read_subject(model, {"X_unlabeled": X[200:]})
    np.testing.assert_allclose(about.probabilities, model.predict_proba(X[200:]))
    assert about.notes == ("The steps before the classifier were kept as they were fitted.",)
