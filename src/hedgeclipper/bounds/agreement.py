"""How well two people agree on the labels of the same rows, and what a third one settles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import cohen_kappa_score

from hedgeclipper.bounds.intervals import proportion_bounds


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
