"""The paper's Figure 2: how awake predictions are distributed, hedged and clipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import assert_all_finite, check_consistent_length
from sklearn.utils.validation import check_is_fitted, column_or_1d

from hedgeclipper.inspection.bins import Span, bin_edges, check_span, count_outside, gathered_counts
from hedgeclipper.inspection.displays import (
    BAND,
    BLUE,
    MARK,
    ORANGE,
    axes_for,
    classifier_in,
    name_of,
    need_matplotlib,
    per_cent,
)
from hedgeclipper.inspection.row_labels import check_against, classes_of, listed, two_classes_in

# height of the axes over the highest bin, so that the legend hides nothing
HEADROOM = 1.5
NAME = "MarginDisplay"

CurveStyle = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None


class MarginDisplay:
    """Distribution of the awake prediction, in each of two classes where these are known.

    The paper's Figure 2: where the game clips, where it hedges, and how far the classes are apart.
    Use `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    bin_edges : ndarray of shape (n_bins + 1,)
        Edges of the bins, ascending.
    counts : ndarray of shape (2, n_bins) or (1, n_bins)
        Rows of each class in each bin, or of all rows. The end bins also hold the rows beyond them.
    classes : ndarray of shape (2,) or None
        The two labels, the positive one last; None where no labels are known.
    n_clipped : ndarray of shape (2,) or (1,)
        Rows of each class whose prediction is clipped.
    n_beyond : int
        Rows beyond the first and the last edge.
    clip_at : tuple of two floats or None
        The awake predictions at which clipping starts; None where nothing is clipped.
    name : str or None
        What is drawn, for the legend.

    Attributes
    ----------
    densities : ndarray, like counts
        Density of each class; each integrates to one.
    clipped_share : float
        Share of clipped rows among all rows.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    curves_ : list of matplotlib StepPatch
        The outline of each class, or of all rows.
    clip_lines_ : list of matplotlib Line2D
        The marks where clipping starts; empty where nothing is clipped.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> awake = np.array([-1.5, -0.5, -0.2, 0.4, 1.2, 3.0])
    >>> ax = Figure().subplots()
    >>> display = MarginDisplay.from_predictions([0, 0, 1, 0, 1, 1], awake, ax=ax)
    >>> display.clipped_share
    0.5
    >>> display.curves_[1].get_label()
    'class 1: 66.7 % clipped'
    """

    # an Okabe-Ito pair; line style and hatch tell the classes apart without color
    STYLES: ClassVar[tuple[dict[str, Any], dict[str, Any]]] = (
        {"edgecolor": ORANGE, "facecolor": (ORANGE, 0.10), "linestyle": "--", "hatch": "//"},
        {"edgecolor": BLUE, "facecolor": (BLUE, 0.28), "linestyle": "-"},
    )

    def __init__(
        self,
        bin_edges: np.ndarray,
        counts: np.ndarray,
        *,
        classes: np.ndarray | None,
        n_clipped: np.ndarray,
        n_beyond: int,
        clip_at: Span | None = (-1.0, 1.0),
        name: str | None = None,
    ):
        self.bin_edges = bin_edges
        self.counts = counts
        self.classes = classes
        self.n_clipped = n_clipped
        self.n_beyond = n_beyond
        self.clip_at = clip_at
        self.name = name

    @property
    def densities(self) -> np.ndarray:
        """Density of each class, or of all rows, shape (n_curves, n_bins)."""
        return self.counts / (self.counts.sum(axis=1, keepdims=True) * np.diff(self.bin_edges))

    @property
    def clipped_share(self) -> float:
        """Share of clipped rows among all rows."""
        return float(self.n_clipped.sum() / self.counts.sum())

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        bins: Any = 50,
        limits: Span | None = None,
        clip_at: Span | str | None = "auto",
        name: str | None = None,
        ax: Any = None,
        legend: bool = True,
        curve_kwargs: CurveStyle = None,
    ) -> MarginDisplay:
        """Draw the awake predictions of a fitted classifier of two classes.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier. What is drawn is its ``decision_function``, and 2 p - 1 for
            one that has ``predict_proba`` alone, such as a random forest.
        X : array-like of shape (n_samples, n_features)
            Rows; votes for a `VoteAggregator`.
        y : array-like of shape (n_samples,), optional
            Their labels, none of them missing. Without them all rows are one curve.
        bins : int or array of edges
            Number of bins, or their edges.
        limits : tuple of two floats, optional
            First and last edge. By default half a per cent of the rows lies beyond either.
        clip_at : tuple of two floats, "auto" or None
            Where clipping starts. "auto" asks the game that was played: -1 and +1, moved by what
            the class balance adds to ``decision_function``. Log loss clips nothing, nor do other
            classifiers with a ``decision_function``; 2 p - 1 ends at -1 and +1.
        name : str, optional
            Title of the legend; by default the name of the estimator's class.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        legend : bool
            Whether to draw a legend.
        curve_kwargs : dict or list of two dicts, optional
            Style of the outlines, as of ``matplotlib.patches.StepPatch``.

        Returns
        -------
        MarginDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import make_classification
        >>> from hedgeclipper import HedgeClipperClassifier
        >>> X, y = make_classification(1000, random_state=0)
        >>> model = HedgeClipperClassifier(n_estimators=10, random_state=0)
        >>> model = model.fit(X[:200], y[:200], X_unlabeled=X[200:])
        >>> ax = Figure().subplots()
        >>> display = MarginDisplay.from_estimator(model, X[200:], y[200:], ax=ax)
        >>> int(display.counts.sum())
        800
        """
        need_matplotlib(NAME)
        check_is_fitted(estimator)
        classes = _two_classes_of(estimator)
        y = None if y is None else check_against(column_or_1d(y), classes)
        awake, own_clip_at = _awake_predictions(estimator, X)
        return cls.from_predictions(
            y,
            awake,
            pos_label=classes[1],
            bins=bins,
            limits=limits,
            clip_at=own_clip_at if isinstance(clip_at, str) and clip_at == "auto" else clip_at,
            name=name_of(estimator) if name is None else name,
            ax=ax,
            legend=legend,
            curve_kwargs=curve_kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        awake_predictions: Any,
        *,
        pos_label: Any = None,
        bins: Any = 50,
        limits: Span | None = None,
        clip_at: Any = (-1.0, 1.0),
        name: str | None = None,
        ax: Any = None,
        legend: bool = True,
        curve_kwargs: CurveStyle = None,
    ) -> MarginDisplay:
        """Draw given awake predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or None
            Labels of two classes; None where they are not known.
        awake_predictions : array-like of shape (n_samples,)
            Awake predictions (m); positive ones speak for the positive class.
        pos_label : label, optional
            The positive class; by default the greater label.
        bins, limits, name, ax, legend, curve_kwargs
            As in `from_estimator`.
        clip_at : tuple of two floats or None
            Where clipping starts; None where nothing is clipped.

        Returns
        -------
        MarginDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> awake, ax = np.array([-0.5, 0.5, -0.5, 2.0]), Figure().subplots()
        >>> display = MarginDisplay.from_predictions(
        ...     [0, 0, 1, 1], awake, bins=2, limits=(-1, 1), ax=ax
        ... )
        >>> display.densities.tolist(), display.n_beyond
        ([[0.5, 0.5], [0.5, 0.5]], 1)
        """
        need_matplotlib(NAME)
        awake = _check_awake(awake_predictions)
        classes, of_class = None, [awake]
        if y_true is not None:
            y_true = column_or_1d(y_true)
            check_consistent_length(y_true, awake)
            classes = two_classes_in(y_true, pos_label)
            of_class = [awake[y_true == label] for label in classes]
        clip_at = check_span(clip_at, "clip_at")
        edges = bin_edges(awake, bins, check_span(limits, "limits"), clip_at)
        display = cls(
            edges,
            np.array([gathered_counts(values, edges) for values in of_class]),
            classes=classes,
            n_clipped=np.array([count_outside(values, clip_at) for values in of_class]),
            n_beyond=int(np.sum((awake < edges[0]) | (awake > edges[-1]))),
            clip_at=clip_at,
            name=name,
        )
        return display.plot(ax, legend=legend, curve_kwargs=curve_kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        legend: bool = True,
        curve_kwargs: CurveStyle = None,
    ) -> MarginDisplay:
        """Draw the densities, the hedged region and the marks where clipping starts.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : str, optional
            Title of the legend, in place of the stored one.
        legend : bool
            Whether to draw a legend.
        curve_kwargs : dict or list of two dicts, optional
            Style of the outlines, as of ``matplotlib.patches.StepPatch``.

        Returns
        -------
        self

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> first, second = Figure().subplots(1, 2)
        >>> display = MarginDisplay.from_predictions([0, 1], [-2.0, 0.5], ax=first)
        >>> display.plot(second).ax_ is second
        True
        """
        self.ax_ = axes_for(ax, NAME)
        self.figure_ = self.ax_.figure
        styles = _styles(curve_kwargs, len(self.counts))
        self.curves_ = [self._draw_curve(number, style) for number, style in enumerate(styles)]
        self.clip_lines_ = self._draw_hedged_region() if self.clip_at is not None else []
        self.ax_.set_xlim(self.bin_edges[0], self.bin_edges[-1])
        self.ax_.set_ylim(0.0, self.densities.max() * (HEADROOM if legend else 1.05))
        self.ax_.set(xlabel="awake prediction" + self._note_on_end_bins(), ylabel="density")
        if legend:
            self.ax_.legend(title=self.name if name is None else name, fontsize="small")
        return self

    def _draw_curve(self, number: int, style: Mapping[str, Any]) -> Any:
        label = "all rows" if self.classes is None else f"class {self.classes[number]}"
        if self.clip_at is not None:
            share = self.n_clipped[number] / self.counts[number].sum()
            label += f": {per_cent(share)} clipped"
        whole = {
            "label": label,
            "linewidth": 1.4,
            **self.STYLES[number - len(self.counts)],
            **style,
        }
        return self.ax_.stairs(self.densities[number], self.bin_edges, fill=True, **whole)

    def _draw_hedged_region(self) -> list[Any]:
        assert self.clip_at is not None
        low, high = self.clip_at
        self.ax_.axvspan(low, high, facecolor=BAND, zorder=0, label="hedged")
        label = f"clipped from here on: {per_cent(self.clipped_share)} of rows"
        mark = {"color": MARK, "linewidth": 1.0, "linestyle": ":"}
        return [self.ax_.axvline(low, label=label, **mark), self.ax_.axvline(high, **mark)]

    def _note_on_end_bins(self) -> str:
        """Return what the picture must say of rows that lie beyond it."""
        if not self.n_beyond:
            return ""
        share = 100 * self.n_beyond / self.counts.sum()
        return f" (the end bins also hold the {share:.2g} % beyond)"


def _styles(curve_kwargs: CurveStyle, n_curves: int) -> Sequence[Mapping[str, Any]]:
    if curve_kwargs is None or isinstance(curve_kwargs, Mapping):
        return [curve_kwargs or {}] * n_curves
    if len(curve_kwargs) != n_curves:
        wanted = "two dicts, one for each class" if n_curves == 2 else "one"
        raise ValueError(
            f"curve_kwargs must be a dict, or a list of {wanted}. Got a list of "
            f"{len(curve_kwargs)}."
        )
    return curve_kwargs


def _two_classes_of(estimator: Any) -> np.ndarray:
    """Return the classes of a fitted classifier, or raise if there are not two."""
    classes = classes_of(estimator, NAME)
    if len(classes) != 2:
        raise ValueError(
            f"MarginDisplay is for two classes. Got an estimator with {len(classes)}, "
            f"{listed(classes)}. Fit one class against the rest, or pass that class's column of "
            "decision_function, which is log-odds, to from_predictions with clip_at=None."
        )
    return classes


def _check_awake(awake_predictions: Any) -> np.ndarray:
    awake = np.asarray(awake_predictions, dtype=float)
    if awake.ndim != 1:
        raise ValueError(
            "awake_predictions must have one value for each row. Got an array of shape "
            f"{awake.shape}."
        )
    assert_all_finite(awake, input_name="awake_predictions")
    return awake


def _awake_predictions(estimator: Any, X: Any) -> tuple[np.ndarray, Span | None]:
    """Return the awake predictions of rows, and where they are clipped, if at all."""
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X), _clip_at(classifier_in(estimator))
    if hasattr(estimator, "predict_proba"):
        classifier = classifier_in(estimator)
        span = _clip_at(classifier) if hasattr(classifier, "hedged_range_") else (-1.0, 1.0)
        return 2.0 * estimator.predict_proba(X)[:, 1] - 1.0, span
    raise TypeError(
        "MarginDisplay needs decision_function or predict_proba. Got "
        f"{type(estimator).__name__}, which has neither."
    )


def _clip_at(classifier: Any) -> Span | None:
    """Return where the classifier's game starts to clip; None where it never does."""
    span = getattr(classifier, "hedged_range_", None)
    return span if span is not None and np.isfinite(span).all() else None
