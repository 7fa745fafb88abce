"""Bounds on the error of given predictions, and on what happens in a part of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hedgeclipper.game.certificates import Certificate
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.knowledge import Knowledge, joined, parted
from hedgeclipper.votes.worst_case import WorstCase, largest_mean

ROUNDING = 1e-3
AT_ONCE = 1


class SubgroupBounds(NamedTuple):
    """Bounds on a part of the rows: on the error there, and on the share of each class."""

    n_rows: int
    error: tuple[float, float]
    shares: dict


@dataclass(frozen=True, eq=False)
class Judge:
    """Knows the rows and the bounds, and says what labels can do.

    Parameters
    ----------
    ballots : Ballots
        Votes on all unlabelled rows, witnesses included.
    sampled : ndarray of int
        Rows to seek weights by.
    knowledge : Knowledge
        Bounds on these voters.
    predicted : ndarray of shape (n_rows,)
        Codes of the predicted classes.
    """

    ballots: Ballots
    sampled: np.ndarray
    knowledge: Knowledge
    predicted: np.ndarray

    @property
    def errors(self) -> np.ndarray:
        """1 for every class that a row's prediction is not, shape (n_rows, n_classes)."""
        return 1.0 - np.eye(self.ballots.n_classes)[self.predicted]

    def bounds(self, gains: np.ndarray) -> tuple[float, float]:
        """Return lower and upper bound on the mean gain over all rows, for gains in [0, 1]."""
        return -self._largest(-gains).bound, self._largest(gains).bound

    def certificate(self, is_guarantee: bool, reason: str) -> Certificate:
        """Return bounds on the error of the predictions.

        Parameters
        ----------
        is_guarantee : bool
            Whether labels are a plain draw, from rows like the unlabelled ones.
        reason : str
            Why it is not, if not.
        """
        lower, upper = self.bounds(self.errors)
        kind = "guarantee" if is_guarantee and self.knowledge.is_guarantee else "estimate"
        if lower > upper + ROUNDING:
            lower, upper, kind = 0.0, 1.0, "void"
            reason = "what the labels say of the voters cannot all be true of these rows"
        return Certificate(
            error_upper=float(np.clip(upper, 0.0, 1.0)),
            error_lower=float(np.clip(lower, 0.0, 1.0)),
            rule="hard",
            kind=kind,
            delta=self.knowledge.delta,
            n_unlabeled=self.ballots.n_rows,
            reason="" if kind == "guarantee" else reason,
        )

    def subgroup(self, mask: np.ndarray, classes: np.ndarray) -> SubgroupBounds:
        """Return bounds for some of the rows.

        Parameters
        ----------
        mask : ndarray of bool, shape (n_rows,)
            Which rows.
        classes : ndarray of shape (n_classes,)
            Labels of the classes.
        """
        share = mask.mean()

        def within(gains: np.ndarray) -> tuple[float, float]:
            low, high = self.bounds(np.where(mask[:, None], gains, 0.0))
            return float(np.clip(low / share, 0, 1)), float(np.clip(high / share, 0, 1))

        each = np.eye(classes.size)
        shares = {label: within(each[[k]]) for k, label in enumerate(classes.tolist())}
        return SubgroupBounds(int(mask.sum()), within(self.errors), shares)

    def most_useful(self, k: int) -> np.ndarray:
        """Return the rows whose labels would tighten the bound on the error most.

        A bound's width falls with the square root of its labels, and counts as much as its weight
        in the proof: what a label is worth is the slope of that, summed over all bounds the row is
        about. Each row picked is counted as labelled before the next one is.

        Parameters
        ----------
        k : int
            How many rows.
        """
        weights = np.abs(self._largest(self.errors).weights)
        n_labeled, chosen = self.knowledge.n_labeled, np.empty(k, dtype=np.intp)
        is_free = np.ones(self.ballots.n_rows, dtype=bool)
        for step in range(0, k, AT_ONCE):
            worth = np.where(is_free, self._worth(weights, n_labeled), -np.inf)
            best = np.argsort(-worth, kind="stable")[: min(AT_ONCE, k - step)]
            chosen[step : step + best.size], is_free[best] = best, False
            n_labeled = n_labeled + self._about(best)
        return chosen

    def _worth(self, weights: np.ndarray, n_labeled: np.ndarray) -> np.ndarray:
        """Return, for each row, the fall of the bound if its label were known."""
        known = self.knowledge
        first = np.where(known.is_used, known.widths, known.coverage / 2.0)
        widths = first * np.sqrt(np.maximum(known.n_labeled, 1.0) / np.maximum(n_labeled, 1.0))
        n_voters, n_classes, _ = self.ballots.shape
        fall = weights * widths / (2.0 * np.maximum(n_labeled, 1.0))
        voters, votes, _ = parted(fall, n_voters, n_classes)
        table = np.zeros(self.ballots.shape)
        table[:, :, 0] = voters[:, None] + votes
        return self.ballots.scores(table)[:, 0]

    def _about(self, rows: np.ndarray) -> np.ndarray:
        """Return how many of some rows each bound is about."""
        said = self.ballots.take(rows).said
        return joined(said.sum(axis=1), said, np.full(said.shape[1], rows.size))

    def _largest(self, gains: np.ndarray) -> WorstCase:
        sample = self.ballots.take(self.sampled)
        return largest_mean(gains, sample, self.sampled, self.ballots, self.knowledge)
