"""The paper's Figure 2: how awake predictions are distributed, hedged and clipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import assert_all_finite, check_consistent_length
from sklearn.utils.validation import column_or_1d

from hedgeclipper.base.semi_supervised import is_unlabeled
from hedgeclipper.inspection import display
from hedgeclipper.inspection.display import BAND, BLUE, MARK, ORANGE, Display, listed, per_cent

# height of the axes over the highest bin, so that the legend hides nothing
HEADROOM = 1.5
# proportions of the rows below and above the drawn range, where the range is not given
LEFT_OUT = 0.005
PADDING = 0.05
ROUNDING = 1e-9

Span = tuple[float, float]
CurveStyle = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None


@dataclass(eq=False, repr=False)
class MarginDisplay(Display):
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
    clipped_proportion : float
        Proportion of clipped rows among all rows.
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
    >>> display.clipped_proportion
    0.5
    >>> display.curves_[1].get_label()
    'class 1: 66.7 % clipped'
    """

    # an Okabe-Ito pair; line style and hatch distinguish the classes without color
    STYLES: ClassVar[tuple[dict[str, Any], dict[str, Any]]] = (
        {"edgecolor": ORANGE, "facecolor": (ORANGE, 0.10), "linestyle": "--", "hatch": "//"},
        {"edgecolor": BLUE, "facecolor": (BLUE, 0.28), "linestyle": "-"},
    )

    bin_edges: np.ndarray
    counts: np.ndarray
    classes: np.ndarray | None
    n_clipped: np.ndarray
    n_beyond: int
    clip_at: Span | None = (-1.0, 1.0)
    name: str | None = None

    @property
    def densities(self) -> np.ndarray:
        """Density of each class, or of all rows, shape (n_curves, n_bins)."""
        return self.counts / (self.counts.sum(axis=1, keepdims=True) * np.diff(self.bin_edges))

    @property
    def clipped_proportion(self) -> float:
        """Proportion of clipped rows among all rows."""
        return float(self.n_clipped.sum() / self.counts.sum())

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        clip_at: Span | str | None = "auto",
        name: str | None = None,
        **options: Any,
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
        clip_at : tuple of two floats, "auto" or None
            Where clipping starts. "auto" asks the game that was played: -1 and +1, moved by what
            the class balance adds to ``decision_function``. Log loss clips nothing, nor do other
            classifiers with a ``decision_function``; 2 p - 1 ends at -1 and +1.
        name : str, optional
            Title of the legend; by default the name of the estimator's class.
        **options : dict
            ``bins``, ``limits``, ``ax``, ``legend`` and ``curve_kwargs``, as in
            `from_predictions`.

        Returns
        -------
        MarginDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import make_classification
        >>> from hedgeclipper import HedgeClipperClassifier
        >>> X, y = make_classification(1000, random_state=0)
        >>> model = HedgeClipperClassifier(n_estimators=40, random_state=0)
        >>> model = model.fit(X[:200], y[:200], X_unlabeled=X[200:])
        >>> ax = Figure().subplots()
        >>> display = MarginDisplay.from_estimator(model, X[200:], y[200:], ax=ax)
        >>> int(display.counts.sum())
        800
        """
        classes = cls._classes_of(estimator)
        if classes.size != 2:
            raise ValueError(
                f"MarginDisplay is for two classes. Got an estimator with {classes.size}, "
                f"{listed(classes)}. Fit one class against the rest, or pass that class's column "
                "of decision_function, which is log-odds, to from_predictions with clip_at=None."
            )
        y = None if y is None else display.check_labels(y, classes)
        awake, own_clip_at = _awake_predictions(estimator, X)
        if isinstance(clip_at, str) and clip_at == "auto":
            clip_at = own_clip_at
        options |= {"pos_label": classes[1], "name": display.name_of(estimator, name)}
        return cls.from_predictions(y, awake, clip_at=clip_at, **options)

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
            Awake predictions (m); positive ones vote for the positive class.
        pos_label : label, optional
            The positive class; by default the greater label.
        bins : int or array of edges, default=50
            Number of bins, or their edges.
        limits : tuple of two floats, optional
            First and last edge. By default half a per cent of the rows lies beyond either.
        clip_at : tuple of two floats or None, default=(-1, 1)
            Where clipping starts; None where nothing is clipped.
        name, ax, legend, curve_kwargs
            As in `plot`.

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
        awake = np.asarray(awake_predictions, dtype=float)
        if awake.ndim != 1:
            raise ValueError(
                "awake_predictions must have one value for each row. Got an array of shape "
                f"{awake.shape}."
            )
        assert_all_finite(awake, input_name="awake_predictions")
        classes, of_class = None, [awake]
        if y_true is not None:
            y_true = column_or_1d(y_true)
            check_consistent_length(y_true, awake)
            classes = _check_two_classes(y_true, pos_label)
            of_class = [awake[y_true == label] for label in classes]
        clip_at = _check_span(clip_at, "clip_at")
        edges = _bin_edges(awake, bins, _check_span(limits, "limits"), clip_at)
        drawn = cls(
            edges,
            # rows beyond the edges count in the end bins
            np.array([np.histogram(np.clip(one, *edges[[0, -1]]), edges)[0] for one in of_class]),
            classes=classes,
            n_clipped=np.array([count_clipped(one, clip_at) for one in of_class]),
            n_beyond=int(np.sum((awake < edges[0]) | (awake > edges[-1]))),
            clip_at=clip_at,
            name=name,
        )
        return drawn.plot(ax, legend=legend, curve_kwargs=curve_kwargs)

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
        self._use_axes(ax)
        styles = _styles(curve_kwargs, len(self.counts))
        self.curves_ = [self._draw_curve(number, style) for number, style in enumerate(styles)]
        self.clip_lines_ = []
        if self.clip_at is not None:
            self.ax_.axvspan(*self.clip_at, facecolor=BAND, zorder=0, label="hedged")
            label = f"clipped from here on: {per_cent(self.clipped_proportion)} of rows"
            mark = {"color": MARK, "linewidth": 1.0, "linestyle": ":"}
            for end, own in zip(self.clip_at, (label, None), strict=True):
                self.clip_lines_.append(self.ax_.axvline(end, label=own, **mark))
        beyond = 100 * self.n_beyond / self.counts.sum()
        note = f" (the end bins also hold the {beyond:.2g} % beyond)" if beyond else ""
        self.ax_.set_xlim(self.bin_edges[0], self.bin_edges[-1])
        self.ax_.set_ylim(0.0, self.densities.max() * (HEADROOM if legend else 1.05))
        self.ax_.set(xlabel=f"awake prediction{note}", ylabel="density")
        if legend:
            self.ax_.legend(title=self.name if name is None else name, fontsize="small")
        return self

    def _draw_curve(self, number: int, style: Mapping[str, Any]) -> Any:
        label = "all rows" if self.classes is None else f"class {self.classes[number]}"
        if self.clip_at is not None:
            clipped = self.n_clipped[number] / self.counts[number].sum()
            label += f": {per_cent(clipped)} clipped"
        own = self.STYLES[number - len(self.counts)]
        whole = {"label": label, "linewidth": 1.4, **own, **style}
        return self.ax_.stairs(self.densities[number], self.bin_edges, fill=True, **whole)


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


def _awake_predictions(estimator: Any, X: Any) -> tuple[np.ndarray, Span | None]:
    """Return the awake predictions of rows, and where they are clipped, if at all."""
    classifier = display.classifier_in(estimator)
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X), hedged_range_of(classifier)
    if hasattr(estimator, "predict_proba"):
        span = hedged_range_of(classifier) if hasattr(classifier, "hedged_range_") else (-1.0, 1.0)
        return 2.0 * estimator.predict_proba(X)[:, 1] - 1.0, span
    raise TypeError(
        "MarginDisplay needs decision_function or predict_proba. Got "
        f"{type(estimator).__name__}, which has neither."
    )


def _check_two_classes(y: np.ndarray, pos_label: Any) -> np.ndarray:
    """Return the two labels in y, the positive one last."""
    found = np.unique(y)
    if found.size > 2:
        display.refuse_unlabeled(y, found[~is_unlabeled(found)])
    if found.size != 2:
        raise ValueError(
            f"y_true must have two classes. Got {found.size} label{'s' * (found.size != 1)}, "
            f"{listed(found)}."
        )
    if pos_label is None or pos_label == found[1]:
        return found
    if pos_label != found[0]:
        raise ValueError(f"pos_label must be one of {listed(found)}. Got {pos_label!r}.")
    return found[::-1]


def hedged_range_of(classifier: Any) -> Span | None:
    """Return where the game of two classes starts to clip; None where it never does."""
    spans = getattr(classifier, "hedged_range_", None)
    return tuple(spans[0]) if spans is not None and np.isfinite(spans[0]).all() else None


def _check_span(span: Any, name: str) -> Span | None:
    """Return two ascending finite numbers, or None."""
    if span is None:
        return None
    try:
        low, high = (float(end) for end in span)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not (np.isfinite([low, high]).all() and low < high):
        raise ValueError(f"{name} must be two finite numbers, the smaller one first. Got {span!r}.")
    return low, high


def _bin_edges(
    awake: np.ndarray, bins: Any, limits: Span | None, clip_at: Span | None
) -> np.ndarray:
    """Return ascending edges: given ones, or so many bins within the limits."""
    if np.ndim(bins) == 0:
        if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
            raise ValueError(f"bins must be a positive integer or an array of edges. Got {bins!r}.")
        if limits is None:
            # leave out few rows, and show where clipping starts
            ends = [*np.quantile(awake, [LEFT_OUT, 1.0 - LEFT_OUT]), *(clip_at or ())]
            low, high = float(min(ends)), float(max(ends))
            is_point = high - low <= ROUNDING * max(abs(low), abs(high), 1.0)
            padding = 0.5 if is_point else PADDING * (high - low)
            limits = low - padding, high + padding
        return np.linspace(*limits, int(bins) + 1)
    edges = np.asarray(bins, dtype=float)
    if limits is not None:
        raise ValueError(f"bins already has the edges: leave out limits. Got limits={limits!r}.")
    if edges.ndim != 1 or edges.size < 2 or not np.all(np.diff(edges) > 0):
        raise ValueError(f"bins, as edges, must be two or more and ascending. Got {bins!r}.")
    assert_all_finite(edges, input_name="bins")
    return edges


def count_clipped(values: np.ndarray, clip_at: Span | None) -> int:
    """Return how many values are clipped; the kink counts as clipped."""
    return 0 if clip_at is None else int(np.sum((values <= clip_at[0]) | (values >= clip_at[1])))
