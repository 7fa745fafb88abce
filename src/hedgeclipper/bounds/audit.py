"""`audit`: what a random sample of checked rows tells of predictions, whatever made them.

The predictions may be those of a language model, of a booster, or of a colleague. Some rows, drawn
at random, are labeled by people. All answers come from exact tests of these labels:

- the proportion of wrong ones among all predictions, with bounds (`intervals.count_bounds`);
- which predictions may stay if at most ``max_error`` of the file may be wrong (`whole_file`);
- the errors in each segment, and precision and recall of classes (`precision_recall`).

With ``sequential`` each of them holds at every look (`sequential`). A row that people could not
decide counts as wrong. A row without a prediction does, too.

**What must be true.** The checked rows are a simple random sample of the pool, all rows but those
that the sample excludes. Predictions and uncertainties were made without their labels. A `Sample`
records the draw; without one the user states it, and `Audit.describe` says so. Each answer holds
with probability ``confidence_level`` by itself; segments, and classes, hold together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.bounds.agreement import cohen_kappa
from hedgeclipper.bounds.checked_rows import CheckedRows, check_groups
from hedgeclipper.bounds.intervals import check_level, count_bounds
from hedgeclipper.bounds.precision_recall import (
    PrecisionRecall,
    SegmentErrors,
    checks_for_recall,
    precision_recall,
    segment_errors,
)
from hedgeclipper.bounds.random_sample import Sample
from hedgeclipper.bounds.sequential import accept_rows_so_far, count_bounds_so_far, least_drawn
from hedgeclipper.bounds.tested_predictions import differ_in_rank
from hedgeclipper.bounds.whole_file import (
    AcceptedRows,
    accept_rows,
    error_limit,
    least_tested,
    order_by_uncertainty,
)

# why there is no guarantee
SHIFTED_ROWS = (
    "checked rows differ from the others in uncertainty, so that they are no random sample, or "
    "their labels had a part in the predictions"
)
EXTENDED_SAMPLE = (
    "rows were added to the sample after the first draw, which needs the sequential test from the "
    "first look on"
)
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
            parts = [name for name in ("segments", "classes") if getattr(self, name)]
            for name in parts:
                each += f" The upper bounds of all {name} hold together, and so do the lower ones."
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
        if self.sample is None:
            return (
                "That the checked rows are a random sample of all rows, and had no part in the "
                "predictions, was stated, not known."
            )
        return (
            f"The draw is recorded: {self.sample.describe()}. That the labels had no part in the "
            "predictions was stated, not known."
        )


def audit(
    predictions: Any,
    rows: Any,
    labels: Any,
    *,
    uncertainties: Any = None,
    confidences: Any = None,
    max_error: float | None = None,
    confidence_level: float = 0.95,
    segments: Any = None,
    classes: Any = (),
    groups: Any = None,
    sequential: bool = False,
    seed: int = 0,
) -> Audit:
    """Return what a random sample of checked rows tells of predictions, whatever made them.

    Parameters
    ----------
    predictions : array-like of shape (n_rows,)
        The predicted class of each row of the file; a missing one counts as wrong.
    rows : Sample, or array-like of int of shape (n_checked,)
        The rows that people have checked: the record of `draw_sample`, or their positions, which
        then have to be a simple random sample of all rows.
    labels : array-like of shape (n_checked,)
        People's label of each of these rows. A missing one was not decided and counts as wrong;
        with ``sequential``, missing ones at the end have not been looked at yet.
    uncertainties, confidences : array-like of shape (n_rows,), default=None
        How uncertain, or how sure, each prediction is: any finite numbers, made without the labels
        of checked rows. One of them is needed for ``max_error``.
    max_error : float, default=None
        Largest proportion of wrong labels in the finished file, in which people have labeled all
        rows that need review. Name it before the labels are seen: over several of them, some is
        broken more often than the level says.
    confidence_level : float, default=0.95
        Probability with which each answer holds.
    segments : array-like of shape (n_rows,), or mapping of str to such, default=None
        Segment of each row. All bounds of segments hold together.
    classes : sequence of labels, default=()
        Classes whose precision and recall are wanted. Their bounds hold together.
    groups : array-like of shape (n_rows,), default=None
        The document, person or other group that a row belongs to. A sample of whole groups is no
        sample of rows and is refused.
    sequential : bool, default=False
        Whether the answers hold at every look, so that labels may be added in the order of the
        draw until they are enough. It takes some more labels.
    seed : int, default=0
        Seed of the order of equally uncertain rows.

    Returns
    -------
    Audit
        The answers, with `Audit.describe`, the labels, and the rows that need review.

    See Also
    --------
    draw_sample : Draws the rows to check, with a record.

    Examples
    --------
    >>> from hedgeclipper import draw_sample
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=8000)
    >>> confidences = rng.random(8000)
    >>> predictions = np.where(rng.random(8000) < 0.3 * (1 - confidences), 1 - truth, truth)
    >>> sample = draw_sample(8000, 400)
    >>> found = audit(
    ...     predictions, sample, truth[sample.rows], confidences=confidences, max_error=0.05
    ... )
    >>> found.proves(0.25), found.proves(0.15)
    (True, False)
    >>> int(found.needs_review.sum()), round(found.file_error_upper, 3)
    (4226, 0.049)
    >>> bool(np.mean(predictions[~found.needs_review] != truth[~found.needs_review]) < 0.1)
    True
    """
    check_level(confidence_level)
    checked = CheckedRows.of(predictions, rows, labels, sequential=sequential)
    delta, pool = 1.0 - confidence_level, checked.pool
    uncertain = _uncertainties(uncertainties, confidences, checked)
    if groups is not None and checked.sample is None:
        check_groups(groups, checked.rows, checked.n_rows)
    wrong, tested = checked.wrong, np.searchsorted(pool, checked.rows)
    certain = wrong & ~checked.skipped
    if sequential:
        least, most = count_bounds_so_far(certain, pool.size, delta, checked.skipped)
    else:
        n_left, n_tested = pool.size - wrong.size, wrong.size
        least = int(certain.sum() + count_bounds(certain.sum(), n_tested, n_left, delta)[0])
        most = int(wrong.sum() + count_bounds(wrong.sum(), n_tested, n_left, delta)[1])
    accepted, n_needed, review = _accept(checked, uncertain, tested, max_error, delta, seed)
    reason = _why_estimate(checked, uncertain, tested)
    decided = checked.labels[~checked.skipped]
    names, counts = np.unique(decided, return_counts=True)
    pairs = checked.predicted[~checked.skipped]
    return Audit(
        labels=checked.merged(),
        is_checked=checked.is_known(),
        n_rows=checked.n_rows,
        n_pool=pool.size,
        n_checked=wrong.size,
        n_wrong=int(wrong.sum()),
        n_skipped=int(checked.skipped.sum()),
        error=float(wrong.mean()),
        error_lower=least / pool.size,
        error_upper=most / pool.size,
        baseline=1.0 - counts.max() / counts.sum(),
        majority=names[counts.argmax()].item(),
        kappa=cohen_kappa(pairs, decided),
        kind="estimate" if reason else "guarantee",
        reason=reason,
        confidence_level=confidence_level,
        sequential=sequential,
        sample=checked.sample,
        max_error=max_error,
        accepted=accepted,
        n_needed=n_needed,
        review_order=review,
        segments=_audit_segments(segments, checked, tested, delta, sequential),
        classes=_audit_classes(classes, checked, tested, delta, sequential),
    )


def _uncertainties(uncertainties: Any, confidences: Any, checked: CheckedRows) -> Any:
    """Return an uncertainty for each row, or None; rows without a prediction come last."""
    if uncertainties is not None and confidences is not None:
        raise ValueError("Pass uncertainties or confidences, not both: they have two directions.")
    name = "uncertainties" if confidences is None else "confidences"
    given = uncertainties if confidences is None else confidences
    if given is None:
        return None
    values = np.asarray(given, float)
    if values.shape != (checked.n_rows,):
        raise ValueError(
            f"{name} must have one number for each of the {checked.n_rows:,} rows. Got shape "
            f"{values.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(values) & ~checked.not_predicted)
    if bad.size:
        raise ValueError(
            f"{name} must be finite. Got {values[bad[0]]} in row {bad[0]}"
            f"{f' and {bad.size - 1:,} more' if bad.size > 1 else ''}. Give such rows a number "
            "that says that they are the least sure."
        )
    values = values if confidences is None else -values
    # whatever their number, rows without a prediction are the least sure
    known = values[~checked.not_predicted]
    return np.where(checked.not_predicted, known.max(initial=0.0) + 1.0, values)


def _accept(
    checked: CheckedRows,
    uncertain: Any,
    tested: np.ndarray,
    max_error: Any,
    delta: float,
    seed: int,
) -> tuple[AcceptedRows | None, int, np.ndarray]:
    """Return the test of the whole file, the labels it needs, and the rows to review in order."""
    if max_error is None:
        return None, 0, np.zeros(0, np.int64)
    if not 0.0 < max_error < 1.0:
        raise ValueError(
            f"max_error must lie strictly between 0 and 1. Got {max_error!r}. For 0, people have "
            "to label every row."
        )
    if uncertain is None:
        raise ValueError(
            "max_error needs uncertainties or confidences, by which rows are ordered. Got neither."
        )
    pool, limit = checked.pool, error_limit(max_error, checked.n_rows)
    order = order_by_uncertainty(uncertain[pool], seed)
    test: Callable[..., AcceptedRows]
    test, least = accept_rows, least_tested
    if checked.sequential:
        test, least = accept_rows_so_far, least_drawn
    found = test(order, tested, checked.wrong, limit=limit, delta=delta, skipped=checked.skipped)
    found = found.within(~checked.not_predicted[pool])
    is_open = ~checked.is_known()[pool] & ~found.is_accepted
    return found, least(pool.size, limit, delta), pool[order[is_open[order]]][::-1]


def _why_estimate(checked: CheckedRows, uncertain: Any, tested: np.ndarray) -> str:
    """Return why there is no guarantee, "" if there is one."""
    if checked.sample is not None and checked.sample.is_extended and not checked.sequential:
        return EXTENDED_SAMPLE
    if uncertain is None:
        return ""
    others = np.ones(checked.pool.size, bool)
    others[tested] = False
    return (
        SHIFTED_ROWS
        if differ_in_rank(uncertain[checked.rows], uncertain[checked.pool[others]])
        else ""
    )


def _audit_segments(
    segments: Any, checked: CheckedRows, tested: np.ndarray, delta: float, sequential: bool
) -> dict[str, SegmentErrors]:
    if segments is None:
        return {}
    ways = dict(segments) if isinstance(segments, Mapping) else {"segment": segments}
    found = {}
    for name, given in ways.items():
        values = np.asarray(given)
        if values.shape != (checked.n_rows,):
            raise ValueError(
                f"segments must name one for each of the {checked.n_rows:,} rows. Got shape "
                f"{values.shape} for {name!r}."
            )
        found[str(name)] = segment_errors(
            values[checked.pool],
            tested,
            checked.wrong,
            delta=delta / len(ways),
            skipped=checked.skipped,
            sequential=sequential,
        )
    return found


def _audit_classes(
    classes: Any, checked: CheckedRows, tested: np.ndarray, delta: float, sequential: bool
) -> list[ClassAudit]:
    wanted = [classes] if isinstance(classes, str) or np.ndim(classes) == 0 else list(classes)
    known, share, found = checked.classes.tolist(), delta / max(len(wanted), 1), []
    for label in wanted:
        if label not in known:
            raise ValueError(
                f"No prediction and no label is {label!r}. The classes are {known[:10]}."
            )
        predicted = checked.predictions[checked.pool] == label
        is_class = (checked.labels == label) & ~checked.skipped
        rates = precision_recall(
            predicted,
            tested,
            is_class,
            delta=share,
            skipped=checked.skipped,
            sequential=sequential,
        )
        prevalence = float(is_class.mean())
        n_needed, n_others = 0, int(np.sum(~predicted))
        if prevalence and n_others:
            n_needed = checks_for_recall(USUAL_RECALL, prevalence, share / 2.0, n_others)
        found.append(ClassAudit(label, prevalence, int(predicted.sum()), n_needed, rates))
    return found


def _percent(value: float) -> str:
    return "unknown" if np.isnan(value) else f"{value:.1%}"


def _quoted(label: Any) -> str:
    return f'"{label}"' if isinstance(label, str) else str(label)
