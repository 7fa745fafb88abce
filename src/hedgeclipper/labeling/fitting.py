"""Fits of the loop: a job has all that it needs, so that another process can run it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.sklearn_private import _safe_indexing
from hedgeclipper.votes.aggregator import VoteAggregator


@dataclass(frozen=True, eq=False)
class FitResult:
    """Predictions of all rows by a model that was fitted to the labels so far.

    Parameters
    ----------
    n_labels : int
        Labels that it was fitted to.
    predicted : ndarray of int of shape (n_rows,)
        Number of the predicted class of each row.
    probabilities : ndarray of shape (n_rows, n_classes)
        Predicted probabilities, 0 for a class without a label.
    """

    n_labels: int
    predicted: np.ndarray
    probabilities: np.ndarray

    @cached_property
    def uncertainties(self) -> np.ndarray:
        """One minus the probability of the predicted class."""
        return 1.0 - self.probabilities[np.arange(self.predicted.size), self.predicted]


@dataclass(frozen=True, eq=False)
class FitJob:
    """A fit to do: rows, the labels so far and a model; it can be pickled.

    Parameters
    ----------
    X : ndarray, sparse matrix, frame or Votes
        All rows.
    n_rows : int
        How many there are.
    rows, codes : ndarray of int of shape (n_labels,)
        Labeled rows, and the numbers of their classes.
    classes : ndarray of shape (n_classes,)
        The classes.
    model : classifier
        What is fitted, a clone of it.
    """

    X: Any
    n_rows: int
    rows: np.ndarray
    codes: np.ndarray
    classes: np.ndarray
    model: Any

    def run(self) -> FitResult:
        """Return what a model that is fitted to the labels predicts for all rows."""
        if np.unique(self.codes).size == 1:
            return self._one_class()
        model, labels = clone(self.model), self.classes[self.codes]
        with warnings.catch_warnings():
            # chosen labels differ from other rows on purpose, and rare classes are asked for next
            warnings.simplefilter("ignore")
            if isinstance(model, VoteAggregator):
                gold = np.full(self.n_rows, None, object)
                gold[self.rows] = labels
                model.fit(self.X, gold)
            elif isinstance(model, HedgeClipperClassifier):
                others = np.delete(np.arange(self.n_rows), self.rows)
                X_unlabeled = _safe_indexing(self.X, others)
                model.fit(_safe_indexing(self.X, self.rows), labels, X_unlabeled=X_unlabeled)
            else:
                model.fit(_safe_indexing(self.X, self.rows), labels)
            own = model.predict_proba(self.X)
        known = {name: code for code, name in enumerate(self.classes.tolist())}
        probabilities = np.zeros((own.shape[0], self.classes.size))
        for column, name in enumerate(model.classes_.tolist()):
            if name in known:  # voters may vote for a class that nobody has named
                probabilities[:, known[name]] = own[:, column]
        return FitResult(self.rows.size, probabilities.argmax(axis=1), probabilities)

    def _one_class(self) -> FitResult:
        """Return the only class for all rows, by the rule of succession."""
        n_classes, n_labels = self.classes.size, self.codes.size
        own = np.full((self.n_rows, n_classes), 1.0 / (n_labels + n_classes))
        own[:, self.codes[0]] *= n_labels + 1
        return FitResult(n_labels, own.argmax(axis=1), own)
