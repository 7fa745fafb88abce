from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification

from hedgeclipper import HedgeClipperClassifier, LeafGame
from hedgeclipper.bounds.checked_rule import OTHER_ROWS
from hedgeclipper.forest.groups import sum_of_doubts
from hedgeclipper.forest.leaf_rows import LeafBlocks

X, Y = make_classification(900, 6, n_informative=4, random_state=0)
X = X.astype(np.float32)
L, U = slice(0, 200), slice(200, 900)


def fitted(**parameters):
    model = HedgeClipperClassifier(**{"n_estimators": 32, "random_state": 0, **parameters})
    return model.fit(X[L], Y[L], X_unlabeled=X[U])


def numbers_of(model, rows):
    """Scores of the groups, or leaf numbers."""
    return LeafBlocks([model._stream.finder.find(rows)])


def leaf_game(**parameters):
    return fitted(n_estimators=8, views=None, shrinkage=None, game=LeafGame(), **parameters)


def test_out_of_bag_rows_are_predicted_by_trees_that_have_not_seen_them():
    """By the mean of their in-bag scores, tree by tree, and the game's offset."""
    model = leaf_game()
    (evidence,) = model._stream.evidence
    predictor = model._predictor
    found = model._stream.out_of_bag(predictor, numbers_of(model, X[U]), 1)
    finder, scores = predictor.finder, evidence.labeled.scores
    places = finder.find(X[L]) + finder.offsets[:, None]
    unseen = np.ones((8, 200), bool)
    for tree, bag in enumerate(model.estimators_["random forest"].estimators_samples_):
        unseen[tree, bag] = False
    np.testing.assert_array_equal(found.rows, np.flatnonzero(unseen.any(axis=0)))
    for row, raw in zip(found.rows, found.raw[:, 0], strict=True):
        assert raw == pytest.approx(scores[places[unseen[:, row], row]].mean() + predictor.offset)
    assert model.certificate_.n_tested == found.rows.size


def test_out_of_bag_rows_of_groups_are_those_that_every_group_has_not_seen_somewhere():
    """Raw predictions are those of the games for the out-of-bag scores."""
    model = fitted(n_estimators=16)
    groups = model._stream.groups
    found = model._stream.out_of_bag(model._predictor, None, 1)
    has_score = ~np.isnan(groups.out_of_bag).any(axis=(1, 2))
    np.testing.assert_array_equal(found.rows, np.flatnonzero(has_score))
    assert 0 < has_score.sum() < 200
    (game,) = model._predictor.games
    theirs = game.log_odds(groups.out_of_bag[has_score, :, 0])
    np.testing.assert_allclose(found.raw[:, 0], theirs)
    assert model.certificate_.n_tested == has_score.sum()


def test_the_mean_doubt_is_that_of_as_few_trees():
    model = leaf_game()
    (evidence,) = model._stream.evidence
    predictor, labeled = model._predictor, evidence.labeled
    found = model._stream.out_of_bag(predictor, numbers_of(model, X[U]), 1)
    n_few = round(labeled.unseen[:, found.rows].sum(axis=0).mean())
    few = np.linspace(0, 7, n_few).round().astype(int)
    finder = predictor.finder
    places = (finder.find(X[U]) + finder.offsets[:, None])[few]
    awake = labeled.scores[places].mean(axis=0) + predictor.offset
    theirs = 1 - predictor.probabilities(awake[:, None]).max(axis=1)
    assert found.mean_doubt == pytest.approx(theirs.mean())


@pytest.mark.parametrize("game", [None, LeafGame()])
@pytest.mark.parametrize("y", [Y, Y + (X[:, 0] > 0)])
def test_doubts_are_what_the_probabilities_leave(y, game):
    model = HedgeClipperClassifier(n_estimators=32, game=game, random_state=0)
    model.fit(X[L], y[L], X_unlabeled=X[U])
    theirs = 1 - model.predict_proba(X[U]).max(axis=1)
    (numbers,) = numbers_of(model, X[U]).blocks()
    assert sum_of_doubts(numbers, model._predictor) == pytest.approx(theirs.sum())
    np.testing.assert_allclose(model._checked.unlabeled_doubts, theirs)


@pytest.mark.parametrize("n_kept", [300, 50_000])
def test_of_rows_in_batches_all_count_in_the_mean(monkeypatch, n_kept):
    """Doubts are kept of some; the mean tells whether rows are those of the fit."""
    monkeypatch.setattr("hedgeclipper.forest.leaf_rows.ROWS_IN_RESERVOIR", n_kept)
    model = HedgeClipperClassifier(n_estimators=32, confidence_level=0.9, random_state=0)
    model.fit(X[L], Y[L], X_unlabeled=[X[200:500], X[500:]])
    theirs = 1 - model.predict_proba(X[U]).max(axis=1)
    assert model._checked.unlabeled_doubts.size <= min(n_kept, 700)
    assert model._checked.mean_of_all == pytest.approx(theirs.mean())
    assert model.auto_label(X[U], 0.3).kind == "guarantee"
    rule, reason = model._checked.about(theirs)
    assert reason == model._checked.caveat
    np.testing.assert_array_equal(rule.unlabeled_doubts, theirs)
    assert replace(model._checked, caveat="").about(theirs[1:])[1] == OTHER_ROWS


def test_out_of_bag_predictions_have_the_doubts_of_unlabeled_ones_of_the_same_ranks():
    model = fitted()
    own = model._stream.out_of_bag(model._predictor, None, 1).raw[:, 0]
    ranks = (own[:, None] > own).mean(axis=1) + 0.5 / own.size
    values = np.quantile(model.decision_function(X[U]), ranks)
    theirs = 1 - model._predictor.probabilities(values[:, None]).max(axis=1)
    np.testing.assert_allclose(model._checked.doubts, theirs)
