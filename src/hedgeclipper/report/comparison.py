"""Errors of the model and of its baselines on labels that were held out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.base.predictions import cheapest
from hedgeclipper.report.data import SEED, ReportData, draw, take
from hedgeclipper.table_inspection import ROWS_TO_REWEIGH, TooFewLabelsError, stratified_folds
from hedgeclipper.voters.classifiers import N_FOLDS
from hedgeclipper.votes.matrix import Votes

FOLDS_OF_REFITS = 3
REWEIGHED = (
    "Each voter's score of a row is by trees or fits without the row; weights and calibration were "
    "found again without the labels of the fold. These labels have helped to fit the voters that "
    "scored the other rows, which may flatter the model a little."
)
REFITTED = (
    "Each row is predicted by a fit without its fold. Fits to fewer labels are a little worse than "
    "the model itself."
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Predictions of the model and its baselines for every labeled row, made without its label."""

    # classes of the labeled rows, shape (n_labeled,)
    codes: np.ndarray
    # probabilities, or proportions of votes, of shape (n_labeled, n_classes), by the name of the
    # method: the model itself, first, its voters, and simple combinations of these
    probabilities: dict[str, np.ndarray]
    # how labels were held out
    description: str
    # what errors cost, as far as decisions depend on it
    costs: np.ndarray | None = None

    @property
    def model(self) -> str:
        """The name of the model among the methods."""
        return next(iter(self.probabilities))

    @property
    def baselines(self) -> list[str]:
        """The names of the others."""
        return list(self.probabilities)[1:]

    @property
    def best_baseline(self) -> str:
        """The baseline with the lowest error."""
        return min(self.baselines, key=lambda name: self.error(name)[0])

    @property
    def verdict(self) -> int:
        """1 if the model is significantly better than the best baseline, -1 if worse, else 0."""
        gain, error = self.gain(self.best_baseline)
        return 0 if abs(gain) <= 2 * error else 1 if gain > 0 else -1

    def wrong(self, name: str) -> np.ndarray:
        """Return on which rows a method is wrong, shape (n_labeled,)."""
        return (cheapest(self.probabilities[name], self.costs) != self.codes).astype(float)

    def error(self, name: str) -> tuple[float, float]:
        """Return the error of a method and its standard error over the rows."""
        error = float(self.wrong(name).mean())
        return error, float(np.sqrt(error * (1.0 - error) / self.codes.size))

    def gain(self, over: str) -> tuple[float, float]:
        """Return by how much the model's error is lower, row by row, and the standard error."""
        gains = self.wrong(over) - self.wrong(self.model)
        return float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(gains.size))


def compare(data: ReportData) -> Comparison | str:
    """Return the comparison, or why there is none."""
    model = data.table_model
    if model is None or not hasattr(model, "cross_val_predict_proba"):
        return _refitted(data)
    try:
        y, probabilities = model.cross_val_predict_proba(N_FOLDS, SEED)
    except TooFewLabelsError as error:
        return str(error)
    codes = np.searchsorted(data.classes, y)
    return Comparison(codes, probabilities, _describe(N_FOLDS, y, REWEIGHED), data.costs)


def _refitted(data: ReportData) -> Comparison | str:
    """Return predictions by fits without each fold, for votes and saved models."""
    if data.y is None:
        wanted = "X and y" if data.vote_model is None else "votes and gold"
        return f"The report was made without labeled rows: pass {wanted} to it."
    unlabeled = None if data.unlabeled is None else draw(data.unlabeled, ROWS_TO_REWEIGH)[0]
    found: dict[str, np.ndarray] = {}
    try:
        for train, test in stratified_folds(data.y, FOLDS_OF_REFITS, SEED):
            for name, probabilities in _refit(data, unlabeled, train, test).items():
                of_all = found.setdefault(name, np.empty((data.y.size, data.classes.size)))
                of_all[test] = probabilities
    except ValueError as error:
        return str(error)
    codes = np.searchsorted(data.classes, data.y)
    return Comparison(codes, found, _describe(FOLDS_OF_REFITS, data.y, REFITTED), data.costs)


def _refit(
    data: ReportData, unlabeled: Any, train: np.ndarray, test: np.ndarray
) -> dict[str, np.ndarray]:
    """Return probabilities of the test rows by a fit to the others, and by its baseline."""
    assert data.y is not None
    parameters = data.model.get_params(deep=False)
    parameters |= {"random_state": SEED} | ({"verbose": 0} if "verbose" in parameters else {})
    model, rows = type(data.model)(**parameters), take(data.labeled, test)
    try:
        with warnings.catch_warnings():
            # few labels, no unlabeled rows: the fit of the model itself has warned
            warnings.simplefilter("ignore")
            model.fit(take(data.labeled, train), data.y[train], unlabeled)
    except ValueError as error:
        raise ValueError(f"The model cannot be fitted to {train.size} labels: {error}") from error
    # a fold may not know every class
    whole = np.zeros((test.size, data.classes.size))
    known = np.searchsorted(data.classes, model.classes_)
    whole[:, known] = model.predict_proba(rows)
    if isinstance(rows, Votes):
        # rows without a vote count as all classes alike
        counts = rows.counts() + 1e-6
        return {"this model": whole, "majority vote": counts / counts.sum(axis=1, keepdims=True)}
    mean = np.zeros_like(whole)
    mean[:, known] = model.voter_probabilities(rows).mean(axis=0)
    return {"this model": whole, "mean of all voters": mean}


def _describe(n_folds: int, y: np.ndarray, how: str) -> str:
    return f"{n_folds} stratified folds of {y.size:,} labeled rows, shuffled. {how}"
