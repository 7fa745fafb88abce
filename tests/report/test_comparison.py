import pickle

import numpy as np
import pytest

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.report.comparison import Comparison, compare
from hedgeclipper.report.data import read_data
from tests.report.conftest import MEMBERS, X, Y


def test_held_out_labels_are_not_learned_from():
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 2, 120)
    model = HedgeClipperClassifier("trees", n_estimators=40, random_state=0)
    model.fit(X[:120], noise, X_unlabeled=X[120:])
    rows = {"X": X[:120], "y": noise, "X_unlabeled": X[120:]}
    found = compare(read_data(model, rows))
    error, spread = found.error(found.model)
    assert error > 0.5 - 4 * spread


def test_held_out_labels_do_not_weigh_the_members_of_a_panel():
    noise = np.random.default_rng(1).integers(0, 2, 120)
    model = HedgeClipperClassifier(MEMBERS, random_state=0)
    model.fit(X[:120], noise, X_unlabeled=X[120:])
    rows = {"X": X[:120], "y": noise, "X_unlabeled": X[120:]}
    found = compare(read_data(model, rows))
    error, spread = found.error(found.model)
    assert error > 0.5 - 4 * spread


def test_members_are_compared_by_their_scores_out_of_fold(models):
    rows = {"X": X[:200], "y": Y[:200], "X_unlabeled": X[200:]}
    found = compare(read_data(models["panel"], rows))
    ours = {name: found.error(name)[0] for name in found.baselines}
    theirs = np.mean((models["panel"]._voters.labeled[:, 0, 0] > 0.5) != Y[:200])
    assert ours["linear"] == pytest.approx(theirs)


def predictions(*right):
    """Probabilities of two classes on rows that are all of class 1."""
    return np.array([[0.2, 0.8] if is_right else [0.6, 0.4] for is_right in right])


def test_errors_and_gains_are_counted_row_by_row():
    """Of four rows the model has one wrong, a baseline three, and two of these only it."""
    found = Comparison(
        codes=np.ones(4, dtype=int),
        probabilities={"model": predictions(1, 1, 1, 0), "other": predictions(1, 0, 0, 0)},
        description="",
    )
    assert (found.model, found.baselines, found.best_baseline) == ("model", ["other"], "other")
    assert found.error("model") == (0.25, pytest.approx(np.sqrt(0.25 * 0.75 / 4)))
    gains = np.array([0.0, 1.0, 1.0, 0.0])
    assert found.gain("other") == (0.5, pytest.approx(gains.std(ddof=1) / 2))
    assert found.verdict == 0  # within two standard errors


def test_without_labels_there_is_a_reason_and_no_comparison(models):
    saved = pickle.loads(pickle.dumps(models["forest"]))  # it has lost the rows of the fit
    found = compare(read_data(saved, {"X_unlabeled": X[200:]}))
    assert found == "The report was made without labeled rows: pass X and y to it."
