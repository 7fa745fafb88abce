"""An and Dasgupta's game (UAI 2024), from the parts of `VoteAggregator`: no initial model.

The adversary is limited by 95 % intervals of each voter's accuracy and of the class frequencies,
which reach to both sides of the estimate as far as the farther of Wilson's bounds does. Rows
without a vote get the class frequencies.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.votes.own.aggregator import prepare
from benchmarks.votes.peers.peer import Peer, Setting
from hedgeclipper.votes.initial_model import LOG_LOSS, most_probable
from hedgeclipper.votes.labeled_votes import Evidence, LabeledVotes, gather_evidence
from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.vote_game import VoterBounds, bound_voters, relaxed, solve_vote_game
from hedgeclipper.votes.vote_kernel import VoteKernel

Fitted = tuple[np.ndarray, np.ndarray, np.ndarray]


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


def fit(L: Any, setting: Setting) -> Fitted:
    """Return the classes, their probabilities for all rows, and their frequencies."""
    votes = Votes.of(L)
    gold = LabeledVotes.of(votes, setting.gold, None, -1)
    evidence = gather_evidence(gold, "labeled", setting.seed)
    sample = evidence.sample
    bounds = relaxed(evidence.searched, evidence.unlabeled, symmetric_bounds(evidence))
    uniform = np.full((sample.n_rows, sample.n_classes), -np.log(sample.n_classes))
    n_labeled = gold.codes.size
    game = solve_vote_game(sample, bounds, uniform, n_labeled=n_labeled)
    kernel = VoteKernel(gold.aligned(votes))
    probabilities = LOG_LOSS.link(kernel.weighted(game.weights))
    probabilities[kernel.n_votes == 0] = evidence.balance
    return gold.votes.classes, probabilities, evidence.balance


def collect(fitted: Fitted, L: Any, setting: Setting) -> np.ndarray:
    """Return the probabilities, 0 for a class that is not known."""
    classes, found, _ = fitted
    probabilities = np.zeros((setting.gold.size, setting.n_classes))
    probabilities[:, classes] = found
    return probabilities


def decide(fitted: Fitted, L: Any, probabilities: np.ndarray) -> np.ndarray:
    """Return the most probable classes: the more frequent one in a tie."""
    classes, found, balance = fitted
    return classes[most_probable(found, balance)]


PEER = Peer(prepare, fit, collect, decide=decide)
