"""A game pass by pass: slack and duality gap, and margins that are drawn during a long fit."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import column_or_1d

from hedgeclipper.base.inspection import inspect_estimator
from hedgeclipper.game.solution import PassView
from hedgeclipper.inspection.display import BLUE, MARK, ORANGE, Display, classifier_in, name_of
from hedgeclipper.inspection.margins import MarginDisplay
from hedgeclipper.sklearn_private import _safe_indexing

SMALLEST_GAP = 1e-12


@dataclass(eq=False, repr=False)
class ConvergenceDisplay(Display):
    """Slack and duality gap after each full pass over the rows.

    Use `from_estimator` or `from_history` to make one.

    Parameters
    ----------
    passes : list of ndarray
        Numbers of the passes, one array for each game.
    slacks : list of ndarray
        The best slack known after each, with the term of the anchor.
    gaps : list of ndarray
        How far it may be above its minimum; infinite where that is not known.
    names : list of str
        Names of the games; one empty name where there is one game.
    tol : float or None
        Relative gap at which the solver was to stop.
    name : str or None
        What is drawn, for the title.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the slack was drawn.
    gap_ax_ : matplotlib Axes or None
        The second axes, of the gap, on a logarithmic scale; None where no gap is known.
    slack_lines_, gap_lines_ : list of matplotlib Line2D
        The curves of each game.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from hedgeclipper import solve_game
    >>> votes = np.sign(np.random.default_rng(0).normal(0.5, 1.0, (200, 5)))
    >>> solution = solve_game(votes, [0.3] * 5, method="batch")
    >>> ax = Figure().subplots()
    >>> display = ConvergenceDisplay.from_history(solution.history, ax=ax)
    >>> bool(display.gaps[0][-1] <= display.gaps[0][0])
    True
    """

    passes: list[np.ndarray]
    slacks: list[np.ndarray]
    gaps: list[np.ndarray]
    names: list[str]
    tol: float | None = None
    name: str | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, name: str | None = None, ax: Any = None
    ) -> ConvergenceDisplay:
        """Draw the passes of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            One of this package, or a pipeline or search that ends in one.
        name, ax
            As in `plot`.

        Returns
        -------
        ConvergenceDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from hedgeclipper import VoteAggregator
        >>> votes = [[0, 0, 1], [1, 1, 1], [0, -1, 0], [1, 0, 1], [0, 0, -1], [-1, 1, 1]]
        >>> model = VoteAggregator().fit(votes, [0, 1, -1, -1, -1, -1])
        >>> display = ConvergenceDisplay.from_estimator(model, ax=Figure().subplots())
        >>> len(display.slack_lines_), len(display.gap_lines_)
        (1, 1)
        """
        found = inspect_estimator(classifier_in(estimator), cls.__name__)
        has_gaps = any(np.isfinite(record.dual) for game in found.histories for record in game)
        return cls._of(
            found.histories,
            [str(label) for label in found.classes] if found.is_one_vs_rest else [""],
            tol=found.tol if has_gaps else None,
            name=name_of(estimator, name),
        ).plot(ax)

    @classmethod
    def from_history(
        cls,
        history: Sequence[Any],
        *,
        tol: float | None = None,
        name: str | None = None,
        ax: Any = None,
    ) -> ConvergenceDisplay:
        """Draw the passes of one game.

        Parameters
        ----------
        history : sequence of PassRecord
            Such as ``GameSolution.history``.
        tol : float, optional
            Relative gap at which the solver was to stop.
        name, ax
            As in `plot`.

        Returns
        -------
        ConvergenceDisplay
        """
        return cls._of([history], [""], tol=tol, name=name).plot(ax)

    @classmethod
    def _of(
        cls, histories: Sequence[Sequence[Any]], names: list[str], **options: Any
    ) -> ConvergenceDisplay:
        if not all(len(history) for history in histories):
            raise ValueError("There is no pass to draw: the history is empty.")
        slacks = [np.array([record.primal for record in history]) for history in histories]
        duals = [np.array([record.dual for record in history]) for history in histories]
        gaps = [np.maximum(high - low, 0.0) for high, low in zip(slacks, duals, strict=True)]
        passes = [np.array([record.n_iter for record in history]) for history in histories]
        return cls(passes, slacks, gaps, names, **options)

    def _draw(self, name: str | None) -> None:
        """Draw the slack, and on logarithmic axes the gap and that at which the solver stops."""
        alpha = 1.0 if len(self.passes) == 1 else 0.6
        style = {"color": BLUE, "marker": "o", "markersize": 4, "alpha": alpha}
        self.slack_lines_ = [
            self.ax_.plot(passes, slacks, **style)[0]
            for passes, slacks in zip(self.passes, self.slacks, strict=True)
        ]
        self.ax_.set(xlabel="pass over the rows", title=name)
        self.ax_.set_ylabel("slack", color=BLUE)
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self.gap_ax_: Any = None
        self.gap_lines_: list[Any] = []
        if not any(np.isfinite(gaps).any() for gaps in self.gaps):
            return
        style |= {"color": ORANGE, "marker": "s", "linestyle": "--"}
        ax = self.gap_ax_ = self.ax_.twinx()
        ax.set_yscale("log")
        ax.spines["right"].set_visible(True)
        ax.set_ylabel("duality gap", color=ORANGE)
        for passes, gaps in zip(self.passes, self.gaps, strict=True):
            shown = np.where(np.isfinite(gaps), np.maximum(gaps, SMALLEST_GAP), np.nan)
            self.gap_lines_ += ax.plot(passes, shown, **style)
        # whole decades on the axis, without matplotlib's math text
        low, high = np.log10(ax.get_ylim())
        ax.set_ylim(10.0 ** np.floor(low), 10.0 ** np.ceil(high))
        ax.yaxis.set_major_formatter(lambda gap, _: f"{gap:.0e}")
        ax.yaxis.set_minor_formatter("")
        if self.tol is not None:
            goal = self.tol * max(abs(self.slacks[0][-1]), 1e-3)
            ax.axhline(goal, color=MARK, linewidth=1.0, linestyle=":")


class LiveMargins(Display):
    """A callback for long fits: draws the margins of a sample of rows after each pass.

    Pass it as ``callback`` to ``HedgeClipperClassifier.fit`` or `solve_game`. On a screen and in a
    notebook the figure moves; elsewhere it can be saved from ``figure_`` at any time.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows, or votes for `solve_game`.
    y : array-like of shape (n_samples,), optional
        Their labels, of two classes. Without them all rows are one curve.
    target : label, optional
        With more than two classes there is a game for each: the class whose game is drawn, the
        first to be played by default. The labels in y are then this class and others.
    max_rows : int
        Draw so many rows, taken at random, if there are more.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    random_state : int or None
        Seed of the sample.

    Attributes
    ----------
    display_ : MarginDisplay
        What was drawn last.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.
    n_drawn_ : int
        How often it was drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import make_classification
    >>> from hedgeclipper import HedgeClipperClassifier, LeafGame
    >>> X, y = make_classification(600, random_state=0)
    >>> watch = LiveMargins(X[200:], y[200:], max_rows=100, ax=Figure().subplots())
    >>> model = HedgeClipperClassifier(n_estimators=40, game=LeafGame(), random_state=0)
    >>> model = model.fit(X[:200], y[:200], X_unlabeled=X[200:], callback=watch)
    >>> watch.n_drawn_ == len(model.history_[0]), int(watch.display_.counts.sum())
    (True, 100)
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        target: Any = None,
        max_rows: int = 2000,
        ax: Any = None,
        random_state: int | None = 0,
    ):
        rng = np.random.default_rng(random_state)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        rows = np.sort(rng.choice(n_rows, min(max_rows, n_rows), replace=False))
        self.X, self.y = _safe_indexing(X, rows), None
        if y is not None:
            check_consistent_length(X, y)
            self.y = column_or_1d(y)[rows]
        self.target, self.n_drawn_ = target, 0
        self._use_axes(ax)
        self._handle: Any = None

    def __call__(self, view: PassView) -> None:
        """Draw the margins of the sample under the weights after a pass."""
        if self.target is None:
            self.target = view.target
        if view.target != self.target:
            return
        self.ax_.clear()
        y = self.y if self.y is None or not view.is_one_of_many else self.y == self.target
        self.display_ = MarginDisplay.from_predictions(
            y,
            view.awake_predictions(self.X),
            pos_label=True if view.is_one_of_many and y is not None else view.target,
            clip_at=view.hedged_range if np.isfinite(view.hedged_range).all() else None,
            ax=self.ax_,
        )
        self.ax_.set_title(str(view.record), fontsize="medium")
        self.n_drawn_ += 1
        self._show()

    def _show(self) -> None:
        """Bring the figure up to date: in a notebook its output, elsewhere the window."""
        shown = sys.modules.get("IPython.display")
        kernel = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
        if shown is None or not hasattr(kernel, "kernel"):
            self.figure_.canvas.draw_idle()
            self.figure_.canvas.flush_events()
        elif self._handle is None:
            self._handle = shown.display(self.figure_, display_id=True)
        else:
            self._handle.update(self.figure_)
