"""How many rows can be labeled automatically, against the errors allowed among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.base.inspection import inspect_estimator
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.bounds.intervals import check_level
from hedgeclipper.inspection.display import BLUE, Display, name_of, steps_in

N_POINTS = 40
# by default the curve ends here, or where the error of all rows is known to be less
LEAST_END, MOST_END = 0.1, 0.5


@dataclass(eq=False, repr=False)
class AutoLabelDisplay(Display):
    """Proportion of rows that can be labeled automatically, by the errors allowed among them.

    It is the ``coverage`` of ``auto_label`` for many values of ``max_error``. Each point is a test
    of its own and holds at the confidence level by itself: the curve as a whole does not, and need
    not rise everywhere. Choose ``max_error`` by what errors cost, not by the curve. Use
    `from_estimator` to make one.

    Parameters
    ----------
    max_errors : ndarray of shape (n_points,)
        Largest proportion of wrong labels that is allowed among the rows labeled automatically.
    coverages : ndarray of shape (n_points,)
        Proportion of the rows that can be labeled automatically with so few errors.
    kind : {"guarantee", "estimate"}
        Whether that is guaranteed, as in ``auto_label``.
    confidence_level : float
        Probability with which each point holds.
    name : str or None
        What is drawn, for the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    line_ : matplotlib Line2D
        The curve.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from hedgeclipper import VoteAggregator
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 2_000)
    >>> votes = np.where(rng.random((2_000, 7)) < 0.8, truth[:, None], 1 - truth[:, None])
    >>> gold = np.where(np.arange(2_000) < 400, truth, -1)
    >>> model = VoteAggregator(confidence_level=0.95, random_state=0).fit(votes, gold)
    >>> ax, errors = Figure().subplots(), [0.01, 0.05, 0.1]
    >>> display = AutoLabelDisplay.from_estimator(model, max_errors=errors, ax=ax)
    >>> display.kind, display.coverages.tolist()
    ('guarantee', [0.0, 1.0, 1.0])
    """

    max_errors: np.ndarray
    coverages: np.ndarray
    kind: str
    confidence_level: float
    name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        max_errors: Sequence[float] | np.ndarray | None = None,
        confidence_level: float = 0.95,
        name: str | None = None,
        ax: Any = None,
    ) -> AutoLabelDisplay:
        """Draw the curve of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            One of this package, or a pipeline or search that ends in one.
        X : like that of ``predict``, optional
            Rows, or votes for a `VoteAggregator`. None takes the unlabeled rows of the fit.
        max_errors : array-like of shape (n_points,), optional
            Largest proportions of errors, each between 0 and 1. By default 40, up to where all rows
            can be labeled automatically, but at least to 0.1 and at most to 0.5.
        confidence_level : float, default=0.95
            Probability with which each point holds, by itself.
        name, ax
            As in `plot`.

        Returns
        -------
        AutoLabelDisplay
        """
        steps, classifier = steps_in(estimator)
        model = inspect_estimator(classifier, cls.__name__)
        check_level(confidence_level)
        doubts = None
        if X is not None:
            for step in steps:
                X = step.transform(X)
            doubts = model.doubts_of(X)
        rule, reason = model.checked.about(doubts)
        if max_errors is None:
            max_errors = errors_to_try(rule.certificate(confidence_level))
        max_errors = np.asarray(max_errors, dtype=float)
        if max_errors.ndim != 1 or not np.all((max_errors > 0) & (max_errors < 1)):
            raise ValueError(
                f"max_errors must lie strictly between 0 and 1. Got {max_errors.tolist()}."
            )
        found = [rule.surest(float(one), float(confidence_level)) for one in max_errors]
        coverages = np.array([one.coverage for one in found])
        if doubts is not None:
            coverages = np.array([np.mean(doubts <= one.threshold) for one in found])
        return cls(
            max_errors,
            coverages,
            kind="estimate" if reason else "guarantee",
            confidence_level=float(confidence_level),
            name=name_of(estimator, name),
        ).plot(ax)

    def _draw(self, name: str | None) -> None:
        level = f"{100 * self.confidence_level:g}% confidence"
        label = f"guaranteed with {level}" if self.kind == "guarantee" else f"estimate at {level}"
        label = f"{name} ({label})" if name else label
        options = {"color": BLUE, "marker": ".", "markersize": 4.0, "label": label}
        (self.line_,) = self.ax_.plot(self.max_errors, self.coverages, **options)
        self.ax_.set(
            xlabel="largest proportion of errors allowed",
            ylabel="rows labeled automatically",
        )
        self.ax_.set_xlim(left=0.0)
        self.ax_.set_ylim(-0.02, 1.02)
        self.ax_.legend(fontsize="small")


def errors_to_try(bound: Certificate) -> np.ndarray:
    """Return proportions of errors, up to the bound on the error of all rows."""
    return np.linspace(0.0, np.clip(bound.error_upper, LEAST_END, MOST_END), N_POINTS + 1)[1:]
