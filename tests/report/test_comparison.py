import numpy as np
import pytest

from hedgeclipper import HedgeClipperClassifier, VoteAggregator
from hedgeclipper.report.comparison import Comparison, compare
from tests.report.conftest import MEMBERS, X, Y


def test_held_out_labels_are_not_learned_from():
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 2, 120)
    model = HedgeClipperClassifier("trees", n_estimators=40, random_state=0)
    model.fit(X[:120], noise, X_unlabeled=X[120:])
    found = compare(model, None)
    error, spread = found.error(found.model)
    assert error > 0.5 - 4 * spread


def test_held_out_labels_do_not_weigh_the_members_of_a_panel():
    noise = np.random.default_rng(1).integers(0, 2, 120)
    model = HedgeClipperClassifier(MEMBERS, random_state=0)
    model.fit(X[:120], noise, X_unlabeled=X[120:])
    found = compare(model, None)
    error, spread = found.error(found.model)
    assert error > 0.5 - 4 * spread


def test_members_are_compared_by_their_scores_out_of_fold(models):
    found = compare(models["panel"], None)
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
    )
    assert (found.model, found.baselines, found.best_baseline) == ("model", ["other"], "other")
    assert found.error("model") == (0.25, pytest.approx(np.sqrt(0.25 * 0.75 / 4)))
    gains = np.array([0.0, 1.0, 1.0, 0.0])
    assert found.gain("other") == (0.5, pytest.approx(gains.std(ddof=1) / 2))
    assert found.verdict == 0  # within two standard errors


def test_of_few_labels_there_is_a_reason_and_no_comparison():
    votes = np.tile([[0, 0], [1, 1]], (20, 1))
    model = VoteAggregator().fit(votes, np.where(np.arange(40) < 8, votes[:, 0], -1))
    assert "4 of the rows that test the model are of class 0" in compare(model, None)
