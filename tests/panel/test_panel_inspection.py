import numpy as np
import pandas as pd
import pytest
from hedgeclipper.panel.panel_inspection import hold_out
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import HedgeClipperClassifier, HedgedVotingClassifier

X, Y = make_classification(400, 6, random_state=0)
MODEL = HedgedVotingClassifier(
    [("linear", LogisticRegression()), ("bayes", GaussianNB())], random_state=0
).fit(X[:100], Y[:100], X_unlabeled=X[100:])


def test_with_all_labels_the_weights_are_those_of_the_fit():
    held = hold_out(MODEL, X[100:])
    everything = np.arange(100)
    ours = held.predict(everything, everything)["this model"]
    theirs = MODEL._predictor.probabilities(MODEL._predictor.log_odds(MODEL.out_of_fold_))
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_members_predict_by_their_out_of_fold_scores():
    found = hold_out(MODEL, X[100:]).predict(np.arange(50), np.arange(50, 100))
    scores = MODEL.out_of_fold_[50:, :, 0]
    np.testing.assert_allclose(found["linear"][:, 1], scores[:, 0])
    np.testing.assert_allclose(found["bayes"][:, 1], scores[:, 1])
    np.testing.assert_allclose(found["mean of all members"][:, 1], scores.mean(axis=1))


def test_labels_of_held_out_rows_have_no_part_in_it():
    flipped = HedgedVotingClassifier(MODEL.estimators, random_state=0)
    flipped.__dict__ |= MODEL.__dict__
    codes, weights = MODEL._labeled
    flipped._labeled = np.where(np.arange(100) < 50, codes, 1 - codes), weights
    ours, theirs = (
        hold_out(model, X[100:]).predict(np.arange(50), np.arange(50, 100))
        for model in (MODEL, flipped)
    )
    np.testing.assert_array_equal(ours["this model"], theirs["this model"])


# What its forest measures.


def with_forest(**options):
    forest = HedgeClipperClassifier(n_estimators=24, random_state=0)
    members = [("linear", LogisticRegression()), ("forest", forest)]
    return HedgedVotingClassifier(members, random_state=0, **options)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_importances_and_gain_are_those_of_its_forest(n_jobs):
    model = with_forest(n_jobs=n_jobs).fit(X[:100], Y[:100], X_unlabeled=X[100:])
    forest = HedgeClipperClassifier(n_estimators=24, random_state=0)
    forest.fit(X[:100], Y[:100], X_unlabeled=X[100:])
    np.testing.assert_allclose(model.feature_importances_, forest.feature_importances_)
    assert model.unlabeled_gain_.auc == pytest.approx(forest.unlabeled_gain_.auc)


def test_importances_are_in_terms_of_the_columns_of_a_frame():
    rows = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    rows["a"] = np.where(X[:, 0] > 0, "high", "low")
    members = [("hedgeclipper", "default"), ("linear", "default")]
    model = HedgedVotingClassifier(members, random_state=0)
    model.fit(rows[:100], np.where(X[:100, 0] > 0, 1, 0), X_unlabeled=rows[100:])
    assert model.feature_importances_.shape == (3,)
    assert model.feature_importances_.argmax() == 0


def test_without_a_forest_there_is_neither():
    for name in ("unlabeled_gain_", "feature_importances_"):
        with pytest.raises(AttributeError, match=f"{name} needs a HedgeClipperClassifier"):
            getattr(MODEL, name)


# On new labeled rows.


@pytest.mark.parametrize("y", [Y, np.digitize(X[:, 0], [-0.5, 0.5])])
def test_the_leaderboard_has_the_figures_of_members_and_panel(y):
    members = [("linear", LogisticRegression()), ("bayes", GaussianNB())]
    model = HedgedVotingClassifier(members, cv=2, random_state=0)
    model.fit(X[:100], y[:100], X_unlabeled=X[100:200])
    board = model.leaderboard(X[200:], y[200:])
    assert board["auc"].is_monotonic_decreasing
    board = board.set_index("member")
    assert set(board.index) == {"panel", "linear", "bayes"}
    for name, predictor in {"panel": model, **model.members_}.items():
        found = predictor.predict_proba(X[200:])
        two = found[:, 1] if found.shape[1] == 2 else found
        assert board["auc"][name] == pytest.approx(roc_auc_score(y[200:], two, multi_class="ovr"))
        assert board["log_loss"][name] == pytest.approx(log_loss(y[200:], found), abs=1e-5)
        accuracy = np.mean(predictor.predict(X[200:]) == y[200:])
        assert board["accuracy"][name] == pytest.approx(accuracy)
    seconds = model.member_summary().drop_duplicates("member").set_index("member")["seconds"]
    assert board["seconds"]["bayes"] == seconds["bayes"]
    assert board["seconds"]["panel"] == pytest.approx(seconds.sum())


def test_unlabeled_rows_are_not_on_the_leaderboard():
    y = Y[200:].copy().astype(float)
    y[50:] = np.nan
    pd.testing.assert_frame_equal(
        MODEL.leaderboard(X[200:], y), MODEL.leaderboard(X[200:250], Y[200:250])
    )
    frame = pd.DataFrame(X[200:250]).assign(label=Y[200:250])
    frame.columns = frame.columns.astype(str)
    named = HedgedVotingClassifier(MODEL.estimators, random_state=0)
    named.fit(frame, "label", X_unlabeled=pd.DataFrame(X[:200], columns=frame.columns[:-1]))
    assert len(named.leaderboard(frame, "label")) == 3


def test_members_without_probabilities_are_on_the_leaderboard():
    model = HedgedVotingClassifier([("ridge", RidgeClassifier())], random_state=0)
    board = model.fit(X[:100], Y[:100], X[100:]).leaderboard(X, Y).set_index("member")
    ridge = model.members_["ridge"]
    assert board["accuracy"]["ridge"] == pytest.approx(ridge.score(X, Y))
    assert board["auc"]["ridge"] == pytest.approx(roc_auc_score(Y, ridge.decision_function(X)))
