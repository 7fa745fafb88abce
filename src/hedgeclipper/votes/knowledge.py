"""What labels say of voters and classes, each thing between two bounds.

How often a voter is right, how often it is where it votes for a class, and how often a class
occurs: the three stand one behind the other in one vector, and so do the weights theta that
belong to them. Bounds are of shares of all unlabeled rows: where a voter is awake on a tenth of
them and right nine times in ten, its share is 0.09.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hedgeclipper.bounds.intervals import mean_bounds
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.strata import Strata, Weighed, weigh

ESTIMATES, GUARANTEE = ("wilson", "wilson_symmetric", "plug_in"), "transductive"
CONSTRAINTS = ("accuracy", "class_accuracy", "both")
HIGH_PRICE = 0.5
GIVE = 0.01


class Intervals(NamedTuple):
    """Shares of right votes, or of a class, among the rows they are about; NaN if unknown.

    ``n_labeled`` is how many labels they rest on, as those of a plain draw.
    """

    estimate: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    n_labeled: np.ndarray


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Bounds on all shares.

    Parameters
    ----------
    voters, votes, classes : Intervals
        Of shapes (n_voters,), (n_voters, n_classes) and (n_classes,): how often a voter is right,
        how often it is where it votes for a class, and how often a class occurs.
    coverage : ndarray
        Share of the unlabeled rows that each is about, as one vector.
    is_used : ndarray of bool
        Which of them the game may use, as one vector.
    parts : ndarray of shape (n_strata, n_shares)
        Which part of the variance of each is due to the labels of each stratum.
    is_guarantee : bool
        Whether all bounds hold together with probability 1 - delta, for sure.
    delta : float or None
        Probability that any of them fails, or each, as they were made; None for estimates taken at
        their word.
    """

    voters: Intervals
    votes: Intervals
    classes: Intervals
    coverage: np.ndarray
    is_used: np.ndarray
    parts: np.ndarray
    is_guarantee: bool
    delta: float | None

    @property
    def centers(self) -> np.ndarray:
        """Middle of each interval, as a share of all rows."""
        return self.coverage * (self._joined("lower") + self._joined("upper")) / 2.0

    @property
    def widths(self) -> np.ndarray:
        """Half the length of each interval; infinite where it is not used."""
        half = self.coverage * (self._joined("upper") - self._joined("lower")) / 2.0
        return np.where(self.is_used, half, np.inf)

    @property
    def n_labeled(self) -> np.ndarray:
        """Labeled rows that each is about, as one vector; infinite if it is known without."""
        return self._joined("n_labeled")

    def on(self, ballots: Ballots) -> Knowledge:
        """Return the same bounds for other rows, on which voters may be awake more or less often.

        Parameters
        ----------
        ballots : Ballots
            Votes of the same voters on these rows.
        """
        n_rows = _rows_about(ballots)
        used = self.is_used & (n_rows > 0)
        return replace(self, coverage=n_rows / ballots.n_rows, is_used=used)

    def widened(self) -> Knowledge:
        """Return bounds twice as far apart, and a little more, so that exact ones give way too.

        Class frequencies that are known, and not from labels, stay as they are.
        """
        voters, votes, classes = (
            _widened(part) for part in (self.voters, self.votes, self.classes)
        )
        return replace(self, voters=voters, votes=votes, classes=classes)

    def blamed(self, prices: np.ndarray) -> np.ndarray:
        """Return the voters some bound of which has a price near 1, the highest."""
        voters, votes, _ = parted(np.abs(prices), *self.votes.lower.shape)
        return (voters > HIGH_PRICE) | (votes > HIGH_PRICE).any(axis=1)

    def _joined(self, name: str) -> np.ndarray:
        parts = (self.voters, self.votes, self.classes)
        return np.concatenate([getattr(part, name).ravel() for part in parts])


def _widened(intervals: Intervals) -> Intervals:
    middle = (intervals.lower + intervals.upper) / 2.0
    half = np.where(np.isinf(intervals.n_labeled), 0.0, intervals.upper - intervals.lower + GIVE)
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
    """Return how many rows each share is about, as one vector."""
    said = ballots.said
    return joined(said.sum(axis=1), said, np.full(said.shape[1], float(ballots.n_rows)))


def learn_from_labels(
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
) -> Knowledge:
    """Return bounds on how often voters are right on the unlabeled rows.

    Parameters
    ----------
    labeled, unlabeled : Ballots
        Votes.
    codes : ndarray of shape (n_labeled,)
        Classes of the labeled rows.
    bound : {"wilson", "wilson_symmetric", "plug_in", "transductive"}
        How the bounds are made, as in `lower_bounds`; symmetric ones are as
        far from the estimate as the farther of Wilson's.
    delta : float
        Probability that a bound fails; that any of them fails if they have to hold together.
        "transductive" ones always do.
    constraints : {"accuracy", "class_accuracy", "both"}
        Whether the game uses how often a voter is right, how often where it votes for a class, or
        both.
    together : bool
        Whether bounds have to hold together.
    balance : ndarray of shape (n_classes,), optional
        Class frequencies that are known, as if from any number of labels.
    strata : Strata, optional
        Where the rows are; None if labels are a plain draw.
    """
    n_voters, n_classes, _ = unlabeled.shape
    found = _weighed(labeled, codes, strata or Strata.one(labeled.n_rows, unlabeled.n_rows))
    estimate, n_labeled, n_unlabeled = found.estimate, found.n_labeled, _rows_about(unlabeled)
    if balance is not None:
        estimate[-n_classes:], n_labeled[-n_classes:] = balance, np.inf
    n_bounds = estimate.size if together else 1
    lower, upper = _bounds(estimate, n_labeled, n_unlabeled, bound, delta, n_bounds)
    columns = [parted(part, n_voters, n_classes) for part in (estimate, lower, upper, n_labeled)]
    parts = [Intervals(*part) for part in zip(*columns, strict=True)]
    used = joined(
        np.full(n_voters, constraints != "class_accuracy"),
        np.full((n_voters, n_classes), constraints != "accuracy"),
        np.full(n_classes, True),
    )
    return Knowledge(
        voters=parts[0],
        votes=parts[1],
        classes=parts[2],
        coverage=n_unlabeled / unlabeled.n_rows,
        is_used=used & (n_labeled > 0) & (n_unlabeled > 0),
        parts=found.parts,
        is_guarantee=bound == "transductive",
        delta=None if bound == "plug_in" else delta,
    )


def _weighed(labeled: Ballots, codes: np.ndarray, strata: Strata) -> Weighed:
    """Return shares as the labels estimate them, as one vector."""
    gold = np.eye(labeled.n_classes)[codes]
    right, about = [], []
    for number in range(strata.n_strata):
        here = np.flatnonzero(strata.labeled == number)
        part = labeled.take(here)
        own = np.diagonal(part.sums(gold[here]), axis1=1, axis2=2)
        right.append(joined(own.sum(axis=1), own, gold[here].sum(axis=0)))
        about.append(_rows_about(part))
    return weigh(np.array(right), np.array(about), strata.weights, strata.choice)


def _bounds(
    estimate: np.ndarray,
    n_labeled: np.ndarray,
    n_unlabeled: np.ndarray,
    bound: str,
    delta: float,
    n_together: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds on shares, 0 and 1 where no label tells."""
    # shares are half as wide as the means in [-1, 1] that the bounds are for
    method = "wilson" if bound == "wilson_symmetric" else bound
    each = delta / (2.0 * n_together) if method == "wilson" else delta
    means = mean_bounds(2.0 * estimate - 1.0, n_labeled, n_unlabeled, method, each, estimate.size)
    lower, upper = ((1.0 + mean) / 2.0 for mean in means)
    if bound == "wilson_symmetric":
        radius = np.maximum(estimate - lower, upper - estimate)
        lower, upper = np.maximum(estimate - radius, 0.0), np.minimum(estimate + radius, 1.0)
        lower, upper = np.nan_to_num(lower, nan=0.0), np.nan_to_num(upper, nan=1.0)
    return lower, upper
