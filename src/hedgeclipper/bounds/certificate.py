"""What is known of the error of predictions, and of how often classes occur, and how it is said.

**Class rates.** With predicted probabilities q of a class, and e = 1 where the label is that class,
the rate is the mean of q over all rows plus the mean of e - q over them. Labels of a simple random
sample estimate the second mean, and its interval is short where predictions are good
(prediction-powered inference): an estimate, since predictions depend on the labels, too. A
guarantee comes from the labels alone: the number of a class among them is hypergeometric. (Bounds
by betting on held-out labels, with the predictions, were wider on real votes, as only half of the
labels are held out.)

References
----------
A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic. Prediction-powered inference.
Science 382, 2023.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.bounds.intervals import (
    check_level,
    prediction_powered,
    proportion_bounds,
    wilson_bounds,
)
from hedgeclipper.io.messages import counted

# the usual reason why an error is an estimate, which needs no mention
USED_LABELS = "the fit used the labels that measure it; a confidence_level holds some out"
# in the spirit of Agresti and Coull, since errors that are rare may not show among few labels; a
# quarter of what they add keeps the level on real votes
ADDED_ERRORS, ADDED_LABELS = 0.5, 1.0
# of a guarantee without the record of a sample
STATED = "this assumes that the labels are a random sample"


@dataclass(frozen=True, repr=False)
class Certificate:
    """What is known of the error of predictions on the unlabeled rows.

    Parameters
    ----------
    error : float or None
        Point estimate; None where nothing is known.
    error_upper, error_lower : float
        Bounds on the error. For a guarantee each holds with probability ``confidence_level`` by
        itself; for an estimate they are the ends of an interval.
    kind : {"guarantee", "estimate", "void"}
        "guarantee": the labels behind it had no part in the predictions, and the labeled rows are
        a simple random sample of labeled and unlabeled rows. "estimate": everything else. "void":
        nothing is known, since no label could test it; the bounds are 0 and 1.
    confidence_level : float or None
        Probability that a bound holds (of an estimate: about so), if known.
    n_unlabeled : int
        Number of rows the bounds are for. They do not hold for others. 0: there were no unlabeled
        rows, and they are for new rows that are drawn like the labeled ones.
    n_errors, n_tested : int
        How many of the labeled rows that tested the predictions were predicted wrong, and how many
        there were.
    baseline : float or None
        Error of always predicting the most frequent class, by the labels.
    reason : str
        Why it is not a guarantee, where it is not.
    is_recorded : bool
        Whether the draw of the labels is recorded (`draw_sample`), or was only stated.
    """

    error: float | None
    error_upper: float
    error_lower: float
    kind: str
    confidence_level: float | None
    n_unlabeled: int
    n_errors: int = 0
    n_tested: int = 0
    baseline: float | None = None
    reason: str = ""
    is_recorded: bool = False

    @property
    def is_guarantee(self) -> bool:
        """Whether it is a guarantee, not an estimate or void."""
        return self.kind == "guarantee"

    def describe(self) -> str:
        r"""Return what is known of the error, in one sentence.

        Examples
        --------
        >>> numbers = 0.95, 8000, 57, 500, 0.241
        >>> found = Certificate(0.114, 0.142, 0.09, "guarantee", *numbers, is_recorded=True)
        >>> print(found.describe().replace(" (", "\n("))
        error at most 14.2% on the 8,000 unlabeled rows, guaranteed with 95% confidence
        (57 errors on 500 held-out labels; always the most frequent class: 24.1%)
        """
        if self.kind == "void":
            return f"no bound on the error: {self.reason}"
        rows = f"the {self.n_unlabeled:,} unlabeled rows" if self.n_unlabeled else "new rows"
        low, high = f"{self.error_lower:.1%}", f"{self.error_upper:.1%}"
        level = f"{100 * (self.confidence_level or 0):g}%"
        if self.is_guarantee:
            text = f"error at most {high} on {rows}, guaranteed with {level} confidence"
            notes = [f"{counted(self.n_errors, 'error')} on {self.n_tested:,} held-out labels"]
        else:
            text = f"error about {self.error:.1%} on {rows}, an estimate"
            notes = [f"{level} interval {low} to {high}"]
            if self.reason not in ("", USED_LABELS):
                notes.append(f"no guarantee, since {self.reason}")
        if self.baseline is not None:
            notes.append(f"always the most frequent class: {self.baseline:.1%}")
        if self.is_guarantee and not self.is_recorded:
            notes.append(STATED)
        return f"{text} ({'; '.join(notes)})"

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"<Certificate ({self.kind}): {self.describe()}>"


def most_frequent(labels: np.ndarray) -> tuple[Any, float]:
    """Return the most frequent label, and the error of always guessing it.

    Examples
    --------
    >>> most_frequent(np.array(["no", "yes", "no", "no"]))
    ('no', 0.25)
    """
    names, counts = np.unique(labels, return_counts=True)
    return names.tolist()[counts.argmax()], float(1.0 - counts.max() / counts.sum())


def how_sure(kind: str, confidence_level: float) -> str:
    """Return whether a bound is a guarantee or an estimate, and its confidence, in words."""
    sure = "guaranteed with" if kind == "guarantee" else "an estimate at"
    return f"{sure} {100 * confidence_level:g}% confidence"


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
        if self.tested.size == 0:  # all rows that were drawn to test were skipped
            return float(self.mean_unlabeled[k]), 0.0, 1.0
        e, q = (self.codes[self.tested] == k).astype(float), self.probabilities[:, k]
        rate, spread = prediction_powered(e, q, float(self.mean_unlabeled[k]))
        if self.n_unlabeled == 0:
            return rate, rate, rate
        plain = max(rate * (1.0 - rate), 1e-3)
        spread = (spread * np.var(e) * e.size + ADDED_ERRORS) / (e.size + ADDED_LABELS) / plain
        size = 1.0 / ((1.0 / e.size + 1.0 / self.n_unlabeled) * min(spread, 1.0))
        low, high = wilson_bounds(rate, size, delta / 2.0)
        return rate, float(low), float(high)
