"""Strata: rows of which the Dawid-Skene model is about equally certain.

Labels of rows that were chosen by their votes are no simple random sample: where voters disagree
they are wrong more often than elsewhere. Within a stratum labels still are a random sample, if the
rows were drawn at random there. How many unlabeled rows a stratum has is known, so that each label
is weighted by the number of rows it represents, as far as labels are not spread over the strata
like a simple random sample. Rows without a vote are a stratum of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

N_STRATA, MIN_LABELS = 3, 5
PRIOR_LABELS = 4.0


@dataclass(frozen=True, eq=False)
class Strata:
    """The stratum of each labeled and of each unlabeled row."""

    labeled: np.ndarray
    unlabeled: np.ndarray

    @classmethod
    def single(cls, n_labeled: int, n_rows: int) -> Strata:
        """Return all rows as one stratum, as for a simple random sample."""
        return cls(np.zeros(n_labeled, dtype=np.intp), np.zeros(n_rows, dtype=np.intp))

    @classmethod
    def by_lead(cls, labeled: np.ndarray, unlabeled: np.ndarray) -> Strata:
        """Return strata of about equal size, by the lead of the most probable class.

        A row without votes has lead -1. Strata with too few labels are merged.
        """
        leads = np.concatenate([labeled, unlabeled])
        voted = leads[leads >= 0.0]
        inner = np.quantile(voted, np.arange(1, N_STRATA) / N_STRATA) if voted.size else []
        edges = np.unique([0.0, *inner])
        first, second = (np.searchsorted(edges, part, "right") for part in (labeled, unlabeled))
        n_labeled = np.bincount(first, minlength=edges.size + 1)
        numbers, number, enough = np.empty(n_labeled.size, dtype=np.intp), 0, 0
        for old, count in enumerate(n_labeled):
            numbers[old] = number
            enough += count
            if enough >= MIN_LABELS and n_labeled[old + 1 :].sum() >= MIN_LABELS:
                number, enough = number + 1, 0
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
    def selection(self) -> float:
        """How far labels are from a simple random sample: 0 if they may be one, up to 1.

        It is the shrinkage of James and Stein.
        """
        rate = self.labeled.size / (self.labeled.size + self.unlabeled.size)
        expected = rate * (self.n_labeled + self.n_rows)
        distance = np.sum((self.n_labeled - expected) ** 2 / expected) / (1.0 - rate)
        degrees = self.n_strata - 1
        return float(1.0 - degrees / distance) if distance > degrees else 0.0

    @property
    def weights(self) -> np.ndarray:
        """How many rows a label of each stratum represents, relative to the mean.

        The weights shrink to 1 as far as labels may be a simple random sample.
        """
        whole = (self.n_rows / self.unlabeled.size) / (self.n_labeled / self.labeled.size)
        return 1.0 + self.selection * (whole - 1.0)


class WeightedEstimate(NamedTuple):
    """Proportions as weighted labels estimate them, each over the labels it is about.

    ``n_labeled`` is the number of labels of a simple random sample with the same variance, and
    ``variance_parts`` the part of the variance due to each stratum, (n_strata, n_proportions).
    """

    estimate: np.ndarray
    n_labeled: np.ndarray
    variance_parts: np.ndarray


def weighted_estimate(
    right: np.ndarray, about: np.ndarray, weights: np.ndarray, selection: float
) -> WeightedEstimate:
    """Return proportions over all strata; NaN where there is no label.

    ``right`` and ``about`` of shape (n_strata, n_proportions) are how many labels count for a
    proportion, of how many that it is about. The variance is the one within strata as far as labels
    are selected, and else the one over all. Few labels that represent few rows count for less than
    their number.
    """
    total = weights[:, None] * about
    whole = total.sum(axis=0)
    rate = (right + 0.5) / (about + 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate, mean = (weights @ right) / whole, np.sum(total / whole * rate, axis=0)
        overall = mean * (1.0 - mean)
        # within a stratum it is shrunk to that over all, since few labels may all be right
        inside = (about * rate * (1.0 - rate) + PRIOR_LABELS * overall) / (about + PRIOR_LABELS)
        each = weights[:, None] * total
        spread = np.sum(each * (selection * inside + (1.0 - selection) * overall), axis=0)
        n_labeled = whole**2 * overall / spread * np.minimum(1.0, whole / about.sum(axis=0))
        parts = each * inside / np.sum(each * inside, axis=0)
    is_known = whole > 0
    return WeightedEstimate(
        estimate, np.where(is_known, n_labeled, 0.0), np.where(is_known, parts, 0.0)
    )


def suggest_rows(
    strata: Strata,
    stakes: np.ndarray,
    variance_parts: np.ndarray,
    wrong: np.ndarray,
    k: int,
    random_state: np.random.RandomState,
) -> np.ndarray:
    """Return unlabeled rows whose labels tighten a bound most, each with those before it counted.

    Rows picked one by one for their votes would tell nothing of the others. So only the number of
    labels in each stratum is chosen, and rows are drawn at random there. Labels of a stratum lessen
    its part of a bound's variance; a labeled row also leaves the unlabeled ones, and so does an
    error if it was one. ``stakes`` are what the interval on each proportion contributes to the
    bound, and ``wrong`` tells whether predictions are wrong, on the labeled rows.
    """
    order = random_state.permutation(strata.unlabeled.size)
    queues = [iter(order[strata.unlabeled[order] == number]) for number in range(strata.n_strata)]
    n_labeled, n_left = strata.n_labeled.astype(float), strata.n_rows.copy()
    n_wrong = np.bincount(strata.labeled, wrong, minlength=strata.n_strata)
    overall = strata.weights @ n_wrong / wrong.size
    errors = (n_wrong + PRIOR_LABELS * overall) / (n_labeled + PRIOR_LABELS)
    per_label = variance_parts * n_labeled[:, None]
    chosen = np.empty(k, dtype=np.intp)
    for step in range(k):
        parts = per_label / n_labeled[:, None]
        tighter = parts @ (stakes / np.sqrt(parts.sum(axis=0))) / (2.0 * n_labeled)
        fewer = (errors - errors @ n_left / n_left.sum()) / n_left.sum()
        stratum = int(np.where(n_left > 0, tighter + fewer, -np.inf).argmax())
        chosen[step] = next(queues[stratum])
        n_labeled[stratum] += 1.0
        n_left[stratum] -= 1
    return chosen
