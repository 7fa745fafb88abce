"""Margins that are drawn again after each pass of a long fit."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.validation import column_or_1d

from hedgeclipper.game.solution import PassView
from hedgeclipper.inspection.display import Display
from hedgeclipper.inspection.margins import MarginDisplay


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
    >>> from hedgeclipper import HedgeClipperClassifier
    >>> X, y = make_classification(600, random_state=0)
    >>> watch = LiveMargins(X[200:], y[200:], max_rows=100, ax=Figure().subplots())
    >>> model = HedgeClipperClassifier(n_estimators=10, random_state=0)
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
