"""Slack and duality gap of a game, pass by pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.base.inspection import inspect_estimator
from hedgeclipper.inspection.display import BLUE, MARK, ORANGE, Display, classifier_in, name_of
from hedgeclipper.io.extras import import_extra

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
        inspected = inspect_estimator(classifier_in(estimator), cls.__name__)
        has_gaps = any(np.isfinite(record.dual) for game in inspected.histories for record in game)
        return cls._of(
            inspected.histories,
            [str(label) for label in inspected.classes] if inspected.is_one_vs_rest else [""],
            tol=inspected.tol if has_gaps else None,
            name=name_of(estimator, name),
            ax=ax,
        )

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
        return cls._of([history], [""], tol=tol, name=name, ax=ax)

    @classmethod
    def _of(
        cls, histories: Sequence[Sequence[Any]], names: list[str], *, ax: Any, **options: Any
    ) -> ConvergenceDisplay:
        cls._need_matplotlib()
        if not all(len(history) for history in histories):
            raise ValueError("There is no pass to draw: the history is empty.")
        slacks = [np.array([record.primal for record in history]) for history in histories]
        duals = [np.array([record.dual for record in history]) for history in histories]
        display = cls(
            [np.array([record.n_iter for record in history]) for history in histories],
            slacks,
            [np.maximum(high - low, 0.0) for high, low in zip(slacks, duals, strict=True)],
            names=names,
            **options,
        )
        return display.plot(ax)

    def _draw(self, name: str | None) -> None:
        """Draw the slack, and the gap on axes of its own."""
        style = {"color": BLUE, "marker": "o", "markersize": 4, "alpha": self._alpha}
        self.slack_lines_ = [
            self.ax_.plot(passes, slacks, **style)[0]
            for passes, slacks in zip(self.passes, self.slacks, strict=True)
        ]
        self.ax_.set(xlabel="pass over the rows", title=name)
        self.ax_.set_ylabel("slack", color=BLUE)
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self._draw_gaps()

    @property
    def _alpha(self) -> float:
        return 1.0 if len(self.passes) == 1 else 0.6

    def _draw_gaps(self) -> None:
        """Draw the gaps on a logarithmic scale, and the one at which the solver was to stop."""
        self.gap_ax_: Any = None
        self.gap_lines_: list[Any] = []
        if not any(np.isfinite(gaps).any() for gaps in self.gaps):
            return
        self.gap_ax_ = self.ax_.twinx()
        self.gap_ax_.set_yscale("log")
        self.gap_ax_.spines["right"].set_visible(True)
        self.gap_ax_.set_ylabel("duality gap", color=ORANGE)
        style = {"color": ORANGE, "marker": "s", "markersize": 4, "linestyle": "--"}
        for passes, gaps in zip(self.passes, self.gaps, strict=True):
            shown = np.where(np.isfinite(gaps), np.maximum(gaps, SMALLEST_GAP), np.nan)
            self.gap_lines_ += self.gap_ax_.plot(passes, shown, alpha=self._alpha, **style)
        self._mark_decades()
        if self.tol is not None:
            goal = self.tol * max(abs(self.slacks[0][-1]), 1e-3)
            self.gap_ax_.axhline(goal, color=MARK, linewidth=1.0, linestyle=":")

    def _mark_decades(self) -> None:
        """Have whole decades on the axis, in plain numbers."""
        low, high = np.log10(self.gap_ax_.get_ylim())
        self.gap_ax_.set_ylim(10.0 ** np.floor(low), 10.0 ** np.ceil(high))
        ticker = import_extra("matplotlib.ticker", "plots", type(self).__name__)
        self.gap_ax_.yaxis.set_major_formatter(ticker.FuncFormatter(lambda gap, _: f"{gap:.0e}"))
        self.gap_ax_.yaxis.set_minor_formatter(ticker.NullFormatter())
