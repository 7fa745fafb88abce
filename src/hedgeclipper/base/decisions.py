"""From what the games predict to probabilities, and from these to classes, by what errors cost.

``class_weight`` moves decisions, not the fit: probabilities stay calibrated, and the predicted
class is the one with the lowest expected cost. Errors and doubts are those of these decisions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import logit

from hedgeclipper.io.progress import warn_user

# a class that is expected in fewer of the unlabeled rows need not be predicted for any
FEWEST_EXPECTED = 10.0


class NeverPredictedWarning(UserWarning):
    """A class that labels have is predicted for none of the unlabeled rows."""


@dataclass(frozen=True, eq=False)
class GamePredictor(ABC):
    """Makes scores, probabilities and classes of what the games predict for rows.

    ``raw`` predictions have the shape (n_samples, n_games): there is one game for two classes, or
    one for each class against the rest. ``costs`` are as by `decision_costs`.
    """

    costs: np.ndarray | None = field(default=None, kw_only=True)

    @abstractmethod
    def raw_predictions(self, X: Any, n_jobs: int | None) -> np.ndarray:
        """Return the raw predictions of rows: awake predictions, or log-odds."""

    @abstractmethod
    def game_probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return the probability of each game's class, shape (n_samples, n_games)."""

    @abstractmethod
    def raw_at(self, probability: float) -> float:
        """Return the raw prediction of rows whose class has this probability in its game."""

    @property
    def threshold(self) -> float:
        """Raw prediction from which on the second of two classes is predicted."""
        if self.costs is None or self.costs.shape[0] > 2:
            return 0.0
        return self.raw_at(self.costs[0, 1] / (self.costs[0, 1] + self.costs[1, 0]))

    def decision(self, raw: np.ndarray) -> np.ndarray:
        """Return scores of rows: the class is that of the largest, or the second if positive.

        One score, beyond the threshold, for two classes. For more one for each: its log-odds, or
        with costs minus the expected cost of predicting it.
        """
        if raw.shape[1] == 1:
            return raw[:, 0] - self.threshold
        if self.costs is not None:
            return -(self.probabilities(raw) @ self.costs)
        return self.log_odds_of(raw)

    def log_odds_of(self, raw: np.ndarray) -> np.ndarray:
        """Return the log-odds of each of several classes against the rest."""
        return logit(self.game_probabilities(raw))

    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return the probability of each class, shape (n_samples, n_classes)."""
        positive = self.game_probabilities(raw)
        if raw.shape[1] == 1:
            return np.column_stack([1.0 - positive[:, 0], positive[:, 0]])
        return positive / positive.sum(axis=1, keepdims=True)

    def classes(self, raw: np.ndarray) -> np.ndarray:
        """Return the number of the predicted class of each row: the most probable, or cheapest."""
        scores = self.decision(raw)
        return (scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)

    def doubts(self, raw: np.ndarray) -> np.ndarray:
        """Return the probability that each row is not of the class that is predicted for it."""
        return 1.0 - self.probabilities(raw)[np.arange(raw.shape[0]), self.classes(raw)]


def decision_costs(class_weight: Any, classes: np.ndarray, codes: np.ndarray) -> np.ndarray | None:
    """Return what it costs to predict a class (column) for rows of each class (row).

    ``class_weight`` is that of the classifiers, ``codes`` are the numbers of the labels' classes.
    None: all errors cost the same.

    Examples
    --------
    >>> decision_costs("balanced", np.array(["no", "yes"]), np.array([0, 0, 0, 1])).round(2)
    array([[0.  , 0.67],
           [2.  , 0.  ]])
    """
    if class_weight is None:
        return None
    n_classes, known = classes.size, classes.tolist()
    if isinstance(class_weight, str):
        weights = codes.size / (n_classes * np.bincount(codes, minlength=n_classes))
    elif isinstance(class_weight, dict):
        unknown = [label for label in class_weight if label not in known]
        if unknown:
            raise ValueError(
                f"class_weight has weights for {unknown}, which are no classes of the labels that "
                f"are fitted to (a confidence_level holds some out). Got labels of {known}."
            )
        weights = np.array([class_weight.get(label, 1.0) for label in known], dtype=float)
    else:
        return _checked_costs(np.asarray(class_weight, dtype=float), n_classes)
    is_correct = np.eye(n_classes, dtype=bool)
    return _checked_costs(np.where(is_correct, 0.0, weights[:, None]), n_classes)


def _checked_costs(costs: np.ndarray, n_classes: int) -> np.ndarray:
    """Return what errors cost more than correct predictions, or raise an error."""
    if costs.shape != (n_classes, n_classes):
        raise ValueError(
            "class_weight as a matrix must have a row for each true class and a column for each "
            f"predicted one, {n_classes} x {n_classes}. Got the shape {costs.shape}. Weights of "
            "classes are a dictionary."
        )
    costs = costs - np.diag(costs)[:, None]
    is_error = ~np.eye(n_classes, dtype=bool)
    if not (np.isfinite(costs).all() and (costs[is_error] > 0).all()):
        raise ValueError(
            "class_weight must be positive and finite, and in a matrix of costs each error must "
            f"cost more than a correct prediction. Got a least difference of {costs.min():g}."
        )
    return costs


def cheapest(probabilities: np.ndarray, costs: np.ndarray | None) -> np.ndarray:
    """Return the number of the class with the lowest expected cost, the most probable for None."""
    return np.argmax(probabilities if costs is None else -(probabilities @ costs), axis=1)


def never_predicted(predictor: GamePredictor, raw: np.ndarray) -> np.ndarray:
    """Return the classes predicted for none of these rows, though ten are expected among them."""
    expected = predictor.probabilities(raw).sum(axis=0)
    counts = np.bincount(predictor.classes(raw), minlength=expected.size)
    return np.flatnonzero((counts == 0) & (expected >= FEWEST_EXPECTED))


def warn_of_never_predicted(n_labels: dict[Any, int], n_rows: int) -> None:
    """Warn of classes that are never predicted, given the number of labels of each."""
    for label, count in n_labels.items():
        warn_user(
            f"Class {label!r} has {count:,} label{'s' * (count != 1)} and is predicted for none of "
            f"{n_rows:,} unlabeled rows: it is never probable enough. If missing it is worse than "
            "other errors, give it more weight (class_weight='balanced', or --balanced), or tune "
            "the threshold of its probability (scikit-learn's TunedThresholdClassifierCV).",
            NeverPredictedWarning,
        )
