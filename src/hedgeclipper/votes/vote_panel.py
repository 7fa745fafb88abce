"""The panel of voters as a whole: how many of them are needed, and who votes like whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.vote_game import VotePredictor

MAX_ROWS, MAX_NAMES = 5_000, 20


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


def describe_panel(votes: Votes, predictor: VotePredictor, weights: np.ndarray) -> VotePanel:
    """Return the panel, given votes on rows and the mean weight of each voter."""
    rows = np.unique(np.linspace(0, votes.n_rows - 1, MAX_ROWS).astype(np.intp))
    ballots = Ballots(votes.take(rows))
    coverage = ballots.votes_cast.sum(axis=1) / ballots.n_rows
    order = np.argsort(-np.nan_to_num(np.abs(weights)) * coverage, kind="stable")
    table, probabilities = predictor.vote_weights(ballots.shape), predictor.probabilities(ballots)
    n_best, accuracies = _numbers(order.size), []
    for k in n_best[:-1]:
        kept = np.zeros_like(table)
        kept[order[:k]] = table[order[:k]]
        chosen = ballots.scores(kept).argmax(axis=1)
        accuracies.append(float(probabilities[np.arange(chosen.size), chosen].mean()))
    accuracies.append(float(probabilities.max(axis=1).mean()))
    first = order[:MAX_NAMES]
    names = [str(name) for name in votes.voters[first]]
    return VotePanel(n_best, accuracies, names, _agreement(ballots.votes.matrix[:, first]))


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
