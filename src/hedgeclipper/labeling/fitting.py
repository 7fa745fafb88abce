"""Fits of the loop: a job has all that it needs, so that another process can run it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
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
    uncertainties : ndarray of shape (n_rows,)
        One minus the probability of that class.
    """

    n_labels: int
    predicted: np.ndarray
    uncertainties: np.ndarray


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
        is_one_class = np.unique(self.codes).size == 1
        found = self._one_class() if is_one_class else self._probabilities()
        return FitResult(self.rows.size, found.argmax(axis=1), 1.0 - found.max(axis=1))

    def _probabilities(self) -> np.ndarray:
        """Return predicted probabilities of all rows, 0 for a class without a label."""
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
        return probabilities

    def _one_class(self) -> np.ndarray:
        """Return probabilities where all labels are of one class, by the rule of succession."""
        n_classes, n_labels = self.classes.size, self.codes.size
        own = np.full((self.n_rows, n_classes), 1.0 / (n_labels + n_classes))
        own[:, self.codes[0]] *= n_labels + 1
        return own
