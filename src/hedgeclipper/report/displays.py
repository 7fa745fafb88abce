"""Displays: weights of the voters, and how many rows can be labeled automatically."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.bounds.intervals import check_level
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
class AutoLabelDisplay(Display):
    """Proportion of rows that can be labeled automatically, by the errors allowed among them.

    It is the ``coverage`` of ``auto_label`` for many values of ``max_error``, on the unlabeled rows
    of the fit. Each point is a test of its own and holds at the confidence level by itself: the
    curve as a whole does not, and need not rise everywhere. Choose ``max_error`` by what errors
    cost, not by the curve. Use `from_estimator` to make one.

    Parameters
    ----------
    max_errors : ndarray of shape (n_points,)
        Largest proportion of wrong labels that is allowed among the rows labeled automatically.
    coverages : ndarray of shape (n_points,)
        Proportion of the rows that can be labeled automatically with so few errors.
    kind : {"guarantee", "estimate"}
        Whether that is guaranteed, as in ``auto_label``.
    confidence_level : float
        Probability with which each point holds.
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
    >>> from hedgeclipper import VoteAggregator
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 2_000)
    >>> votes = np.where(rng.random((2_000, 7)) < 0.8, truth[:, None], 1 - truth[:, None])
    >>> gold = np.where(np.arange(2_000) < 400, truth, -1)
    >>> model = VoteAggregator(confidence_level=0.95, random_state=0).fit(votes, gold)
    >>> ax, errors = Figure().subplots(), [0.01, 0.05, 0.1]
    >>> display = AutoLabelDisplay.from_estimator(model, max_errors=errors, ax=ax)
    >>> display.kind, display.coverages.tolist()
    ('guarantee', [0.0, 1.0, 1.0])
    """

    max_errors: np.ndarray
    coverages: np.ndarray
    kind: str
    confidence_level: float
    name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        max_errors: Sequence[float] | np.ndarray | None = None,
        confidence_level: float = 0.95,
        name: str | None = None,
        ax: Any = None,
    ) -> AutoLabelDisplay:
        """Draw the curve of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            One of this package, or a pipeline or search that ends in one.
        max_errors : array-like of shape (n_points,), optional
            Largest proportions of errors, each between 0 and 1. By default 40, up to where all rows
            can be labeled automatically, but at least to 0.1 and at most to 0.5.
        confidence_level : float, default=0.95
            Probability with which each point holds, by itself.
        name, ax
            As in `plot`.

        Returns
        -------
        AutoLabelDisplay
        """
        model = steps_in(estimator, cls.__name__)[1]
        rule, reason = model.tested_predictions_.about(None)
        check_level(confidence_level)
        if max_errors is None:
            max_errors = errors_to_try(rule.certificate(confidence_level))
        max_errors = np.asarray(max_errors, dtype=float)
        if max_errors.ndim != 1 or not np.all((max_errors > 0) & (max_errors < 1)):
            raise ValueError(
                f"max_errors must lie strictly between 0 and 1. Got {max_errors.tolist()}."
            )
        found = [rule.surest(float(one), float(confidence_level)) for one in max_errors]
        return cls(
            max_errors,
            np.array([one.coverage for one in found]),
            kind="estimate" if reason else "guarantee",
            confidence_level=float(confidence_level),
            name=type(model).__name__ if name is None else name,
        ).plot(ax)

    def _draw(self, name: str | None) -> None:
        level = f"{100 * self.confidence_level:g}% confidence"
        label = f"guaranteed with {level}" if self.kind == "guarantee" else f"estimate at {level}"
        label = f"{name} ({label})" if name else label
        options = {"color": BLUE, "marker": ".", "markersize": 4.0, "label": label}
        (self.line_,) = self.ax_.plot(self.max_errors, self.coverages, **options)
        self.ax_.set(
            xlabel="largest proportion of errors allowed",
            ylabel="rows labeled automatically",
            ylim=(-0.02, 1.02),
        )
        self.ax_.set_xlim(left=0.0)
        self.ax_.legend(fontsize="small")


def errors_to_try(bound: Certificate) -> np.ndarray:
    """Return proportions of errors, up to the bound on the error of all rows."""
    return np.linspace(0.0, np.clip(bound.error_upper, LEAST_END, MOST_END), N_POINTS + 1)[1:]
