"""`Audit`: the answers of an audit, and how they are said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.bounds.precision_recall import PrecisionRecall, SegmentErrors
from hedgeclipper.bounds.random_sample import Sample
from hedgeclipper.bounds.whole_file import AcceptedRows

# whose price is named
USUAL_RECALL = 0.95


@dataclass(frozen=True)
class ClassAudit:
    """Precision and recall of a class, with what it takes to prove a recall of 95%.

    Parameters
    ----------
    label : object
        The class.
    prevalence : float
        Estimated proportion of the rows that are of the class.
    n_predicted : int
        Rows that are predicted to be of the class.
    n_for_recall : int
        Least number of checked rows, among those not predicted to be of the class, that prove a
        recall of 95% if it is perfect; 0 if the class was not found.
    rates : PrecisionRecall
        Estimates and bounds.
    """

    label: Any
    prevalence: float
    n_predicted: int
    n_for_recall: int
    rates: PrecisionRecall

    def describe(self) -> str:
        """Return the price of a recall first, then what is known, in sentences."""
        name, rates = _quoted(self.label), self.rates
        price = (
            f"To prove a recall of {USUAL_RECALL:.0%} for {name}, about {self.prevalence:.1%} of "
            f"the rows, takes at least {self.n_for_recall:,} checked rows that are not predicted "
            f"{name}. "
            if self.n_for_recall
            else ""
        )
        parts = [
            f"{what} {_percent(value)} (at least {low:.1%}, at most {high:.1%})"
            for what, value, low, high in (
                ("precision", rates.precision, rates.precision_lower, rates.precision_upper),
                ("recall", rates.recall, rates.recall_lower, rates.recall_upper),
            )
        ]
        return f"{price}{name}, predicted for {self.n_predicted:,} rows: {'; '.join(parts)}."


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What checked rows tell of predictions; made by `audit`.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        The label of each row: that of people where they gave one, else the predicted one.
    is_checked : ndarray of bool of shape (n_rows,)
        Rows that people have labeled, or that the sample excludes since they were labeled before.
    n_rows, n_pool : int
        Rows of the file, and those that the checked rows were drawn from.
    n_checked, n_wrong, n_skipped : int
        Checked rows, those predicted wrong (rows that were not decided included), and those that
        people could not decide.
    error, error_lower, error_upper : float
        Proportion of wrong predictions among the checked rows, and bounds on that of the pool, each
        with probability ``confidence_level`` by itself.
    baseline : float
        Proportion of the checked labels that are not of the most frequent class ``majority``.
    majority : object
        Most frequent class of the checked labels.
    kappa : float
        Cohen's kappa of predictions and checked labels.
    kind : {"guarantee", "estimate"}
        "guarantee": by an exact test, if the checked rows are a random sample.
    reason : str
        Why it is an estimate, where it is.
    confidence_level : float
        Level of each answer.
    sequential : bool
        Whether the answers hold at every look.
    sample : Sample or None
        Record of the draw; None if it was only stated that the rows were drawn at random.
    max_error : float or None
        Largest proportion of wrong labels in the finished file that was asked for.
    accepted : AcceptedRows or None
        The test of it, for the rows of the pool.
    n_needed : int
        Least number of checked rows that could prove ``max_error``.
    review_order : ndarray of int
        Rows that need review, the most uncertain first; empty without ``max_error``.
    segments : dict of str to SegmentErrors
        Errors in segments, for each way to cut the rows into such.
    classes : list of ClassAudit
        Precision and recall of the classes that were asked for.
    """

    labels: np.ndarray
    is_checked: np.ndarray
    n_rows: int
    n_pool: int
    n_checked: int
    n_wrong: int
    n_skipped: int
    error: float
    error_lower: float
    error_upper: float
    baseline: float
    majority: Any
    kappa: float
    kind: str
    reason: str
    confidence_level: float
    sequential: bool
    sample: Sample | None
    max_error: float | None
    accepted: AcceptedRows | None
    n_needed: int
    review_order: np.ndarray
    segments: dict[str, SegmentErrors]
    classes: list[ClassAudit]

    @property
    def needs_review(self) -> np.ndarray:
        """Which rows people have to label, a mask; none without ``max_error``."""
        mask = np.zeros(self.n_rows, bool)
        mask[self.review_order] = True
        return mask

    @property
    def file_error_upper(self) -> float | None:
        """Upper bound on the proportion of wrong labels in the finished file."""
        return None if self.accepted is None else self.accepted.file_error_upper(self.n_rows)

    def proves(self, max_error: float) -> bool:
        """Return whether at most this proportion of all predictions is proved to be wrong."""
        return self.kind == "guarantee" and self.error_upper <= max_error

    def describe(self) -> str:
        """Return what is known of the predictions, in sentences, a line for each question."""
        return "\n".join(text for _, text in self.facts())

    def facts(self) -> list[tuple[str, str]]:
        """Return the lines of `describe`, each after a word for what it is about."""
        facts = [("Error", self._describe_error()), *self._describe_file()]
        facts += [(f"Class {one.label}", one.describe()) for one in self.classes]
        facts.append(("Draw", self._describe_draw()))
        if len(self.segments) + len(self.classes) + (self.max_error is not None) > 0:
            each = f"Each bound holds with {self._level} confidence by itself."
            parts = [name for name in ("segments", "classes") if len(getattr(self, name))]
            if parts:
                together = " and also for all ".join(parts)
                each += f" Upper bounds hold for all {together} together, and so do lower bounds."
            facts.append(("Level", each))
        return facts

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"<Audit ({self.kind}): {self._describe_error()}>"

    @property
    def _level(self) -> str:
        return f"{100 * self.confidence_level:g}%"

    @property
    def _sure(self) -> str:
        looks = ", at every look" if self.sequential else ""
        if self.kind == "guarantee":
            return f"guaranteed with {self._level} confidence{looks}"
        return f"an estimate at {self._level} confidence{looks}"

    def _describe_error(self) -> str:
        skipped = f", {self.n_skipped:,} of them not decided" if self.n_skipped else ""
        return (
            f"{self.n_wrong:,} of {self.n_checked:,} checked predictions are wrong "
            f"({self.error:.1%}{skipped}). Of all {self.n_pool:,} predictions at most "
            f"{self.error_upper:.1%} are wrong: {self._sure}. (At least {self.error_lower:.1%}, "
            f"at the same level; always guessing {_quoted(self.majority)}: about "
            f"{self.baseline:.1%}; kappa {self.kappa:.2f}.)"
        )

    def _describe_file(self) -> list[tuple[str, str]]:
        if self.accepted is None or self.max_error is None:
            return []
        limit, found = f"{100 * self.max_error:g}%", self.accepted
        if found.n_accepted == 0:
            why = (
                f"at least {self.n_needed:,} random checked rows are needed for {limit}; there are "
                f"{self.n_checked:,}"
                if found.n_allowed < 0
                else "predictions that are as sure as any are wrong too often"
            )
            return [("File", f"No prediction can stay without review: {why}.")]
        n_review = self.review_order.size
        text = (
            f"{self.n_rows - n_review:,} of {self.n_rows:,} rows need no review, of which people "
            f"have labeled {int(self.is_checked.sum()):,}. If the other {n_review:,} are labeled "
            f"by hand, at most {limit} of all labels are wrong: {self._sure}. (Among the "
            f"{found.n_accepted:,} automatic labels at most {found.error_upper:.1%}; always "
            f"guessing {_quoted(self.majority)}: {self.baseline:.1%} of the file.)"
        )
        if self.max_error >= self.baseline:
            text += (
                f" Careful: always guessing {_quoted(self.majority)} would pass {limit}, too. Ask "
                "for a smaller error, or for precision and recall of the rare class."
            )
        return [("File", text)]

    def _describe_draw(self) -> str:
        if self.kind != "guarantee":
            return f"No guarantee, since {self.reason}."
        if self.n_checked == self.n_pool:
            return "All rows were checked."
        if self.sample is None:
            return (
                "That the checked rows are a random sample of all rows, and had no part in the "
                "predictions, was stated, not known."
            )
        return (
            f"The draw is recorded: {self.sample.describe()}. That the labels had no part in the "
            "predictions was stated, not known."
        )


def _percent(value: float) -> str:
    return "unknown" if np.isnan(value) else f"{value:.1%}"


def _quoted(label: Any) -> str:
    return f'"{label}"' if isinstance(label, str) else str(label)
