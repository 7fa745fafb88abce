"""How two labelings of the same rows agree: predictions and checked rows, or two people.

The checked rows are a simple random sample of all rows, drawn without a look at their labels. Then,
given how many of them fall into a part of the rows that was fixed beforehand (the rows predicted to
be of a class, or a segment), they are a simple random sample of this part. So the exact bounds of
`count_bounds` hold in each part.

**Precision** is the proportion of right ones among the predicted rows of the class: one exact
bound. **Recall** is TP / (TP + FN), which grows with the right rows TP among those predicted to be
of the class, and falls with the missed rows FN among the others. With a bound on each at delta / 2,
both hold with probability 1 - delta, and so does the bound on recall. **Segments** share delta
equally, so that the bounds of all of them hold together.

**At every look.** With ``sequential`` the checked rows are given in the order of the draw, and the
bounds hold at every look (`count_bounds_so_far`): the rows of a part are drawn in a random order,
too. Then all segments share delta, also those without a checked row so far.

A row that people could not decide counts against the bound: as wrong for an upper bound on errors,
as right for a lower one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import cohen_kappa_score

from hedgeclipper.bounds.intervals import count_bounds, proportion_bounds
from hedgeclipper.bounds.sequential import count_bounds_so_far


@dataclass(frozen=True)
class PrecisionRecall:
    """Precision and recall of a class, each as an estimate with a lower and an upper bound.

    Each of the four bounds fails with probability ``delta`` at most. An estimate is NaN where no
    checked row tells of it.
    """

    precision: float
    precision_lower: float
    precision_upper: float
    recall: float
    recall_lower: float
    recall_upper: float
    delta: float


def precision_recall(
    predicted: np.ndarray,
    checked: np.ndarray,
    is_class: np.ndarray,
    *,
    delta: float,
    skipped: np.ndarray | bool = False,
    sequential: bool = False,
) -> PrecisionRecall:
    """Return precision and recall of a class in all rows, with exact bounds.

    Parameters
    ----------
    predicted : ndarray of bool of shape (n_rows,)
        Which rows are predicted to be of the class.
    checked : ndarray of int of shape (n_checked,)
        Positions of the rows that people have checked: a simple random sample of all rows.
    is_class : ndarray of bool of shape (n_checked,)
        Which of these are of the class.
    delta : float
        Probability that a bound fails. For several classes, divide it by their number.
    skipped : ndarray of bool of shape (n_checked,), or False
        Checked rows that people could not decide.
    sequential : bool, default=False
        Whether bounds hold at every look; checked rows are then in the order of the draw.

    Returns
    -------
    PrecisionRecall
        Estimates and bounds.

    Examples
    --------
    10,000 rows, of which 3% are of the class; 1 in 5 is checked:

    >>> rows = np.arange(10_000)
    >>> predicted, checked = rows % 100 < 3, rows[::5]
    >>> found = precision_recall(predicted, checked, predicted[checked], delta=0.05)
    >>> round(found.precision_lower, 3), round(found.recall_lower, 3)
    (0.977, 0.948)
    """
    certain, possible = is_class & ~np.asarray(skipped), is_class | skipped
    inside, n_inside = predicted[checked], int(predicted.sum())
    parts = (inside, n_inside), (~inside, predicted.size - n_inside)
    right, missed = (
        [
            count_in_part(certain[part], possible[part], size, share, sequential)
            for share in (delta, delta / 2)
        ]
        for part, size in parts
    )
    _, low, high = right[0]
    (tp, tp_low, tp_high), (fn, fn_low, fn_high) = right[1], missed[1]
    return PrecisionRecall(
        precision=_ratio(tp, n_inside - tp, math.nan),
        precision_lower=_ratio(low, n_inside - low, 0.0),
        precision_upper=_ratio(high, n_inside - high, 1.0),
        recall=_ratio(tp, fn, math.nan),
        recall_lower=_ratio(tp_low, fn_high, 0.0),
        recall_upper=_ratio(tp_high, fn_low, 1.0),
        delta=delta,
    )


@dataclass(frozen=True, eq=False)
class SegmentErrors:
    """Errors of predictions in each segment of the rows, with exact bounds.

    Parameters
    ----------
    names : ndarray of shape (n_segments,)
        The segments, sorted.
    n_rows, n_checked, n_wrong : ndarray of int of shape (n_segments,)
        Rows, checked rows, and those predicted wrong, in each.
    lower, upper : ndarray of shape (n_segments,)
        Bounds on the proportion of wrong predictions among all rows of the segment. All lower
        bounds hold together with probability 1 - delta, and so do all upper bounds.
    delta : float
        Probability that any of the lower, or any of the upper bounds fails.
    """

    names: np.ndarray
    n_rows: np.ndarray
    n_checked: np.ndarray
    n_wrong: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    delta: float


def segment_errors(
    segments: np.ndarray,
    checked: np.ndarray,
    wrong: np.ndarray,
    *,
    delta: float,
    skipped: np.ndarray | bool = False,
    sequential: bool = False,
) -> SegmentErrors:
    """Return the errors of each segment with exact bounds that hold for all of them together.

    Parameters
    ----------
    segments : ndarray of shape (n_rows,)
        Segment of each row, known without a look at the labels.
    wrong : ndarray of bool of shape (n_checked,)
        Which of the checked rows are predicted wrong.
    delta : float
        Probability that any of the lower, or any of the upper bounds fails. It is shared equally
        among the segments that have checked rows, or with ``sequential`` among all of them.
    checked, skipped, sequential
        As for `precision_recall`.

    Returns
    -------
    SegmentErrors
        Counts and bounds; without a checked row the bounds are 0 and 1.

    Examples
    --------
    >>> segments, checked = np.repeat(["north", "south"], [600, 400]), np.arange(0, 1000, 5)
    >>> found = segment_errors(segments, checked, checked % 100 == 0, delta=0.05)
    >>> found.names.tolist(), found.n_wrong.tolist(), found.upper.round(3).tolist()
    (['north', 'south'], [6, 4], [0.098, 0.115])
    """
    names, codes = np.unique(segments, return_inverse=True)
    certain, possible, own = wrong & ~np.asarray(skipped), wrong | skipped, codes[checked]
    n_rows = np.bincount(codes, minlength=names.size)
    n_checked = np.bincount(own, minlength=names.size)
    share = delta / max(names.size if sequential else int(np.count_nonzero(n_checked)), 1)
    found = []
    for segment, size in enumerate(n_rows.tolist()):
        here = own == segment
        found.append(count_in_part(certain[here], possible[here], size, share, sequential)[1:])
    least, most = np.array(found, float).reshape(-1, 2).T
    n_wrong = np.bincount(own[possible], minlength=names.size)
    return SegmentErrors(names, n_rows, n_checked, n_wrong, least / n_rows, most / n_rows, delta)


def count_in_part(
    certain: np.ndarray, possible: np.ndarray, n_rows: int, delta: float, sequential: bool
) -> tuple[float, int, int]:
    """Return how many rows of a part count: an estimate, and lower and upper bounds.

    Parameters
    ----------
    certain, possible : ndarray of bool of shape (n_checked,)
        Which of its checked rows count, without and with those that people could not decide.
    n_rows : int
        Number of its rows.
    delta : float
        Probability that a bound fails.
    sequential : bool
        Whether bounds hold at every look.
    """
    n_checked, low, high = certain.size, int(certain.sum()), int(possible.sum())
    # nothing is known of a part without a checked row, unless it has no row at all
    mean = high / n_checked if n_checked else math.nan if n_rows else 0.0
    if sequential:
        skips = possible & ~certain
        return n_rows * mean, *count_bounds_so_far(certain, n_rows, delta, skips)
    n_left = n_rows - n_checked
    least = int(count_bounds(low, n_checked, n_left, delta)[0])
    most = int(count_bounds(high, n_checked, n_left, delta)[1])
    return n_rows * mean, low + least, high + most


def _ratio(part: float, rest: float, otherwise: float) -> float:
    total = part + rest
    return part / total if total != 0 else otherwise


def cohen_kappa(one: np.ndarray, other: np.ndarray) -> float:
    """Return Cohen's kappa of two labels of the same rows; NaN if there are not two classes.

    Examples
    --------
    >>> round(cohen_kappa(np.array(["a", "a", "b", "b"]), np.array(["a", "b", "b", "b"])), 2)
    0.5
    """
    if np.unique(np.concatenate([one, other])).size < 2:  # chance agrees as well
        return float("nan")
    return float(cohen_kappa_score(one, other))


@dataclass(frozen=True, eq=False)
class Agreement:
    """Labels of rows that two people have labeled, and how well they agree.

    Parameters
    ----------
    labels : ndarray of object of shape (n_rows,)
        The label of each row on which both agree, which only one has labeled, or which the third
        has settled. None for all others: they are open.
    n_both, n_agreed : int
        Rows that both have labeled, and those on which they agree.
    lower, upper : float
        Bounds on the proportion of rows on which they agree, each at ``confidence_level``, if the
        rows are a simple random sample of many.
    kappa : float
        Cohen's kappa on the rows that both have labeled; NaN if there are not two classes.
    n_settled, n_open : int
        Rows on which they differ: with and without a label of the third.
    confidence_level : float
        Level of each bound.
    """

    labels: np.ndarray
    n_both: int
    n_agreed: int
    lower: float
    upper: float
    kappa: float
    n_settled: int
    n_open: int
    confidence_level: float

    def describe(self) -> str:
        """Return how well they agree, in sentences."""
        if self.n_both == 0:
            return "No row was labeled by two people."
        kappa = "" if math.isnan(self.kappa) else f"; kappa {self.kappa:.2f}"
        text = (
            f"Two people agree on {self.n_agreed:,} of {self.n_both:,} rows "
            f"({self.n_agreed / self.n_both:.1%}, at least {self.lower:.1%} with "
            f"{100 * self.confidence_level:g}% confidence{kappa})."
        )
        if self.n_settled:
            text += f" A third label settles {self.n_settled:,} of the others."
        if self.n_open:
            stay = "row stays" if self.n_open == 1 else "rows stay"
            text += f" {self.n_open:,} {stay} open: not decided."
        return text


def settle_labels(
    first: Any, second: Any, third: Any = None, *, confidence_level: float = 0.95
) -> Agreement:
    """Return the labels on which two people agree, and those that a third one settles.

    Parameters
    ----------
    first, second, third : array-like of shape (n_rows,)
        Labels of the same rows; None where a person gave none. The third is asked where the others
        differ, and decides.
    confidence_level : float, default=0.95
        Level of the bounds on their agreement.

    Returns
    -------
    Agreement
        Labels, and how well the two agree.

    Examples
    --------
    >>> found = settle_labels(["a", "a", "b", None], ["a", "b", "a", "b"], [None, "b", None, None])
    >>> found.labels.tolist(), found.n_agreed, found.n_both
    (['a', 'b', None, 'b'], 1, 3)
    """
    one, two = (np.asarray(labels, object) for labels in (first, second))
    final = np.full(one.shape, None, object) if third is None else np.asarray(third, object)
    if not one.shape == two.shape == final.shape:
        shapes = [labels.shape for labels in (one, two, final)]
        raise ValueError(f"All people must have labels of the same rows. Got shapes {shapes}.")
    given = [np.array([x is not None for x in labels], bool) for labels in (one, two, final)]
    both = given[0] & given[1]
    agreed = both & (one == two)
    differ, labels = both & ~agreed, np.where(given[0], one, two)
    labels[differ] = final[differ]
    n_both, n_agreed = int(both.sum()), int(agreed.sum())
    bounds = proportion_bounds(n_agreed, n_both, np.inf, 1.0 - confidence_level)
    return Agreement(
        labels,
        n_both,
        n_agreed,
        float(bounds[0]),
        float(bounds[1]),
        cohen_kappa(one[both].astype(str), two[both].astype(str)),
        int(np.sum(differ & given[2])),
        int(np.sum(differ & ~given[2])),
        confidence_level,
    )
