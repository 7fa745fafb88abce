"""A summary of the voters, as Snorkel has it, with bounds, weights and contributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgeclipper.base.inspection import contributions_of
from hedgeclipper.votes.initial_model import VotePredictor
from hedgeclipper.votes.labeled_votes import LabeledVotes
from hedgeclipper.votes.vote_game import Constraints
from hedgeclipper.votes.vote_kernel import VoteKernel


def summarize_voters(
    gold: LabeledVotes, constraints: Constraints, predictor: VotePredictor
) -> dict[str, Any]:
    """Return the columns of the summary, those of Snorkel first.

    An overlap is a row on which others vote, too, a conflict one on which another class has votes.
    The contribution of a voter is its weight times the number of its votes, as a part of the sum.
    """
    labeled, unlabeled = VoteKernel(gold.labeled), VoteKernel(gold.unlabeled)
    n_rows, (n_voters, n_classes, _) = unlabeled.n_rows, unlabeled.shape
    rows, voters, codes = gold.unlabeled.triplets()
    n_votes, n_same = unlabeled.n_votes[rows], gold.unlabeled.counts()[rows, codes]
    right = labeled.agreement(np.eye(n_classes)[gold.codes])[:n_voters]
    n_labeled, n_cast = labeled.votes_cast.sum(axis=1), unlabeled.votes_cast.sum(axis=1)
    expected_right = unlabeled.agreement(predictor.probabilities(unlabeled))[:n_voters]
    cast = labeled.votes_cast + unlabeled.votes_cast
    weight, upper = _mean_weights(unlabeled, predictor), constraints.each.upper[:n_voters]
    return {
        "j": np.arange(n_voters),
        "Polarity": [gold.votes.classes[row > 0].tolist() for row in cast],
        "Coverage": n_cast / n_rows,
        "Overlaps": np.bincount(voters, n_votes > 1, minlength=n_voters) / n_rows,
        "Conflicts": np.bincount(voters, n_same < n_votes, minlength=n_voters) / n_rows,
        "Correct": right.astype(int),
        "Incorrect": (n_labeled - right).astype(int),
        "Emp. Acc.": _ratio(right, n_labeled),
        "Lower": constraints.each.lower[:n_voters],
        "Upper": upper,
        "Est. Acc.": _ratio(expected_right, n_cast),
        "Weight": weight,
        "Contribution": contributions_of(weight * n_cast),
        "Contradicts": constraints.contradicting,
        "Reversed": (upper < 1.0 / n_classes) & (weight < 0.0),
    }


def _mean_weights(votes: VoteKernel, predictor: VotePredictor) -> np.ndarray:
    """Return by how much a vote of each voter moves the log-odds of the class it votes for.

    It is a mean over its votes and over the other classes; NaN without votes.
    """
    n_classes = votes.n_classes
    # what a vote adds to its class, less the mean over the others
    own = np.diagonal(predictor.vote_weights, axis1=1, axis2=2)
    over_others = np.sum(votes.votes_cast * own, axis=1) * n_classes / (n_classes - 1)
    return _ratio(over_others, votes.votes_cast.sum(axis=1))


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
