"""What labels tell of a rule that was made without them: its error, and which rows it is sure of.

The labels that test a rule are a simple random sample of these and the unlabeled rows, and the fit
has treated both alike. Then the errors among them are hypergeometric, and so they are among any
rows picked without a look at the labels, such as those the rule is surest of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgeclipper.bounds.auto_labels import SureRows, surest_rows
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.bounds.class_rates import prediction_powered
from hedgeclipper.bounds.exact import proportion_bounds
from hedgeclipper.bounds.intervals import wilson_bounds

ESTIMATE_LEVEL = 0.95
# out-of-bag and out-of-fold errors vary more than those of a fixed rule: by this factor in standard
# deviations, as measured (S. Bates, T. Hastie, R. Tibshirani. Cross-Validation: What Does It
# Estimate and How Well Does It Do It? JASA, 2024)
EXTRA_SPREAD = 1.2
# why there is no guarantee for some rows
OTHER_ROWS = "these are not the unlabeled rows of the fit"
SAMPLED_ROWS = "only a sample of the unlabeled rows of the fit is known; pass them as X"


@dataclass(frozen=True, eq=False)
class CheckedRule:
    """Predictions of a rule on labeled rows that had no part in it, and on the unlabeled rows.

    Parameters
    ----------
    wrong : ndarray of bool of shape (n_tested,)
        Which predictions on the labeled rows are wrong.
    doubts : ndarray of shape (n_tested,)
        The rule's own probability that they are.
    unlabeled_doubts : ndarray
        The same for the unlabeled rows, or for some of them drawn at random.
    n_unlabeled : int
        Number of unlabeled rows; 0 if there are none, and the rule is for new rows.
    baseline : float
        Proportion of the labels that are not of the most frequent class.
    own_doubts : ndarray or None
        Doubts of the models that predicted the labeled rows, where ``doubts`` are what these would
        be on the scale of the rule itself.
    mean_doubt : float or None
        Mean on the unlabeled rows of the doubts of such models. None: that of ``unlabeled_doubts``.
    caveat : str
        Why what these labels show is no guarantee; "" if it is one.
    mean_of_all : float or None
        Mean doubt on all unlabeled rows, where ``unlabeled_doubts`` are some of them.
    """

    wrong: np.ndarray
    doubts: np.ndarray
    unlabeled_doubts: np.ndarray
    n_unlabeled: int
    baseline: float
    own_doubts: np.ndarray | None = None
    mean_doubt: float | None = None
    caveat: str = ""
    mean_of_all: float | None = None

    @classmethod
    def of(
        cls,
        wrong: np.ndarray,
        doubts: np.ndarray,
        unlabeled_doubts: np.ndarray,
        labels: np.ndarray,
        **known: Any,
    ) -> CheckedRule:
        """Return the rule, given all labels there are, for the baseline; other fields by name."""
        known.setdefault("n_unlabeled", unlabeled_doubts.size)
        counts = np.unique(labels, return_counts=True)[1]
        baseline = 1.0 - float(counts.max() / counts.sum())
        return cls(wrong, doubts, unlabeled_doubts, baseline=baseline, **known)

    def with_rows(self, doubts: np.ndarray, n_unlabeled: int, caveat: str) -> CheckedRule:
        """Return the rule with more unlabeled rows: doubts of a sample of all, and their number."""
        mean = self.mean_doubt
        if mean is not None:
            mean += float(doubts.mean() - self.unlabeled_doubts.mean())
        return replace(
            self,
            unlabeled_doubts=doubts,
            n_unlabeled=n_unlabeled,
            mean_doubt=mean,
            mean_of_all=None,
            caveat=self.caveat or caveat,
        )

    @property
    def n_rows(self) -> float:
        """Number of rows that bounds are for; infinite if these are yet to be drawn."""
        return self.n_unlabeled or np.inf

    def certificate(self, confidence_level: float | None) -> Certificate:
        """Return what is known of the error on the unlabeled rows."""
        if self.caveat:
            return self._estimate(confidence_level or ESTIMATE_LEVEL)
        level = confidence_level or ESTIMATE_LEVEL
        n_errors, n_tested = int(self.wrong.sum()), self.wrong.size
        lower, upper = proportion_bounds(n_errors, n_tested, self.n_rows, 1.0 - level)
        return Certificate(
            error=n_errors / n_tested,
            error_upper=float(upper),
            error_lower=float(lower),
            kind="guarantee",
            confidence_level=level,
            n_unlabeled=self.n_unlabeled,
            n_errors=n_errors,
            n_tested=n_tested,
            baseline=self.baseline,
        )

    def _estimate(self, level: float) -> Certificate:
        """Return the error and its interval, made more precise by the doubts on unlabeled rows."""
        if self.wrong.size == 0:
            reason = "no labeled row is predicted without its own label"
            nothing = (None, 1.0, 0.0, "void", None, self.n_unlabeled)
            return Certificate(*nothing, baseline=self.baseline, reason=reason)
        error, spread = self._prediction_powered()
        size = 1.0 / ((1.0 / self.wrong.size + 1.0 / self.n_rows) * max(spread, 1e-3))
        mean, n_labels = np.array([1.0 - 2.0 * error]), np.array([size / EXTRA_SPREAD**2])
        means = wilson_bounds(mean, n_labels, (1.0 - level) / 2.0)
        upper, lower = ((1.0 - float(bound[0])) / 2.0 for bound in means)
        return Certificate(
            error=error,
            error_upper=min(upper, 1.0),
            error_lower=max(lower, 0.0),
            kind="estimate",
            confidence_level=level,
            n_unlabeled=self.n_unlabeled,
            n_errors=int(self.wrong.sum()),
            n_tested=self.wrong.size,
            baseline=self.baseline,
            reason=self.caveat,
        )

    def _prediction_powered(self) -> tuple[float, float]:
        """Return the mean error, corrected by doubts, and the ratio of variances."""
        q = self.doubts if self.own_doubts is None else self.own_doubts
        center = self.mean_doubt
        if center is None:
            center = float(np.mean(self.unlabeled_doubts)) if self.n_unlabeled else float(q.mean())
        return prediction_powered(self.wrong.astype(float), q, center)

    def about(self, doubts: np.ndarray | None) -> tuple[CheckedRule, str]:
        """Return the rule for rows with these doubts, and why it guarantees nothing of them.

        None are the unlabeled rows of the fit. The reason is "" for a guarantee: of these rows, if
        all their doubts are known, or of new rows, if the fit had none.
        """
        if doubts is None:
            is_sample = self.unlabeled_doubts.size < self.n_unlabeled
            return self, self.caveat or (SAMPLED_ROWS if is_sample else "")
        if self.n_unlabeled and not self._is_about(doubts):
            return self, self.caveat or OTHER_ROWS
        return replace(self, unlabeled_doubts=doubts, n_unlabeled=doubts.size), self.caveat

    def _is_about(self, doubts: np.ndarray) -> bool:
        """Return whether these are the doubts of the unlabeled rows: as many, the same mean."""
        if doubts.size != self.n_unlabeled:
            return False
        known = np.mean(self.unlabeled_doubts) if self.mean_of_all is None else self.mean_of_all
        return bool(np.isclose(np.mean(doubts), known, rtol=1e-6, atol=1e-12))

    def surest(self, max_error: float, confidence_level: float) -> SureRows:
        """Return up to which doubt at most this proportion of the unlabeled rows is wrong."""
        return surest_rows(self, max_error, 1.0 - confidence_level)
