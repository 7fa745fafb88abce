"""People's labels of some rows: beside predictions of all rows, and beside those of others.

`CheckedRows` are predictions and labels, checked. `settle_labels` tells how well two people agree,
and what a third one settles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import cohen_kappa_score

from hedgeclipper.bounds.intervals import proportion_bounds
from hedgeclipper.bounds.random_sample import Sample
from hedgeclipper.bounds.whole_file import check_sample
from hedgeclipper.io.frames import as_classes, as_plain_array, missing_labels

# random samples of rows that groups are compared with: a sample that comes from fewer groups than
# all of them is none, up to a probability of 1 in 2,000
N_COMPARED = 1999


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
        check_sample(np.arange(predicted.size), checked, skipped, None)
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
    def predicted(self) -> np.ndarray:
        """Predictions of the checked rows."""
        return self.predictions[self.rows]

    @property
    def wrong(self) -> np.ndarray:
        """Which checked rows are predicted wrong, those that were not decided included."""
        return (self.predicted != self.labels) | self.skipped | self.not_predicted[self.rows]

    def is_known(self) -> np.ndarray:
        """Return which rows have a label of people: checked and decided, or excluded before."""
        known = np.ones(self.n_rows, bool)
        known[self.pool] = False
        known[self.rows[~self.skipped]] = True
        return known

    def merged(self) -> np.ndarray:
        """Return the predictions, with people's labels where there are such; None for neither."""
        labels = self.predictions.copy()
        if self.not_predicted.any():
            labels = labels.astype(object)
            labels[self.not_predicted] = None
        labels[self.rows[~self.skipped]] = self.labels[~self.skipped]
        return labels


def _given_labels(rows: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    checked, given = np.asarray(rows), as_plain_array(labels)
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


def check_groups(groups: Any, rows: np.ndarray, n_rows: int) -> None:
    """Raise if checked rows come from so few groups that whole groups must have been drawn.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)
        The group of each row.
    rows : ndarray of int of shape (n_checked,)
        The checked rows.
    n_rows : int
        Number of rows.
    """
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise ValueError(
            f"groups must name one for each of the {n_rows:,} rows. Got shape {values.shape}."
        )
    names, codes = np.unique(values, return_inverse=True)
    rng = np.random.default_rng(0)

    def count(drawn: np.ndarray) -> int:
        return np.unique(codes[drawn]).size

    found = count(rows)
    usual = min(count(rng.choice(n_rows, rows.size, replace=False)) for _ in range(N_COMPARED))
    if found < usual:
        raise ValueError(
            f"The {rows.size:,} checked rows come from {found:,} of {names.size:,} groups; those "
            f"of a random sample of rows come from at least {usual:,}. A sample of groups is no "
            "sample of rows, and proves nothing of them. Draw single rows with draw_sample."
        )


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
        Cohen's kappa on the rows that both have labeled.
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
        text = (
            f"Two people agree on {self.n_agreed:,} of {self.n_both:,} rows "
            f"({self.n_agreed / self.n_both:.1%}, at least {self.lower:.1%} with "
            f"{100 * self.confidence_level:g}% confidence; kappa {self.kappa:.2f})."
        )
        if self.n_settled:
            text += f" A third label settles {self.n_settled:,} of the others."
        if self.n_open:
            text += f" {self.n_open:,} stay open, and count as not decided."
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
    labels = np.where(given[0], one, two)
    labels[both & ~agreed] = final[both & ~agreed]
    n_both, n_agreed, differ = int(both.sum()), int(agreed.sum()), both & ~agreed
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
