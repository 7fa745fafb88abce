"""Errors of the model and of its baselines on labels that were held out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from hedgeclipper.base.inspection import FoldPredictor, inspect_estimator
from hedgeclipper.base.predictions import cheapest
from hedgeclipper.report.data import SEED, ReportData, size_of, take
from hedgeclipper.report.rendering import count

FEWEST_LABELS = 6
FOLDS_OF_REFITS = 3
# each fit, or weighing, sees no more unlabeled rows than this
MOST_ROWS = 4_000


class Skipped(Exception):
    """There is no comparison, for the reason in the message."""


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
    rows = data.unlabeled
    n_rows = 0 if rows is None else min(size_of(rows), MOST_ROWS)
    if rows is not None and n_rows < size_of(rows):
        drawn = np.random.RandomState(SEED).choice(size_of(rows), n_rows, replace=False)
        rows = take(rows, np.sort(drawn))
    try:
        hold_out = data.model.hold_out
        held_out = _refits(data, rows) if hold_out is None else hold_out(rows)
        counts = np.bincount(held_out.codes, minlength=data.classes.size)
        if counts.min() < FEWEST_LABELS:
            raise Skipped(
                f"Class {data.classes[counts.argmin()]} has "
                f"{count(int(counts.min()), 'labeled row')}, and a comparison by cross-validation "
                f"takes {FEWEST_LABELS} of each class at least: with fewer, its standard errors "
                "would be too large."
            )
        splitter = StratifiedKFold(held_out.n_folds, shuffle=True, random_state=SEED)
        folds = list(splitter.split(held_out.codes, held_out.codes))
        found = [held_out.predict(train, test) for train, test in folds]
    except Skipped as reason:
        return str(reason)
    # predictions fold by fold, put into the order of the rows
    order = np.argsort(np.concatenate([test for _, test in folds]))
    probabilities = {
        name: np.concatenate([part[name] for part in found])[order] for name in found[0]
    }
    seen = count(n_rows, "unlabeled row") if n_rows else "no unlabeled rows"
    description = (
        f"{len(folds)} stratified folds of {held_out.codes.size:,} labeled rows, shuffled, each "
        f"with {seen}. {held_out.description}"
    )
    return Comparison(held_out.codes, probabilities, description, data.model.costs)


def _refits(data: ReportData, unlabeled: Any) -> FoldPredictor:
    """Return a way to hold labels out that fits the model again without each fold."""
    labeled, y = data.labeled, data.y
    if y is None:
        raise Skipped(
            "The report was made without labeled rows: pass "
            f"{'votes and gold' if data.is_votes else 'X and y'} to it."
        )

    parameters = data.estimator.get_params(deep=False)
    parameters |= {"random_state": SEED} | ({"verbose": 0} if "verbose" in parameters else {})

    def predict(train: np.ndarray, test: np.ndarray) -> dict[str, np.ndarray]:
        model = type(data.estimator)(**parameters)
        try:
            with warnings.catch_warnings():
                # few labels, no unlabeled rows: the fit of the model itself has warned
                warnings.simplefilter("ignore")
                model.fit(take(labeled, train), y[train], unlabeled)
                return _predictions(model, take(labeled, test), data)
        except ValueError as error:
            raise Skipped(f"The model cannot be fitted to {train.size} labels: {error}") from error

    description = (
        "Each row is predicted by a fit without its fold. Fits to fewer labels are a little worse "
        "than the model itself."
    )
    return FoldPredictor(np.searchsorted(data.classes, y), FOLDS_OF_REFITS, predict, description)


def _predictions(model: Any, rows: Any, data: ReportData) -> dict[str, np.ndarray]:
    """Return probabilities by the model and by its baseline."""
    if not data.is_votes:
        mean = inspect_estimator(model, "A comparison").predict_baseline
        assert mean is not None
        return {"this model": model.predict_proba(rows), **mean(rows)}
    # a fold may not know every class
    whole = np.zeros((rows.n_rows, data.classes.size))
    whole[:, np.searchsorted(data.classes, model.classes_)] = model.predict_proba(rows)
    # rows without a vote count as all classes alike
    counts = rows.counts() + 1e-6
    return {"this model": whole, "majority vote": counts / counts.sum(axis=1, keepdims=True)}
