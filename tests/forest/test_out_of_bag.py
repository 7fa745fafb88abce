from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.bounds.checked_rule import OTHER_ROWS

X, Y = make_classification(900, 6, n_informative=4, random_state=0)
X = X.astype(np.float32)
L, U = slice(0, 200), slice(200, 900)


def fitted(y=Y, **parameters):
    model = HedgeClipperClassifier(**{"n_estimators": 32, "random_state": 0, **parameters})
    return model.fit(X[L], y[L], X_unlabeled=X[U])


def test_out_of_bag_rows_are_those_that_every_group_has_not_seen_somewhere():
    """Raw predictions are those of the games for the out-of-bag scores."""
    model = fitted(n_estimators=16)
    scores = model._groups.out_of_bag
    rows, raw = model._predict_out_of_bag(Y[L])
    has_score = ~np.isnan(scores).any(axis=(1, 2))
    np.testing.assert_array_equal(rows, np.flatnonzero(has_score))
    assert 0 < has_score.sum() < 200
    (game,) = model._predictor.games
    np.testing.assert_allclose(raw[:, 0], game.log_odds(scores[has_score, :, 0]))
    assert model.certificate_.n_tested == has_score.sum()


@pytest.mark.parametrize("y", [Y, Y + (X[:, 0] > 0)])
def test_doubts_are_what_the_probabilities_leave(y):
    model = fitted(y)
    theirs = 1 - model.predict_proba(X[U]).max(axis=1)
    np.testing.assert_allclose(model._checked.unlabeled_doubts, theirs)


@pytest.mark.parametrize("n_sampled", [300, 50_000])
def test_rows_in_batches_are_known_again_by_a_sample(monkeypatch, n_sampled):
    monkeypatch.setattr("hedgeclipper.forest.unlabeled.ROWS_IN_GAME", n_sampled)
    model = HedgeClipperClassifier(n_estimators=32, confidence_level=0.9, random_state=0)
    model.fit(X[L], Y[L], X_unlabeled=[X[200:500], X[500:]])
    theirs = 1 - model.predict_proba(X[U]).max(axis=1)
    rule = model._checked
    assert rule.unlabeled_doubts.size <= min(n_sampled, 700)
    np.testing.assert_allclose(rule.unlabeled_doubts, theirs[rule.positions])
    assert model.auto_label(X[U], 0.3).kind == "guarantee"
    about, reason = rule.about(theirs)
    assert reason == rule.caveat
    np.testing.assert_array_equal(about.unlabeled_doubts, theirs)
    for others in (theirs[1:], np.append(theirs[:-1] / 2, theirs[-1:])):
        assert replace(rule, caveat="").about(others)[1] == OTHER_ROWS


def test_out_of_bag_predictions_have_the_doubts_of_unlabeled_ones_of_the_same_ranks():
    model = fitted()
    own = model._predict_out_of_bag(Y[L])[1][:, 0]
    ranks = (own[:, None] > own).mean(axis=1) + 0.5 / own.size
    values = np.quantile(model.decision_function(X[U]), ranks)
    theirs = 1 - model._predictor.probabilities(values[:, None]).max(axis=1)
    np.testing.assert_allclose(model._checked.doubts, theirs)
