"""Whether probabilities are what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.calibration import CalibrationDisplay, calibration_curve
from sklearn.utils.validation import check_is_fitted, column_or_1d

from hedgeclipper.inspection.displays import BLUE, axes_for, classifier_in, name_of, need_matplotlib
from hedgeclipper.inspection.row_labels import check_shares, classes_of, listed, probabilities_of

NAME = "ReliabilityDisplay"
# share of the height that the bars of the counts take
BARS = 0.18


class ReliabilityDisplay(CalibrationDisplay):
    """Predicted probability against observed frequency, with the number of rows in each bin.

    scikit-learn's ``CalibrationDisplay``, and below its curve a bar for each bin. Use
    `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    prob_true, prob_pred : ndarray of shape (n_bins,)
        Share of the class, and mean probability, in each bin that has rows.
    y_prob : ndarray of shape (n_samples,)
        Probabilities of the class.
    counts : ndarray of shape (n_bins,)
        Rows in each of these bins.
    estimator_name : str or None
        Name in the legend.
    pos_label : label or None
        The class.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    line_ : matplotlib Line2D
        The curve.
    bars_ : matplotlib BarContainer
        The counts; the highest bar has the number of rows on it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> display = ReliabilityDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.3, 0.4, 0.9], ax=ax)
    >>> display.counts.tolist()
    [1, 2, 1]
    """

    def __init__(
        self,
        prob_true: np.ndarray,
        prob_pred: np.ndarray,
        y_prob: np.ndarray,
        counts: np.ndarray,
        *,
        estimator_name: str | None = None,
        pos_label: Any = None,
    ):
        super().__init__(
            prob_true, prob_pred, y_prob, estimator_name=estimator_name, pos_label=pos_label
        )
        self.counts = counts

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_bins: int = 5,
        strategy: str = "uniform",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        ref_line: bool = True,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Draw the curve of a fitted classifier.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with ``predict_proba``.
        X : array-like of shape (n_samples, n_features)
            Rows that it was not fitted to; votes for a `VoteAggregator`.
        y : array-like of shape (n_samples,)
            Their labels, none of them missing.
        n_bins, strategy
            As for ``sklearn.calibration.calibration_curve``.
        pos_label : label, optional
            The class whose probability is drawn; the second of two by default. With more than two
            classes it must be given.
        name : str, optional
            Name in the legend; by default that of the estimator's class.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        ref_line : bool
            Whether to draw the diagonal.
        **kwargs : dict
            Style of the curve, as of ``matplotlib.lines.Line2D``.

        Returns
        -------
        ReliabilityDisplay
        """
        need_matplotlib(NAME)
        check_is_fitted(estimator)
        classes = classes_of(classifier_in(estimator), NAME)
        number = _which(classes, pos_label)
        y, shares, _ = probabilities_of(estimator, X, y, NAME)
        return cls.from_predictions(
            y,
            shares[:, number],
            n_bins=n_bins,
            strategy=strategy,
            pos_label=classes[number],
            name=name_of(estimator) if name is None else name,
            ax=ax,
            ref_line=ref_line,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        n_bins: int = 5,
        strategy: str = "uniform",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        ref_line: bool = True,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Draw the curve of given probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels.
        y_prob : array-like of shape (n_samples,)
            Probabilities of the class.
        n_bins, strategy, pos_label, name, ax, ref_line, **kwargs
            As in `from_estimator`.

        Returns
        -------
        ReliabilityDisplay
        """
        need_matplotlib(NAME)
        y_true, y_prob = column_or_1d(y_true), column_or_1d(y_prob)
        classes = np.unique(y_true)
        if pos_label is None:
            pos_label = classes[_which(classes, None)]
        is_class = y_true == pos_label
        check_shares(is_class, y_prob, [False, True])
        options = {"n_bins": n_bins, "strategy": strategy}
        true, predicted = calibration_curve(is_class, y_prob, pos_label=True, **options)
        counts = _counts(y_prob, n_bins, strategy)
        display = cls(true, predicted, y_prob, counts, estimator_name=name, pos_label=pos_label)
        return display.plot(ax=ax, ref_line=ref_line, **kwargs)

    def plot(
        self, *, ax: Any = None, name: str | None = None, ref_line: bool = True, **kwargs: Any
    ) -> ReliabilityDisplay:
        """Draw the curve and the counts.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : str, optional
            Name in the legend, in place of the stored one.
        ref_line : bool
            Whether to draw the diagonal.
        **kwargs : dict
            Style of the curve, as of ``matplotlib.lines.Line2D``.

        Returns
        -------
        self
        """
        ax = axes_for(ax, NAME)
        super().plot(ax=ax, name=name, ref_line=ref_line, **{"color": BLUE, **kwargs})
        heights = BARS * self.counts / self.counts.max()
        self.bars_ = ax.bar(
            self.prob_pred, heights, width=0.03, color=self.line_.get_color(), alpha=0.3
        )
        # one number is enough to read all bars by
        highest = int(np.argmax(self.counts))
        ax.annotate(
            f"{self.counts[highest]:,} rows",
            (self.prob_pred[highest], heights[highest]),
            xytext=(-4, 2),
            textcoords="offset points",
            ha="left",
            fontsize="small",
        )
        about = "" if self.pos_label is None else f" of class {self.pos_label}"
        ax.set(xlabel=f"predicted probability{about}", ylabel=f"observed frequency{about}")
        ax.set(xlim=(-0.02, 1.02), ylim=(0.0, 1.02))
        return self


def _which(classes: np.ndarray, pos_label: Any) -> int:
    """Return the number of the class to draw."""
    if pos_label is None:
        if classes.size == 2:
            return 1
        raise ValueError(
            f"ReliabilityDisplay draws one class. Got {classes.size}, {listed(classes)}: pass the "
            "one to draw as pos_label."
        )
    found = np.flatnonzero(classes == pos_label)
    if found.size == 0:
        raise ValueError(f"pos_label must be one of {listed(classes)}. Got {pos_label!r}.")
    return int(found[0])


def _counts(shares: np.ndarray, n_bins: int, strategy: str) -> np.ndarray:
    """Return how many probabilities are in each bin that has some, bins as scikit-learn's."""
    ends = np.linspace(0.0, 1.0, n_bins + 1)
    edges = ends if strategy == "uniform" else np.percentile(shares, 100 * ends)
    counts = np.bincount(np.searchsorted(edges[1:-1], shares), minlength=n_bins)
    return counts[counts > 0]
