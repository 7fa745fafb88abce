"""Bounds on the error of given predictions, and on what happens in a part of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.knowledge import Knowledge
from hedgeclipper.votes.strata import Strata
from hedgeclipper.votes.suggestion import LabelWorth
from hedgeclipper.votes.worst_case import WorstCase, largest_mean, proved_violation

ROUNDING = 1e-6


class SubgroupBounds(NamedTuple):
    """Bounds on a part of the rows: on the error there, and on the share of each class.

    They are 0 and 1 if what the labels say of the voters cannot all be true.
    """

    n_rows: int
    error: tuple[float, float]
    shares: dict


@dataclass(frozen=True, eq=False)
class Judge:
    """Knows the rows and the bounds, and says what labels can do.

    Parameters
    ----------
    ballots : Ballots
        Votes on all unlabeled rows, witnesses included.
    sampled : ndarray of int
        Rows to seek weights by.
    knowledge : Knowledge
        Bounds on these voters.
    predicted : ndarray of shape (n_rows,)
        Codes of the predicted classes.
    is_known_void : bool
        Whether bounds on the voters alone, which hold as surely, contradict each other.
    """

    ballots: Ballots
    sampled: np.ndarray
    knowledge: Knowledge
    predicted: np.ndarray
    is_known_void: bool = False

    @property
    def errors(self) -> np.ndarray:
        """1 for every class that a row's prediction is not, shape (n_rows, n_classes)."""
        classes = np.arange(self.ballots.n_classes)
        return (classes[:, None] != self.predicted).astype(float).T

    @cached_property
    def is_void(self) -> bool:
        """Whether no labels obey the bounds, which then bound nothing."""
        if self.is_known_void:
            return True
        return proved_violation(self._sample, self.ballots, self.knowledge).bound > ROUNDING

    def bounds(self, gains: np.ndarray, most: float = 1.0) -> tuple[float, float] | None:
        """Return lower and upper bound on the mean gain over all rows; None if nothing can be true.

        Parameters
        ----------
        gains : ndarray of shape (n_rows, n_classes)
            What a row brings if its class is k, from 0 to 1.
        most : float
            The largest mean there can be.
        """
        if self.is_void:
            return None
        lower, upper = -self._largest(-gains).bound, self._largest(gains).bound
        if lower > upper + ROUNDING:
            return None
        low, high = np.clip([lower, max(lower, upper)], 0.0, most) + 0.0  # no -0.0
        return float(low), float(high)

    def certificate(self, is_guarantee: bool, reason: str) -> Certificate:
        """Return bounds on the error of the predictions.

        Parameters
        ----------
        is_guarantee : bool
            Whether labels are a plain draw, from rows like the unlabeled ones.
        reason : str
            Why it is not, if not.
        """
        kind = "guarantee" if is_guarantee and self.knowledge.is_guarantee else "estimate"
        found = self.bounds(self.errors)
        if found is None:
            kind = "void"
            reason = "what the labels say of the voters cannot all be true of these rows"
        lower, upper = found or (0.0, 1.0)
        return Certificate(
            error_upper=upper,
            error_lower=lower,
            rule="hard",
            kind=kind,
            confidence_level=None if self.knowledge.delta is None else 1.0 - self.knowledge.delta,
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
        share = float(mask.mean())

        def within(gains: np.ndarray) -> tuple[float, float]:
            found = self.bounds(np.where(mask[:, None], gains, 0.0), most=share)
            lower, upper = found or (0.0, share)
            return lower / share, upper / share

        each = np.eye(classes.size)
        shares = {label: within(each[[k]]) for k, label in enumerate(classes.tolist())}
        return SubgroupBounds(int(mask.sum()), within(self.errors), shares)

    def label_worth(self, strata: Strata, wrong: np.ndarray) -> LabelWorth:
        """Return what labels would take off the bound on the error.

        Parameters
        ----------
        strata : Strata
            Where the rows are.
        wrong : ndarray of bool, shape (n_labeled,)
            Whether predictions are wrong, on the labeled rows.
        """
        weights = self._largest(self.errors).weights
        return LabelWorth(strata, self.knowledge, weights, wrong)

    def _largest(self, gains: np.ndarray) -> WorstCase:
        return largest_mean(gains, self._sample, self.sampled, self.ballots, self.knowledge)

    @cached_property
    def _sample(self) -> Ballots:
        return self.ballots.take(self.sampled)
