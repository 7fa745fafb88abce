"""Scores of classifiers on rows of which some are unlabeled: accuracy alone, or all figures."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.evaluation import evaluate_predictions
from hedgeclipper.base.semi_supervised import NOTHING_TO_SCORE, is_unlabeled, label_values
from hedgeclipper.io import as_classes, split_target


class LabeledScoreMixin(ClassifierMixin):
    """Scores labeled rows only."""

    def score(self, X, y, sample_weight=None):
        """Return the accuracy of ``predict`` on the labeled rows; unlabeled ones are not scored.

        So ``cross_val_score(model, X, y)`` is right for a y that marks unlabeled rows. Scorers by
        name, such as ``scoring="roc_auc"``, take every row for a labeled one: pass
        ``cv=SemiSupervisedSplit()`` with these.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, batches or files
            Rows or votes, as in ``fit``.
        y : array-like of shape (n_samples,)
            Labels. Rows whose label is missing, or -1 where that is no class of the model, are
            unlabeled; if all are, this is an error.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            Proportion of the labeled rows that are classified correctly.
        """
        X, y = split_target(X, y)
        known, true = self._labels_to_score(y)
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        predicted = np.asarray(self.predict(X))
        check_consistent_length(predicted, known)
        return accuracy_score(true, predicted[known], sample_weight=weights)

    def evaluate(self, X, y, confidence_level=0.95):
        """Return accuracy, AUC, log loss and more on labeled rows, with confidence intervals.

        The rows should be new to the model. On those of the fit all would look better than it is.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or files
            Rows or votes, as in ``fit``.
        y : array-like of shape (n_samples,), or str
            Labels, of which missing ones are not scored, as in ``score``; or the name of their
            column, if X is a frame.
        confidence_level : float, default=0.95
            Level of the intervals.

        Returns
        -------
        Evaluation
            What was found; ``print`` shows the most important figures.
        """
        X, y = split_target(X, y)
        known, true = self._labels_to_score(y)
        predicted, probabilities = self.predict(X), self.predict_proba(X)
        check_consistent_length(predicted, known)
        found = predicted[known], probabilities[known]
        return evaluate_predictions(true, *found, self.classes_, confidence_level)

    def _labels_to_score(self, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return which rows have a label, and these labels; an error if there are none."""
        check_is_fitted(self)
        labels = label_values(y)
        known = ~is_unlabeled(labels, self._knows_minus_one())
        if not known.any():
            raise ValueError(NOTHING_TO_SCORE)
        return known, as_classes(labels[known], "y")

    def _knows_minus_one(self) -> bool:
        """Return whether a fit has learned that -1 is a class."""
        is_fitted = hasattr(self, "_predictor")
        return is_fitted and bool(is_unlabeled(self.classes_).any())
