"""`PlanDisplay`: how many rows people must label, by the errors allowed in the finished file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.bounds.auto_labels import check_max_error, question_words
from hedgeclipper.bounds.finishing import Plan, make_plan
from hedgeclipper.bounds.intervals import check_level
from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.io.messages import import_extra
from hedgeclipper.votes.aggregator import VoteAggregator

BLUE, GRAY = "#0072B2", "#404040"


# what both have is asked of them together; sections about one of them ask that class
FittedModel = HedgeClipperClassifier | VoteAggregator


def steps_in(model: Any, wanted_by: str) -> tuple[list[Any], FittedModel]:
    """Return the transformers in pipelines and searches, and the fitted estimator at their end.

    ``wanted_by`` is what needs it, for the error if there is none of ours.
    """
    steps: list[Any] = []
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, Pipeline):
            own = [step for _, step in model.steps[:-1]]
            steps += [step for step in own if step not in (None, "passthrough")]
            model = model[-1]
        else:
            break
    if not isinstance(model, FittedModel):
        raise TypeError(
            f"{wanted_by} is for HedgeClipperClassifier or VoteAggregator, or a pipeline or search "
            f"that ends in one. Got {type(model).__name__}."
        )
    check_is_fitted(model)
    return steps, model


@dataclass(eq=False, repr=False)
class PlanDisplay:
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
            The error that was named before the test labels were seen. It is marked if it is
            guaranteed: if it is the first question that they are asked, as of ``auto_label``.
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
            end = np.clip(rule.certificate(confidence_level).error_upper, 0.1, 0.5)
            max_errors = np.linspace(0.0, end, 41)[1:]
        if max_error is not None:
            max_errors = np.union1d(max_errors, [max_error])
            asked = question_words(check_max_error(max_error), "file", confidence_level)
            reason = reason or rule.first_question.why_estimate(asked, rule.uncertainties)
        max_errors = np.asarray(max_errors, dtype=float)
        if max_errors.ndim != 1 or not np.all((max_errors > 0) & (max_errors < 1)):
            raise ValueError(
                f"max_errors must lie strictly between 0 and 1. Got {max_errors.tolist()}."
            )
        plan = make_plan(rule, float(confidence_level), max_errors, more)
        name = type(model).__name__ if name is None else name
        return cls(plan, None if reason else max_error, name).plot(ax)

    def plot(self, ax: Any = None, *, name: str | None = None) -> PlanDisplay:
        """Draw it again, on other axes for instance.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : str, optional
            Entry of the legend; by default the name of the estimator's class.

        Returns
        -------
        self
        """
        if ax is None:
            pyplot = import_extra("matplotlib.pyplot", "plots", type(self).__name__)
            ax = pyplot.subplots()[1]
        self.ax_, self.figure_, plan = ax, ax.figure, self.plan
        options = {"color": BLUE, "marker": ".", "markersize": 4.0}
        name = self.name if name is None else name
        label = f"{name} (an estimate)" if name else "an estimate"
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
        self.ax_.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
        self.ax_.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        self.ax_.set_ylim(bottom=0.0)
        self.ax_.set_xlim(left=0.0)
        self.ax_.legend(fontsize="small")
        return self
