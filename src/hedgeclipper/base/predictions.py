"""From log-odds to probabilities and classes.

``class_weight`` moves decisions, not the fit: probabilities stay calibrated, and the predicted
class is the one with the lowest expected cost. Errors and uncertainties are those of these
decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from hedgeclipper.io.messages import warn_user

# a class that is expected in fewer of the unlabeled rows need not be predicted for any
FEWEST_EXPECTED = 10.0
ROWS_AT_ONCE = 1 << 14


class NeverPredictedWarning(UserWarning):
    """A class that labels have is predicted for none of the unlabeled rows."""


@dataclass(frozen=True, eq=False)
class TablePredictor:
    """Predicts rows of tables: voters score them, a weighted vote makes log-odds of the scores.

    ``raw`` predictions are log-odds of shape (n_samples, n_games): there is one game for two
    classes, or one for each class against the rest. ``costs`` are as by `decision_costs`. It holds
    no rows, and can be sent to workers.
    """

    scorer: Any  # a VoterScorer
    votes: Sequence[Any]  # a WeightedVote for each game
    labels: np.ndarray  # (n_classes,): what the classes are called
    costs: np.ndarray | None = None

    @property
    def no_rows(self) -> np.ndarray:
        """Raw predictions of no rows."""
        return np.empty((0, len(self.votes)))

    def raw_predictions(self, X: Any, n_jobs: int | None) -> np.ndarray:
        """Return the log-odds of each game's class, for rows that a `RowReader` has read."""
        return self.raw_of(self.scorer.score(X, n_jobs))

    def raw_of(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds for scores of shape (n_samples, n_voters, n_games)."""
        raw = np.empty((scores.shape[0], len(self.votes)))
        for start in range(0, scores.shape[0], ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            for game, vote in enumerate(self.votes):
                raw[rows, game] = vote.log_odds(scores[rows, :, game].astype(float))
        return raw

    def predict(self, raw: np.ndarray, method: str = "predict") -> np.ndarray:
        """Return what a classifier's method of this name returns for rows."""
        if method == "predict_proba":
            return self.probabilities(raw)
        return self.decision(raw) if method == "decision_function" else self.labels[self.codes(raw)]

    def decision(self, raw: np.ndarray) -> np.ndarray:
        """Return scores of rows: the class is that of the largest, or the second if positive.

        One score for two classes, beyond the threshold from which on the second one is predicted.
        For more one for each: its log-odds, or with costs minus the expected cost of predicting it.
        """
        costs = self.costs
        if raw.shape[1] == 1:
            return raw[:, 0] - (0.0 if costs is None else logit(costs[0, 1] / costs.sum()))
        return raw if costs is None else -(self.probabilities(raw) @ costs)

    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return the probability of each class, shape (n_samples, n_classes)."""
        positive = expit(raw)
        if raw.shape[1] == 1:
            return np.column_stack([1.0 - positive[:, 0], positive[:, 0]])
        return positive / positive.sum(axis=1, keepdims=True)

    def codes(self, raw: np.ndarray) -> np.ndarray:
        """Return the number of the predicted class of each row: the most probable, or cheapest."""
        scores = self.decision(raw)
        return (scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)

    def uncertainties(self, raw: np.ndarray) -> np.ndarray:
        """Return the probability that each row is not of the class that is predicted for it."""
        return 1.0 - self.probabilities(raw)[np.arange(raw.shape[0]), self.codes(raw)]


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
    else:
        unknown = [label for label in class_weight if label not in known]
        if unknown:
            raise ValueError(
                f"class_weight has weights for {unknown}, which are no classes of the labels that "
                f"are fitted to (a confidence_level holds some out). Got labels of {known}."
            )
        weights = np.array([class_weight.get(label, 1.0) for label in known], dtype=float)
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            raise ValueError(f"class_weight must be positive and finite. Got {class_weight}.")
    return np.where(np.eye(n_classes, dtype=bool), 0.0, weights[:, None])


def cheapest(probabilities: np.ndarray, costs: np.ndarray | None) -> np.ndarray:
    """Return the number of the class with the lowest expected cost, the most probable for None."""
    return np.argmax(probabilities if costs is None else -(probabilities @ costs), axis=1)


def warn_of_never_predicted(
    predictor: TablePredictor, raw: np.ndarray, y: np.ndarray
) -> dict[Any, int]:
    """Return classes predicted for none of these rows, though ten are expected, and warn of them.

    Each comes with its number of labels in ``y``.
    """
    expected, predicted = predictor.probabilities(raw).sum(axis=0), predictor.predict(raw)
    likely = predictor.labels[expected >= FEWEST_EXPECTED]
    never = {label: int(np.sum(y == label)) for label in np.setdiff1d(likely, predicted).tolist()}
    if never:
        label, count = next(iter(never.items()))
        more = "".join(f", nor class {one!r} ({n:,})" for one, n in [*never.items()][1:])
        warn_user(
            f"Class {label!r} has {count:,} label{'s' * (count != 1)} and is predicted for none of "
            f"{raw.shape[0]:,} unlabeled rows{more}: it is never probable enough. If missing it "
            "is worse than other errors, give it more weight (class_weight='balanced', or "
            "--balanced), or tune the threshold of its probability (scikit-learn's "
            "TunedThresholdClassifierCV).",
            NeverPredictedWarning,
        )
    return never
