"""What a fitted `VoteAggregator` can say of its error, of parts of the rows, and of new labels.

Worst cases are over all labels that obey the bounds on the voters: upper bounds on any average over
the rows. Any weights prove such a bound (`voter_bounds.bound_by_weights`). The least one is the
value of a game without a loss, in which gains are the offset.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.bounds.checked_rule import ESTIMATE_LEVEL
from hedgeclipper.bounds.class_rates import ClassRates
from hedgeclipper.game.multiclass_losses import row_maxima
from hedgeclipper.io.progress import warn_user
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.evidence import Strata
from hedgeclipper.votes.vote_game import most_probable
from hedgeclipper.votes.voter_bounds import (
    DELTA,
    PRIOR_LABELS,
    Constraints,
    ContradictionWarning,
    VoterBounds,
    bound_by_weights,
    bound_voters,
    proved_violation,
    search_weights,
)

ROUNDING = 1e-6


class VoteBoundsMixin:
    """Methods of `VoteAggregator` that bound something, computed when they are asked for."""

    _gold: Any
    _pool: Any
    _strata: Any
    _auxiliary: Any
    _predictor: Any
    _constraints: Any
    _rates: Any
    _worst_error: np.ndarray | None
    bound: str
    confidence_level: float | None
    constraints: str
    class_balance: Any
    class_balance_: np.ndarray
    classes_: np.ndarray
    random_state: Any

    @property
    def worst_case_error_(self) -> np.ndarray:
        """Largest error on the unlabeled rows that the bounds on the voters allow."""
        check_is_fitted(self)
        if self._worst_error is None:
            worst_case = self._worst_case().certificate()
            warn_if_void(worst_case, self._constraints)
            self._worst_error = np.array([worst_case.error_upper])
        return self._worst_error

    def subgroup_bounds(self, mask: Any) -> SubgroupBounds:
        """Return intervals that contain a subgroup's error and class proportions.

        They are estimates: they hold if the bounds on the voters' accuracies do.

        Parameters
        ----------
        mask : array-like of bool of shape (n_unlabeled,)
            Which of the unlabeled rows of ``fit``.

        Returns
        -------
        SubgroupBounds
            Number of rows, bounds on the error, and bounds on the proportion of each class.
        """
        check_is_fitted(self)
        return self._worst_case().subgroup(self._gold.checked_mask(mask), self.classes_)

    def class_rates(self, confidence_level: float | None = None) -> ClassRates:
        r"""Return how often each class occurs in all rows of the fit, with an interval for each.

        Predicted probabilities are corrected by what the gold labels show of them
        (prediction-powered inference): an estimate. If the model has a ``confidence_level``, the
        intervals are a guarantee, from the number of gold labels of each class: they hold if these
        are a simple random sample of the rows, and they are wider.

        Parameters
        ----------
        confidence_level : float, optional
            Level of each interval; by default that of the model, or 0.95.

        Returns
        -------
        ClassRates
            Rates and intervals; ``describe()`` has them in one sentence.

        Examples
        --------
        >>> from hedgeclipper import VoteAggregator
        >>> rng = np.random.default_rng(0)
        >>> truth = rng.choice(["A", "B"], 1000, p=[0.6, 0.4])
        >>> other = np.where(truth == "A", "B", "A")
        >>> votes = np.where(rng.random((1000, 7)) < 0.8, truth[:, None], other[:, None])
        >>> gold = np.where(np.arange(1000) < 100, truth, None)
        >>> model = VoteAggregator().fit(votes, gold)
        >>> print(str(model.class_rates()).replace(", B", ",\nB"))
        A 55.3% (95% interval 51.7% to 58.8%),
        B 44.7% (41.2% to 48.3%) of 1,000 rows, an estimate
        """
        check_is_fitted(self)
        level = confidence_level or self.confidence_level or ESTIMATE_LEVEL
        return self._rates.rates(self.classes_.tolist(), level)

    def suggest_labels(self, k: int) -> np.ndarray:
        """Return unlabeled rows to label next, so that the bound on the error tightens most.

        Rows are divided into strata by how certain the Dawid-Skene model is of them. The number of
        rows from each stratum is the one that lowers the bound most; within a stratum they are
        drawn at random, by ``random_state``. A fit weights labels by how many unlabeled rows of
        their stratum they represent. Bounds with labels chosen here are estimates, and may hold
        less often than those with random ones, since earlier labels decide where later ones are
        drawn. The gain is small where there are many rows to each label. As rows that voters
        disagree on are chosen more often, a fit may warn of it (``ShiftWarning``). With a
        ``confidence_level``, and with ``initial_model=None``, the rows are a simple random sample,
        since nothing else leaves the guarantee in force. Once labeled, put the labels into ``y``
        and fit again: to ``partial_fit`` they would be new rows.

        Parameters
        ----------
        k : int
            How many.

        Returns
        -------
        ndarray of shape (k,)
            Names of the rows, the most useful first, if they have names (``Votes.rows``, or the
            index of a frame), else their positions in the rows given: those of ``L``, or of
            ``L_unlabeled`` if that was passed.
        """
        rows = self._suggested_rows(k)
        return self._gold.unlabeled_keys(rows)

    def _suggested_rows(self, k: int) -> np.ndarray:
        """Return numbers of rows among the unlabeled ones."""
        check_is_fitted(self)
        k, n_rows = self._gold.checked_count(k), self._gold.unlabeled.n_rows
        wrong = self._predicted_codes(Ballots(self._pool.labeled)) != self._pool.codes
        strata = Strata.of(self._strata.labeled, self._strata.unlabeled[:n_rows])
        random_state = check_random_state(self.random_state)
        return self._worst_case().suggest_rows(strata, wrong, k, random_state)

    def _worst_case(self) -> WorstCaseBounds:
        labeled, unlabeled = Ballots(self._pool.labeled), Ballots(self._pool.unlabeled)
        extended = self._auxiliary.join(unlabeled)
        is_known = not (isinstance(self.class_balance, str) and self.class_balance == "labeled")
        bounds = bound_voters(
            self._auxiliary.join(labeled),
            self._pool.codes,
            extended,
            bound=self.bound,
            delta=DELTA,
            constraints=self.constraints,
            together=True,
            balance=self.class_balance_ if is_known else None,
            strata=self._strata,
        )
        predicted = self._predicted_codes(unlabeled)
        return WorstCaseBounds(extended, bounds, self._constraints, predicted)

    def _predicted_codes(self, ballots: Ballots) -> np.ndarray:
        return most_probable(self._predictor.probabilities(ballots), self.class_balance_)


class MeanBound(NamedTuple):
    """An upper bound on a mean over rows, and the weights that prove it."""

    bound: float
    weights: np.ndarray


def largest_mean(
    gains: np.ndarray, sample: Ballots, sampled: np.ndarray, ballots: Ballots, bounds: VoterBounds
) -> MeanBound:
    """Return a bound on the mean gain over all rows, for gains of shape (n_rows, n_classes).

    Weights are searched on a ``sample`` of the rows, those numbered ``sampled``.
    """
    weights = search_weights(gains[sampled], sample, bounds.on(sample))
    bound, trivial = bound_by_weights(gains, ballots, bounds, weights), row_maxima(gains).mean()
    if bound < trivial:
        return MeanBound(bound, weights)
    return MeanBound(float(trivial), np.zeros_like(weights))


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
        return proved_violation(self._sample, self.ballots, self.bounds)[0] > ROUNDING

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


def warn_if_void(worst_case: Certificate, constraints: Constraints) -> None:
    """Warn if the worst case is void, and bounds that each hold by themselves do not show it."""
    if worst_case.kind == "void" and not constraints.violation:
        warn_user(
            "What the labels tell of the voters, the majority vote and the Dawid-Skene model "
            "cannot all be true of the unlabeled rows: they bound no error. Labels may be wrong, "
            "or drawn from other rows than these; class_balance, if given, may be wrong.",
            ContradictionWarning,
        )
