"""Displays: weights of the voters, and how many rows can be labeled automatically."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.bounds.intervals import check_level
from hedgeclipper.bounds.plan import Plan, make_plan
from hedgeclipper.io.extras import import_extra
from hedgeclipper.report.model import steps_in, voters_of

BLUE, GRAY = "#0072B2", "#404040"
# of the automatic labels: by default the curve ends here, or at the bound on the error of all rows
N_POINTS, LEAST_END, MOST_END = 40, 0.1, 0.5
# of the voters: the names of the heaviest, unless more are drawn than these, and the room of a
# name in proportion to the axes
MOST_NAMES, MOST_VOTERS_NAMED = 8, 60
NAME_WIDTH, NAME_HEIGHT = 0.4, 0.06
SMALLEST_POINT, LARGEST_POINT = 12.0, 120.0


class Display:
    """Base of the displays: holds what was computed, and draws it on matplotlib's axes.

    A subclass stores its results and a ``name``, and draws them on ``ax_`` in ``_draw``.
    """

    name: str | None = None
    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Draw it again, on other axes for instance.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : str, optional
            Title, or entry of the legend. ``from_estimator`` stores the name of the estimator's
            class by default.

        Returns
        -------
        self
        """
        if ax is None:
            pyplot = import_extra("matplotlib.pyplot", "plots", type(self).__name__)
            ax = pyplot.subplots()[1]
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(self.name if name is None else name)
        return self

    def _draw(self, name: str | None) -> None:
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class VoterDisplay(Display):
    """Weight of each voter against its correlation with the labels.

    Voters are groups of trees and other classifiers, or the columns of a matrix
    of votes. Use `from_estimator` to make one.

    Parameters
    ----------
    correlations : ndarray of shape (n_voters,)
        Correlation of each voter with the labels; NaN where no label is known.
    weights : ndarray of shape (n_voters,)
        Weights.
    errors : ndarray of shape (n_voters,) or None
        Standard errors of the correlations.
    sizes : ndarray of shape (n_voters,) or None
        Sizes of the points, such as the proportion of rows that each votes on.
    voters : list of str or None
        Names of the voters.
    name : str or None
        What is drawn, for the title.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    points_ : matplotlib PathCollection
        The voters.
    texts_ : list of matplotlib Text
        Names of the heaviest ones.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> display = VoterDisplay(np.array([0.2, 0.6]), np.array([0.1, 1.3]), voters=["a", "b"])
    >>> [text.get_text() for text in display.plot(Figure().subplots()).texts_]
    ['b', 'a']
    """

    correlations: np.ndarray
    weights: np.ndarray
    errors: np.ndarray | None = None
    sizes: np.ndarray | None = None
    voters: list[str] | None = None
    name: str | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, target: Any = None, name: str | None = None, ax: Any = None
    ) -> VoterDisplay:
        """Draw the voters of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            One of this package, or a pipeline or search that ends in one.
        target : label, optional
            With more than two classes: the class whose game is drawn. By default all are, in one
            figure. A `VoteAggregator` has one game for all classes.
        name, ax
            As in `plot`.

        Returns
        -------
        VoterDisplay
        """
        model = steps_in(estimator, cls.__name__)[1]
        voters = voters_of(model)
        if target is not None:
            if "class" not in voters:
                raise ValueError(f"There is one game for all classes: leave out target={target!r}.")
            voters = voters[voters["class"] == target]
            if voters.empty:
                raise ValueError(
                    f"target must be one of the classes {model.classes_.tolist()}. Got {target!r}."
                )
        return cls.from_frame(voters, type(model).__name__ if name is None else name).plot(ax)

    @classmethod
    def from_frame(cls, voters: Any, name: str | None = None) -> VoterDisplay:
        """Return the display, not drawn yet, of voters as by `voters_of`."""
        columns: dict[str, Any] = {column: voters[column].to_numpy() for column in voters}
        return cls(
            columns["correlation"],
            columns["weight"],
            columns.get("standard_error"),
            columns.get("coverage"),
            [str(voter) for voter in columns["voter"]],
            name,
        )

    def _draw(self, name: str | None) -> None:
        is_many = self.weights.size > MOST_VOTERS_NAMED
        # zero is worth a line where some voter is below it
        if np.any(self.weights < 0):
            self.ax_.axhline(0.0, color=GRAY, linewidth=0.6)
        if np.any(self.correlations < 0):
            self.ax_.axvline(0.0, color=GRAY, linewidth=0.6, linestyle=":")
        if self.errors is not None and not is_many:
            style = {"fmt": "none", "ecolor": BLUE, "alpha": 0.35, "linewidth": 1.0}
            self.ax_.errorbar(self.correlations, self.weights, xerr=self.errors, **style)
        areas: Any = 30.0
        if self.sizes is not None:
            largest = max(self.sizes.max(initial=0.0), 1e-12)
            areas = np.clip(LARGEST_POINT * self.sizes / largest, SMALLEST_POINT, None)
        style = {"color": BLUE, "alpha": 0.25 if is_many else 0.8, "linewidths": 0}
        self.points_ = self.ax_.scatter(self.correlations, self.weights, s=areas, **style)
        self.texts_ = [] if is_many or self.voters is None else self._draw_names(self.voters)
        self.ax_.set(
            xlabel="correlation of the voter with the labels",
            ylabel="weight of the voter",
            title=name,
        )

    def _draw_names(self, voters: list[str]) -> list[Any]:
        """Draw the names of the heaviest voters that would not overlap."""
        scale = np.ptp(self.ax_.get_xlim()), np.ptp(self.ax_.get_ylim())
        places = np.column_stack([self.correlations, self.weights]) / scale
        chosen: list[int] = []
        middle, texts = np.mean(self.ax_.get_xlim()), []
        for voter in np.argsort(-np.abs(self.weights), kind="stable"):
            gaps = np.abs(places[chosen] - places[voter])
            is_free = not np.any((gaps[:, 0] < NAME_WIDTH) & (gaps[:, 1] < NAME_HEIGHT))
            if is_free and np.isfinite(places[voter]).all() and len(chosen) < MOST_NAMES:
                chosen.append(int(voter))
                place = self.correlations[voter], self.weights[voter]
                # names run toward the middle, those from the right above those from the left
                side, shift = ("left", (5, 4)) if place[0] <= middle else ("right", (-5, 14))
                style = {"textcoords": "offset points", "fontsize": "small", "parse_math": False}
                style |= {"ha": side, "xytext": shift}
                texts.append(self.ax_.annotate(voters[voter], place, **style))
        return texts


@dataclass(eq=False, repr=False)
class PlanDisplay(Display):
    """Rows to label by hand, by the errors allowed in the finished file.

    All other rows keep their predicted labels. The curve is an estimate: each of its points would
    hold at the confidence level by itself, but not all together. A point that is guaranteed is
    marked. Use `from_estimator` to make one.

    Parameters
    ----------
    plan : Plan
        Errors, and rows to label by hand for each, also with more random test labels.
    max_error : float or None
        The error that was asked for, if it is guaranteed.
    name : str or None
        What is drawn, for the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    line_ : matplotlib Line2D
        The curve.
    point_ : matplotlib Line2D or None
        The guaranteed point.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from hedgeclipper import VoteAggregator
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 2_000)
    >>> votes = np.where(rng.random((2_000, 5)) < 0.7, truth[:, None], 1 - truth[:, None])
    >>> gold = np.where(np.arange(2_000) < 400, truth, -1)
    >>> model = VoteAggregator(confidence_level=0.95, random_state=0).fit(votes, gold)
    >>> ax = Figure().subplots()
    >>> display = PlanDisplay.from_estimator(model, max_error=0.1, ax=ax)
    >>> by_hand = display.plan.n_by_hand  # the more errors are allowed, the fewer rows
    >>> bool(np.all(np.diff(by_hand) <= 0)), display.point_ is not None
    (True, True)
    """

    plan: Plan
    max_error: float | None = None
    name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        max_error: float | None = None,
        max_errors: Sequence[float] | np.ndarray | None = None,
        more: Sequence[int] = (),
        confidence_level: float = 0.95,
        name: str | None = None,
        ax: Any = None,
    ) -> PlanDisplay:
        """Draw the plan of a fitted estimator, for the unlabeled rows of its fit.

        Parameters
        ----------
        estimator : estimator
            One of this package, or a pipeline or search that ends in one.
        max_error : float, optional
            The error that was named before the test labels were seen, to mark.
        max_errors : array-like of shape (n_points,), optional
            Largest proportions of errors, each between 0 and 1. By default 40, up to where no row
            needs review, but at least to 0.1 and at most to 0.5.
        more : sequence of int, optional
            Numbers of further random test labels, each with a curve of its own.
        confidence_level : float, default=0.95
            Probability with which each point holds, by itself.
        name, ax
            As in `plot`.

        Returns
        -------
        PlanDisplay
        """
        model = steps_in(estimator, cls.__name__)[1]
        rule, reason = model.tested_predictions_.about(None)
        check_level(confidence_level)
        if max_errors is None:
            max_errors = errors_to_try(rule.certificate(confidence_level))
        if max_error is not None:
            max_errors = np.union1d(max_errors, [max_error])
        max_errors = np.asarray(max_errors, dtype=float)
        if max_errors.ndim != 1 or not np.all((max_errors > 0) & (max_errors < 1)):
            raise ValueError(
                f"max_errors must lie strictly between 0 and 1. Got {max_errors.tolist()}."
            )
        plan = make_plan(rule, float(confidence_level), max_errors, more)
        name = type(model).__name__ if name is None else name
        return cls(plan, None if reason else max_error, name).plot(ax)

    def _draw(self, name: str | None) -> None:
        plan, label = self.plan, "an estimate"
        options = {"color": BLUE, "marker": ".", "markersize": 4.0}
        label = f"{name} ({label})" if name else label
        (self.line_,) = self.ax_.plot(plan.max_errors, plan.n_by_hand, label=label, **options)
        for (n_more, by_hand), style in zip(
            plan.n_by_hand_with_more.items(), ("--", ":", "-."), strict=False
        ):
            label = f"with {n_more:,} more random labels"
            self.ax_.plot(plan.max_errors, by_hand, style, color=GRAY, label=label)
        self.point_ = None
        if self.max_error is not None:
            at = int(np.argmin(np.abs(plan.max_errors - self.max_error)))
            label = f"guaranteed with {100 * plan.confidence_level:g}% confidence"
            place = [plan.max_errors[at]], [plan.n_by_hand[at]]
            ring = {"marker": "o", "markersize": 9.0, "linestyle": "", "markerfacecolor": "none"}
            (self.point_,) = self.ax_.plot(*place, color=BLUE, label=label, **ring)
        self.ax_.set(
            xlabel="errors allowed in the finished file",
            ylabel=f"rows to label by hand, of {plan.n_unlabeled:,}",
        )
        self.ax_.set_ylim(bottom=0.0)
        self.ax_.set_xlim(left=0.0)
        self.ax_.legend(fontsize="small")


def errors_to_try(bound: Certificate) -> np.ndarray:
    """Return proportions of errors, up to the bound on the error of all rows."""
    return np.linspace(0.0, np.clip(bound.error_upper, LEAST_END, MOST_END), N_POINTS + 1)[1:]
