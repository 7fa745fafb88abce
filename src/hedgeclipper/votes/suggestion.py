"""Which rows to label next, so that a bound that some weights prove gets tighter."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable
from heapq import heapify, heappop, heapreplace

import numpy as np

from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.knowledge import Knowledge, parted

ROUNDING = 1e-9


class LabelWorth:
    """What a label is worth, as more and more of them are counted.

    A bound's width falls with the square root of its labels, and counts as much as its weight in
    the proof: what a label is worth is the slope of that, summed over all bounds the row is about.
    Bounds without a label, which no proof can use, get the mean weight of the others.

    Parameters
    ----------
    knowledge : Knowledge
        Bounds, and the labels they rest on.
    weights : ndarray
        Weights of the proof, as one vector.
    """

    def __init__(self, knowledge: Knowledge, weights: np.ndarray):
        used, shape = knowledge.is_used, knowledge.votes.lower.shape
        sizes = np.where(used, np.abs(weights), np.abs(weights[used]).mean())
        widths = np.where(used, knowledge.widths, knowledge.coverage / 2.0)
        voters, votes, _ = parted(sizes * widths, *shape)
        self._n_voter = knowledge.voters.n_labeled.copy()
        self._n_vote = knowledge.votes.n_labeled.copy()
        self._voter_stakes = voters * np.sqrt(np.maximum(self._n_voter, 1.0)) / 2.0
        self._vote_stakes = votes * np.sqrt(np.maximum(self._n_vote, 1.0)) / 2.0

    def where(self, voters: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return what a label is worth because of these votes, one by one."""
        n_voter = np.maximum(self._n_voter[voters], 1.0)
        n_vote = np.maximum(self._n_vote[voters, codes], 1.0)
        by_voter = self._voter_stakes[voters] / n_voter**1.5
        return by_voter + self._vote_stakes[voters, codes] / n_vote**1.5

    def count(self, voters: np.ndarray, codes: np.ndarray) -> None:
        """Count a row with these votes as labelled."""
        self._n_voter[voters] += 1.0
        self._n_vote[voters, codes] += 1.0


def most_useful(ballots: Ballots, knowledge: Knowledge, weights: np.ndarray, k: int) -> np.ndarray:
    """Return the rows whose labels are worth most, each with those before it counted.

    Rows with the same votes stand in one line. A label makes no other one worth more, so that the
    worth of a line is found anew only when it is the highest.

    Parameters
    ----------
    ballots : Ballots
        Votes on the rows.
    knowledge : Knowledge
        Bounds.
    weights : ndarray
        Weights of the proof, as one vector.
    k : int
        How many rows.
    """
    worth, chosen = LabelWorth(knowledge, weights), np.empty(k, dtype=np.intp)
    lines = _same_votes(ballots)
    matrix = ballots.votes.matrix

    def votes_on(row: int) -> tuple[np.ndarray, np.ndarray]:
        entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
        return matrix.indices[entries], matrix.data[entries] - 1

    queue = [(-worth.where(*votes_on(line[0])).sum(), number) for number, line in enumerate(lines)]
    heapify(queue)
    taken = np.zeros(len(lines), dtype=np.intp)
    for step in range(k):
        line = _highest(queue, lambda number: -worth.where(*votes_on(lines[number][0])).sum())
        chosen[step] = lines[line][taken[line]]
        taken[line] += 1
        worth.count(*votes_on(chosen[step]))
        if taken[line] == len(lines[line]):
            heappop(queue)
    return chosen


def _highest(queue: list[tuple[float, int]], now: Callable[[int], float]) -> int:
    """Return what stands first in a queue once nothing before it has an old place."""
    while True:
        before, number = queue[0]
        place = now(number)
        if place <= before + ROUNDING * abs(before):
            return number
        heapreplace(queue, (place, number))


def _same_votes(ballots: Ballots) -> list[list[int]]:
    """Return the rows in groups with the same votes, in the order of their first rows."""
    matrix = ballots.votes.matrix
    groups: defaultdict[tuple[bytes, bytes], list[int]] = defaultdict(list)
    ends = matrix.indptr.tolist()
    for row, (start, end) in enumerate(itertools.pairwise(ends)):
        key = matrix.indices[start:end].tobytes(), matrix.data[start:end].tobytes()
        groups[key].append(row)
    return list(groups.values())
