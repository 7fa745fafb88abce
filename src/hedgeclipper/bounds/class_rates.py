"""How often each class occurs in a set of rows, with intervals, from labels and predictions.

With predicted probabilities q of a class, and e = 1 where the label is that class, the rate is the
mean of q over all rows plus the mean of e - q over them. Labels of a simple random sample estimate
the second mean, and its interval is short where predictions are good (prediction-powered
inference): an estimate, since predictions depend on the labels, too. A guarantee comes from the
labels alone: the number of a class among them is hypergeometric. (Bounds by betting on held-out
labels, with the predictions, were wider on real votes, as only half of the labels are held out.)

References
----------
A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic. Prediction-powered inference.
Science 382, 2023.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgeclipper.bounds.intervals import (
    check_level,
    prediction_powered,
    proportion_bounds,
    wilson_bounds,
)

# in the spirit of Agresti and Coull, since errors that are rare may not show among few labels; a
# quarter of what they add keeps the level on real votes
MORE_ERRORS, MORE_LABELS = 0.5, 1.0


@dataclass(frozen=True)
class ClassRates:
    """How often each class occurs in all rows of a fit, with an interval for each.

    Parameters
    ----------
    classes : list
        Labels of the classes.
    rates, lower, upper : ndarray of shape (n_classes,)
        Estimated proportions of the rows, and the ends of their intervals.
    kind : {"guarantee", "estimate"}
        "guarantee": each interval holds with probability ``confidence_level``, if gold labels are
        a simple random sample of the rows. "estimate": about so.
    confidence_level : float
        Level of each interval by itself.
    n_rows, n_tested : int
        Number of rows, and of labels behind the intervals.
    """

    classes: list
    rates: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    kind: str
    confidence_level: float
    n_rows: int
    n_tested: int

    def describe(self) -> str:
        """Return the rates in one sentence.

        Examples
        --------
        >>> rates = np.array([0.612, 0.388])
        >>> ends = rates - 0.04, rates + 0.04
        >>> found = ClassRates(["A", "B"], rates, *ends, "estimate", 0.95, 419, 50)
        >>> print(found.describe())
        A 61.2% (95% interval 57.2% to 65.2%), B 38.8% (34.8% to 42.8%) of 419 rows, an estimate
        """
        level = f"{100 * self.confidence_level:g}% interval "
        parts: list[str] = []
        for label, *values in zip(self.classes, self.rates, self.lower, self.upper, strict=True):
            rate, low, high = (f"{100 * value:.1f}%" for value in values)
            parts.append(f"{label} {rate} ({'' if parts else level}{low} to {high})")
        sure = "guaranteed" if self.kind == "guarantee" else "an estimate"
        return f"{', '.join(parts)} of {self.n_rows:,} rows, {sure}"


@dataclass(frozen=True, eq=False)
class RateEvidence:
    """Labels and predictions that rates are computed from.

    ``codes`` are the labels, ``probabilities`` predictions of some of them, those numbered
    ``tested``, made without them, and ``mean_unlabeled`` is the mean prediction on the
    ``n_unlabeled`` rows without a label. ``is_guarantee`` tells whether labels are taken for a
    simple random sample, so that their number is to bound the rates.
    """

    codes: np.ndarray
    probabilities: np.ndarray
    tested: np.ndarray
    mean_unlabeled: np.ndarray
    n_unlabeled: int
    is_guarantee: bool

    def rates(self, classes: list, confidence_level: float) -> ClassRates:
        """Return the rates in all rows, labeled ones included."""
        check_level(confidence_level)
        known = np.bincount(self.codes, minlength=len(classes))
        n_rows = self.codes.size + self.n_unlabeled
        interval = self._guarantee if self.is_guarantee else self._estimate
        found = np.array([interval(k, 1.0 - confidence_level) for k in range(len(classes))])
        rates, lower, upper = (known[:, None] + self.n_unlabeled * found).T / n_rows
        kind, tested = "guarantee" if self.is_guarantee else "estimate", self.tested.size
        return ClassRates(classes, rates, lower, upper, kind, confidence_level, n_rows, tested)

    def _guarantee(self, k: int, delta: float) -> tuple[float, float, float]:
        """Return the rate in the unlabeled rows, and bounds on it from the labels alone."""
        count, n_labels = int(np.sum(self.codes == k)), self.codes.size
        low, high = proportion_bounds(count, n_labels, self.n_unlabeled or np.inf, delta / 2.0)
        rate = self._estimate(k, delta)[0]
        return float(np.clip(rate, low, high)), float(low), float(high)

    def _estimate(self, k: int, delta: float) -> tuple[float, float, float]:
        """Return the rate in the unlabeled rows and a score-type interval around it."""
        e, q = (self.codes[self.tested] == k).astype(float), self.probabilities[:, k]
        rate, spread = prediction_powered(e, q, float(self.mean_unlabeled[k]))
        if self.n_unlabeled == 0:
            return rate, rate, rate
        plain = max(rate * (1.0 - rate), 1e-3)
        spread = (spread * np.var(e) * e.size + MORE_ERRORS) / (e.size + MORE_LABELS) / plain
        size = 1.0 / ((1.0 / e.size + 1.0 / self.n_unlabeled) * min(spread, 1.0))
        means = wilson_bounds(np.array([2.0 * rate - 1.0]), np.array([size]), delta / 2.0)
        low, high = ((1.0 + float(bound[0])) / 2.0 for bound in means)
        return rate, low, high
