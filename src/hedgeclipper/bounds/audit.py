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
from typing import Any

import numpy as np

from hedgeclipper.bounds.audit_answers import USUAL_RECALL, Audit, ClassAudit
from hedgeclipper.bounds.checked_rows import CheckedRows, check_groups, cohen_kappa
from hedgeclipper.bounds.intervals import check_level, count_bounds
from hedgeclipper.bounds.precision_recall import (
    SegmentErrors,
    checks_for_recall,
    precision_recall,
    segment_errors,
)
from hedgeclipper.bounds.random_sample import EXTENDED_SAMPLE, LABELED_AFTER
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
    labeled_after: Any = (),
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
    labeled_after : array-like of int, default=()
        Rows outside of the sample that were labeled after the draw. If there are any, the answers
        are estimates.
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
    reason = LABELED_AFTER if len(labeled_after) else _why_estimate(checked, uncertain, tested)
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
