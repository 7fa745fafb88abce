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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.bounds.agreement import (
    PrecisionRecall,
    SegmentErrors,
    cohen_kappa,
    count_in_part,
    precision_recall,
    segment_errors,
)
from hedgeclipper.bounds.auto_labels import AutoLabels, check_max_error, question_words
from hedgeclipper.bounds.certificate import how_sure, most_frequent
from hedgeclipper.bounds.hold_out import differ_in_rank
from hedgeclipper.bounds.intervals import check_level
from hedgeclipper.bounds.sample import (
    EXTENDED_SAMPLE,
    LABELED_AFTER,
    Sample,
    row_positions,
)
from hedgeclipper.bounds.sequential import accept_rows_so_far, least_drawn
from hedgeclipper.bounds.whole_file import (
    accept_rows,
    check_sample,
    error_limit,
    least_tested,
    order_by_uncertainty,
)
from hedgeclipper.io.frames import as_classes, as_plain_array, missing_labels

# the recall whose price is named
USUAL_RECALL = 0.95
# why there is no guarantee
SHIFTED_ROWS = (
    "checked rows differ from the others in uncertainty, so that they are no random sample, or "
    "their labels had a part in the predictions"
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
    labeled_after: Any = None,
    sequential: bool = False,
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
        broken more often than the level says. So of the labels of one `Sample` the guarantee is
        for the first error and the first predictions; answers for others are estimates.
    confidence_level : float, default=0.95
        Probability with which each answer holds.
    segments : array-like of shape (n_rows,), or mapping of str to such, default=None
        Segment of each row. All bounds of segments hold together.
    classes : sequence of labels, default=()
        Classes whose precision and recall are wanted. Their bounds hold together.
    groups : array-like of shape (n_rows,), default=None
        The document, person or other group that a row belongs to. A sample of whole groups is no
        sample of rows and is refused.
    labeled_after : array-like of int, or mask of shape (n_rows,), default=None
        Rows outside of the sample that were labeled after the draw. If there are any, the answers
        are estimates.
    sequential : bool, default=False
        Whether the answers hold at every look, so that labels may be added in the order of the
        draw until they are enough. It takes some more labels.

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
    delta, pool, skipped = 1.0 - confidence_level, checked.pool, checked.skipped
    uncertain = _uncertainties(uncertainties, confidences, checked)
    if groups is not None:
        _check_groups(_one_for_each_row(groups, checked.n_rows, "groups"), checked)
    after = row_positions(labeled_after, checked.n_rows, "labeled_after")
    wrong, decided = checked.wrong, checked.labels[~skipped]
    _, least, most = count_in_part(wrong & ~skipped, wrong, pool.size, delta, sequential)
    reason = LABELED_AFTER if after.size else _why_estimate(checked, uncertain)
    majority, baseline = most_frequent(decided)
    file = None
    if checked.sample is not None:  # whoever sees several audits may choose among predictions
        checked.sample.first_question.why_estimate("", checked.predictions)
    if max_error is not None:
        known = {"baseline": baseline, "majority_class": majority, "reason": reason}
        file = _audit_file(checked, uncertain, max_error, confidence_level, known)
    return Audit(
        labels=checked.merged(),
        is_checked=checked.is_known,
        n_rows=checked.n_rows,
        n_pool=pool.size,
        n_checked=wrong.size,
        n_wrong=int(wrong.sum()),
        n_skipped=int(skipped.sum()),
        error=float(wrong.mean()),
        error_lower=least / pool.size,
        error_upper=most / pool.size,
        baseline=baseline,
        majority=majority,
        kappa=cohen_kappa(checked.predicted[~skipped], decided),
        kind="estimate" if reason else "guarantee",
        reason=reason,
        confidence_level=confidence_level,
        sequential=sequential,
        sample=checked.sample,
        file=file,
        segments=_audit_segments(segments, checked, delta),
        classes=_audit_classes(classes, checked, delta),
    )


def _uncertainties(uncertainties: Any, confidences: Any, checked: CheckedRows) -> Any:
    """Return an uncertainty for each row, or None; rows without a prediction come last."""
    if uncertainties is not None and confidences is not None:
        raise ValueError("Pass uncertainties or confidences, not both: they have two directions.")
    name = "uncertainties" if confidences is None else "confidences"
    given = uncertainties if confidences is None else confidences
    if given is None:
        return None
    try:
        values = np.asarray(given, float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}.") from error
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


def _audit_file(
    checked: CheckedRows,
    uncertain: Any,
    max_error: Any,
    confidence_level: float,
    known: dict[str, Any],
) -> AutoLabels:
    """Return which predictions may stay, and the rows to review in order."""
    largest = check_max_error(max_error)
    if isinstance(largest, dict):
        raise ValueError(
            "max_error must be one number for the file. Got limits per class. Ask for precision "
            "and recall with classes."
        )
    if uncertain is None:
        raise ValueError(
            "max_error needs uncertainties or confidences, by which rows are ordered. Got neither."
        )
    pool, limit = checked.pool, error_limit(largest, checked.n_rows)
    # equal ones have one order: of several, who knows the test labels would choose a lucky one
    order, delta = order_by_uncertainty(uncertain[pool], seed=0), 1.0 - confidence_level
    rows, least = (order, checked.tested, checked.wrong), least_tested
    if checked.sequential:
        skipped, least = checked.skipped, least_drawn
        found = accept_rows_so_far(*rows, limit=limit, delta=delta, skipped=skipped)
    else:
        found = accept_rows(*rows, limit=limit, delta=delta)
    found = found.within(~checked.not_predicted[pool])
    is_known, needs_review = checked.is_known, np.zeros(checked.n_rows, bool)
    needs_review[pool] = ~is_known[pool] & ~found.is_accepted
    by_rank = pool[order][::-1]
    if checked.sample is not None:
        asked = question_words(largest, "file", confidence_level)
        asked += " at every look" * checked.sequential
        first = checked.sample.first_question.why_estimate(asked, checked.predictions, uncertain)
        known["reason"] = known["reason"] or first
    is_none = found.n_allowed < 0
    return AutoLabels(
        labels=checked.merged(),
        needs_review=needs_review,
        review_order=by_rank[needs_review[by_rank]],
        max_error=largest,
        among="file",
        confidence_level=confidence_level,
        kind="estimate" if known["reason"] else "guarantee",
        n_rows=checked.n_rows,
        error_upper=found.errors_left / checked.n_rows,
        automatic_error_upper=found.error_upper,
        n_errors=found.n_wrong,
        n_tested=checked.rows.size if is_none else found.n_tested,
        n_needed=least(pool.size, limit, delta) if is_none else 0,
        n_skipped=int(checked.skipped.sum()),
        is_recorded=checked.sample is not None,
        n_people=int(is_known.sum()),
        **known,
    )


def _why_estimate(checked: CheckedRows, uncertain: Any) -> str:
    """Return why there is no guarantee, "" if there is one."""
    if checked.sample is not None and checked.sample.is_extended and not checked.sequential:
        return EXTENDED_SAMPLE
    if uncertain is None:
        return ""
    others = np.delete(checked.pool, checked.tested)
    return SHIFTED_ROWS if differ_in_rank(uncertain[checked.rows], uncertain[others]) else ""


def _audit_segments(segments: Any, checked: CheckedRows, delta: float) -> dict[str, SegmentErrors]:
    if segments is None:
        return {}
    ways = dict(segments) if isinstance(segments, Mapping) else {"segment": segments}
    found = {}
    for name, given in ways.items():
        values = _one_for_each_row(given, checked.n_rows, "segments")
        here = values[checked.pool], checked.tested, checked.wrong
        found[str(name)] = segment_errors(*here, delta=delta / len(ways), **checked.options)
    return found


def _audit_classes(classes: Any, checked: CheckedRows, delta: float) -> list[ClassAudit]:
    wanted = [classes] if isinstance(classes, str) or np.ndim(classes) == 0 else list(classes)
    known, share, found = checked.classes.tolist(), delta / max(len(wanted), 1), []
    for label in wanted:
        if label not in known:
            raise ValueError(
                f"No prediction and no label is {label!r}. The classes are {known[:10]}."
            )
        predicted = checked.predictions[checked.pool] == label
        is_class = (checked.labels == label) & ~checked.skipped
        here = predicted, checked.tested, is_class
        rates = precision_recall(*here, delta=share, **checked.options)
        prevalence, n_needed, n_others = float(is_class.mean()), 0, int(np.sum(~predicted))
        if prevalence and n_others:
            # without the last digits, which rounding changes
            missed = error_limit(round((1.0 - USUAL_RECALL) * prevalence, 12), n_others)
            n_needed = least_tested(n_others, missed, share / 2.0)
        found.append(ClassAudit(label, prevalence, int(predicted.sum()), n_needed, rates))
    return found


def _one_for_each_row(given: Any, n_rows: int, name: str) -> np.ndarray:
    """Return segments or groups of rows; a row without one is an error."""
    values = as_plain_array(given)
    if values.shape != (n_rows,):
        raise ValueError(
            f"{name} must name one for each of the {n_rows:,} rows. Got shape {values.shape}."
        )
    if (missing := missing_labels(values)).any():
        raise ValueError(
            f"{name} must name one for each row. Got none in row {np.argmax(missing)}. Give such "
            "rows a name of their own."
        )
    return as_classes(values, name)


def _check_groups(groups: np.ndarray, checked: CheckedRows) -> None:
    """Raise if checked rows come from so few groups that whole groups must have been drawn."""
    if checked.sample is not None:  # then single rows were drawn
        return
    rows, n_rows = checked.rows, checked.n_rows
    names, codes = np.unique(groups, return_inverse=True)
    # a random sample comes from fewer groups than 1,999 others with a probability of 1 in 2,000
    rng = np.random.default_rng(0)
    drawn = (rng.choice(n_rows, rows.size, replace=False) for _ in range(1999))
    found, usual = np.unique(codes[rows]).size, min(np.unique(codes[one]).size for one in drawn)
    if found < usual:
        raise ValueError(
            f"The {rows.size:,} checked rows come from {found:,} of {names.size:,} groups; those "
            f"of a random sample of rows come from at least {usual:,}. A sample of groups is no "
            "sample of rows, and proves nothing of them. Draw single rows with draw_sample."
        )


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
        The label of each row: that of people where they gave one, else the predicted one. None
        where there is neither, and for rows that the sample excludes: put in their own labels.
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
        Cohen's kappa of predictions and checked labels; NaN if all are of one class.
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
    file : AutoLabels or None
        Which predictions may stay for ``max_error``; its guarantee is for the first question that
        was asked of the sample.
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
    file: AutoLabels | None
    segments: dict[str, SegmentErrors]
    classes: list[ClassAudit]

    @property
    def needs_review(self) -> np.ndarray:
        """Which rows people have to label, a mask; none without ``max_error``."""
        return np.zeros(self.n_rows, bool) if self.file is None else self.file.needs_review

    @property
    def review_order(self) -> np.ndarray:
        """Rows that need review, the most uncertain first; none without ``max_error``."""
        return np.zeros(0, np.int64) if self.file is None else self.file.review_order

    @property
    def file_error_upper(self) -> float | None:
        """Upper bound on the proportion of wrong labels in the finished file."""
        return None if self.file is None else self.file.error_upper

    def proves(self, max_error: float) -> bool:
        """Return whether at most this proportion of all predictions is proved to be wrong."""
        return self.kind == "guarantee" and self.error_upper <= max_error

    def describe(self) -> str:
        """Return what is known of the predictions, in sentences, a line for each question."""
        return "\n".join(text for _, text in self.facts())

    def facts(self) -> list[tuple[str, str]]:
        """Return the lines of `describe`, each after a word for what it is about."""
        facts = [("Error", self._describe_error())]
        if self.file is not None:
            text = self.file.describe()
            facts.append(("File", text[0].upper() + text[1:]))
        facts += [(f"Class {one.label}", one.describe()) for one in self.classes]
        facts.append(("Draw", self._describe_draw()))
        if len(self.segments) + len(self.classes) + (self.file is not None) > 0:
            each = f"Each bound holds with {100 * self.confidence_level:g}% confidence by itself."
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

    def _describe_error(self) -> str:
        skipped = f", {self.n_skipped:,} of them not decided" if self.n_skipped else ""
        sure = how_sure(self.kind, self.confidence_level) + ", at every look" * self.sequential
        kappa = "" if np.isnan(self.kappa) else f"; kappa {self.kappa:.2f}"
        return (
            f"{self.n_wrong:,} of {self.n_checked:,} checked predictions are wrong "
            f"({self.error:.1%}{skipped}). Of all {self.n_pool:,} predictions at most "
            f"{self.error_upper:.1%} are wrong: {sure}. (At least "
            f"{self.error_lower:.1%}, at the same level; always guessing "
            f"{_quoted(self.majority)}: about {self.baseline:.1%}{kappa}.)"
        )

    def _describe_draw(self) -> str:
        if self.kind != "guarantee":
            return f"No guarantee, since {self.reason}."
        if self.n_checked == self.n_pool:
            return "All rows were checked."
        if self.sample is None:
            return (
                "This assumes that the checked rows are a random sample of all rows, and had no "
                "part in the predictions."
            )
        return (
            f"The draw is recorded: {self.sample.describe()}. This assumes that the labels had no "
            "part in the predictions."
        )


def _percent(value: float) -> str:
    return "unknown" if np.isnan(value) else f"{value:.1%}"


def _quoted(label: Any) -> str:
    return f'"{label}"' if isinstance(label, str) else str(label)


@dataclass(frozen=True, eq=False)
class CheckedRows:
    """Predictions of all rows, and people's labels of some of them.

    Parameters
    ----------
    predictions : ndarray of shape (n_rows,)
        Predicted classes; of rows without one, any value.
    not_predicted : ndarray of bool of shape (n_rows,)
        Rows without a prediction.
    rows : ndarray of int of shape (n_checked,)
        Positions of the checked rows, in the order in which they were given.
    labels : ndarray of shape (n_checked,)
        Their labels; of those that were not decided, any value.
    skipped : ndarray of bool of shape (n_checked,)
        Those that people could not decide.
    classes : ndarray
        All predicted classes and labels.
    pool : ndarray of int of shape (n_pool,)
        The rows that checked ones were drawn from.
    sample : Sample or None
        Record of the draw.
    sequential : bool
        Whether labels are to be tested at every look.
    """

    predictions: np.ndarray
    not_predicted: np.ndarray
    rows: np.ndarray
    labels: np.ndarray
    skipped: np.ndarray
    classes: np.ndarray
    pool: np.ndarray
    sample: Sample | None
    sequential: bool

    @classmethod
    def of(cls, predictions: Any, rows: Any, labels: Any, *, sequential: bool) -> CheckedRows:
        """Return them, or say what is wrong with them."""
        predicted = as_plain_array(predictions)
        if predicted.ndim != 1 or predicted.size == 0:
            raise ValueError(
                "predictions must have one class for each row, and one row at least. Got shape "
                f"{predicted.shape}."
            )
        sample = rows if isinstance(rows, Sample) else None
        if sample is not None:
            sample.check(predicted.size)
        checked, given = _given_labels(rows if sample is None else sample.rows, labels)
        skipped = missing_labels(given)
        if sequential:  # rows after the last label have not been looked at
            n_seen = int(np.flatnonzero(~skipped).max(initial=-1)) + 1
            checked, given, skipped = checked[:n_seen], given[:n_seen], skipped[:n_seen]
        check_sample(np.arange(predicted.size), checked, skipped)
        if skipped.all():
            raise ValueError(
                f"None of the {skipped.size:,} checked rows has a label. Label some of them."
            )
        absent = missing_labels(predicted)
        codes, values, classes = _common_classes(predicted[~absent], given[~skipped])
        every, own = np.zeros(predicted.size, classes.dtype), np.zeros(given.size, classes.dtype)
        every[~absent], own[~skipped] = codes, values
        pool = np.arange(predicted.size) if sample is None else sample.pool
        return cls(every, absent, checked, own, skipped, classes, pool, sample, sequential)

    @property
    def n_rows(self) -> int:
        """Number of rows of the file."""
        return self.predictions.size

    @property
    def tested(self) -> np.ndarray:
        """Positions of the checked rows in the pool."""
        return np.searchsorted(self.pool, self.rows)

    @property
    def options(self) -> dict[str, Any]:
        """How parts of the rows are tested."""
        return {"skipped": self.skipped, "sequential": self.sequential}

    @property
    def predicted(self) -> np.ndarray:
        """Predictions of the checked rows."""
        return self.predictions[self.rows]

    @property
    def wrong(self) -> np.ndarray:
        """Which checked rows are predicted wrong, those that were not decided included."""
        return (self.predicted != self.labels) | self.skipped | self.not_predicted[self.rows]

    @property
    def is_known(self) -> np.ndarray:
        """Which rows have a label of people: checked and decided, or excluded before."""
        known = np.ones(self.n_rows, bool)
        known[self.pool] = False
        known[self.rows[~self.skipped]] = True
        return known

    def merged(self) -> np.ndarray:
        """Return the predictions, with people's labels where there are such; None for neither.

        Rows that the sample excludes have none: theirs are elsewhere, and nothing tests what was
        predicted for them.
        """
        labels, unknown = self.predictions.copy(), np.ones(self.n_rows, bool)
        unknown[self.pool] = self.not_predicted[self.pool]
        if unknown.any():
            labels = labels.astype(object)
            labels[unknown] = None
        labels[self.rows[~self.skipped]] = self.labels[~self.skipped]
        return labels


def _given_labels(rows: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the checked rows and their labels as arrays, or say what is wrong with them."""
    checked, given = np.asarray(rows), as_plain_array(labels)
    if checked.ndim != 1 or (checked.size and checked.dtype.kind not in "iu"):
        raise TypeError(
            "rows must be the Sample of draw_sample, or positions of rows, whole numbers. Got "
            f"{type(rows).__name__} of {checked.dtype}. For a mask, pass np.flatnonzero(mask)."
        )
    if given.shape != checked.shape:
        raise ValueError(
            f"labels must have one entry for each of the {checked.size:,} checked rows, None where "
            f"people could not decide. Got shape {given.shape}."
        )
    if checked.size == 0:
        raise ValueError("No row was checked. Draw some rows with draw_sample and label them.")
    return checked, given


def _common_classes(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return predictions and labels in one type, and all classes among them."""
    predicted = as_classes(one, "predictions")
    given = as_classes(other, "labels")
    if predicted.size and (predicted.dtype.kind == "U") != (given.dtype.kind == "U"):
        raise TypeError(
            "predictions and labels must be of one kind, strings or numbers. Got predictions such "
            f"as {predicted.tolist()[0]!r} and labels such as {given.tolist()[0]!r}. Encode them "
            "in the same way."
        )
    if predicted.size == 0:
        predicted = predicted.astype(given.dtype)
    both = np.concatenate([predicted, given])
    classes = np.unique(both)
    if predicted.size and not np.isin(given, predicted).any():
        raise ValueError(
            f"No label is a predicted class: labels are {np.unique(given)[:5].tolist()}, "
            f"predictions {np.unique(predicted)[:5].tolist()}. Write both in the same way."
        )
    return both[: predicted.size], both[predicted.size :], classes
