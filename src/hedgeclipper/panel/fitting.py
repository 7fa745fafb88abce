"""One member of a panel: its fit to rows and its scores; and all members, for new rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.pipeline import Pipeline
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.utils.validation import has_fit_parameter

from hedgeclipper.base.predictions import GamePredictor
from hedgeclipper.base.semi_supervised import UNLABELED
from hedgeclipper.base.threads import own_jobs, run_jobs
from hedgeclipper.forest.classifier import HedgeClipperClassifier
from hedgeclipper.io.arrays import stack_rows
from hedgeclipper.io.extras import import_extra
from hedgeclipper.sklearn_private import _safe_indexing

ROWS_AT_ONCE = 50_000
READS_MARKS = (SelfTrainingClassifier, LabelPropagation, LabelSpreading, HedgeClipperClassifier)


@dataclass(frozen=True, eq=False)
class MemberRows:
    """What members learn from.

    Rows are arrays, CSR matrices or frames; ``codes`` are the classes of the labeled ones, from 0
    to n_classes - 1, ``weights`` their weights. There may be no unlabeled rows.
    """

    X_labeled: Any
    codes: np.ndarray
    n_classes: int
    weights: np.ndarray | None = None
    X_unlabeled: Any = None

    @property
    def n_columns(self) -> int:
        """Number of columns of a member's scores: one for two classes, else one per class."""
        return 1 if self.n_classes == 2 else self.n_classes

    def select(self, labeled: np.ndarray) -> MemberRows:
        """Return the same with some of the labeled rows, given their numbers."""
        weights = None if self.weights is None else self.weights[labeled]
        X = _safe_indexing(self.X_labeled, labeled)
        return replace(self, X_labeled=X, codes=self.codes[labeled], weights=weights)

    def unlabeled_beside(self, train: np.ndarray) -> Any:
        """Return the unlabeled rows, and those labeled ones that are not in ``train``.

        A member that learns from the rows it predicts is then scored on such rows, too. None where
        there are no unlabeled rows: it will then learn from none.
        """
        if self.X_unlabeled is None or self.X_unlabeled.shape[0] == 0:
            return None
        held_out = np.setdiff1d(np.arange(self.codes.size), train)
        if held_out.size == 0:
            return self.X_unlabeled
        return stack_rows(self.X_unlabeled, _safe_indexing(self.X_labeled, held_out))


def fit_member(model: Any, rows: MemberRows, train: np.ndarray) -> np.ndarray:
    """Fit a model to some labeled rows, given their numbers, and return the codes of its classes.

    Its classes are 0, 1, ... without a gap, as some classifiers demand, even where ``train`` lacks
    a class. Unlabeled rows go to a ``fit`` that takes ``X_unlabeled``, or among the other rows,
    marked by -1, for an estimator that reads such marks. Weights go to a ``fit`` that takes them.
    """
    prefix, last = "", model
    while isinstance(last, Pipeline):
        name, last = last.steps[-1]
        prefix += f"{name}__"
    part = rows.select(train)
    X, weights = part.X_labeled, part.weights
    codes, y = np.unique(part.codes, return_inverse=True)
    takes_rows = has_fit_parameter(model, "X_unlabeled")
    learns_from_all = takes_rows or isinstance(last, READS_MARKS)
    unlabeled = rows.unlabeled_beside(train) if learns_from_all else None
    options: dict[str, Any] = {}
    if unlabeled is not None and takes_rows:
        options["X_unlabeled"] = unlabeled
    elif unlabeled is not None:
        n_marked = unlabeled.shape[0]
        X, y = stack_rows(X, unlabeled), np.append(y, np.full(n_marked, UNLABELED))
        weights = None if weights is None else np.append(weights, np.ones(n_marked))
    if weights is not None and has_fit_parameter(last, "sample_weight"):
        options[f"{prefix}sample_weight"] = weights
    model.fit(X, y, **options)
    return codes


def scores_out_of_bag(estimator: Any) -> bool:
    """Return whether one fit also scores the labeled rows, each by trees grown without it."""
    return (
        isinstance(estimator, HedgeClipperClassifier)
        and estimator.estimator is None
        and estimator.confidence_level is None
    )


def out_of_bag_scores(model: HedgeClipperClassifier, n_classes: int) -> np.ndarray:
    """Return its scores of the labeled rows as ``member_scores`` does, each by unseen trees.

    Trees grown without a row have seen fewer rows of its class. Where that class is rare, its rows
    would score too low, so that the proportions of the classes in the samples of these trees are
    replaced by those in the samples of all trees. NaN where a group has no unseen tree.
    """
    groups, predictor = model._groups, model._predictor
    trees = [tree for ensemble in model.estimators_.values() for tree in ensemble.estimators_]
    proportions = np.array([tree.tree_.value[0, 0] for tree in trees])[:, groups.games]
    scores = groups.out_of_bag.copy()
    for group in range(scores.shape[1]):
        own = groups.scorer.groups == group
        unseen = groups.unseen[own].T / np.maximum(groups.unseen[own].sum(axis=0), 1)[:, None]
        scores[:, group] += proportions[own].mean(axis=0) - unseen @ proportions[own]
    scores = predictor.probabilities(predictor.raw_of(scores))
    scores[np.isnan(groups.out_of_bag).any(axis=(1, 2))] = np.nan
    return scores[:, 1:] if n_classes == 2 else scores


def member_scores(
    estimator: Any,
    X: Any,
    n_classes: int,
    labels: Any = None,
    name: str | None = None,
    *,
    codes: np.ndarray | None = None,
    shares_cores: bool = False,
) -> np.ndarray:
    """Return a fitted classifier's scores of rows, one column per class.

    Probabilities where it has them; else its decision function, squashed to (0, 1) class by class;
    else 1 for the class it predicts. A class that it does not know gets 0. Of two classes only the
    second has a column.

    ``labels`` are those of the classes as the estimator knows them, and ``codes`` the code of each,
    both by default 0, 1, ...; ``name`` is what to call it in an error, and ``shares_cores`` tells
    whether other members score rows at the same time.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> model = RidgeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> member_scores(model, np.array([[0.5]]), 2, ["no", "yes"])
    array([[0.5]])
    """
    name = name or type(estimator).__name__
    labels = np.arange(n_classes) if labels is None else np.asarray(labels)
    own = np.asarray(getattr(estimator, "classes_", labels))
    places = find_classes(own, labels, name)
    scores = np.zeros((X.shape[0], n_classes))
    if X.shape[0]:
        with own_jobs(estimator, shares_cores):
            scores[:, places if codes is None else codes[places]] = _own_scores(
                estimator, X, own, name
            )
    if not np.isfinite(scores).all():
        n_bad = np.count_nonzero(~np.isfinite(scores).all(axis=1))
        raise ValueError(
            f"{name} must give finite scores. Got NaN or infinity for {n_bad} of {X.shape[0]} "
            "rows. Scale its features, or regularize it."
        )
    return scores[:, 1:] if n_classes == 2 else scores


def find_classes(own: np.ndarray, labels: np.ndarray, name: str) -> np.ndarray:
    """Return the places of an estimator's classes among the labels; error if one is not there."""
    place_of = {label: place for place, label in enumerate(labels.tolist())}
    unknown = [label for label in own.tolist() if label not in place_of]
    if unknown:
        raise ValueError(
            f"{name} must know the classes {labels.tolist()} and no others. It also knows "
            f"{unknown}. Label rows of these classes too, or leave {name} out."
        )
    return np.array([place_of[label] for label in own.tolist()], dtype=np.intp)


def _own_scores(estimator: Any, X: Any, own: np.ndarray, name: str) -> np.ndarray:
    """Return scores of the classes an estimator knows, shape (n_samples, n_own)."""
    if own.size == 1:
        return np.ones((X.shape[0], 1))
    if hasattr(estimator, "predict_proba"):
        method = "predict_proba"
        scores = np.asarray(estimator.predict_proba(X), dtype=float)
    elif hasattr(estimator, "decision_function"):
        method = "decision_function"
        scores = expit(np.asarray(estimator.decision_function(X), dtype=float))
        if scores.ndim == 1:
            scores = np.column_stack([1.0 - scores, scores])
    else:
        return np.asarray(estimator.predict(X)).reshape(-1, 1) == own
    if scores.shape != (X.shape[0], own.size):
        raise ValueError(
            f"{method} of {name} must give one column for each of its {own.size} classes. Got an "
            f"array of shape {scores.shape} for {X.shape[0]} rows."
        )
    return scores


@dataclass(frozen=True, eq=False)
class PanelPredictor(GamePredictor):
    """Fitted members of a panel by name, and its games: one for two classes, else one for each.

    ``labels`` are those of the classes as the members know them, None for the codes 0, 1, ...
    """

    members: dict[str, Any]
    n_classes: int
    labels: np.ndarray | None

    def raw_predictions(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the log-odds of each game's class, shape (n_samples, n_games)."""
        starts = range(0, max(X.shape[0], 1), ROWS_AT_ONCE)
        blocks = [_safe_indexing(X, slice(start, start + ROWS_AT_ONCE)) for start in starts]
        return np.concatenate([self.log_odds(self.scores(block, n_jobs)) for block in blocks])

    def scores(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the scores of all members, shape (n_samples, n_members, n_games)."""
        X = X if self.prepare is None else self.prepare(X)
        kinds = self.n_classes, self.labels
        calls = [(model, X, *kinds, name) for name, model in self.members.items()]
        return np.stack(list(run_jobs(member_scores, calls, n_jobs, prefer="threads")), axis=1)


@dataclass(frozen=True)
class NamedColumns:
    """Makes frames of rows without names, those of files for instance; others stay as they are.

    Members that were named may pick columns by name, as in scikit-learn.
    """

    names: Sequence[Any]

    def __call__(self, X: Any) -> Any:
        """Return the rows with names."""
        if not isinstance(X, np.ndarray):
            return X
        return import_extra("pandas", "io", "A frame").DataFrame(X, columns=self.names)
