"""Bounds that labels give on the accuracy of voters and on the frequencies of classes.

Three kinds of proportions are bounded: how often a voter is right, how often it is right where it
votes for a class, and how often a class occurs. They are one vector, as the weights theta are that
belong to them (`ballots`). In the game they are proportions of all unlabeled rows: a voter awake on
a tenth of them and right nine times in ten has 0.09.

For any theta,

    mean over rows of max over k of -(f_j theta)_k + centers . theta + widths . abs(theta)

is at least 0 if the bounds hold. Where it is below 0, they contradict each other, and are relaxed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hedgeclipper.bounds.intervals import mean_bounds
from hedgeclipper.game.losses import LargestScore, row_maxima
from hedgeclipper.io import listed
from hedgeclipper.io.progress import warn_user
from hedgeclipper.votes.ballots import Ballots, parted
from hedgeclipper.votes.evidence import Evidence
from hedgeclipper.votes.vote_game import solve_ballots

DELTA = 0.05
MAX_ITER, TOL = 200, 1e-2
HIGHEST_PRICE, HIGH_PRICE = 1.0, 0.5
CONTRADICTION, MIN_RELAXATION = 0.01, 0.01


class ContradictionWarning(UserWarning):
    """What the labels tell of some voters cannot all be true of the unlabeled rows."""


@dataclass(frozen=True, eq=False)
class VoterBounds:
    """Bounds on all proportions, each in one vector of voters, votes and classes.

    ``n_labeled`` is the number of labels behind each, infinite for class frequencies that are
    known, ``coverage`` the proportion of unlabeled rows that it is about, and ``is_used`` tells
    whether the game may use it.
    """

    lower: np.ndarray
    upper: np.ndarray
    n_labeled: np.ndarray
    coverage: np.ndarray
    is_used: np.ndarray

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
    together: bool = False,
    balance: np.ndarray | None = None,
) -> VoterBounds:
    """Return Wilson's bounds on how often voters are right on the unlabeled rows.

    ``codes`` are the classes of the labeled rows, and ``balance`` has class frequencies that are
    known. Each interval holds at the level 1 - DELTA by itself, or all of them ``together`` do.
    """
    n_labeled, n_unlabeled = labeled.rows_about, unlabeled.rows_about
    right = labeled.agreement(np.eye(labeled.n_classes)[codes])
    estimate = np.divide(right, n_labeled, out=np.full_like(right, np.nan), where=n_labeled > 0)
    if balance is not None:
        estimate[-balance.size :], n_labeled[-balance.size :] = balance, np.inf
    each = DELTA / (2.0 * (estimate.size if together else 1))
    # proportions are half as wide as the means in [-1, 1] that the bounds are for
    means = mean_bounds(2.0 * estimate - 1.0, n_labeled, "wilson", each)
    lower, upper = ((1.0 + mean) / 2.0 for mean in means)
    is_used = (n_labeled > 0) & (n_unlabeled > 0)
    return VoterBounds(lower, upper, n_labeled, n_unlabeled / unlabeled.n_rows, is_used)


def proved_violation(
    sample: Ballots, ballots: Ballots, bounds: VoterBounds
) -> tuple[float, np.ndarray]:
    """Return by how much the bounds, added up, must be broken by any labels, and prices as proof.

    Prices are weights of at most 1, at that where a bound has to be relaxed. They are found on a
    sample. Proportions there differ a little from those of all rows, and may seem to contradict
    bounds: if the prices prove less of all rows, that is returned.
    """
    here, nothing = bounds.on(sample), np.zeros((sample.n_rows, sample.n_classes), order="F")
    limits = {"largest": HIGHEST_PRICE, "tol": TOL, "max_iter": MAX_ITER}
    prices = -solve_ballots(sample, here, nothing, LargestScore(), **limits).weights
    violation = _violation(sample, here, prices)
    if violation > 0.0 and sample.n_rows < ballots.n_rows:
        violation = min(violation, _violation(ballots, bounds, prices))
    return violation, prices


def _violation(ballots: Ballots, bounds: VoterBounds, prices: np.ndarray) -> float:
    """Return by how much the bounds must be broken, as the prices prove."""
    used = bounds.is_used
    paid = bounds.centers[used] @ prices[used] + bounds.widths[used] @ np.abs(prices[used])
    scores = sum(row_maxima(-block.weighted(prices)).sum() for _, block in ballots.blocks())
    return max(-float(scores / ballots.n_rows + paid), 0.0)


def relaxed(sample: Ballots, ballots: Ballots, bounds: VoterBounds) -> VoterBounds:
    """Return bounds that some labels obey: the same, or wider ones if these contradict each other.

    All are widened as often as needed, and once more, since bounds that just meet leave the
    adversary no choice, and were proved wrong. Contradictions are searched on the sample.
    """
    wider = bounds
    while proved_violation(sample, ballots, wider)[0] > CONTRADICTION:
        wider = wider.widened()
    return bounds if wider is bounds else wider.widened()


@dataclass(frozen=True, eq=False)
class Constraints:
    """Bounds on the voters, which limit the adversary.

    Parameters
    ----------
    each : VoterBounds
        Bounds that hold each by itself, as labels give them.
    joint : VoterBounds
        Bounds that hold all together, relaxed where they contradict each other.
    violation : float
        By how much ``each``, added up, must be broken by any labels; 0 if they need not be.
    contradicting : ndarray of bool, shape (n_voters,)
        Whose bounds are among those to be broken.
    """

    each: VoterBounds
    joint: VoterBounds
    violation: float
    contradicting: np.ndarray


def constrain(evidence: Evidence) -> Constraints:
    """Return bounds on the voters."""
    labeled, unlabeled = evidence.labeled, evidence.unlabeled
    balance = evidence.balance if evidence.is_balance_known else None
    each = bound_voters(labeled, evidence.codes, unlabeled, balance=balance)
    joint = bound_voters(labeled, evidence.codes, unlabeled, together=True, balance=balance)
    sample = unlabeled.take(evidence.searched)
    violation, prices = proved_violation(sample, unlabeled, each)
    if violation <= CONTRADICTION:
        return Constraints(each, joint, 0.0, np.zeros(unlabeled.shape[0], dtype=bool))
    voters, votes, _ = parted(np.abs(prices) > HIGH_PRICE, *unlabeled.shape[:2])
    contradicting = voters | votes.any(axis=1)
    return Constraints(each, relaxed(sample, unlabeled, joint), violation, contradicting)


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
