"""What displays and the report are about: a fitted estimator, its rows, and its predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.io import as_frame, frame_with, is_batched, is_frame, is_in_memory
from hedgeclipper.sklearn_private import _safe_indexing
from hedgeclipper.votes.aggregator import VoteAggregator
from hedgeclipper.votes.matrix import Votes

# of more unlabeled rows so many are drawn, by this seed
MOST_ROWS, SEED = 20_000, 0


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


def read_data(model: Any, X_unlabeled: Any = None, row_names: Any = None) -> ReportData:
    """Return the data of a report; arguments as in `write_report`."""
    steps, fitted = steps_in(model, "A report")
    names: Any = row_names
    if isinstance(fitted, VoteAggregator):
        if X_unlabeled is not None:
            raise ValueError(
                "A report of VoteAggregator is about the votes of its fit, which it knows. Got "
                "X_unlabeled."
            )
        gold = fitted.labeled_votes_
        X: Any = gold.unlabeled
        n_rows, names = X.n_rows * gold.has_unlabeled, X.rows if names is None else names
    elif X_unlabeled is None:
        n_rows = 0
    else:
        X = _in_memory(X_unlabeled, steps)
        columns = getattr(fitted, "feature_names_in_", None)
        X = X if columns is None else frame_with(X, list(columns))
        n_rows = X.shape[0]
    if row_names is not None and len(row_names) != n_rows:
        raise ValueError(
            f"row_names must have one name for each of the {n_rows:,} unlabeled rows that are "
            f"passed. Got {len(row_names):,} names."
        )
    if not n_rows:
        return ReportData(fitted)
    chosen = np.arange(n_rows)
    if n_rows > MOST_ROWS and not isinstance(X, Votes):
        chosen = np.sort(np.random.RandomState(SEED).choice(n_rows, MOST_ROWS, replace=False))
        X = _safe_indexing(X, chosen)
    shown = [str(k if names is None else names[k]) for k in chosen]
    return ReportData(fitted, X, shown, n_rows, fitted.predict_proba(X))


def _in_memory(rows: Any, steps: list[Any]) -> Any:
    """Return rows as an array, CSR matrix or frame, that steps have transformed."""
    for step in steps:
        rows = step.transform(rows)
    if isinstance(rows, (list, tuple)) and not is_batched(rows):
        rows = np.asarray(rows)
    if not is_in_memory(rows):
        raise ValueError(
            f"X_unlabeled must be in memory for a report. Got {type(rows).__name__}. Pass some "
            "thousand of these rows, drawn at random."
        )
    if sparse.issparse(rows):
        return rows.tocsr()
    return as_frame(rows) if is_frame(rows) else rows
