"""What ten lines of NumPy or scikit-learn make of votes and gold labels, in the steps of a peer.

All get the same gold labels, and class frequencies of these with one more label of each class.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.votes.peers.peer import Peer, Setting

Scores = Callable[[np.ndarray, Setting], np.ndarray]


def as_peer(scores: Scores) -> Peer:
    """Return a peer from a function that gives log-probabilities, up to a constant."""

    def fit(L: np.ndarray, setting: Setting) -> np.ndarray:
        found = scores(L, setting)
        found[(L < 0).all(axis=1)] = log_prior(setting)
        shares = np.exp(found - found.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    return Peer(lambda L: L, fit, lambda fitted, L, setting: fitted)


def log_prior(setting: Setting) -> np.ndarray:
    """Return the logarithms of class frequencies, with one more label of each class."""
    counts = np.bincount(setting.known, minlength=setting.n_classes) + 1.0
    return np.log(counts / counts.sum())


def one_hot(L: np.ndarray, n_classes: int) -> np.ndarray:
    """Return votes as zeros and ones, rows x voters x classes."""
    return (L[:, :, None] == np.arange(n_classes)).astype(float)


def majority(L: np.ndarray, setting: Setting) -> np.ndarray:
    """Proportions of the votes; the lower class number in a tie."""
    counts = one_hot(L, setting.n_classes).sum(axis=1)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return np.log(np.maximum(shares, 1e-300))


def naive_bayes(L: np.ndarray, setting: Setting) -> np.ndarray:
    """Frequencies of votes in each class, with one more vote of each kind."""
    votes, labeled = one_hot(L, setting.n_classes), setting.gold >= 0
    classes = np.eye(setting.n_classes)[setting.known]
    counts = np.einsum("npv,nk->pvk", votes[labeled], classes) + 1.0
    return log_prior(setting) + np.einsum(
        "npv,pvk->nk", votes, np.log(counts / counts.sum(1)[:, None])
    )


def accuracies(L: np.ndarray, setting: Setting) -> np.ndarray:
    """Accuracy of each voter by the labels, with one more right and one more wrong vote."""
    labeled = setting.gold >= 0
    right = (L[labeled] == setting.known[:, None]).sum(axis=0)
    return (right + 1.0) / ((L[labeled] >= 0).sum(axis=0) + 2.0)


def accuracy_weights(L: np.ndarray, setting: Setting) -> np.ndarray:
    """Votes weighted by the log-odds of their voters' accuracies."""
    accuracy = accuracies(L, setting)
    weights = np.log(accuracy * (setting.n_classes - 1) / (1.0 - accuracy))
    return log_prior(setting) + np.einsum("npv,p->nv", one_hot(L, setting.n_classes), weights)


def ridge(L: np.ndarray, setting: Setting) -> np.ndarray:
    """Logistic regression of scikit-learn, with its default ridge, on votes as zeros and ones."""
    columns, labeled = one_hot(L, setting.n_classes).reshape(len(L), -1), setting.gold >= 0
    model = LogisticRegression(max_iter=1000).fit(columns[labeled], setting.known)
    found = np.full((len(L), setting.n_classes), -50.0)
    found[:, model.classes_] = model.predict_log_proba(columns)
    return found


def best_voter(L: np.ndarray, setting: Setting) -> np.ndarray:
    """The votes of the voter with the highest accuracy by the labels; else the class prior."""
    accuracy = accuracies(L, setting)
    best = accuracy.argmax()
    weight = np.log(accuracy[best] * (setting.n_classes - 1) / (1.0 - accuracy[best]))
    prior = np.where(L[:, [best]] >= 0, 0.0, log_prior(setting))
    return prior + weight * one_hot(L[:, [best]], setting.n_classes)[:, 0]


PEERS = {
    name: as_peer(scores)
    for name, scores in {
        "majority": majority,
        "naive_bayes": naive_bayes,
        "accuracy_weights": accuracy_weights,
        "ridge": ridge,
        "best_voter": best_voter,
    }.items()
}
