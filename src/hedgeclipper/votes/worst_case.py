"""Worst cases over all labels that obey bounds: upper bounds on any average over the rows.

For gains G, one for each row and class, and any theta, the mean of G over the true classes is at
most

    mean over rows of max over k of (G_jk - (f_j theta)_k) + centers . theta + widths . abs(theta)

if the bounds on the voters hold. So every theta gives an upper bound. The least one is the value of
a game without a loss, in which G is the offset and -theta are the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.game.multiclass_losses import LargestScore, row_maxima
from hedgeclipper.io import listed
from hedgeclipper.io.progress import warn_user
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.evidence import Evidence, Strata
from hedgeclipper.votes.vote_game import scores_of, solve_ballots, weight_terms
from hedgeclipper.votes.voter_bounds import PRIOR_LABELS, VoterBounds, bound_voters

MAX_ITER, TOL = 200, 1e-2
HIGHEST_PRICE = 1.0
CONTRADICTION = 0.01
ROUNDING = 1e-6
DELTA = 0.05


class ContradictionWarning(UserWarning):
    """What the labels tell of some voters cannot all be true of the unlabeled rows."""


class MeanBound(NamedTuple):
    """An upper bound on a mean over rows, and the weights that prove it."""

    bound: float
    weights: np.ndarray


class RelaxedBounds(NamedTuple):
    """Bounds that some labels obey, and what was wrong with those they were made from.

    ``violation`` is by how much these, added up, must be broken, 0 if they need not be;
    ``contradicting`` tells whose are among them, shape (n_voters,).
    """

    bounds: VoterBounds
    violation: float
    contradicting: np.ndarray


def largest_mean(
    gains: np.ndarray, sample: Ballots, sampled: np.ndarray, ballots: Ballots, bounds: VoterBounds
) -> MeanBound:
    """Return a bound on the mean gain over all rows, for gains of shape (n_rows, n_classes).

    Weights are searched on a ``sample`` of the rows, those numbered ``sampled``.
    """
    weights = _search_weights(gains[sampled], sample, bounds.on(sample))
    found = bound_by_weights(gains, ballots, bounds, weights)
    trivial = MeanBound(float(row_maxima(gains).mean()), np.zeros_like(weights))
    return found if found.bound < trivial.bound else trivial


def bound_by_weights(
    gains: np.ndarray, ballots: Ballots, bounds: VoterBounds, weights: np.ndarray
) -> MeanBound:
    """Return the bound on the mean gain that some weights prove."""
    used = bounds.is_used
    price = bounds.centers[used] @ weights[used]
    price += bounds.widths[used] @ np.abs(weights[used])
    rest = sum(
        row_maxima(gains[rows] - scores_of(block, weights)).sum()
        for rows, block in ballots.blocks()
    )
    return MeanBound(float(rest / ballots.n_rows + price), weights)


def _search_weights(gains: np.ndarray, ballots: Ballots, bounds: VoterBounds) -> np.ndarray:
    """Return weights, none larger than the highest price, that prove a low bound on the mean."""
    terms, limits = weight_terms(bounds, HIGHEST_PRICE), {"tol": TOL, "max_iter": MAX_ITER}
    return -solve_ballots(ballots, bounds, terms, gains, LargestScore(), **limits).weights


def total_violation(ballots: Ballots, bounds: VoterBounds) -> MeanBound:
    """Return by how much the bounds, added up, must be broken by any labels of these rows.

    The weights are prices of at most 1, at that where a bound has to be relaxed.
    """
    here = bounds.on(ballots)
    return _violation(ballots, here, _search_weights(_no_gains(ballots), ballots, here))


def _violation(ballots: Ballots, bounds: VoterBounds, prices: np.ndarray) -> MeanBound:
    """Return by how much prices of at most 1 prove that the bounds must be broken."""
    least = bound_by_weights(_no_gains(ballots), ballots, bounds, prices).bound
    return MeanBound(max(-least, 0.0), prices)


def _no_gains(ballots: Ballots) -> np.ndarray:
    return np.zeros((ballots.n_rows, ballots.n_classes), order="F")


def proved_violation(sample: Ballots, ballots: Ballots, bounds: VoterBounds) -> MeanBound:
    """Return the total violation on a sample, or what its prices prove of all rows if less.

    Proportions in a sample differ a little from those of all rows, and may seem to contradict
    bounds.
    """
    found = total_violation(sample, bounds)
    if sample.n_rows == ballots.n_rows or found.bound == 0.0:
        return found
    everywhere = _violation(ballots, bounds, found.weights)
    return everywhere if everywhere.bound < found.bound else found


def relaxed(sample: Ballots, ballots: Ballots, bounds: VoterBounds) -> RelaxedBounds:
    """Return bounds that some labels obey: the same, or wider ones if these contradict each other.

    All are widened as often as needed, and once more, since bounds that just meet leave the
    adversary no choice, and were proved wrong. Contradictions are searched on the sample.
    """
    violation, prices = proved_violation(sample, ballots, bounds)
    contradicting = bounds.contradicting(prices)
    if violation <= CONTRADICTION:
        return RelaxedBounds(bounds, 0.0, np.zeros_like(contradicting))
    wider = bounds.widened()
    while proved_violation(sample, ballots, wider).bound > CONTRADICTION:
        wider = wider.widened()
    return RelaxedBounds(wider.widened(), violation, contradicting)


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
    make_bounds = partial(
        bound_voters,
        codes=evidence.codes,
        bound=bound,
        delta=DELTA,
        constraints=constraints,
        balance=evidence.balance if evidence.is_balance_known else None,
        strata=evidence.strata,
    )
    labeled, unlabeled = evidence.labeled, evidence.unlabeled
    each = make_bounds(labeled, unlabeled=unlabeled)
    joint = make_bounds(labeled, unlabeled=unlabeled, together=True)
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


class SubgroupBounds(NamedTuple):
    """Bounds on some of the rows: on the error there, and on the proportion of each class.

    ``proportions`` are by class label. They are all 0 and 1 if the bounds on the voters contradict
    each other.
    """

    n_rows: int
    error: tuple[float, float]
    proportions: dict


@dataclass(frozen=True, eq=False)
class WorstCaseBounds:
    """Bounds on the error of predictions, given bounds on the voters.

    ``ballots`` are votes on all unlabeled rows, auxiliary voters included, ``bounds`` hold all
    together, not relaxed, and ``predicted`` are the codes of the predicted classes.
    """

    ballots: Ballots
    bounds: VoterBounds
    constraints: Constraints
    predicted: np.ndarray

    @property
    def errors(self) -> np.ndarray:
        """1 for every class that a row's prediction is not, shape (n_rows, n_classes)."""
        classes = np.arange(self.ballots.n_classes)
        return (classes[:, None] != self.predicted).astype(float).T

    @cached_property
    def is_void(self) -> bool:
        """Whether no labels obey the bounds, which then bound nothing."""
        if self.constraints.is_void:  # already without the auxiliary voters
            return True
        return proved_violation(self._sample, self.ballots, self.bounds).bound > ROUNDING

    @cached_property
    def _sample(self) -> Ballots:
        return self.ballots.take(self.constraints.searched)

    def _largest(self, gains: np.ndarray) -> MeanBound:
        rows = self.constraints.searched
        return largest_mean(gains, self._sample, rows, self.ballots, self.bounds)

    def interval(self, gains: np.ndarray, most: float = 1.0) -> tuple[float, float] | None:
        """Return lower and upper bound on the mean gain over all rows; None if they are void.

        ``gains`` of shape (n_rows, n_classes) are from 0 to 1, their mean at most ``most``.
        """
        if self.is_void:
            return None
        lower, upper = -self._largest(-gains).bound, self._largest(gains).bound
        if lower > upper + ROUNDING:
            return None
        low, high = np.clip([lower, max(lower, upper)], 0.0, most) + 0.0  # no -0.0
        return float(low), float(high)

    def certificate(self) -> Certificate:
        """Return bounds on the error of the predictions, as far as those on the voters hold."""
        found, reason = self.interval(self.errors), "bounds on the voters are estimates"
        if found is None:
            reason = "what the labels tell of the voters cannot all be true of these rows"
        lower, upper = found or (0.0, 1.0)
        return Certificate(
            error=None,
            error_upper=upper,
            error_lower=lower,
            kind="void" if found is None else "estimate",
            confidence_level=None if self.bounds.delta is None else 1.0 - self.bounds.delta,
            n_unlabeled=self.ballots.n_rows,
            reason=reason,
        )

    def subgroup(self, mask: np.ndarray, classes: np.ndarray) -> SubgroupBounds:
        """Return bounds for the rows of a mask, given the labels of the classes.

        The mask is of the first rows; held-out ones, which come last, are in no subgroup.
        """
        mask = np.append(mask, np.zeros(self.ballots.n_rows - mask.size, bool))
        part = float(mask.mean())

        def within(gains: np.ndarray) -> tuple[float, float]:
            found = self.interval(np.where(mask[:, None], gains, 0.0), most=part)
            lower, upper = found or (0.0, part)
            return lower / part, upper / part

        each = np.eye(classes.size)
        proportions = {label: within(each[[k]]) for k, label in enumerate(classes.tolist())}
        return SubgroupBounds(int(mask.sum()), within(self.errors), proportions)

    def suggest_rows(
        self, strata: Strata, wrong: np.ndarray, k: int, random_state: np.random.RandomState
    ) -> np.ndarray:
        """Return rows whose labels would lower the bound on the error most."""
        used, weights = self.bounds.is_used, self._largest(self.errors).weights
        sizes = np.abs(weights[used]) if weights[used].any() else np.ones(used.sum())
        stakes, parts = sizes * self.bounds.widths[used], self.bounds.variance_parts[:, used]
        return suggest_rows(strata, stakes, parts, wrong, k, random_state)


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
    numbers = range(strata.n_labeled.size)
    queues = [iter(order[strata.unlabeled[order] == number]) for number in numbers]
    n_labeled, n_left = strata.n_labeled.astype(float), strata.n_rows.copy()
    n_wrong = np.bincount(strata.labeled, wrong)
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


def warn_of_contradiction(constraints: Constraints, voters: np.ndarray) -> None:
    """Warn if bounds had to be relaxed."""
    if constraints.violation:
        names = voters[constraints.contradicting].tolist()
        warn_user(
            "What the labels tell of the voters cannot all be true of the unlabeled rows: bounds "
            f"would have to be relaxed by {constraints.violation:.3f} in all, among them those of "
            f"{listed(names, most=5) if names else 'the classes'}. The game was solved with wider "
            "ones. Labels may be wrong, or drawn from other rows than these.",
            ContradictionWarning,
        )


def warn_if_void(worst_case: Certificate, constraints: Constraints) -> None:
    """Warn if the worst case is void, and bounds that each hold by themselves do not show it."""
    if worst_case.kind == "void" and not constraints.violation:
        warn_user(
            "What the labels tell of the voters, the majority vote and the Dawid-Skene model "
            "cannot all be true of the unlabeled rows: they bound no error. Labels may be wrong, "
            "or drawn from other rows than these; class_balance, if given, may be wrong.",
            ContradictionWarning,
        )
