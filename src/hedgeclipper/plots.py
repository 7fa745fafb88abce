"""Pictures of a fitted model; the only module that imports matplotlib, and only when it draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import assert_all_finite, check_consistent_length
from sklearn.utils.validation import check_is_fitted, column_or_1d

from hedgeclipper.extras import import_extra
from hedgeclipper.semi_supervised import is_unlabeled

# shares of the rows below and above the drawn range, where the range is not given
LEFT_OUT = 0.005
PADDING = 0.05
# height of the axes over the highest bin, so that the legend hides nothing
HEADROOM = 1.5

Span = tuple[float, float]
CurveStyle = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None


class MarginDisplay:
    """Distribution of the awake prediction in each of two classes.

    The paper's Figure 2: where the game clips, where it hedges, and how far the classes are apart.
    Use `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    bin_edges : ndarray of shape (n_bins + 1,)
        Edges of the bins, ascending.
    counts : ndarray of shape (2, n_bins)
        Rows of each class in each bin. The end bins also hold the rows beyond them.
    classes : ndarray of shape (2,)
        The two labels, the positive one last.
    n_clipped : ndarray of shape (2,)
        Rows of each class whose prediction is clipped.
    n_beyond : int
        Rows beyond the first and the last edge.
    clip_at : tuple of two floats or None
        The awake predictions at which clipping starts; None where nothing is clipped.
    name : str or None
        What is drawn, for the legend.

    Attributes
    ----------
    densities : ndarray of shape (2, n_bins)
        Density of each class; each integrates to one.
    clipped_share : float
        Share of clipped rows among all rows.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    curves_ : list of two matplotlib StepPatch
        The outline of each class.
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

    # an Okabe-Ito pair; line style and hatch tell the classes apart without colour
    STYLES: ClassVar[tuple[dict[str, Any], dict[str, Any]]] = (
        {"edgecolor": "#D55E00", "facecolor": ("#D55E00", 0.10), "linestyle": "--", "hatch": "//"},
        {"edgecolor": "#0072B2", "facecolor": ("#0072B2", 0.28), "linestyle": "-"},
    )

    def __init__(
        self,
        bin_edges: np.ndarray,
        counts: np.ndarray,
        *,
        classes: np.ndarray,
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
        """Density of each class, shape (2, n_bins)."""
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
        y: Any,
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
            Rows.
        y : array-like of shape (n_samples,)
            Their labels, none of them missing.
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
        _need_matplotlib()
        check_is_fitted(estimator)
        classes = _two_classes_of(estimator)
        y = _check_against(column_or_1d(y), classes)
        awake, own_clip_at = _awake_predictions(estimator, X)
        return cls.from_predictions(
            y,
            awake,
            pos_label=classes[1],
            bins=bins,
            limits=limits,
            clip_at=own_clip_at if isinstance(clip_at, str) and clip_at == "auto" else clip_at,
            name=type(_classifier_in(estimator)).__name__ if name is None else name,
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
        y_true : array-like of shape (n_samples,)
            Labels of two classes.
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
        _need_matplotlib()
        y_true = column_or_1d(y_true)
        awake = _check_awake(awake_predictions)
        check_consistent_length(y_true, awake)
        classes = _two_classes_in(y_true, pos_label)
        clip_at = _check_span(clip_at, "clip_at")
        edges = _bin_edges(awake, bins, _check_span(limits, "limits"), clip_at)
        of_class = [awake[y_true == label] for label in classes]
        display = cls(
            edges,
            np.array([_gathered_counts(values, edges) for values in of_class]),
            classes=classes,
            n_clipped=np.array([_count_outside(values, clip_at) for values in of_class]),
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
        self.ax_ = _new_axes() if ax is None else ax
        self.figure_ = self.ax_.figure
        styles = _two_styles(curve_kwargs)
        self.curves_ = [self._draw_curve(number, styles[number]) for number in (0, 1)]
        self.clip_lines_ = self._draw_hedged_region() if self.clip_at is not None else []
        self.ax_.set_xlim(self.bin_edges[0], self.bin_edges[-1])
        self.ax_.set_ylim(0.0, self.densities.max() * (HEADROOM if legend else 1.05))
        self.ax_.set(xlabel="awake prediction" + self._note_on_end_bins(), ylabel="density")
        if legend:
            self.ax_.legend(title=self.name if name is None else name, fontsize="small")
        return self

    def _draw_curve(self, number: int, style: Mapping[str, Any]) -> Any:
        label = f"class {self.classes[number]}"
        if self.clip_at is not None:
            share = self.n_clipped[number] / self.counts[number].sum()
            label += f": {per_cent(share)} clipped"
        whole = {"label": label, "linewidth": 1.4, **self.STYLES[number], **style}
        return self.ax_.stairs(self.densities[number], self.bin_edges, fill=True, **whole)

    def _draw_hedged_region(self) -> list[Any]:
        assert self.clip_at is not None
        low, high = self.clip_at
        self.ax_.axvspan(low, high, facecolor="0.92", zorder=0, label="hedged")
        label = f"clipped from here on: {per_cent(self.clipped_share)} of rows"
        mark = {"color": "0.25", "linewidth": 1.0, "linestyle": ":"}
        return [self.ax_.axvline(low, label=label, **mark), self.ax_.axvline(high, **mark)]

    def _note_on_end_bins(self) -> str:
        """Return what the picture must say of rows that lie beyond it."""
        if not self.n_beyond:
            return ""
        share = 100 * self.n_beyond / self.counts.sum()
        return f" (the end bins also hold the {share:.2g} % beyond)"


def _need_matplotlib() -> None:
    """Raise before anything is computed if the picture could not be drawn."""
    import_extra("matplotlib", "plots", "MarginDisplay")


def _new_axes() -> Any:
    _need_matplotlib()
    return import_extra("matplotlib.pyplot", "plots", "MarginDisplay").subplots()[1]


def _two_styles(curve_kwargs: CurveStyle) -> Sequence[Mapping[str, Any]]:
    if curve_kwargs is None or isinstance(curve_kwargs, Mapping):
        return [curve_kwargs or {}] * 2
    if len(curve_kwargs) != 2:
        raise ValueError(
            "curve_kwargs must be a dict, or a list of two dicts, one for each class. Got a list "
            f"of {len(curve_kwargs)}."
        )
    return curve_kwargs


def _two_classes_of(estimator: Any) -> np.ndarray:
    """Return the classes of a fitted classifier, or raise if there are not two."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise TypeError(
            f"MarginDisplay is for classifiers. Got {type(estimator).__name__}, which has no "
            "classes_."
        )
    if len(classes) != 2:
        raise ValueError(
            f"MarginDisplay is for two classes. Got an estimator with {len(classes)}, "
            f"{_listed(classes)}. Fit one class against the rest, or pass that class's column of "
            "decision_function, which is log-odds, to from_predictions with clip_at=None."
        )
    return np.asarray(classes)


def _check_against(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the labels if each is one of the classes, and both occur."""
    _refuse_unlabeled(y, classes)
    found = np.unique(y)
    if not np.array_equal(found, classes):
        raise ValueError(
            f"y must have the labels {_listed(classes)}, the classes of the estimator, and both "
            f"of them. Got {_listed(found)}."
        )
    return y


def _two_classes_in(y: np.ndarray, pos_label: Any) -> np.ndarray:
    """Return the two labels, the positive one last."""
    found = np.unique(y)
    if found.size > 2:
        _refuse_unlabeled(y, found[~is_unlabeled(found)])
    if found.size != 2:
        raise ValueError(
            f"y_true must have two classes. Got {found.size} label{'s' * (found.size != 1)}, "
            f"{_listed(found)}."
        )
    if pos_label is None or pos_label == found[1]:
        return found
    if pos_label != found[0]:
        raise ValueError(f"pos_label must be one of {_listed(found)}. Got {pos_label!r}.")
    return found[::-1]


def _refuse_unlabeled(y: np.ndarray, classes: np.ndarray) -> None:
    """Raise if -1 is not a class but occurs: it then marks rows whose class is not known."""
    n_marked = int(is_unlabeled(y).sum())
    if n_marked and not is_unlabeled(classes).any():
        raise ValueError(
            f"y has {n_marked} unlabelled row{'s' * (n_marked != 1)} (-1) of {y.size}; the classes "
            f"are {_listed(classes)}. Their class must be known to be drawn: pass the others alone."
        )


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
        return estimator.decision_function(X), _clip_at(_classifier_in(estimator))
    if hasattr(estimator, "predict_proba"):
        return 2.0 * estimator.predict_proba(X)[:, 1] - 1.0, (-1.0, 1.0)
    raise TypeError(
        "MarginDisplay needs decision_function or predict_proba. Got "
        f"{type(estimator).__name__}, which has neither."
    )


def _classifier_in(estimator: Any) -> Any:
    """Return the classifier at the end of pipelines and searches."""
    if isinstance(estimator, Pipeline):
        return _classifier_in(estimator[-1])
    if hasattr(estimator, "best_estimator_"):
        return _classifier_in(estimator.best_estimator_)
    return estimator


def _clip_at(classifier: Any) -> Span | None:
    """Return where the classifier's game starts to clip; None where it never does."""
    span = getattr(classifier, "hedged_range_", None)
    return span if span is not None and np.isfinite(span).all() else None


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
    if np.ndim(bins) == 0:
        if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
            raise ValueError(f"bins must be a positive integer or an array of edges. Got {bins!r}.")
        return np.linspace(*(limits or _usual_limits(awake, clip_at)), int(bins) + 1)
    edges = np.asarray(bins, dtype=float)
    if limits is not None:
        raise ValueError(f"bins already has the edges: leave out limits. Got limits={limits!r}.")
    if edges.ndim != 1 or edges.size < 2 or not np.all(np.diff(edges) > 0):
        raise ValueError(f"bins, as edges, must be two or more and ascending. Got {bins!r}.")
    assert_all_finite(edges, input_name="bins")
    return edges


def _usual_limits(awake: np.ndarray, clip_at: Span | None) -> Span:
    """Return a range that leaves out few rows and shows where clipping starts."""
    ends = [*np.quantile(awake, [LEFT_OUT, 1.0 - LEFT_OUT]), *(clip_at or ())]
    low, high = float(min(ends)), float(max(ends))
    padding = PADDING * (high - low) or 0.5
    return low - padding, high + padding


def _gathered_counts(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return how many values are in each bin; those beyond count in the end bins."""
    return np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0]


def _count_outside(values: np.ndarray, clip_at: Span | None) -> int:
    """Return how many values are clipped; the kink counts as clipped."""
    return 0 if clip_at is None else int(np.sum((values <= clip_at[0]) | (values >= clip_at[1])))


def per_cent(share: float) -> str:
    """Return a share as text that says 0 or 100 % only where it is."""
    if 0 < share < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= share < 1:
        return "> 99.9 %"
    return f"{100 * share:.1f} %"


def _listed(labels: np.ndarray) -> str:
    """Return a few labels as text."""
    shown = ", ".join(repr(label) for label in np.asarray(labels)[:5].tolist())
    return f"[{shown}{', ...' * (len(labels) > 5)}]"
