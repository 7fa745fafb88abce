"""Bounds that labels give on the accuracy of voters and on the frequencies of classes.

Three kinds of proportions are bounded: how often a voter is right, how often it is right where it
votes for a class, and how often a class occurs. They are one vector, as the weights theta are that
belong to them (`ballots`). In the game they are proportions of all unlabeled rows: a voter awake on
a tenth of them and right nine times in ten has 0.09.

For gains G, one for each row and class, and any theta, the mean of G over the true classes is at
most

    mean over rows of max over k of (G_jk - (f_j theta)_k) + centers . theta + widths . abs(theta)

if the bounds hold. If that is below 0 with no gains, the bounds contradict each other, and are
relaxed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from hedgeclipper.bounds.intervals import mean_bounds
from hedgeclipper.game.multiclass_losses import LargestScore, row_maxima
from hedgeclipper.io import listed
from hedgeclipper.io.progress import warn_user
from hedgeclipper.votes.ballots import Ballots, parted
from hedgeclipper.votes.evidence import Evidence, Strata
from hedgeclipper.votes.vote_game import solve_ballots

ESTIMATES = ("wilson", "wilson_symmetric", "plug_in")
CONSTRAINTS = ("accuracy", "class_accuracy", "both")
DELTA = 0.05
PRIOR_LABELS = 4.0
MAX_ITER, TOL = 200, 1e-2
HIGHEST_PRICE, HIGH_PRICE = 1.0, 0.5
CONTRADICTION, MIN_RELAXATION = 0.01, 0.01


class ContradictionWarning(UserWarning):
    """What the labels tell of some voters cannot all be true of the unlabeled rows."""


@dataclass(frozen=True, eq=False)
class VoterBounds:
    """Bounds on all proportions, each in one vector of voters, votes and classes.

    ``estimate`` is NaN where there is no label. ``n_labeled`` is the number of labels of a simple
    random sample that tells as much, ``coverage`` the proportion of unlabeled rows that each is
    about, and ``is_used`` tells whether the game may use it. ``variance_parts`` of shape (n_strata,
    n_proportions) are the parts of its variance due to labels of each stratum. ``delta`` is the
    probability that any bound fails, or each; None for plug-in estimates.
    """

    estimate: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    n_labeled: np.ndarray
    coverage: np.ndarray
    is_used: np.ndarray
    variance_parts: np.ndarray
    delta: float | None

    @property
    def centers(self) -> np.ndarray:
        """Middle of each interval, as a proportion of all rows."""
        return self.coverage * (self.lower + self.upper) / 2.0

    @property
    def widths(self) -> np.ndarray:
        """Half the length of each interval; infinite where it is not used."""
        return np.where(self.is_used, self.coverage * (self.upper - self.lower) / 2.0, np.inf)

    def on(self, ballots: Ballots) -> VoterBounds:
        """Return the same bounds for votes on other rows, where voters may be awake less often."""
        n_rows = ballots.rows_about
        used = self.is_used & (n_rows > 0)
        return replace(self, coverage=n_rows / ballots.n_rows, is_used=used)

    def widened(self) -> VoterBounds:
        """Return bounds about twice as far apart; class frequencies known without labels stay."""
        middle, length = (self.lower + self.upper) / 2.0, self.upper - self.lower
        half = np.where(np.isinf(self.n_labeled), 0.0, length + MIN_RELAXATION)
        lower, upper = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
        return replace(self, lower=lower, upper=upper)


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
    estimate, n_labeled, n_unlabeled = found.estimate, found.n_labeled, unlabeled.rows_about
    if balance is not None:
        estimate[-n_classes:], n_labeled[-n_classes:] = balance, np.inf
    each = delta / (2.0 * (estimate.size if together else 1))
    # proportions are half as wide as the means in [-1, 1] that the bounds are for
    method = "wilson" if bound == "wilson_symmetric" else bound
    means = mean_bounds(2.0 * estimate - 1.0, n_labeled, method, each)
    lower, upper = ((1.0 + mean) / 2.0 for mean in means)
    if bound == "wilson_symmetric":
        radius = np.maximum(estimate - lower, upper - estimate)
        lower, upper = np.maximum(estimate - radius, 0.0), np.minimum(estimate + radius, 1.0)
        lower, upper = np.nan_to_num(lower, nan=0.0), np.nan_to_num(upper, nan=1.0)
    used = [constraints != "class_accuracy", constraints != "accuracy", True]
    is_used = np.repeat(used, [n_voters, n_voters * n_classes, n_classes])
    return VoterBounds(
        estimate,
        lower,
        upper,
        n_labeled,
        coverage=n_unlabeled / unlabeled.n_rows,
        is_used=is_used & (n_labeled > 0) & (n_unlabeled > 0),
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
        right.append(part.agreement(gold[here]))
        about.append(part.rows_about)
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


def search_weights(gains: np.ndarray, ballots: Ballots, bounds: VoterBounds) -> np.ndarray:
    """Return weights, none larger than the highest price, that prove a low bound on the mean."""
    limits = {"largest": HIGHEST_PRICE, "tol": TOL, "max_iter": MAX_ITER}
    return -solve_ballots(ballots, bounds, gains, LargestScore(), **limits).weights


def bound_by_weights(
    gains: np.ndarray, ballots: Ballots, bounds: VoterBounds, weights: np.ndarray
) -> float:
    """Return the bound on the mean gain over the true classes that some weights prove."""
    used = bounds.is_used
    price = bounds.centers[used] @ weights[used]
    price += bounds.widths[used] @ np.abs(weights[used])
    rest = sum(
        row_maxima(gains[rows] - block.weighted(weights)).sum() for rows, block in ballots.blocks()
    )
    return float(rest / ballots.n_rows + price)


def proved_violation(
    sample: Ballots, ballots: Ballots, bounds: VoterBounds
) -> tuple[float, np.ndarray]:
    """Return by how much the bounds, added up, must be broken by any labels, and prices as proof.

    Prices are weights of at most 1, at that where a bound has to be relaxed. They are found on a
    sample. Proportions there differ a little from those of all rows, and may seem to contradict
    bounds: if the prices prove less of all rows, that is returned.
    """
    here, nothing = bounds.on(sample), np.zeros((sample.n_rows, sample.n_classes), order="F")
    prices = search_weights(nothing, sample, here)
    violation = max(-bound_by_weights(nothing, sample, here, prices), 0.0)
    if violation > 0.0 and sample.n_rows < ballots.n_rows:
        nothing = np.zeros((ballots.n_rows, ballots.n_classes), order="F")
        violation = min(violation, max(-bound_by_weights(nothing, ballots, bounds, prices), 0.0))
    return violation, prices


class RelaxedBounds(NamedTuple):
    """Bounds that some labels obey, and what was wrong with those they were made from.

    ``violation`` is by how much these, added up, must be broken, 0 if they need not be;
    ``contradicting`` tells whose are among them, shape (n_voters,).
    """

    bounds: VoterBounds
    violation: float
    contradicting: np.ndarray


def relaxed(sample: Ballots, ballots: Ballots, bounds: VoterBounds) -> RelaxedBounds:
    """Return bounds that some labels obey: the same, or wider ones if these contradict each other.

    All are widened as often as needed, and once more, since bounds that just meet leave the
    adversary no choice, and were proved wrong. Contradictions are searched on the sample.
    """
    violation, prices = proved_violation(sample, ballots, bounds)
    if violation <= CONTRADICTION:
        return RelaxedBounds(bounds, 0.0, np.zeros(ballots.shape[0], dtype=bool))
    wider = bounds.widened()
    while proved_violation(sample, ballots, wider)[0] > CONTRADICTION:
        wider = wider.widened()
    voters, votes, _ = parted(np.abs(prices) > HIGH_PRICE, *ballots.shape[:2])
    return RelaxedBounds(wider.widened(), violation, voters | votes.any(axis=1))


@dataclass(frozen=True, eq=False)
class Constraints:
    """Bounds on the voters, which limit the adversary, relaxed where they contradict each other.

    Parameters
    ----------
    each : VoterBounds
        Bounds that hold each by itself, as labels give them.
    relaxed, joint : VoterBounds
        The same, and bounds that hold all together, both relaxed if need be.
    searched : ndarray of int
        Numbers of the unlabeled rows on which weights are searched.
    violation : float
        By how much ``each``, added up, must be broken by any labels; 0 if they need not be.
    contradicting : ndarray of bool, shape (n_voters,)
        Whose bounds are among those to be broken.
    is_void : bool
        Whether bounds that hold all together contradict each other.
    """

    each: VoterBounds
    relaxed: VoterBounds
    joint: VoterBounds
    searched: np.ndarray
    violation: float
    contradicting: np.ndarray
    is_void: bool


def constrain(evidence: Evidence, constraints: str, bound: str) -> Constraints:
    """Return bounds on the voters, for parameters of `VoteAggregator`."""
    labeled, unlabeled = evidence.labeled, evidence.unlabeled
    make_bounds = partial(
        bound_voters,
        labeled,
        evidence.codes,
        unlabeled,
        bound=bound,
        delta=DELTA,
        constraints=constraints,
        balance=evidence.balance if evidence.is_balance_known else None,
        strata=evidence.strata,
    )
    each, joint = make_bounds(), make_bounds(together=True)
    sample, is_void = unlabeled.take(evidence.searched), False
    single = relaxed(sample, unlabeled, each)
    if single.violation:  # wider bounds may contradict each other, too
        found = relaxed(sample, unlabeled, joint)
        joint, is_void = found.bounds, found.violation > 0
    return Constraints(
        each,
        single.bounds,
        joint,
        evidence.searched,
        single.violation,
        single.contradicting,
        is_void,
    )


def warn_of_contradiction(constraints: Constraints, voters: np.ndarray) -> None:
    """Warn that bounds had to be relaxed."""
    names = voters[constraints.contradicting].tolist()
    warn_user(
        "What the labels tell of the voters cannot all be true of the unlabeled rows: bounds "
        f"would have to be relaxed by {constraints.violation:.3f} in all, among them those of "
        f"{listed(names, most=5) if names else 'the classes'}. The game was solved with wider "
        "ones. Labels may be wrong, or drawn from other rows than these.",
        ContradictionWarning,
    )
