"""The ridge regression against scikit-learn's, and leaving out against fitting again."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from hedgeclipper.votes import ridge_votes
from hedgeclipper.votes.ridge_votes import RIDGES, fit_ridge
from tests.votes.vote_instances import ballots_of, some_votes


def one_hot(table, n_classes):
    """Votes as columns, scaled by the root of the votes on a row, and a column of ones."""
    columns = (table[:, :, None] == np.arange(n_classes)).reshape(len(table), -1)
    scaled = columns / np.sqrt(max((table >= 0).sum() / len(table), 1))
    return np.hstack([scaled, np.ones((len(table), 1))])


def theirs(table, codes, n_classes, ridge, target):
    """Scores of a class against the others by scikit-learn."""
    model = LogisticRegression(C=1 / ridge, fit_intercept=False, tol=1e-8, max_iter=10_000)
    return model.fit(one_hot(table, n_classes), codes == target)


@pytest.mark.parametrize(("n_classes", "n_rows"), [(2, 15), (2, 60), (3, 40)])
def test_scores_are_those_of_scikit_learn(monkeypatch, n_classes, n_rows):
    """With fewer rows than columns, and with more; with two classes and with three."""
    monkeypatch.setattr(ridge_votes, "RIDGES", (0.3,))
    monkeypatch.setattr(ridge_votes, "TOL", 1e-9)
    rng = np.random.default_rng(n_rows)
    codes, table = some_votes(rng, n_rows, 10, n_classes)
    found = fit_ridge(ballots_of(table, n_classes), codes)
    ours = found.classes + ballots_of(table, n_classes).scores(found.votes)
    columns = one_hot(table, n_classes)
    for target in range(n_classes):
        scores = theirs(table, codes, n_classes, 0.3, target).decision_function(columns)
        factor = 2 if n_classes == 2 else 1
        assert factor * ours[:, target] == pytest.approx(scores, abs=1e-3)


def test_scores_without_the_own_label_are_close_to_those_of_fits_without_it(monkeypatch):
    monkeypatch.setattr(ridge_votes, "RIDGES", (0.3,))
    rng = np.random.default_rng(3)
    codes, table = some_votes(rng, 40, 6, 2)
    found = fit_ridge(ballots_of(table, 2), codes)
    columns, fitted = one_hot(table, 2), found.classes + ballots_of(table, 2).scores(found.votes)
    exact = np.empty(40)
    for row in range(40):
        rest = np.delete(np.arange(40), row)
        model = LogisticRegression(C=1 / 0.3, fit_intercept=False, tol=1e-8, max_iter=10_000)
        model.fit(columns[rest], codes[rest] == 1)
        exact[row] = model.decision_function(columns[[row]])[0]
    ours, with_own = 2 * found.without_own[:, 1], 2 * fitted[:, 1]
    assert np.abs(ours - exact).max() < 0.2 * np.abs(with_own - exact).max()


def test_labels_without_information_get_the_strongest_ridge():
    rng = np.random.default_rng(4)
    table, codes = rng.integers(0, 2, (60, 20)), rng.integers(0, 2, 60)
    found = fit_ridge(ballots_of(table, 2), codes)
    columns = one_hot(table, 2)
    scores = theirs(table, codes, 2, max(RIDGES), 1).decision_function(columns)
    ours = found.classes + ballots_of(table, 2).scores(found.votes)
    assert 2 * ours[:, 1] == pytest.approx(scores, abs=0.05)


def test_of_many_labels_some_are_fitted_and_the_others_predicted(monkeypatch):
    monkeypatch.setattr(ridge_votes, "MAX_LABELS", 10)
    rng = np.random.default_rng(5)
    codes, table = some_votes(rng, 40, 3, 2)
    ballots = ballots_of(table, 2)
    found = fit_ridge(ballots, codes)
    fitted = found.classes + ballots.scores(found.votes)
    assert np.isclose(found.without_own, fitted).all(axis=1).sum() == 30
