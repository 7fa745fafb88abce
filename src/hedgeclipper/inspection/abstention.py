"""Error of a classifier that abstains on the least certain rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import column_or_1d

from hedgeclipper.base.semi_supervised import is_unlabeled
from hedgeclipper.bounds.intervals import wilson_bounds
from hedgeclipper.inspection import display
from hedgeclipper.inspection.display import BLUE, MARK, Display, listed

FEWEST_PREDICTED = 5
DELTA = 0.05


@dataclass(eq=False, repr=False)
class AbstentionDisplay(Display):
    """Error on the rows that are predicted, against the proportion on which one abstains.

    Rows are left out in the order of the probability of their most probable class, the least
    certain first. Use `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    abstained : ndarray of shape (n_points,)
        Proportion of rows without a prediction, ascending from 0.
    errors : ndarray of shape (n_points,)
        Proportion of wrong predictions among the others.
    lower, upper : ndarray of shape (n_points,)
        Wilson's confidence interval of each at 95 %, point by point.
    thresholds : ndarray of shape (n_points,)
        The least probability at which there is a prediction.
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
    >>> probabilities = [0.1, 0.2, 0.3, 0.55, 0.6, 0.8, 0.9, 0.95]
    >>> ax = Figure().subplots()
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> display = AbstentionDisplay.from_predictions(y, probabilities, ax=ax)
    >>> display.errors[:2].tolist()  # the only error is the least certain prediction
    [0.125, 0.0]
    """

    abstained: np.ndarray
    errors: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    thresholds: np.ndarray
    name: str | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, ax: Any = None
    ) -> AbstentionDisplay:
        """Draw the curve of a fitted classifier.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with ``predict_proba``.
        X : array-like of shape (n_samples, n_features)
            Rows that it was not fitted to; votes for a `VoteAggregator`.
        y : array-like of shape (n_samples,)
            Their labels, none of them missing.
        name, ax
            As in `plot`.

        Returns
        -------
        AbstentionDisplay
        """
        classes = cls._classes_of(estimator)
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(
                f"{cls.__name__} needs predict_proba. Got {type(estimator).__name__}, which has "
                "none."
            )
        options = {"classes": classes, "name": display.name_of(estimator, name), "ax": ax}
        return cls.from_predictions(
            display.check_labels(y, classes), estimator.predict_proba(X), **options
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        classes: Any = None,
        name: str | None = None,
        ax: Any = None,
    ) -> AbstentionDisplay:
        """Draw the curve of given probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels.
        y_prob : array-like of shape (n_samples, n_classes) or (n_samples,)
            Probabilities of all classes, or of the second one of two.
        classes : array-like of shape (n_classes,), optional
            Labels of the columns; by default the sorted labels in y_true.
        name, ax
            As in `plot`.

        Returns
        -------
        AbstentionDisplay
        """
        y_true = column_or_1d(y_true)
        y_prob, classes = _check_probabilities(y_true, y_prob, classes)
        is_wrong = classes[y_prob.argmax(axis=1)] != y_true
        return cls(**_curve(y_prob.max(axis=1), is_wrong), name=name).plot(ax)

    def plot(
        self, ax: Any = None, *, name: str | None = None, line_kwargs: dict[str, Any] | None = None
    ) -> AbstentionDisplay:
        """Draw the curve with its intervals, and the error if every row is predicted.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : str, optional
            Entry of the legend. `from_estimator` stores the name of the estimator's class by
            default.
        line_kwargs : dict, optional
            Style of the curve, as of ``matplotlib.lines.Line2D``.

        Returns
        -------
        self
        """
        self._use_axes(ax)
        name = self.name if name is None else name
        style = {
            "color": BLUE,
            "drawstyle": "steps-post",
            "label": name,
            **(line_kwargs or {}),
        }
        (self.line_,) = self.ax_.plot(self.abstained, self.errors, **style)
        band = {"color": self.line_.get_color(), "alpha": 0.15, "linewidth": 0}
        self.ax_.fill_between(self.abstained, self.lower, self.upper, step="post", **band)
        self.ax_.axhline(self.errors[0], color=MARK, linewidth=1.0, linestyle=":")
        self.ax_.set(xlabel="proportion of rows abstained on", ylabel="error on the others")
        self.ax_.set_xlim(0.0, 1.0)
        self.ax_.set_ylim(bottom=0.0)
        if name is not None:
            self.ax_.legend(fontsize="small")
        return self


def _curve(best: np.ndarray, is_wrong: np.ndarray) -> dict[str, np.ndarray]:
    """Return the arrays of the display, by name; rows with equal probabilities go together."""
    order = np.argsort(-best, kind="stable")
    best, wrong = best[order], np.cumsum(is_wrong[order])
    n_rows = best.size
    ends = np.append(np.flatnonzero(np.diff(best) < 0), n_rows - 1)
    ends = ends[(ends + 1 >= FEWEST_PREDICTED) | (ends == n_rows - 1)][::-1]
    n_predicted = ends + 1.0
    errors = wrong[ends] / n_predicted
    low, high = wilson_bounds(1.0 - 2.0 * errors, n_predicted, DELTA / 2)
    return {
        "abstained": 1.0 - n_predicted / n_rows,
        "errors": errors,
        # bounds may miss an error of 0 or 1 by rounding
        "lower": np.minimum((1.0 - high) / 2.0, errors),
        "upper": np.maximum((1.0 - low) / 2.0, errors),
        "thresholds": best[ends],
    }


def _check_probabilities(y: np.ndarray, y_prob: Any, classes: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities of shape (n_samples, n_classes), and the classes."""
    classes = np.unique(y) if classes is None else np.asarray(classes)
    display.refuse_unlabeled(y, classes[~is_unlabeled(classes)] if classes.size > 2 else classes)
    y_prob = np.asarray(y_prob, dtype=float)
    if y_prob.ndim == 1:
        y_prob = np.column_stack([1.0 - y_prob, y_prob])
    check_consistent_length(y, y_prob)
    if y_prob.ndim != 2 or y_prob.shape[1] != classes.size:
        raise ValueError(
            f"y_prob must have a column for each of the {classes.size} classes {listed(classes)}, "
            f"or be the probability of the second of two. Got shape {y_prob.shape}."
        )
    if not np.all((y_prob >= 0) & (y_prob <= 1)):
        raise ValueError(
            "y_prob must be probabilities, from 0 to 1. Got others: pass predict_proba."
        )
    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        raise ValueError(
            f"y_true must have labels among the classes {listed(classes)}. Got {listed(unknown)}."
        )
    return y_prob, classes
