"""What a fitted `VoteAggregator` can say of its error, of parts of the rows, and of new labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.bounds.checked_rule import ESTIMATE_LEVEL
from hedgeclipper.bounds.class_rates import ClassRates
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.evidence import Strata
from hedgeclipper.votes.vote_game import most_probable
from hedgeclipper.votes.voter_bounds import DELTA, bound_voters
from hedgeclipper.votes.worst_case import SubgroupBounds, WorstCaseBounds, warn_if_void


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
