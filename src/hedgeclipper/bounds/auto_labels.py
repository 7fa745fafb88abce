"""Automatic labels: which predictions may stay as they are, and which rows people must label.

Two questions can be asked of the same test labels. Of the *file*: if people label all other rows,
how many labels of the finished file are wrong? And among the *automatic* labels alone: how many of
these are? The first is the easier promise, and the one that counts for whoever has the other rows
reviewed: people's labels count as right.

What counts as the file are all rows of the fit, labeled ones too, or new rows that are passed.
Errors of people are not among those that are bounded. The test labels must be a simple random
sample of the rows that the model has not learned from. The guarantee is for the first question
that they are asked (`sample.FirstQuestion`); answers to others are estimates.

**Among the automatic labels.** Up to any uncertainty that was fixed without a look at the labels,
the exact bound on the proportion of errors holds. Thresholds are ranks among the uncertainties of
labeled and unlabeled rows together. They are tested one after the other, from the first at which
the labels could prove the bound to ever larger ones, and the last before the first failure is
taken: so many tests in a row need no correction, since one that fails ends them. It is proved for
tested and unlabeled rows up to the threshold together, and so it is said of these. Smaller bounds
that labels may show at the last threshold are not proved, since labels have chosen it. So the
errors among the automatic labels are at most those allowed in both, less those that tests found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.bounds.certificate import STATED, how_sure
from hedgeclipper.bounds.intervals import check_level, proportion_bounds
from hedgeclipper.bounds.tested_predictions import TestedPredictions
from hedgeclipper.bounds.whole_file import (
    AcceptedRows,
    accept_rows_of_parts,
    error_limit,
    least_tested,
)
from hedgeclipper.io.messages import counted

QUESTIONS = ("file", "automatic")
N_THRESHOLDS = 25
# the first threshold has so many times the labels that could prove the bound without an error
LEAST_MARGIN, MARGIN = 1.3, 4.0


@dataclass(frozen=True, eq=False)
class AutoLabels:
    r"""Predictions, and which of them need review by a person.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Predicted class of every row.
    needs_review : ndarray of bool of shape (n_samples,)
        Which rows a person must label.
    review_order : ndarray of int of shape (n_review,)
        Positions of these rows, the most uncertain first.
    max_error : float or dict
        Largest proportion of wrong labels, as it was asked for.
    among : {"file", "automatic"}
        Where it is largest: in the finished file, or among the automatic labels.
    confidence_level : float
        Probability with which that holds.
    kind : {"guarantee", "estimate"}
        "guarantee": the labels that test it were held out, and the rows are the unlabeled ones of
        the fit, or were drawn like them where the fit had none.
    reason : str
        Why it is not a guarantee, where it is not.
    n_rows : int
        Number of rows of the file, labeled ones too.
    error_upper : float
        Upper bound on the proportion of wrong labels in the finished file.
    automatic_error_upper : float
        Upper bound on the proportion of wrong labels among the automatic ones; 0 without any. It
        may be above ``max_error`` with ``among="automatic"``, too, which counts tested rows that
        are as certain.
    baseline : float
        Error of always predicting the most frequent class, by the labels.
    majority_class : object
        That class.
    n_errors, n_tested : int
        How many of the tested rows up to the last automatic label are wrong, and how many there
        are.
    n_needed : int
        Smallest number of test labels that could prove ``max_error``; 0 if there are enough.
    n_skipped : int
        Rows of the sample that people could not decide: they count as wrong, and need review.
    is_recorded : bool
        Whether the draw of the test labels is recorded (`draw_sample`), or was only stated.
    n_people : int
        Rows among these whose label is one of people already.

    Examples
    --------
    >>> labels, review = np.array(["no", "yes", "no"]), np.array([False, True, False])
    >>> rest = {"confidence_level": 0.95, "kind": "guarantee", "reason": "", "n_rows": 8}
    >>> more = {"baseline": 0.3, "majority_class": "no", "n_errors": 0, "n_tested": 2}
    >>> more["is_recorded"] = True
    >>> upper = {"error_upper": 0.125, "automatic_error_upper": 0.5, "n_needed": 0}
    >>> order = np.array([1])
    >>> found = AutoLabels(labels, review, order, 0.2, "file", **rest, **upper, **more)
    >>> print(found.describe().replace(". ", ".\n").replace(": g", ":\ng"))
    2 of 3 rows need no review.
    If the other 1 is labeled by hand, at most 20% of all 8 labels are wrong:
    guaranteed with 95% confidence.
    (Among the 2 at most 50.0%; always guessing no: 30.0%)
    """

    labels: np.ndarray
    needs_review: np.ndarray
    review_order: np.ndarray
    max_error: float | dict[Any, float]
    among: str
    confidence_level: float
    kind: str
    reason: str
    n_rows: int
    error_upper: float
    automatic_error_upper: float
    baseline: float
    majority_class: Any
    n_errors: int
    n_tested: int
    n_needed: int
    n_skipped: int = 0
    is_recorded: bool = False
    n_people: int = 0

    @property
    def n_automatic(self) -> int:
        """Number of rows that keep their predicted label."""
        return self.labels.size - self.review_order.size - self.n_people

    @property
    def coverage(self) -> float:
        """Proportion of the rows that need no review."""
        return 1.0 - float(np.mean(self.needs_review)) if self.needs_review.size else 0.0

    @property
    def is_trivial(self) -> bool:
        """Whether always guessing the most frequent class would be allowed, too."""
        largest = self.max_error
        return not isinstance(largest, dict) and largest >= self.baseline

    def describe(self) -> str:
        """Return how many rows need no review, and what is then known of the file."""
        n_rows, n_review, n_sure = self.labels.size, self.review_order.size, self.n_automatic
        limit = _limit_text(self.max_error)
        if not n_rows:
            return "there are no unlabeled rows: none is left to review"
        if self.n_people == n_rows:
            return f"people have labeled all {n_rows:,} rows: none is left to review"
        if n_sure == 0:
            rows = f"{n_review:,} {'other ' if self.n_people else ''}rows"
            return f"all {rows} need review for at most {limit} wrong: {self._why_none()}"
        level = how_sure(self.kind, self.confidence_level)
        rest = f"the other {n_review:,} {'is' if n_review == 1 else 'are'} labeled by hand"
        if self.among == "file":
            of_all = "" if isinstance(self.max_error, dict) else f" of all {self.n_rows:,} labels"
            at = f"If {rest}, at" if n_review else "At"
            promise = f"{at} most {limit}{of_all} are wrong: {level}."
        else:
            tested = f"these and the {self.n_tested:,} tested rows that are as certain"
            promise = f"At most {limit} of {tested} are wrong: {level}."
        notes = [f"Among the {n_sure:,} at most {self.automatic_error_upper:.1%}"]
        notes.append(f"always guessing {self.majority_class}: {self.baseline:.1%}")
        people = f", of which people have labeled {self.n_people:,}" if self.n_people else ""
        text = f"{n_rows - n_review:,} of {n_rows:,} rows need no review{people}. {promise}"
        text += f" ({'; '.join(notes)})"
        if self.n_skipped:
            text += f" Skipped rows ({self.n_skipped:,}) count as wrong, and need review."
        if self.kind != "guarantee":
            text += f" It is no guarantee, since {self.reason}."
        elif not self.is_recorded:
            text += f" {STATED.capitalize()}."
        if self.is_trivial:
            text += (
                f" Note that always guessing {self.majority_class} would be allowed, too: ask for "
                "a smaller error, for limits per class, or for recall of the rare ones."
            )
        return text

    def _why_none(self) -> str:
        if self.n_needed:
            have = f"there are {self.n_tested:,}"
            return f"at least {self.n_needed:,} random test labels are needed; {have}"
        wrong = counted(self.n_errors, "error")
        return f"{wrong} among the {self.n_tested:,} least uncertain test rows"

    def __str__(self) -> str:
        return self.describe()


def _limit_text(max_error: float | dict[Any, float]) -> str:
    if isinstance(max_error, dict):
        parts = [
            f"{100 * part:g}% of {'all labels' if name is None else f'those predicted {name}'}"
            for name, part in max_error.items()
        ]
        return " and ".join(parts)
    return f"{100 * max_error:g}%"


def check_max_error(max_error: Any) -> float | dict[Any, float]:
    """Return the largest error, or those of classes, as floats; raise unless they can be limits."""
    given = max_error if isinstance(max_error, Mapping) else {None: max_error}
    for one in given.values():
        is_number = isinstance(one, (int, float, np.number)) and not isinstance(one, bool)
        if not (is_number and 0.0 < one < 1.0):
            raise ValueError(
                f"max_error must lie strictly between 0 and 1, as 0.05 for 5%. Got {one!r}."
            )
    if not given:
        raise ValueError("max_error has no limit. Got an empty dictionary: pass 0.05, say.")
    found = {name: float(one) for name, one in given.items()}
    return found if isinstance(max_error, Mapping) else found[None]


def check_question(max_error: Any, among: Any, confidence_level: Any) -> float | dict[Any, float]:
    """Return the largest error as `check_max_error` does; raise if the question is none."""
    if among not in QUESTIONS:
        raise ValueError(f"among must be one of {QUESTIONS}. Got {among!r}.")
    check_level(confidence_level)
    if among == "automatic" and isinstance(max_error, Mapping):
        raise ValueError("Limits per class go with among='file'. Got among='automatic'.")
    return check_max_error(max_error)


def question_words(max_error: float | dict[Any, float], among: str, confidence_level: float) -> str:
    """Return a question in words, the same for limits in another order.

    Examples
    --------
    >>> question_words({"yes": 0.1, None: 0.05}, "file", 0.95)
    "max_error={None: 0.05, 'yes': 0.1} with 95% confidence"
    """
    if isinstance(max_error, dict):
        max_error = dict(sorted(max_error.items(), key=lambda one: str(one[0])))
    where = "" if among == "file" else " among the automatic labels"
    return f"max_error={max_error!r}{where} with {100 * confidence_level:g}% confidence"


def auto_labels(
    rule: TestedPredictions,
    labels: np.ndarray,
    *,
    max_error: float | Mapping[Any, float],
    among: str = "file",
    confidence_level: float = 0.95,
    reason: str = "",
) -> AutoLabels:
    """Return which of the predicted labels may stay.

    Parameters
    ----------
    rule : TestedPredictions
        What test labels tell, with the uncertainties of all rows.
    labels : ndarray of shape (n_samples,)
        Predicted labels of the rows.
    max_error : float or mapping
        Largest error; limits of classes by name, that of the file by None.
    among : {"file", "automatic"}
        The question.
    confidence_level : float
        Probability with which the answer holds.
    reason : str
        Why it is no guarantee; "" if it may be one.
    """
    max_error = check_question(max_error, among, confidence_level)
    if among == "automatic":
        assert not isinstance(max_error, dict)
        accepted = surest_rows(rule, max_error, confidence_level)
    else:
        accepted = accept_in_file(rule, max_error, confidence_level, labels)
    n_tested, n_needed = accepted.n_tested, 0
    if accepted.n_allowed < 0:
        n_tested = rule.wrong.size
        n_needed = needed_tests(rule, max_error, confidence_level, labels, among)
    needs_review = np.ones(labels.size, bool)
    needs_review[rule.is_open] = ~accepted.is_accepted[~rule.is_tested]
    order = np.argsort(-rule.unlabeled_uncertainties, kind="stable")
    asked = question_words(max_error, among, confidence_level)
    # also of answers that are estimates anyway: whoever has seen one may choose the next question
    not_first = rule.first_question.why_estimate(asked, rule.uncertainties)
    reason = reason or not_first
    return AutoLabels(
        labels=labels,
        needs_review=needs_review,
        review_order=order[needs_review[order]],
        max_error=max_error,
        among=among,
        confidence_level=confidence_level,
        kind="estimate" if reason else "guarantee",
        reason=reason,
        n_rows=rule.n_rows,
        error_upper=accepted.errors_left / max(rule.n_rows, 1),
        automatic_error_upper=accepted.error_upper,
        baseline=rule.baseline,
        majority_class=rule.majority_class,
        n_errors=accepted.n_wrong,
        n_tested=n_tested,
        n_needed=n_needed,
        n_skipped=rule.skipped.size,
        is_recorded=rule.is_recorded,
    )


def accept_in_file(
    rule: TestedPredictions,
    max_error: float | dict[Any, float],
    confidence_level: float,
    labels: np.ndarray | None = None,
) -> AcceptedRows:
    """Return which rows of the pool are accepted, in its order (`TestedPredictions.in_pool`).

    Predicted labels of the unlabeled rows are needed for limits per class alone.
    """
    tests = accept_rows_of_parts(
        rule.order_of_pool(),
        rule.tested,
        rule.wrong,
        limits=_limits(rule, max_error, labels),
        delta=1.0 - confidence_level,
    )
    parts = [test for name, test in tests.items() if name is not None]
    whole = tests.get(None)
    left = sum(test.errors_left for test in parts) if whole is None else whole.errors_left
    last = max(tests.values(), key=lambda test: test.n_tested)
    least = min(test.n_allowed for test in tests.values())
    accepted = np.any([test.is_accepted for test in tests.values()], axis=0)
    return AcceptedRows(accepted, least, last.n_tested, last.n_wrong, left)


def needed_tests(
    rule: TestedPredictions,
    max_error: float | dict[Any, float],
    confidence_level: float,
    labels: np.ndarray | None = None,
    among: str = "file",
) -> int:
    """Return the smallest number of test labels that could prove the limit.

    Of several limits, which share the level, it is the largest number, if as many test labels fall
    on a class as its rows let expect. Arguments are those of `accept_in_file` and `auto_labels`.
    """
    if not isinstance(max_error, dict) and among == "automatic":
        return math.ceil(LEAST_MARGIN * _faultless(max_error, confidence_level))
    limits, found = _limits(rule, max_error, labels), []
    for rows, limit in limits.values():
        n_rows = int(np.sum(rows))
        least = least_tested(n_rows, limit, (1.0 - confidence_level) / len(limits))
        found.append(math.ceil(least * rows.size / max(n_rows, 1)))
    return max(found)


def _limits(
    rule: TestedPredictions, max_error: float | dict[Any, float], labels: np.ndarray | None
) -> dict[Any, tuple[np.ndarray, int]]:
    """Return for each limit the rows of the pool that it is for, and how many may be wrong."""
    wanted = max_error if isinstance(max_error, dict) else {None: max_error}
    limits, is_limited = {}, np.zeros(rule.is_tested.size, bool)
    if names := [name for name in wanted if name is not None]:
        assert labels is not None
        assert rule.predicted is not None
        predicted = rule.in_pool(rule.predicted, labels)
        if unknown := [name for name in names if not np.any(predicted == name)]:
            raise ValueError(
                f"max_error has limits for {unknown}, which no row is predicted to be of. Got "
                f"predictions of {np.unique(predicted)[:10].tolist()}."
            )
        for name in names:
            rows = predicted == name
            limits[name] = rows, error_limit(wanted[name], int(np.sum(rows)))
            is_limited |= rows
        if None not in wanted and not is_limited.all():
            raise ValueError(
                "There is no limit for rows predicted to be of "
                f"{np.unique(predicted[~is_limited])[:5].tolist()}. Add one for each class, or one "
                "for the whole file, whose name is None."
            )
    if None in wanted:
        whole = error_limit(wanted[None], rule.n_known_rows)
        limits[None] = np.ones(is_limited.size, bool), whole
    return limits


def surest_rows(rule: TestedPredictions, max_error: float, confidence_level: float) -> AcceptedRows:
    """Return which rows of the pool are accepted, so that at most this proportion is wrong.

    These are the rows up to the last threshold before the first at which the bound cannot be
    proved. Errors that are left are those allowed among them and the tested rows that are as
    certain, less those that tests have found.
    """
    n_tested, is_accepted = rule.wrong.size, np.zeros(rule.is_tested.size, bool)
    n_faultless = _faultless(max_error, confidence_level)
    n_needed = LEAST_MARGIN * n_faultless
    # a few errors among the first labels shall not end it, if there are enough labels
    first = max(n_needed, min(MARGIN * n_faultless, n_tested / 2)) / max(n_tested, 1)
    if n_tested == 0 or first > 1.0:
        return AcceptedRows(is_accepted, -1, 0, 0, 0)
    others = rule.unlabeled_uncertainties[rule.is_open]
    pool = np.sort(np.concatenate([rule.uncertainties, others]))
    thresholds = _thresholds(pool, first, n_needed / n_tested)
    below = rule.uncertainties <= thresholds[:, None]
    tested, errors = below.sum(axis=1), (below & rule.wrong).sum(axis=1)
    rows = np.full(thresholds.size, np.inf)
    if rule.n_unlabeled:
        coverage = np.sum(others <= thresholds[:, None], axis=1) / max(others.size, 1)
        rows = np.rint(coverage * (rule.n_unlabeled - rule.skipped.size))
    _, upper = proportion_bounds(errors, tested, rows, 1.0 - confidence_level)
    # what is proved is about the tested and the unlabeled rows up to the threshold together;
    # below all unlabeled rows the errors are known
    if rule.n_unlabeled:
        upper = (errors + upper * rows) / np.maximum(tested + rows, 1)
    n_passed = int(np.cumprod(upper <= max_error).sum())
    at = n_passed - 1
    if n_passed == 0 or rows[at] == 0:
        at = min(n_passed, rows.size - 1)
    else:
        is_accepted[~rule.is_tested] = others <= thresholds[at]
    n_below, n_wrong, n_sure = int(tested[at]), int(errors[at]), int(np.sum(is_accepted))
    # only max_error itself is proved, of tested and automatic rows together
    left = min(max(error_limit(max_error, n_below + n_sure) - n_wrong, 0), n_sure)
    return AcceptedRows(is_accepted, n_wrong, n_below, n_wrong, left)


def _faultless(max_error: float, confidence_level: float) -> float:
    """Return how many labels prove it if none is wrong, of rows without number."""
    return np.log(1.0 / (1.0 - confidence_level)) / -np.log1p(-max_error)


def _thresholds(pool: np.ndarray, first: float, least: float) -> np.ndarray:
    """Return the uncertainties at ranks from a ``first`` part of the sorted pool to all of it.

    Where many rows are as uncertain as the first, those before these come first, unless they are
    less than the ``least`` part.
    """
    ranks = np.ceil(np.linspace(first, 1.0, N_THRESHOLDS) * pool.size).astype(int) - 1
    below, upto = (np.searchsorted(pool, pool[ranks[0]], side) for side in ("left", "right"))
    if upto > ranks[0] + 1 and below >= least * pool.size:
        ranks = np.append(below - 1, ranks)
    return np.unique(pool[ranks])
