import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import HedgedVotingClassifier
from hedgeclipper.panel.panel_inspection import hold_out

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
