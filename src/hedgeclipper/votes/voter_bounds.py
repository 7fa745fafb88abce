"""Bounds that labels give on the accuracy of voters and on the frequencies of classes.

Three kinds of proportions are bounded: how often a voter is right, how often it is right where it
votes for a class, and how often a class occurs. They are concatenated in one vector, and so are the
weights theta that belong to them. In the game they are proportions of all unlabeled rows: a voter
awake on a tenth of them and right nine times in ten has 0.09.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hedgeclipper.bounds.intervals import mean_bounds
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.evidence import Strata

ESTIMATES = ("wilson", "wilson_symmetric", "plug_in")
CONSTRAINTS = ("accuracy", "class_accuracy", "both")
HIGH_PRICE = 0.5
MIN_RELAXATION = 0.01
PRIOR_LABELS = 4.0


class Intervals(NamedTuple):
    """Proportions of right votes, or of a class, among the rows they are about; NaN if unknown.

    ``n_labeled`` is the number of labels of a simple random sample that tells as much.
    """

    estimate: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    n_labeled: np.ndarray


@dataclass(frozen=True, eq=False)
class VoterBounds:
    """Bounds on all proportions.

    ``voters``, ``votes`` and ``classes``, of shapes (n_voters,), (n_voters, n_classes) and
    (n_classes,), are how often a voter is right, how often it is where it votes for a class, and
    how often a class occurs. The others are one vector: the proportion of unlabeled rows that each
    is about, whether the game may use it, and, by stratum, the part of its variance due to labels
    there. ``delta`` is the probability that any bound fails, or each; None for plug-in estimates.
    """

    voters: Intervals
    votes: Intervals
    classes: Intervals
    coverage: np.ndarray
    is_used: np.ndarray
    variance_parts: np.ndarray
    delta: float | None

    @property
    def centers(self) -> np.ndarray:
        """Middle of each interval, as a proportion of all rows."""
        return self.coverage * (self._joined("lower") + self._joined("upper")) / 2.0

    @property
    def widths(self) -> np.ndarray:
        """Half the length of each interval; infinite where it is not used."""
        half = self.coverage * (self._joined("upper") - self._joined("lower")) / 2.0
        return np.where(self.is_used, half, np.inf)

    def on(self, ballots: Ballots) -> VoterBounds:
        """Return the same bounds for votes on other rows, where voters may be awake less often."""
        n_rows = _rows_about(ballots)
        used = self.is_used & (n_rows > 0)
        return replace(self, coverage=n_rows / ballots.n_rows, is_used=used)

    def widened(self) -> VoterBounds:
        """Return bounds about twice as far apart; class frequencies known without labels stay."""
        voters, votes, classes = (
            _widened(part) for part in (self.voters, self.votes, self.classes)
        )
        return replace(self, voters=voters, votes=votes, classes=classes)

    def contradicting(self, prices: np.ndarray) -> np.ndarray:
        """Return the voters some bound of which has a price near 1, the highest."""
        voters, votes, _ = parted(np.abs(prices), *self.votes.lower.shape)
        return (voters > HIGH_PRICE) | (votes > HIGH_PRICE).any(axis=1)

    def _joined(self, name: str) -> np.ndarray:
        parts = (self.voters, self.votes, self.classes)
        return np.concatenate([getattr(part, name).ravel() for part in parts])


def _widened(intervals: Intervals) -> Intervals:
    middle, length = (intervals.lower + intervals.upper) / 2.0, intervals.upper - intervals.lower
    half = np.where(np.isinf(intervals.n_labeled), 0.0, length + MIN_RELAXATION)
    lower, upper = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
    return intervals._replace(lower=lower, upper=upper)


def joined(voters: np.ndarray, votes: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the three parts as one vector."""
    return np.concatenate([voters, votes.ravel(), classes])


def parted(values: np.ndarray, n_voters: int, n_classes: int) -> tuple[np.ndarray, ...]:
    """Return the three parts of a vector."""
    voters, votes, classes = np.split(values, [n_voters, n_voters * (n_classes + 1)])
    return voters, votes.reshape(n_voters, n_classes), classes


def _rows_about(ballots: Ballots) -> np.ndarray:
    """Return how many rows each proportion is about, as one vector."""
    cast = ballots.votes_cast
    return joined(cast.sum(axis=1), cast, np.full(cast.shape[1], float(ballots.n_rows)))


def bound_voters(
    labeled: Ballots,
    codes: np.ndarray,
    unlabeled: Ballots,
    *,
    bound: str,
    delta: float,
    constraints: str,
    together: bool = False,
    balance: np.ndarray | None = None,
    strata: Strata | None = None,
) -> VoterBounds:
    """Return bounds on how often voters are right on the unlabeled rows.

    ``codes`` are the classes of the labeled rows; ``bound`` is a method of
    `bounds.intervals.mean_bounds`, or "wilson_symmetric", which is as far from the estimate as the
    farther of Wilson's. ``delta`` is the probability that a bound fails; that any of them fails if
    they hold ``together``. ``constraints`` says which of the bounds on voters the game uses,
    ``balance`` has class frequencies that are known, as if from any number of labels, and
    ``strata`` is None if labels are a simple random sample.
    """
    n_voters, n_classes, _ = unlabeled.shape
    found = _estimate(labeled, codes, strata or Strata.single(labeled.n_rows, unlabeled.n_rows))
    estimate, n_labeled, n_unlabeled = found.estimate, found.n_labeled, _rows_about(unlabeled)
    if balance is not None:
        estimate[-n_classes:], n_labeled[-n_classes:] = balance, np.inf
    each = delta / (2.0 * (estimate.size if together else 1))
    lower, upper = _bounds(estimate, n_labeled, bound, each)
    columns = [parted(part, n_voters, n_classes) for part in (estimate, lower, upper, n_labeled)]
    voters, votes, classes = (Intervals(*part) for part in zip(*columns, strict=True))
    used = joined(
        np.full(n_voters, constraints != "class_accuracy"),
        np.full((n_voters, n_classes), constraints != "accuracy"),
        np.full(n_classes, True),
    )
    return VoterBounds(
        voters,
        votes,
        classes,
        coverage=n_unlabeled / unlabeled.n_rows,
        is_used=used & (n_labeled > 0) & (n_unlabeled > 0),
        variance_parts=found.variance_parts,
        delta=None if bound == "plug_in" else delta,
    )


def _estimate(labeled: Ballots, codes: np.ndarray, strata: Strata) -> WeightedEstimate:
    """Return proportions as the labels estimate them, as one vector."""
    gold = np.eye(labeled.n_classes)[codes]
    right, about = [], []
    for number in range(strata.n_labeled.size):
        here = np.flatnonzero(strata.labeled == number)
        part = labeled.take(here)
        own = part.right_votes(gold[here])
        right.append(joined(own.sum(axis=1), own, gold[here].sum(axis=0)))
        about.append(_rows_about(part))
    return weighted_estimate(np.array(right), np.array(about), strata.weights, strata.selection)


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


def _bounds(
    estimate: np.ndarray, n_labeled: np.ndarray, bound: str, delta: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds on proportions, 0 and 1 where there is no label."""
    # proportions are half as wide as the means in [-1, 1] that the bounds are for
    method = "wilson" if bound == "wilson_symmetric" else bound
    means = mean_bounds(2.0 * estimate - 1.0, n_labeled, method, delta)
    lower, upper = ((1.0 + mean) / 2.0 for mean in means)
    if bound == "wilson_symmetric":
        radius = np.maximum(estimate - lower, upper - estimate)
        lower, upper = np.maximum(estimate - radius, 0.0), np.minimum(estimate + radius, 1.0)
        lower, upper = np.nan_to_num(lower, nan=0.0), np.nan_to_num(upper, nan=1.0)
    return lower, upper
