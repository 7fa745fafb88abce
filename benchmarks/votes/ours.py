"""VoteAggregator as a peer: with its defaults, and An and Dasgupta's game from its parts.

That game (UAI 2024) has no initial model. The adversary is limited by 95% intervals of each voter's
accuracy and of the class frequencies, which reach to both sides of the estimate as far as the
farther of Wilson's bounds does. Rows without a vote get the class frequencies.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import softmax

from benchmarks.votes.peers.peer import Peer, Setting
from hedgeclipper import VoteAggregator
from hedgeclipper.votes.labeled_votes import (
    Evidence,
    LabeledVotes,
    gather_evidence,
    most_probable,
)
from hedgeclipper.votes.matrix import VoteKernel, Votes
from hedgeclipper.votes.vote_game import VoterBounds, bound_voters, relaxed, solve_vote_game


class Fitted(NamedTuple):
    """Known classes, their probabilities for all rows, and what predicts a class of votes."""

    classes: np.ndarray
    probabilities: np.ndarray
    predict: Callable[[Any], np.ndarray]


def prepare(L: Any) -> Any:
    """Return the votes; in a sparse matrix a stored 0 is a vote for class 0."""
    if not sparse.issparse(L):
        return L
    return sparse.csr_array((L.data - 1, L.indices, L.indptr), shape=L.shape)


def fit_quietly(model: Any, *data: Any) -> Any:
    """Return the fitted model; what it warns of, another mix of rows, is part of comparisons."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data)


def fit(L: Any, setting: Setting) -> Fitted:
    """Return what the aggregator predicts; the more frequent class in a tie."""
    model = fit_quietly(VoteAggregator(random_state=setting.seed), L, setting.gold)
    return Fitted(model.classes_, model.predict_proba(L), model.predict)


def symmetric_bounds(evidence: Evidence) -> VoterBounds:
    """Return the intervals of voters' accuracies and of class frequencies."""
    labeled, unlabeled = evidence.labeled, evidence.unlabeled
    wilson = bound_voters(labeled, evidence.codes, unlabeled)
    right = labeled.agreement(np.eye(labeled.n_classes)[evidence.codes])
    estimate = right / np.maximum(wilson.n_labeled, 1)
    radius = np.maximum(estimate - wilson.lower, wilson.upper - estimate)
    is_used, n_voters = wilson.is_used.copy(), unlabeled.shape[0]
    is_used[n_voters : -labeled.n_classes] = False  # accuracies where a voter votes for a class
    lower, upper = np.maximum(estimate - radius, 0.0), np.minimum(estimate + radius, 1.0)
    return replace(wilson, lower=lower, upper=upper, is_used=is_used)


def fit_game(L: Any, setting: Setting) -> Fitted:
    """Return what the game without an initial model predicts."""
    votes = Votes.of(L)
    gold = LabeledVotes.of(votes, setting.gold, None, -1)
    evidence = gather_evidence(gold, "labeled", setting.seed)
    sample = evidence.sample
    bounds = relaxed(evidence.searched, evidence.unlabeled, symmetric_bounds(evidence))
    uniform = np.full((sample.n_rows, sample.n_classes), -np.log(sample.n_classes))
    n_labeled = gold.codes.size
    game = solve_vote_game(sample, bounds, uniform, n_labeled=n_labeled)
    kernel = VoteKernel(gold.aligned(votes))
    probabilities = softmax(kernel.weighted(game.weights), axis=1)
    probabilities[kernel.n_votes == 0] = evidence.balance
    classes = gold.votes.classes
    labels = classes[most_probable(probabilities, evidence.balance)]
    return Fitted(classes, probabilities, lambda _: labels)


def collect(fitted: Fitted, L: Any, setting: Setting) -> np.ndarray:
    """Return the probabilities, 0 for a class that is not known."""
    probabilities = np.zeros((setting.gold.size, setting.n_classes))
    probabilities[:, fitted.classes] = fitted.probabilities
    return probabilities


def decide(fitted: Fitted, L: Any, probabilities: np.ndarray) -> np.ndarray:
    """Return its own labels."""
    return fitted.predict(L)


PEERS = {
    "hedgeclipper": Peer(prepare, fit, collect, decide),
    "hedgeclipper-bf": Peer(prepare, fit_game, collect, decide),
}
