"""A summary of the voters, and of the panel: how many are needed, and which voters agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.base.inspection import contributions_of
from hedgeclipper.votes.initial_model import VotePredictor
from hedgeclipper.votes.labeled_votes import ROWS_IN_SEARCH, LabeledVotes
from hedgeclipper.votes.matrix import Votes
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


@dataclass(frozen=True, eq=False)
class VotePanel:
    """What a report shows of the panel.

    ``accuracies`` are those of the ``n_best`` voters with the largest weights, as the predicted
    probabilities of all voters estimate them. ``agreement`` of shape (n_names, n_names) is how
    often the heaviest voters, called ``names``, cast the same vote where both vote; NaN if never.
    """

    n_best: list[int]
    accuracies: list[float]
    names: list[str]
    agreement: np.ndarray

    @property
    def n_enough(self) -> int:
        """Return how many voters come within half a point of the accuracy of all."""
        enough = [k for k, a in zip(self.n_best, self.accuracies, strict=True)
                  if a >= self.accuracies[-1] - 0.005]  # fmt: skip
        return min(enough)


def summarize_panel(votes: Votes, predictor: VotePredictor) -> VotePanel:
    """Return the panel, given votes on rows."""
    weights = _mean_weights(VoteKernel(votes), predictor)
    rows = np.unique(np.linspace(0, votes.n_rows - 1, ROWS_IN_SEARCH).astype(np.intp))
    kernel = VoteKernel(votes.take(rows))
    coverage = kernel.votes_cast.sum(axis=1) / kernel.n_rows
    order = np.argsort(-np.nan_to_num(np.abs(weights)) * coverage, kind="stable")
    table, probabilities = predictor.vote_weights, predictor.probabilities(kernel)
    n_best, accuracies = _numbers(order.size), []
    for k in n_best[:-1]:
        kept = np.zeros_like(table)
        kept[order[:k]] = table[order[:k]]
        chosen = kernel.scores(kept).argmax(axis=1)
        accuracies.append(float(probabilities[np.arange(chosen.size), chosen].mean()))
    accuracies.append(float(probabilities.max(axis=1).mean()))
    first = order[:20]
    names = [str(name) for name in votes.voters[first]]
    return VotePanel(n_best, accuracies, names, _agreement(kernel.votes.matrix[:, first]))


def _numbers(n_voters: int) -> list[int]:
    """Return numbers of voters to try: 1, 2, 3, 5, 10, 20, 30, 50, ..., and all."""
    steps = [step * 10**power for power in range(7) for step in (1, 2, 3, 5)]
    return [*(k for k in steps if k <= n_voters / 1.5), n_voters]


def _agreement(matrix: sparse.csr_array) -> np.ndarray:
    """Return how often each two columns have the same entry where both have one."""
    columns = sparse.csc_array(matrix)
    votes = np.unique(columns.data)
    cast = (columns != 0).astype(float)
    both = (cast.T @ cast).toarray()
    same = sum(((part := (columns == vote).astype(float)).T @ part).toarray() for vote in votes)
    return np.divide(same, both, out=np.full(both.shape, np.nan), where=both > 0)
