"""What displays and the report ask of a fitted estimator."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.bounds.tested_predictions import TestedPredictions
from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.votes.aggregator import VoteAggregator


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

    def tested_probabilities(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return labels, and probabilities by method, the model itself first, without the label."""

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
