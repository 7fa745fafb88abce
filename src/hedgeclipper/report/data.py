"""What displays and the report are about: a fitted estimator, its rows, and its predictions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.semi_supervised import (
    NoUnlabeledRowsWarning,
    SemiSupervisedRows,
    is_unlabeled,
    split_rows,
)
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.bounds.tested_predictions import TestedPredictions
from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.io import as_frame, frame_with, is_batched, is_frame, is_in_memory, split_target
from hedgeclipper.sklearn_private import _safe_indexing
from hedgeclipper.votes.aggregator import VoteAggregator
from hedgeclipper.votes.matrix import Votes

# of more unlabeled rows so many are drawn, by this seed
MOST_ROWS, SEED = 20_000, 0


class FittedModel(Protocol):
    """What both estimators have, and all that is asked of them together.

    Sections about one of them alone ask that class for its own public attributes.
    """

    classes_: np.ndarray
    n_labeled_: int
    n_unlabeled_: int
    n_iter_: np.ndarray
    stop_reason_: np.ndarray
    certificate_: Certificate

    @property
    def tested_predictions_(self) -> TestedPredictions:
        """What labels tell of the predictions."""

    def predict_proba(self, rows: Any, /) -> np.ndarray:
        """Return probabilities of rows, or of rows of votes."""

    def tested_probabilities(self) -> tuple[np.ndarray, np.ndarray]:
        """Return labels that tested the model, and probabilities of their rows without them."""

    def voter_summary(self) -> Any:
        """Return a frame with a row for each voter."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""


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
    if not isinstance(model, HedgeClipperClassifier | VoteAggregator):
        raise TypeError(
            f"{wanted_by} is for HedgeClipperClassifier or VoteAggregator, or a pipeline or search "
            f"that ends in one. Got {type(model).__name__}."
        )
    check_is_fitted(model)
    return steps, model


def voters_of(model: FittedModel) -> Any:
    """Return the summary of the voters, those of votes with the columns of other voters too.

    A correlation is then the accuracy on gold labels, on a scale on which a guess has 0.
    """
    frame = model.voter_summary()
    if not isinstance(model, VoteAggregator):
        return frame
    names = {"Coverage": "coverage", "Weight": "weight", "Contribution": "contribution"}
    frame = frame.rename(columns=names).rename_axis("voter").reset_index()
    n_classes = model.classes_.size
    return frame.assign(correlation=(n_classes * frame["Emp. Acc."] - 1.0) / (n_classes - 1.0))


@dataclass(frozen=True, eq=False)
class ReportData:
    """The model, its rows or votes, and its predictions; None is what was not passed."""

    model: FittedModel
    y: np.ndarray | None = None
    # unlabeled rows: all of them, or a sample; their names, and how many were passed
    unlabeled: Any = None
    row_names: Sequence[str] = ()
    n_passed: int = 0
    # probabilities of the unlabeled rows, shape (n_rows, n_classes)
    probabilities: np.ndarray | None = None

    @property
    def classes(self) -> np.ndarray:
        """Class labels."""
        return self.model.classes_

    @property
    def table_model(self) -> HedgeClipperClassifier | None:
        """The model, if it is one of tables."""
        return self.model if isinstance(self.model, HedgeClipperClassifier) else None

    @property
    def vote_model(self) -> VoteAggregator | None:
        """The model, if it is one of votes."""
        return self.model if isinstance(self.model, VoteAggregator) else None

    @property
    def costs(self) -> np.ndarray | None:
        """What errors cost, as far as decisions depend on it."""
        return None if self.table_model is None else self.table_model.costs_


def read_data(
    model: Any, given: Mapping[str, Any], row_names: Sequence[str] | None = None
) -> ReportData:
    """Return the data of a report; arguments as in `write_report`, rows and labels by name."""
    steps, fitted = steps_in(model, "A report")
    given = {name: value for name, value in given.items() if value is not None}
    if isinstance(fitted, VoteAggregator):
        if given:
            raise ValueError(
                "A report of VoteAggregator is about the votes of its fit, which it knows. Got "
                f"{', '.join(given)}."
            )
        rows = fitted.labeled_votes_.read_again()
    elif given:
        rows = _read_table(fitted, steps, **given)
    else:
        return ReportData(fitted)
    unknown = np.setdiff1d(rows.y_labeled, fitted.classes_)
    if unknown.size:
        raise ValueError(
            f"y must have labels among {fitted.classes_.tolist()}, the classes of the model. "
            f"Got {unknown[:5].tolist()} as well."
        )
    y = rows.y_labeled if rows.y_labeled.size else None
    return ReportData(fitted, y, **_unlabeled(fitted, rows, row_names))


def _read_table(
    model: Any, steps: list[Any], X: Any = None, y: Any = None, X_unlabeled: Any = None
) -> SemiSupervisedRows:
    """Return rows of tables, as the model takes them."""
    if (X is None) != (y is None):
        raise ValueError(
            "X and y belong together: labeled rows and their labels. Got one of them alone. "
            "Unlabeled rows are X_unlabeled."
        )
    X, y = split_target(X, y)
    names = getattr(model, "feature_names_in_", None)
    if X_unlabeled is not None:
        X_unlabeled = _transformed(X_unlabeled, "X_unlabeled", steps)
        X_unlabeled = X_unlabeled if names is None else frame_with(X_unlabeled, list(names))
    if X is None:
        return SemiSupervisedRows(None, np.empty(0), None, X_unlabeled, None)
    X = _transformed(X, "X", steps)
    model.predict_proba(
        _safe_indexing(X, np.arange(1))
    )  # rows of other columns are an error, as there
    has_minus_one = X_unlabeled is not None or bool(is_unlabeled(model.classes_).any())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoUnlabeledRowsWarning)
        return split_rows(X, y, X_unlabeled, None, has_minus_one)


def _transformed(rows: Any, name: str, steps: list[Any]) -> Any:
    """Return rows in memory, as an array, CSR matrix or frame, that steps have transformed."""
    for step in steps:
        rows = step.transform(rows)
    if isinstance(rows, (list, tuple)) and not is_batched(rows):
        rows = np.asarray(rows)
    if not is_in_memory(rows):
        raise ValueError(
            f"{name} must be in memory for a report. Got {type(rows).__name__}. Pass some thousand "
            "of these rows, drawn at random."
        )
    if sparse.issparse(rows):
        return rows.tocsr()
    return as_frame(rows) if is_frame(rows) else rows


def _unlabeled(
    model: FittedModel, rows: SemiSupervisedRows, row_names: Sequence[str] | None
) -> dict[str, Any]:
    """Return all or some of the unlabeled rows, their names and predictions."""
    X = rows.X_unlabeled
    n_rows = X.n_rows if isinstance(X, Votes) else X.shape[0]
    n_passed = n_rows if rows.has_unlabeled else 0
    if row_names is not None and len(row_names) != n_passed:
        raise ValueError(
            f"row_names must have one name for each of the {n_passed:,} unlabeled rows that are "
            f"passed. Got {len(row_names):,} names."
        )
    if not n_passed:
        return {}
    names: Any = row_names
    if names is None and isinstance(X, Votes):
        names = X.rows
    if names is None:
        # the position in X_unlabeled, or in X where unlabeled rows are marked there
        names = np.arange(n_passed) if rows.marked is None else np.flatnonzero(rows.marked)
    chosen = np.arange(n_passed)
    if n_passed > MOST_ROWS and not isinstance(X, Votes):
        drawn = np.random.RandomState(SEED).choice(n_passed, MOST_ROWS, replace=False)
        chosen = np.sort(drawn)
        X = _safe_indexing(X, chosen)
    return {
        "unlabeled": X,
        "row_names": [str(names[k]) for k in chosen],
        "n_passed": n_passed,
        "probabilities": model.predict_proba(X),
    }
