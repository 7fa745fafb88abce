"""What a fitted estimator shows of itself: one object for notebooks, displays and the report.

Each estimator has a method ``_inspect`` that returns an `Inspection`; others call
`inspect_estimator`, and read nothing private of an estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.semi_supervised import SemiSupervisedRows
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.bounds.tested_predictions import TestedPredictions
from hedgeclipper.game.solution import Solution
from hedgeclipper.sklearn_private import _is_fitted

MOST_CLASSES = 5


@dataclass(frozen=True, eq=False)
class VoterTable:
    """The voters, their weights, and their correlations with the labels."""

    # what a voter is called: "group", "member", "voter"
    kind: str
    names: list[str]
    weights: np.ndarray
    # with labels that the voter has not seen; NaN where there are none
    correlations: np.ndarray
    # the part of the result that comes from each; they add up to 1 in each game
    contributions: np.ndarray
    # proportion of the unlabeled rows on which each is awake, where that differs
    coverage: np.ndarray | None = None
    # standard errors of the correlations, where they are known
    errors: np.ndarray | None = None
    # the class whose game each is in, where there is a game for each
    targets: list | None = None
    # further columns, by name
    more: dict[str, list] = field(default_factory=dict)

    @property
    def plural(self) -> str:
        """What several voters are called."""
        return f"{self.kind}s"

    def of_class(self, target: Any) -> VoterTable:
        """Return the voters in the game of a class."""
        if self.targets is None:
            raise ValueError(f"There is one game for all classes: leave out target={target!r}.")
        rows = np.flatnonzero([own == target for own in self.targets])
        if rows.size == 0:
            known = list(dict.fromkeys(self.targets))
            raise ValueError(f"target must be one of the classes {known}. Got {target!r}.")
        return self.take(rows)

    def take(self, rows: np.ndarray) -> VoterTable:
        """Return some of the voters."""

        def some(values: Any) -> Any:
            if values is None or isinstance(values, np.ndarray):
                return None if values is None else values[rows]
            return [values[row] for row in rows]

        columns = {k: some(v) for k, v in vars(self).items() if k not in ("kind", "more")}
        return replace(self, more={k: some(v) for k, v in self.more.items()}, **columns)


@dataclass(frozen=True, eq=False)
class FoldPredictor:
    """A way to predict labeled rows, fold by fold, without the use of their own labels."""

    # classes of the labeled rows, and into how many folds to split these
    codes: np.ndarray
    n_folds: int
    # from the numbers of the rows to learn from, and of those held out, to the probabilities of the
    # latter by method: the model itself, first, and its baselines
    predict: Callable[[np.ndarray, np.ndarray], dict[str, np.ndarray]]
    # what is done with each fold
    description: str


@dataclass(frozen=True, eq=False)
class Inspection:
    """All that notebooks, displays and the report need of a fitted estimator."""

    # "forest", "panel" or "votes", and what it is in a few words
    kind: str
    description: str
    classes: np.ndarray
    n_labeled: int
    n_unlabeled: int
    certificate: Certificate
    # what labels tell of the predictions, and from rows, as ``predict`` takes them, to the
    # probabilities that their predictions are wrong
    checked: TestedPredictions
    uncertainties_of: Callable[[Any], np.ndarray]
    # why each game stopped: there is one, or one for each class against the rest
    stop_reasons: list[str]
    # passes over the rows in all games
    n_iter: int
    # returns the table of the voters; use ``voters``
    make_voters: Callable[[], VoterTable]
    # returns rows like those of the fit, checked as these were; arguments as in ``fit``
    read_rows: Callable[..., SemiSupervisedRows]
    # from such rows to probabilities of shape (n_samples, n_classes)
    predict_rows: Callable[[Any], np.ndarray]
    # from such rows, a number and a RandomState to so many rows drawn at random
    draw_rows: Callable[[Any, int, np.random.RandomState], Any] | None = None
    # from unlabeled rows, or None, to held-out predictions that need no new fit
    hold_out: Callable[[Any], FoldPredictor] | None = None
    # from rows, checked as above, to the probabilities of a baseline, by its name
    predict_baseline: Callable[[Any], dict[str, np.ndarray]] | None = None
    # what the unlabeled rows have brought in one sentence, and from the number of the source of
    # each column, and their number, to how much each source matters; raise AttributeError if the
    # model does not know
    describe_gain: Callable[[], str] | None = None
    importances: Callable[[np.ndarray, int], np.ndarray] | None = None
    # from rows, checked as above, to why they are predicted as they are, in words; None if unknown
    reasons: Callable[[Any], list[str] | None] | None = None
    # returns how many voters are needed, and which of them agree
    describe_panel: Callable[[], Any] | None = None
    # names of the voters whose bounds had to be relaxed
    contradicting: Sequence[str] = ()
    # how much the unlabeled rows differ from the labeled ones, if that is significant
    shift_score: float | None = None
    # costs of errors, as by `decision_costs`, which decisions depend on
    costs: np.ndarray | None = None
    # what a user should know of the fit, as pairs of name and text
    remarks: Sequence[tuple[str, str]] = ()
    # unlabeled votes of the fit, where rows are votes
    votes: Any = None

    @cached_property
    def voters(self) -> VoterTable:
        """The voters with their weights and correlations."""
        return self.make_voters()


def store_games(estimator: Any, games: Sequence[Solution]) -> None:
    """Store the results that all estimators have, in arrays with an entry for each game."""
    estimator.slack_ = np.array([game.slack for game in games])
    estimator.duality_gap_ = np.array([game.duality_gap for game in games])
    estimator.n_iter_ = np.array([game.n_iter for game in games])
    estimator.stop_reason_ = np.array([game.stop_reason for game in games])


def inspection(estimator: Any, **own: Any) -> Inspection:
    """Return the inspection of a fitted estimator: results that all have, and its own fields."""
    return Inspection(
        classes=estimator.classes_,
        n_labeled=estimator.n_labeled_,
        n_unlabeled=estimator.n_unlabeled_,
        certificate=estimator.certificate_,
        checked=estimator._tested,
        uncertainties_of=lambda X: estimator._sure_predictions(X)[1],
        n_iter=int(np.sum(estimator.n_iter_)),
        stop_reasons=[str(reason) for reason in estimator.stop_reason_],
        **own,
    )


def inspect_estimator(estimator: Any, wanted_by: str) -> Inspection:
    """Return the inspection of a fitted estimator of ours; ``wanted_by`` is what needs it."""
    if not hasattr(estimator, "_inspect"):
        raise TypeError(
            f"{wanted_by} is for HedgeClipperClassifier or VoteAggregator, "
            f" or a pipeline or search that ends in one. Got "
            f"{type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    return estimator._inspect()


def contributions_of(sizes: np.ndarray) -> np.ndarray:
    """Return sizes as proportions of their sum; 0 where all are."""
    sizes = np.abs(np.nan_to_num(sizes))
    total = float(sizes.sum())
    return sizes / total if total > 0 else sizes


def main_figures(model: Inspection) -> list[tuple[str, str]]:
    """Return the most important figures of a fitted estimator, as pairs of name and text."""
    classes = [str(label) for label in model.classes[:MOST_CLASSES]]
    classes += ["..."] * (model.classes.size > MOST_CLASSES)
    table = model.voters
    heaviest = table.names[int(np.argmax(table.contributions))] if table.names else "none"
    return [
        ("labeled rows", f"{model.n_labeled:,}"),
        ("unlabeled rows", f"{model.n_unlabeled:,}"),
        ("classes", ", ".join(classes)),
        (table.plural, f"{len(table.names):,}, largest contribution from {heaviest}"),
        ("error", model.certificate.describe().removeprefix("error ")),
        *model.remarks,
        ("passes", str(model.n_iter)),
    ]


class SummaryMixin:
    """Adds a summary of the fit to the diagram that scikit-learn shows in a notebook."""

    def _repr_html_inner(self) -> str:
        diagram = super()._repr_html_inner()  # type: ignore[misc]
        if not _is_fitted(self):
            return diagram
        # a small table in the notebook's own colors
        cell = "padding:0.15em 0.8em 0.15em 0;text-align:left;border:0"
        rows = "".join(
            f'<tr><th scope="row" style="{cell};font-weight:normal;opacity:0.75">{escape(name)}'
            f'</th><td style="{cell}">{escape(value)}</td></tr>'
            for name, value in main_figures(inspect_estimator(self, "A summary"))
        )
        style = "border:0;margin:0.4em 0"
        return f'{diagram}<table class="hedgeclipper-fitted" style="{style}">{rows}</table>'

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle
