"""Errors of the model and of its baselines on labels that were held out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgeclipper.base.predictions import cheapest
from hedgeclipper.report.model import FittedModel

# tested rows of each class
FEWEST_LABELS = 6


@dataclass(frozen=True, eq=False)
class Comparison:
    """Predictions of the model and its baselines for every labeled row, made without its label."""

    # classes of the labeled rows, shape (n_labeled,)
    codes: np.ndarray
    # probabilities, or proportions of votes, of shape (n_labeled, n_classes), by the name of the
    # method: the model itself, first, its voters, and simple combinations of these
    probabilities: dict[str, np.ndarray]
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


def compare(model: FittedModel, costs: np.ndarray | None) -> Comparison | str:
    """Return the comparison, or why there is none."""
    y, probabilities = model.tested_probabilities()
    known = np.isin(y, model.classes_)  # a class may have held-out labels alone
    y = y[known]
    counts = np.array([np.sum(y == label) for label in model.classes_])
    if counts.min() < FEWEST_LABELS:
        fewest = model.classes_[counts.argmin()]
        return (
            f"There is no comparison: {counts.min()} of the rows that test the model "
            f"{'is' if counts.min() == 1 else 'are'} of class {fewest}. With fewer than "
            f"{FEWEST_LABELS} of each class, standard errors would be too large."
        )
    found = {name: own[known] for name, own in probabilities.items()}
    return Comparison(np.searchsorted(model.classes_, y), found, costs)
