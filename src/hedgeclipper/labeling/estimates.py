"""What a labeling loop expects: how much of the file is wrong, and what it takes to finish it.

All of it is estimated by the labels that were given after a fit. What is proved does not depend on
it (`attempt`).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from hedgeclipper.bounds.finishing import Plan
from hedgeclipper.bounds.whole_file import error_limit
from hedgeclipper.labeling.attempt import Attempt
from hedgeclipper.labeling.fitting import FitResult
from hedgeclipper.labeling.marks import NONE
from hedgeclipper.labeling.policy import ErrorCurve, Proof, expected_proof, fit_error_curve
from hedgeclipper.labeling.state import SessionState

# labels that show how far uncertainties are right: the last ones, since the model learns
N_RECENT = 120
PLAN_ERRORS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2)
# curves for the interval of the error, and how many rows stand for all there and in plans
N_CURVES, N_SHOWN, N_PLANNED = 100, 1000, 10_000


class Estimates:
    """Estimates since the last fit, or since the last attempt to prove began.

    Parameters
    ----------
    state : SessionState
        The labels, which may change: see `forget_labels`.
    fit : FitResult or None
        The last fit.
    way : {"chosen", "random"}
        How the rows that the model learns from are found.
    """

    def __init__(self, state: SessionState, fit: FitResult | None, way: str) -> None:
        self.state, self.fit, self.way = state, fit, way
        self._proofs: dict[int, Proof] = {}  # by limit
        self._orders: dict[int, np.ndarray] = {}

    def forget_labels(self) -> None:
        """Estimate anew by the labels that there are now, but for limits that are for a plan."""
        self.__dict__.pop("curve", None)
        self._proofs.pop(self.state.limit, None)

    @cached_property
    def curve(self) -> ErrorCurve:
        """How often predictions are wrong, by the labels given after them."""
        own = [
            mark
            for marks in self.state.marks.all()
            for mark in marks[:1]  # the model has learned from the first one
            if mark.uncertainty is not None and mark.code >= 0
        ][-N_RECENT:]
        wrong = [mark.code != mark.predicted for mark in own]
        return fit_error_curve(wrong, [mark.uncertainty for mark in own], way=self.way)

    def proof(self, limit: int) -> Proof:
        """Return what is expected to be left to do if an attempt to prove begins."""
        codes, level = self.state.codes, self.state.level
        assert self.fit is not None
        assert level is not None
        n_left, n_undecided = int(np.sum(codes == NONE)), int(np.sum(codes < NONE))
        if limit not in self._proofs:
            errors = self.curve(_spaced(self._ordered(self.fit, codes == NONE), N_PLANNED))
            found = expected_proof(errors, n_left, limit=limit, delta=level)
            self._proofs[limit] = Proof(found.n_test, found.n_review + n_undecided)
        return self._proofs[limit]

    def plan(self) -> Plan | None:
        """Return what other errors take, before the first attempt; None without a row left."""
        n_rows, n_left = self.state.n_rows, int(np.sum(self.state.codes < 0))
        if self.fit is None or self.state.attempts or not n_left:
            return None
        errors = np.array(sorted({*PLAN_ERRORS, self.state.max_error}))
        limits = [error_limit(one, n_rows) for one in errors.tolist()]
        by_hand = np.array([self.proof(limit).cost for limit in limits])
        return Plan(errors, by_hand, {}, n_left, n_rows, self.state.confidence_level)

    def error(self) -> tuple[float | None, tuple[float, float] | None]:
        """Return the error of the file if all other rows kept their predictions, and an interval.

        Predictions are those that are proved, else those that are being tested, else those of the
        last fit.
        """
        source = self.state.best or self.state.running or self.fit
        is_open = self.state.codes < 0
        if source is None or not is_open.any():
            return None, None
        rest = self._ordered(source, is_open)
        points = np.random.default_rng(0).normal(size=(N_CURVES, 2))
        rates = self.curve(_spaced(rest, N_SHOWN), points).mean(axis=1)
        rates *= rest.size / self.state.n_rows
        low, high = np.quantile(rates, (0.05, 0.95)).tolist()
        return float(np.median(rates)), (low, high)

    def _ordered(self, source: FitResult | Attempt, is_shown: np.ndarray) -> np.ndarray:
        """Return uncertainties of some rows, ascending; all are sorted once, since that is slow."""
        if id(source) not in self._orders:
            self._orders[id(source)] = np.argsort(source.uncertainties, kind="stable")
        order = self._orders[id(source)]
        return source.uncertainties[order[is_shown[order]]]


def _spaced(values: np.ndarray, n: int) -> np.ndarray:
    """Return at most so many of the values, evenly spaced."""
    return values[np.linspace(0, values.size - 1, min(values.size, n)).astype(int)]
