"""The paper's Figure 2: awake predictions of each class, where they are hedged and clipped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, check_consistent_length
from sklearn.utils.validation import check_is_fitted, column_or_1d

from hedgeclipper.io.messages import import_extra

# Okabe and Ito's colors; line style and hatch distinguish the classes without color
STYLES = (
    {"edgecolor": "#D55E00", "facecolor": ("#D55E00", 0.10), "linestyle": "--", "hatch": "//"},
    {"edgecolor": "#0072B2", "facecolor": ("#0072B2", 0.28), "linestyle": "-"},
)
HEDGED = (-1.0, 1.0)


@dataclass(eq=False, repr=False)
class MarginDisplay:
    """Distribution of the awake prediction in each of two classes.

    Rows whose awake prediction lies between -1 and 1 are hedged, the others are clipped. Use
    `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    bin_edges : ndarray of shape (n_bins + 1,)
        Edges of the bins, ascending.
    counts : ndarray of shape (2, n_bins) or (1, n_bins)
        Rows of each class in each bin, or of all rows. The end bins also hold the rows beyond.
    classes : ndarray of shape (2,) or None
        The two labels, the positive one last; None if labels are not known.
    n_clipped : ndarray of shape (2,) or (1,)
        Clipped rows of each class.
    name : str or None
        Title of the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> m = np.array([-1.5, -0.5, -0.2, 0.4, 1.2, 3.0])
    >>> display = MarginDisplay.from_predictions([0, 0, 1, 0, 1, 1], m, ax=Figure().subplots())
    >>> display.clipped_proportion
    0.5
    """

    bin_edges: np.ndarray
    counts: np.ndarray
    classes: np.ndarray | None
    n_clipped: np.ndarray
    name: str | None = None

    @property
    def densities(self) -> np.ndarray:
        """Density of each class; each integrates to one."""
        return self.counts / (self.counts.sum(axis=1, keepdims=True) * np.diff(self.bin_edges))

    @property
    def clipped_proportion(self) -> float:
        """Proportion of clipped rows among all rows."""
        return float(self.n_clipped.sum() / self.counts.sum())

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, name: str | None = None, **options: Any
    ) -> MarginDisplay:
        """Draw the ``decision_function`` of a fitted classifier of two classes.

        Parameters
        ----------
        estimator : PaperHedgeClipper, or any classifier of two classes
            A classifier that has only ``predict_proba``, such as a forest, is drawn by 2 p - 1.
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), optional
            Their labels; without them all rows are one curve.
        name : str, optional
            Title of the legend; by default the name of the class.
        **options : dict
            ``bins``, ``limits`` and ``ax`` of `from_predictions`.

        Returns
        -------
        MarginDisplay
        """
        check_is_fitted(estimator)
        if len(estimator.classes_) != 2:
            raise ValueError(
                f"MarginDisplay is for two classes. Got an estimator of {len(estimator.classes_)}: "
                "pass one column of decision_function to from_predictions."
            )
        if hasattr(estimator, "decision_function"):
            m = estimator.decision_function(X)
        else:
            m = 2.0 * estimator.predict_proba(X)[:, 1] - 1.0
        return cls.from_predictions(y, m, name=name or type(estimator).__name__, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        awake_predictions: Any,
        *,
        bins: int = 50,
        limits: tuple[float, float] | None = None,
        name: str | None = None,
        ax: Any = None,
    ) -> MarginDisplay:
        """Draw given awake predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or None
            Labels of two classes, the greater one positive; None if they are not known.
        awake_predictions : array-like of shape (n_samples,)
            Awake predictions.
        bins : int, default=50
            Number of bins.
        limits : tuple of two floats, optional
            Range of the horizontal axis. By default half a percent of the rows lies beyond either
            end.
        name : str, optional
            Title of the legend.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        MarginDisplay
        """
        m = column_or_1d(awake_predictions, dtype=float)
        assert_all_finite(m, input_name="awake_predictions")
        classes, parts = None, [m]
        if y_true is not None:
            y = column_or_1d(y_true)
            check_consistent_length(y, m)
            classes = np.unique(y)
            if classes.size != 2:
                raise ValueError(f"y_true must have two classes. Got {classes.size}.")
            parts = [m[y == label] for label in classes]
        edges = np.linspace(*(_limits(m) if limits is None else limits), bins + 1)
        inside = [np.clip(part, edges[0], edges[-1]) for part in parts]
        return cls(
            bin_edges=edges,
            counts=np.array([np.histogram(part, edges)[0] for part in inside]),
            classes=classes,
            n_clipped=np.array([int(np.sum(np.abs(part) >= 1.0)) for part in parts]),
            name=name,
        ).plot(ax)

    def plot(self, ax: Any = None) -> MarginDisplay:
        """Draw the densities, the hedged region, and the marks where clipping starts.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        self
        """
        if ax is None:
            pyplot = import_extra("matplotlib.pyplot", "plots", type(self).__name__)
            ax = pyplot.subplots()[1]
        self.ax_, self.figure_ = ax, ax.figure
        for number, (density, n_clipped) in enumerate(
            zip(self.densities, self.n_clipped, strict=True)
        ):
            which = "all rows" if self.classes is None else f"class {self.classes[number]}"
            label = f"{which}: {n_clipped / self.counts[number].sum():.1%} clipped"
            style = STYLES[number - len(self.counts)]
            ax.stairs(density, self.bin_edges, fill=True, label=label, linewidth=1.4, **style)
        ax.axvspan(*HEDGED, facecolor="#EBEBEB", zorder=0, label="hedged")
        for end in HEDGED:
            ax.axvline(end, color="#404040", linewidth=1.0, linestyle=":")
        ax.set_xlim(self.bin_edges[0], self.bin_edges[-1])
        ax.set_ylim(0.0, 1.5 * self.densities.max())  # room for the legend
        ax.set(xlabel="awake prediction", ylabel="density")
        ax.legend(title=self.name, fontsize="small")
        return self


def _limits(m: np.ndarray) -> tuple[float, float]:
    """Return a range that leaves out few rows and shows where clipping starts."""
    ends = [*np.quantile(m, [0.005, 0.995]), *HEDGED]
    padding = 0.05 * (max(ends) - min(ends))
    return min(ends) - padding, max(ends) + padding
