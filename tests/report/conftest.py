"""Fitted models of all three kinds."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import HedgeClipperClassifier, VoteAggregator

X, Y = make_classification(500, n_informative=4, flip_y=0.1, random_state=0)
MEMBERS = [("linear", LogisticRegression()), ("bayes", GaussianNB())]
RNG = np.random.default_rng(0)
VOTES = np.where(RNG.random((500, 5)) < 0.7, Y[:, None], 1 - Y[:, None])
VOTES[RNG.random((500, 5)) < 0.3] = -1


@pytest.fixture(scope="session")
def models():
    forest = HedgeClipperClassifier("trees", n_estimators=12, random_state=0)
    panel = HedgeClipperClassifier(MEMBERS, random_state=0)
    votes = VoteAggregator()
    return {
        "forest": forest.fit(X[:100], Y[:100], X_unlabeled=X[100:]),
        "panel": panel.fit(X[:100], Y[:100], X_unlabeled=X[100:]),
        "votes": votes.fit(VOTES, np.where(np.arange(500) < 150, Y, -1)),
    }
