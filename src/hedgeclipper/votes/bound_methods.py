"""What a fitted `VoteAggregator` can say of its error, of parts of the rows, and of new labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.vote_game import most_probable
from hedgeclipper.votes.voter_bounds import bound_voters
from hedgeclipper.votes.worst_case import DELTA, SubgroupBounds, WorstCaseBounds, warn_if_void


class VoteBoundsMixin:
    """Methods of `VoteAggregator` that bound something, computed when they are asked for."""

    _gold: Any
    _pool: Any
    _strata: Any
    _auxiliary: Any
    _predictor: Any
    _constraints: Any
    _worst_error: np.ndarray | None
    bound: str
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
            Numbers of rows among the unlabeled ones of ``fit``, the most useful first.
        """
        check_is_fitted(self)
        k, n_rows = self._gold.checked_count(k), self._gold.unlabeled.n_rows
        wrong = self._predicted_codes(Ballots(self._pool.labeled)) != self._pool.codes
        strata = replace(self._strata, unlabeled=self._strata.unlabeled[:n_rows])
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
