"""From scores of members to votes and log-odds, and from these to probabilities and classes.

**Votes**. Members give scores of any scale. A vote is the mean of two readings of a score, each in
[-1, 1]: its rank among the member's scores on the unlabeled rows, which makes all members alike,
and its log-odds, standardized there and cut off at two standard deviations, which keeps how
confident the member is. Votes of trees are probabilities, less their mean.

**Classes**. ``class_weight`` moves decisions, not the fit: probabilities stay calibrated, and the
predicted class is the one with the lowest expected cost. Errors and doubts are those of these
decisions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import expit, logit

from hedgeclipper.game.losses import Loss
from hedgeclipper.io.progress import warn_user

MOST_VALUES = 10_000
LEAST_SCORE = 1e-3
DEVIATIONS = 2.0
ROUNDING = 1e-9
# a class that is expected in fewer of the unlabeled rows need not be predicted for any
FEWEST_EXPECTED = 10.0


class NeverPredictedWarning(UserWarning):
    """A class that labels have is predicted for none of the unlabeled rows."""


@dataclass(frozen=True, eq=False)
class VoteScale:
    """Makes votes of a member's scores.

    ``values`` are the different scores on the unlabeled rows, in rising order, and ``ranks`` their
    ranks in [-1, 1]; ``center`` and ``spread`` are mean and standard deviation of the log-odds.
    """

    values: np.ndarray
    ranks: np.ndarray
    center: float
    spread: float

    @classmethod
    def of(cls, scores: np.ndarray) -> VoteScale:
        """Return the scale of a member's scores on some rows.

        Examples
        --------
        >>> scale = VoteScale.of(np.array([0.2, 0.9, 0.2, 0.4]))
        >>> scale(np.array([0.1, 0.2, 0.9])).round(3)
        array([-0.583, -0.445,  0.792])
        """
        values, counts = np.unique(scores, return_counts=True)
        ranks = (2.0 * np.cumsum(counts) - counts) / scores.size - 1.0
        if values.size > MOST_VALUES:
            kept = np.linspace(0, values.size - 1, MOST_VALUES).round().astype(int)
            values, ranks = values[kept], ranks[kept]
        log_odds = _log_odds(scores)
        spread = float(log_odds.std())
        return cls(values, ranks, float(log_odds.mean()), spread if spread > ROUNDING else 1.0)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the votes, in [-1, 1], which rise with the scores."""
        rank = np.interp(scores, self.values, self.ranks)
        standardized = (_log_odds(scores) - self.center) / self.spread
        return (rank + np.clip(standardized / DEVIATIONS, -1.0, 1.0)) / 2.0


def _log_odds(scores: np.ndarray) -> np.ndarray:
    return logit(np.clip(scores, LEAST_SCORE, 1.0 - LEAST_SCORE))


@dataclass(frozen=True)
class ProbabilityScale:
    """Makes votes of probabilities: how far they are from ``center``, the mean of all members.

    It is the same scale for all members, so that equal weights are the mean probability.
    """

    center: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the votes, in [-1, 1], which rise with the scores.

        Examples
        --------
        >>> ProbabilityScale(0.25)(np.array([0.0, 0.25, 1.0])).round(3)
        array([-0.333,  0.   ,  1.   ])
        """
        votes = (scores - self.center) / max(self.center, 1.0 - self.center)
        return np.clip(votes, -1.0, 1.0)  # a mean of ones may be a little above 1


Scale = VoteScale | ProbabilityScale


@dataclass(frozen=True)
class Calibration:
    """Log-odds of the positive class: slope * score + intercept; the slope is positive."""

    slope: float
    intercept: float

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds of the positive class."""
        return self.slope * scores + self.intercept


@dataclass(frozen=True, eq=False)
class PanelGame:
    """What the game of one class against the rest has found.

    ``scales`` make votes of the scores of each member, ``weights`` (theta) awake predictions of
    these votes, and ``calibration`` log-odds of the predictions.
    """

    scales: Sequence[Scale]
    weights: np.ndarray
    calibration: Calibration

    def check_arrays(self) -> None:
        """Raise unless all numbers that predictions are made of are finite."""
        parts = [self.calibration, *self.scales]
        numbers = [self.weights, *(number for part in parts for number in vars(part).values())]
        if not all(np.isfinite(number).all() for number in numbers):
            raise ValueError("its game has numbers that are not finite")

    def hedged_range(self, loss: Loss) -> tuple[float, float]:
        """Return between which log-odds the game for a loss hedges; infinite for log loss."""
        low, high = self.calibration.log_odds(np.array(loss.hedged_range))
        return float(low), float(high)

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds of the class for scores of shape (n_samples, n_members)."""
        return self.calibration.log_odds(make_votes(self.scales, scores) @ self.weights)


def make_votes(scales: Sequence[Scale], scores: np.ndarray) -> np.ndarray:
    """Return the votes for scores of shape (n_samples, n_members)."""
    return np.column_stack([scale(own) for scale, own in zip(scales, scores.T, strict=True)])


@dataclass(frozen=True, eq=False)
class GamePredictor(ABC):
    """Makes scores, probabilities and classes of what the games predict for rows.

    ``raw`` predictions have the shape (n_samples, n_games): there is one game for two classes, or
    one for each class against the rest. They are log-odds. ``prepare`` makes of rows what is
    scored, and ``costs`` are as by `decision_costs`.
    """

    games: Sequence[PanelGame] = field(kw_only=True)
    prepare: Callable[[Any], Any] | None = field(default=None, kw_only=True)
    costs: np.ndarray | None = field(default=None, kw_only=True)

    @abstractmethod
    def raw_predictions(self, X: Any, n_jobs: int | None) -> np.ndarray:
        """Return the raw predictions of rows."""

    @property
    def n_games(self) -> int:
        """Number of games: 1 for two classes."""
        return len(self.games)

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds for scores of shape (n_samples, n_members, n_games)."""
        return np.column_stack(
            [game.log_odds(scores[:, :, k]) for k, game in enumerate(self.games)]
        )

    @property
    def threshold(self) -> float:
        """Raw prediction from which on the second of two classes is predicted."""
        if self.costs is None or self.costs.shape[0] > 2:
            return 0.0
        probability = self.costs[0, 1] / (self.costs[0, 1] + self.costs[1, 0])
        return float(logit(probability))

    def decision(self, raw: np.ndarray) -> np.ndarray:
        """Return scores of rows: the class is that of the largest, or the second if positive.

        One score, beyond the threshold, for two classes. For more one for each: its log-odds, or
        with costs minus the expected cost of predicting it.
        """
        if raw.shape[1] == 1:
            return raw[:, 0] - self.threshold
        if self.costs is not None:
            return -(self.probabilities(raw) @ self.costs)
        return raw

    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return the probability of each class, shape (n_samples, n_classes)."""
        positive = expit(raw)
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


@dataclass(frozen=True, eq=False)
class RowPredictor:
    """What a classifier's method predicts for rows; it holds none, and can be sent to workers.

    The ``method`` is predict, predict_proba or decision_function, and ``check`` makes rows as the
    predictor wants them of others, or raises.
    """

    method: str
    predictor: GamePredictor
    classes: np.ndarray
    check: Callable[[Any], Any]

    def __call__(self, rows: Any) -> np.ndarray:
        """Return the predictions for rows; there may be none."""
        if rows.shape[0] == 0:
            return self.nothing
        return self.of_raw(self.predictor.raw_predictions(self.check(rows), 1))

    @property
    def nothing(self) -> np.ndarray:
        """The predictions for no rows."""
        return self.of_raw(np.empty((0, self.predictor.n_games)))

    def of_raw(self, raw: np.ndarray) -> np.ndarray:
        """Return the predictions, given raw ones."""
        if self.method == "predict":
            return self.classes[self.predictor.classes(raw)]
        is_proba = self.method == "predict_proba"
        return self.predictor.probabilities(raw) if is_proba else self.predictor.decision(raw)


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


def warn_of_never_predicted(
    predictor: GamePredictor, raw: np.ndarray, n_labels: dict[Any, int]
) -> dict[Any, int]:
    """Return classes predicted for none of these rows, though ten are expected, and warn of them.

    ``n_labels`` are the numbers of labels of each class; those of the classes are returned.
    """
    expected = predictor.probabilities(raw).sum(axis=0)
    counts = np.bincount(predictor.classes(raw), minlength=expected.size)
    is_never = (counts == 0) & (expected >= FEWEST_EXPECTED)
    never = {k: n for (k, n), is_one in zip(n_labels.items(), is_never, strict=True) if is_one}
    for label, count in never.items():
        warn_user(
            f"Class {label!r} has {count:,} label{'s' * (count != 1)} and is predicted for none of "
            f"{raw.shape[0]:,} unlabeled rows: it is never probable enough. If missing it is worse "
            "than other errors, give it more weight (class_weight='balanced', or --balanced), or "
            "tune the threshold of its probability (scikit-learn's TunedThresholdClassifierCV).",
            NeverPredictedWarning,
        )
    return never
