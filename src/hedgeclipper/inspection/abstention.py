"""What not answering on unsure rows is worth."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from hedgeclipper.bounds.intervals import wilson_bounds
from hedgeclipper.inspection.displays import BLUE, MARK, axes_for, name_of, need_matplotlib
from hedgeclipper.inspection.row_labels import check_shares, probabilities_of

NAME = "AbstentionDisplay"
LEAST_ANSWERED = 5
DELTA = 0.05


class AbstentionDisplay:
    """Error on the rows that are answered, against the share that is not.

    Rows are given up in the order of the probability of their most probable class, the least sure
    first. Use `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    abstained : ndarray of shape (n_points,)
        Share of rows without an answer, ascending from 0.
    errors : ndarray of shape (n_points,)
        Share of wrong answers among the others.
    lower, upper : ndarray of shape (n_points,)
        Wilson's interval of each at 95 %, point by point.
    thresholds : ndarray of shape (n_points,)
        The least probability at which an answer is given.
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
    >>> shares = [0.1, 0.2, 0.3, 0.55, 0.6, 0.8, 0.9, 0.95]
    >>> ax = Figure().subplots()
    >>> display = AbstentionDisplay.from_predictions([0, 0, 0, 0, 1, 1, 1, 1], shares, ax=ax)
    >>> display.errors[:2].tolist()  # the only error is the least sure answer
    [0.125, 0.0]
    """

    def __init__(
        self,
        abstained: np.ndarray,
        errors: np.ndarray,
        lower: np.ndarray,
        upper: np.ndarray,
        thresholds: np.ndarray,
        *,
        name: str | None = None,
    ):
        self.abstained = abstained
        self.errors = errors
        self.lower = lower
        self.upper = upper
        self.thresholds = thresholds
        self.name = name

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
        name : str, optional
            Name in the legend; by default that of the estimator's class.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        AbstentionDisplay
        """
        need_matplotlib(NAME)
        y, shares, classes = probabilities_of(estimator, X, y, NAME)
        name = name_of(estimator) if name is None else name
        return cls.from_predictions(y, shares, classes=classes, name=name, ax=ax)

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
        name : str, optional
            Name in the legend.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        AbstentionDisplay
        """
        need_matplotlib(NAME)
        y_true = column_or_1d(y_true)
        shares, classes = check_shares(y_true, y_prob, classes)
        best, is_wrong = shares.max(axis=1), classes[shares.argmax(axis=1)] != y_true
        return cls(*_curve(best, is_wrong), name=name).plot(ax)

    def plot(
        self, ax: Any = None, *, name: str | None = None, line_kwargs: dict[str, Any] | None = None
    ) -> AbstentionDisplay:
        """Draw the curve with its intervals, and the error where all rows are answered.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : str, optional
            Name in the legend, in place of the stored one.
        line_kwargs : dict, optional
            Style of the curve, as of ``matplotlib.lines.Line2D``.

        Returns
        -------
        self
        """
        self.ax_ = axes_for(ax, NAME)
        self.figure_ = self.ax_.figure
        name = self.name if name is None else name
        style = {"color": BLUE, "drawstyle": "steps-post", "label": name, **(line_kwargs or {})}
        (self.line_,) = self.ax_.plot(self.abstained, self.errors, **style)
        self.ax_.fill_between(
            self.abstained,
            self.lower,
            self.upper,
            step="post",
            color=self.line_.get_color(),
            alpha=0.15,
            linewidth=0,
        )
        self.ax_.axhline(self.errors[0], color=MARK, linewidth=1.0, linestyle=":")
        self.ax_.set(xlabel="share of rows without an answer", ylabel="error on the others")
        self.ax_.set_xlim(0.0, 1.0)
        self.ax_.set_ylim(bottom=0.0)
        if name is not None:
            self.ax_.legend(fontsize="small")
        return self


def _curve(best: np.ndarray, is_wrong: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return shares given up, errors, their intervals, and thresholds; equals go together."""
    order = np.argsort(-best, kind="stable")
    best, wrong = best[order], np.cumsum(is_wrong[order])
    n_rows = best.size
    ends = np.append(np.flatnonzero(np.diff(best) < 0), n_rows - 1)
    ends = ends[(ends + 1 >= LEAST_ANSWERED) | (ends == n_rows - 1)][::-1]
    n_answered = ends + 1.0
    errors = wrong[ends] / n_answered
    low, high = wilson_bounds(1.0 - 2.0 * errors, n_answered, DELTA / 2)
    # bounds may miss an error of 0 or 1 by rounding
    lower = np.minimum((1.0 - high) / 2.0, errors)
    upper = np.maximum((1.0 - low) / 2.0, errors)
    return 1.0 - n_answered / n_rows, errors, lower, upper, best[ends]
