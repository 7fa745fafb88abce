"""How good predictions are on labeled rows, with intervals, beside the most frequent class.

`LabeledScoreMixin` adds ``score`` and ``evaluate`` to the estimators: unlabeled rows do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit
from scipy.stats import norm
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.columns import ColumnWarning
from hedgeclipper.base.row_reader import NOTHING_TO_SCORE, is_unlabeled, label_values
from hedgeclipper.bounds.intervals import check_level, placements, proportion_bounds
from hedgeclipper.io import Source, as_classes, as_source, is_batched, listed, split_target
from hedgeclipper.io.messages import as_json, warn_user


class SeenRowsWarning(UserWarning):
    """Rows that shall show how good a model is are rows that it was fitted to."""


LEAST_PROBABILITY = 1e-6


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What labeled rows tell of a model that has not seen them.

    Intervals hold for rows that are drawn like these, each by itself.

    Parameters
    ----------
    n_samples : int
        Number of labeled rows.
    accuracy, auc, log_loss : float
        Proportion of correct predictions; area under the ROC curve, the mean over classes against
        the rest (NaN if there are rows of one class only); mean negative log-probability of the
        true class.
    accuracy_interval, auc_interval, log_loss_interval : tuple of float
        Confidence intervals: Clopper-Pearson, DeLong and Student's t.
    majority_class : object
        The most frequent class of these rows.
    majority_accuracy : float
        Accuracy of always predicting it.
    classes : ndarray of shape (n_classes,)
        Classes of the model, then others that the rows have.
    confusion : ndarray of shape (n_classes, n_classes)
        Number of rows of each true class (row) and predicted class (column).
    recall : ndarray of shape (n_classes,)
        Proportion of the rows of each class that are predicted so; NaN if there are none.
    recall_intervals : ndarray of shape (n_classes, 2)
        Clopper-Pearson intervals.
    calibration : ndarray of shape (n_bins, 3)
        Rows in order of the probability of their predicted class, in parts of equal size: mean
        probability, proportion of correct predictions, number of rows.
    calibration_error : float
        Mean absolute difference of the first two (expected calibration error).
    confidence_level : float
        Level of all intervals.

    Examples
    --------
    >>> from hedgeclipper import HedgeClipperClassifier
    >>> from hedgeclipper.datasets import load_adult
    >>> X, y = load_adult(return_X_y=True)
    >>> model = HedgeClipperClassifier("trees", n_estimators=80, random_state=0)
    >>> model = model.fit(X[:300], y[:300], X_unlabeled=X[300:1000])
    >>> found = model.evaluate(X[1000:2000], y[1000:2000])
    >>> found.n_samples, found.majority_class, found.majority_accuracy
    (1000, 0, 0.747)
    >>> bool(found.accuracy_interval[0] > found.majority_accuracy)
    True
    """

    n_samples: int
    accuracy: float
    accuracy_interval: tuple[float, float]
    auc: float
    auc_interval: tuple[float, float]
    log_loss: float
    log_loss_interval: tuple[float, float]
    majority_class: Any
    majority_accuracy: float
    classes: np.ndarray
    confusion: np.ndarray
    recall: np.ndarray
    recall_intervals: np.ndarray
    calibration: np.ndarray
    calibration_error: float
    confidence_level: float

    def facts(self) -> list[tuple[str, str]]:
        """Return the most important figures as pairs of name and text."""
        level = f"{100 * self.confidence_level:g}% interval"
        low, high = self.accuracy_interval
        majority = f"always {self.majority_class}: {self.majority_accuracy:.1%}"
        return [
            ("Rows", f"{self.n_samples:,}"),
            ("Accuracy", f"{self.accuracy:.1%} ({level} {low:.1%} to {high:.1%}; {majority})"),
            ("AUC", _with_interval(self.auc, self.auc_interval)),
            ("Log loss", _with_interval(self.log_loss, self.log_loss_interval)),
            ("Calibration", f"probabilities are off by {self.calibration_error:.1%} on average"),
        ]

    def describe(self) -> str:
        """Return the most important figures, one in each line."""
        return "\n".join(f"{name.ljust(12)} {text}" for name, text in self.facts())

    def to_dict(self) -> dict[str, Any]:
        """Return all as lists and numbers, such as JSON knows; None for NaN."""
        return as_json(vars(self))

    def __str__(self) -> str:
        return self.describe()


def evaluate_predictions(
    y: np.ndarray,
    predicted: np.ndarray,
    probabilities: np.ndarray,
    classes: np.ndarray,
    confidence_level: float = 0.95,
) -> Evaluation:
    """Return how good predictions of rows with the true classes y are.

    ``classes`` are those of the model, in the order of the probabilities, which have a column for
    each; classes that it does not know count as errors.
    """
    check_level(confidence_level)
    known = classes.tolist()
    others = [label for label in dict.fromkeys(y.tolist()) if label not in known]
    numbers = {label: number for number, label in enumerate([*known, *others])}
    true, found = (np.array([numbers[x] for x in part.tolist()]) for part in (y, predicted))
    delta, n_rows = (1.0 - confidence_level) / 2, true.size
    confusion = confusion_matrix(true, found, labels=range(len(numbers)))
    correct, n_true = np.diag(confusion), confusion.sum(axis=1)
    lower, upper = proportion_bounds(correct, n_true, np.inf, delta)
    accuracy_interval = proportion_bounds(correct.sum(), n_rows, np.inf, delta)
    auc, auc_interval = _auc(true, probabilities, delta)
    losses = _log_losses(true, probabilities)
    spread = losses.std(ddof=1) / np.sqrt(n_rows) if n_rows > 1 else np.inf
    reach = -stdtrit(max(n_rows - 1, 1), delta) * spread
    calibration = _calibration(found, true, probabilities)
    gaps, weights = np.abs(calibration[:, 0] - calibration[:, 1]), calibration[:, 2]
    with np.errstate(invalid="ignore"):
        recall = correct / n_true
    return Evaluation(
        n_samples=n_rows,
        accuracy=float(correct.sum() / n_rows),
        accuracy_interval=(float(accuracy_interval[0]), float(accuracy_interval[1])),
        auc=auc,
        auc_interval=auc_interval,
        log_loss=float(losses.mean()),
        log_loss_interval=(max(0.0, float(losses.mean() - reach)), float(losses.mean() + reach)),
        majority_class=[*numbers][int(n_true.argmax())],
        majority_accuracy=float(n_true.max() / n_rows),
        classes=np.concatenate([classes, np.array(others, dtype=object)]) if others else classes,
        confusion=confusion,
        recall=recall,
        recall_intervals=np.column_stack([lower, upper]),
        calibration=calibration,
        calibration_error=float(np.average(gaps, weights=weights)),
        confidence_level=confidence_level,
    )


def _variance_of_mean(values: np.ndarray) -> float:
    """Return the variance of a mean of proportions, the largest possible for a single one."""
    if values.size == 1:
        return float(values[0] * (1.0 - values[0]))
    return float(values.var(ddof=1) / values.size)


def _auc(
    true: np.ndarray, probabilities: np.ndarray, delta: float
) -> tuple[float, tuple[float, float]]:
    """Return the mean AUC of classes against the rest, and an interval."""
    n_classes = probabilities.shape[1]
    values, errors, n_least = [], [], np.inf
    for number in [1] if n_classes == 2 else range(n_classes):
        is_positive = true == number
        n_fewer = min(is_positive.sum(), (~is_positive).sum())
        if n_fewer:
            of_positive, of_negative = placements(is_positive, probabilities[:, number])
            values.append(of_positive.mean())
            errors.append(np.sqrt(_variance_of_mean(of_positive) + _variance_of_mean(of_negative)))
            n_least = min(n_least, n_fewer)
    if not values:
        return np.nan, (np.nan, np.nan)
    # classes share their rows, so that their errors do not cancel
    auc, reach = float(np.mean(values)), float(norm.isf(delta) * np.mean(errors))
    lower, upper = max(0.0, auc - reach), min(1.0, auc + reach)
    if reach == 0.0:
        # no pair is in the wrong order: as few rows as these do not prove that none is
        lower = min(lower, delta ** (1.0 / n_least))
    return auc, (lower, upper)


def _log_losses(true: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return the log loss of each row; a class that the model does not know has no probability."""
    own = np.full(true.size, LEAST_PROBABILITY)
    is_known = true < probabilities.shape[1]
    own[is_known] = probabilities[is_known, true[is_known]]
    return -np.log(np.clip(own, LEAST_PROBABILITY, 1.0))


def _calibration(found: np.ndarray, true: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    sure = probabilities[np.arange(found.size), found]
    parts = np.array_split(np.argsort(sure, kind="stable"), min(10, found.size))
    return np.array([[sure[p].mean(), (found == true)[p].mean(), p.size] for p in parts])


def _with_interval(value: float, interval: tuple[float, float]) -> str:
    if np.isnan(value):
        return "not defined, since all rows are of one class"
    return f"{value:.3f} ({interval[0]:.3f} to {interval[1]:.3f})"


def rows_and_labels(X: Any, y: Any) -> tuple[Any, Any]:
    """Return rows and labels; where y is a name, these are that column of a frame or of files."""
    if not (isinstance(y, str) and is_batched(X)):
        return split_target(X, y)
    columns: list[str] | None = None if isinstance(X, Source) else []  # the labels alone
    source = as_source(X, name="X", columns=columns, label=y, frames=1)
    labels = np.concatenate([np.empty(0), *(own for _, own in source.labeled_batches())])
    return as_source(X, name="X", label=y), labels


class LabeledScoreMixin(ClassifierMixin):
    """Scores labeled rows only."""

    def score(self, X, y, sample_weight=None):
        """Return the accuracy of ``predict`` on the labeled rows; unlabeled ones are not scored.

        So ``cross_val_score(model, X, y)`` is right for a y that marks unlabeled rows by -1. Pass
        ``cv=SemiSupervisedSplit()`` for labels that are missing in another way, and for scorers by
        name, such as ``scoring="roc_auc"``, which take every row for a labeled one.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, batches or files
            Rows or votes, as in ``fit``.
        y : array-like of shape (n_samples,), or str
            Labels, or the name of their column, if X is a frame or files. Rows whose label is
            missing, or -1 where that is no class of the model, are unlabeled; if all are, this is
            an error.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            Proportion of the labeled rows that are classified correctly.
        """
        X, y = rows_and_labels(X, y)
        known, true = self._labels_to_score(y)
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        predicted = np.asarray(self.predict(X))
        check_consistent_length(predicted, known)
        return accuracy_score(true, predicted[known], sample_weight=weights)

    def evaluate(self, X, y, confidence_level=0.95):
        """Return accuracy, AUC, log loss and more on labeled rows, with confidence intervals.

        The rows should be new to the model. If most labeled rows of the fit are among them, these
        are scored by predictions made without their labels, and a `SeenRowsWarning` says so; rows
        of votes are not recognized.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or files
            Rows or votes, as in ``fit``.
        y : array-like of shape (n_samples,), or str
            Labels, of which missing ones are not scored, as in ``score``; or the name of their
            column, if X is a frame or files.
        confidence_level : float, default=0.95
            Level of the intervals.

        Returns
        -------
        Evaluation
            What was found; ``print`` shows the most important figures.
        """
        X, y = rows_and_labels(X, y)
        known, true = self._labels_to_score(y)
        classes = self.classes_.tolist()
        strange = [label for label in dict.fromkeys(true.tolist()) if label not in classes]
        if strange:
            text = (
                f"The model does not know the labels {listed(strange)}: its classes are "
                f"{listed(classes)}. Write labels as in the fit."
            )
            if len(strange) == len({*true.tolist()}):
                raise ValueError(text)
            warn_user(f"{text} Rows with others count as errors.", ColumnWarning)
        return self._evaluate(X, known, true, confidence_level)

    def _evaluate(
        self, X: Any, known: np.ndarray, true: np.ndarray, confidence_level: float
    ) -> Evaluation:
        """Return how good predictions of rows are, given which of these have which labels."""
        predicted, probabilities, is_scored = self._predict_unseen(X)
        check_consistent_length(predicted, known)
        if not is_scored[known].any():
            raise ValueError(
                "All labeled rows are rows of the fit, and none was predicted without its label. "
                "Pass new rows; the certificate of the fit has the error that held-out labels tell."
            )
        kept = known & is_scored
        found = predicted[kept], probabilities[kept]
        return evaluate_predictions(true[kept[known]], *found, self.classes_, confidence_level)

    def _predict_unseen(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return labels and probabilities of rows, and which of them can be scored."""
        predicted = self.predict(X)
        return predicted, self.predict_proba(X), np.ones(len(predicted), dtype=bool)

    def _labels_to_score(self, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return which rows have a label, and these labels; an error if there are none."""
        check_is_fitted(self)
        labels, minus_one_is_class = label_values(y), bool(is_unlabeled(self.classes_).any())
        known = ~is_unlabeled(labels, minus_one_is_class)
        if not known.any():
            raise ValueError(NOTHING_TO_SCORE)
        return known, as_classes(labels[known], "y")
