"""Strata: rows that the voters' agreement is about as sure of.

Labels of rows that were chosen by their votes are no plain draw: where voters disagree they are
wrong more often than elsewhere. Within a stratum they still are, if the rows were drawn at random
there. How many unlabeled rows a stratum has is known, so that each label can stand for its share
of them, as far as labels are not spread over the strata like a plain draw. Rows without a vote are
a stratum of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

N_STRATA, LEAST_LABELS = 3, 5
PRIOR_LABELS = 4.0


@dataclass(frozen=True, eq=False)
class Strata:
    """Which stratum each row is in.

    Parameters
    ----------
    labeled : ndarray of int, shape (n_labeled,)
        Strata of the labeled rows.
    unlabeled : ndarray of int, shape (n_rows,)
        Strata of the unlabeled rows.
    """

    labeled: np.ndarray
    unlabeled: np.ndarray

    @classmethod
    def one(cls, n_labeled: int, n_rows: int) -> Strata:
        """Return all rows as one stratum, as suits a plain draw."""
        return cls(np.zeros(n_labeled, dtype=np.intp), np.zeros(n_rows, dtype=np.intp))

    @classmethod
    def by_sureness(cls, labeled: np.ndarray, unlabeled: np.ndarray) -> Strata:
        """Return strata by how sure agreement is, of as many rows each if there are labels enough.

        Parameters
        ----------
        labeled, unlabeled : ndarray of shape (n_labeled,) and (n_rows,)
            By how much agreement's class is ahead on each row, -1 without votes.
        """
        sure = labeled, unlabeled
        everywhere = np.concatenate(sure)
        voted = everywhere[everywhere >= 0.0]
        inner = np.quantile(voted, np.arange(1, N_STRATA) / N_STRATA) if voted.size else []
        edges = np.unique([0.0, *inner])
        first, second = (np.searchsorted(edges, part, side="right") for part in sure)
        numbers = _merged(np.bincount(first, minlength=edges.size + 1))
        return cls(numbers[first], numbers[second])

    @cached_property
    def n_strata(self) -> int:
        """Number of strata; each has a label."""
        return int(self.labeled.max()) + 1

    @cached_property
    def n_labeled(self) -> np.ndarray:
        """Number of labels in each stratum."""
        return np.bincount(self.labeled, minlength=self.n_strata)

    @cached_property
    def n_rows(self) -> np.ndarray:
        """Number of unlabeled rows in each stratum."""
        return np.bincount(self.unlabeled, minlength=self.n_strata)

    @property
    def choice(self) -> float:
        """How far labels are from a plain draw: 0 if they may be one, up to 1 (James and Stein)."""
        share = self.labeled.size / (self.labeled.size + self.unlabeled.size)
        expected = share * (self.n_labeled + self.n_rows)
        distance = np.sum((self.n_labeled - expected) ** 2 / expected) / (1.0 - share)
        by_chance = self.n_strata - 1
        return float(1.0 - by_chance / distance) if distance > by_chance else 0.0

    @property
    def weights(self) -> np.ndarray:
        """For how many rows a label of each stratum stands; 1 for all if they may be a plain draw.

        They move to that from the shares of the strata as far as labels may be one.
        """
        whole = (self.n_rows / self.unlabeled.size) / (self.n_labeled / self.labeled.size)
        return 1.0 + self.choice * (whole - 1.0)


class Weighed(NamedTuple):
    """Shares as weighed labels estimate them, each over the labels it is about.

    ``n_labeled`` is how many labels of a plain draw would say as much, and ``parts`` which part of
    the variance is due to each stratum, shape (n_strata, n_shares).
    """

    estimate: np.ndarray
    n_labeled: np.ndarray
    parts: np.ndarray


def weigh(right: np.ndarray, about: np.ndarray, weights: np.ndarray, choice: float) -> Weighed:
    """Return shares over all strata; NaN where there is no label.

    Labels that stand for few rows and come without others count for less than their number.

    Parameters
    ----------
    right, about : ndarray of shape (n_strata, n_shares)
        How many labels are counted in a share, of how many that it is about.
    weights : ndarray of shape (n_strata,)
        What a label of each stratum stands for.
    choice : float
        How far labels are from a plain draw, which has the variance over all strata.
    """
    stands_for = weights[:, None] * about
    whole = stands_for.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate = (weights @ right) / whole
        inside, overall = _variances(right, about, stands_for / whole)
        each = weights[:, None] * stands_for
        spread = np.sum(each * (choice * inside + (1.0 - choice) * overall), axis=0)
        n_labeled = whole**2 * overall / spread * np.minimum(1.0, whole / about.sum(axis=0))
        parts = each * inside / np.sum(each * inside, axis=0)
    return Weighed(estimate, np.where(whole > 0, n_labeled, 0.0), np.where(whole > 0, parts, 0.0))


def _variances(
    right: np.ndarray, about: np.ndarray, portions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance of a label within each stratum, and over all of them.

    Few labels, all right, are no sign of no variance: the one within leans on that over all.
    """
    share = (right + 0.5) / (about + 1.0)
    mean = np.sum(portions * share, axis=0)
    overall = mean * (1.0 - mean)
    inside = about * share * (1.0 - share) + PRIOR_LABELS * overall
    return inside / (about + PRIOR_LABELS), overall


def _merged(n_labeled: np.ndarray) -> np.ndarray:
    """Return new numbers of strata in a row, so that each has labels enough, or is the only one."""
    numbers, number, enough = np.empty(n_labeled.size, dtype=np.intp), 0, 0
    for old, count in enumerate(n_labeled):
        numbers[old] = number
        enough += count
        if enough >= LEAST_LABELS and n_labeled[old + 1 :].sum() >= LEAST_LABELS:
            number, enough = number + 1, 0
    return numbers
