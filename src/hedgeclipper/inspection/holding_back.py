"""How labels are held back: by fits without them or, for panels, by weighing without them.

Members of a panel take long to fit, and its own fit has scored each labeled row by fits without
it. These scores are used once more: only weights and calibration are found anew.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from hedgeclipper.inspection.subject import SEED, Subject
from hedgeclipper.inspection.words import count
from hedgeclipper.io.sampling import draw_rows
from hedgeclipper.panel.panel_game import PanelScores, aggregate

REFITS, REWEIGHINGS = 3, 5
# each fit, or weighing, sees no more unlabeled rows than this
MOST_ROWS = 4_000

Said = dict[str, np.ndarray]


class Skipped(Exception):
    """There is no comparison; the message says why."""


@dataclass(frozen=True, eq=False)
class HeldBack:
    """A way to hold labels back.

    Parameters
    ----------
    codes : ndarray of shape (n_labeled,)
        Classes of the labeled rows.
    n_folds : int
        In how many folds.
    said : callable
        From the numbers of the rows to learn from and of those held back to the probabilities
        that the model, first, and others give the latter.
    words : str
        What was done with each fold.
    """

    codes: np.ndarray
    n_folds: int
    said: Callable[[np.ndarray, np.ndarray], Said]
    words: str


def held_back(subject: Subject) -> HeldBack:
    """Return the way to hold labels of this model back."""
    return _reweighed(subject) if subject.is_panel else _refitted(subject)


def _refitted(subject: Subject) -> HeldBack:
    """Return a way that fits the model anew without each fold."""
    labeled, y = subject.labeled, subject.y
    if y is None:
        raise Skipped(
            "The report was made without labeled rows: pass "
            f"{'votes and gold' if subject.is_votes else 'X and y'} to it."
        )
    unlabeled, n_rows = _some_unlabeled(subject)
    seen = count(n_rows, "unlabeled row") if n_rows else "no unlabeled rows"

    def said(train: np.ndarray, test: np.ndarray) -> Said:
        model = _unfitted(subject.estimator)
        try:
            with warnings.catch_warnings():
                # few labels, no unlabeled rows: the fit of the model itself has told
                warnings.simplefilter("ignore")
                if subject.is_votes:
                    model.fit(labeled.take(train), y[train], unlabeled)
                    return _of_votes(model, labeled.take(test), subject.classes)
                model.fit(_safe_indexing(labeled, train), y[train], X_unlabeled=unlabeled)
                return _of_forest(model, _safe_indexing(labeled, test))
        except ValueError as error:
            raise Skipped(f"The model cannot be fitted to {train.size} labels: {error}") from error

    words = (
        f"Each row is predicted by a fit without its fold, with {seen}. Fits to fewer labels are a "
        "little worse than the model itself."
    )
    return HeldBack(np.searchsorted(subject.classes, y), REFITS, said, words)


def _some_unlabeled(subject: Subject) -> tuple[Any, int]:
    """Return unlabeled rows for a fit, and how many; None where there are none of their own."""
    if subject.unlabeled is None or not subject.has_own_unlabeled:
        return None, 0
    random_state = np.random.RandomState(SEED)
    if not subject.is_votes:
        drawn = draw_rows(subject.unlabeled, MOST_ROWS, random_state)
        return drawn, drawn.shape[0]
    n_rows = subject.unlabeled.n_rows
    rows = random_state.choice(n_rows, min(MOST_ROWS, n_rows), replace=False)
    return subject.unlabeled.take(np.sort(rows)), rows.size


def _unfitted(estimator: Any) -> Any:
    """Return the model as it was before its fit."""
    parameters = {**estimator.get_params(deep=False), "random_state": SEED}
    if "verbose" in parameters:
        parameters["verbose"] = 0
    return type(estimator)(**parameters)


def _of_votes(model: Any, votes: Any, classes: np.ndarray) -> Said:
    """Return what model and plain vote say; a fold may not know every class."""
    shares = np.zeros((votes.n_rows, classes.size))
    shares[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(votes)
    # rows without a vote count as all classes alike
    counts = votes.counts() + 1e-6
    return {"this model": shares, "plain vote": counts / counts.sum(axis=1, keepdims=True)}


def _of_forest(model: Any, rows: Any) -> Said:
    return {
        "this model": model.predict_proba(rows),
        "its forest alone": model.estimator_.predict_proba(rows),
    }


def _reweighed(subject: Subject) -> HeldBack:
    """Return a way that weighs the members anew without the labels of each fold."""
    panel = subject.estimator
    codes, weights = panel._judges
    scores = panel.out_of_fold_
    judges = np.flatnonzero(~np.isnan(scores).any(axis=(1, 2)))
    scores, codes = scores[judges], codes[judges]
    weights = np.ones(codes.size) if weights is None else weights[judges]
    rows, n_rows = _some_unlabeled(subject)
    # without rows of their own the labeled ones take their place, as in the fit
    unlabeled = scores if rows is None else panel._predictor.scores(rows, panel.n_jobs)

    def said(train: np.ndarray, test: np.ndarray) -> Said:
        awake = np.column_stack(
            [
                _log_odds(panel, scores, codes == k, weights, unlabeled, column, train)[test]
                for column, k in enumerate(panel._games())
            ]
        )
        members = np.moveaxis(scores[test], 1, 0)
        if members.shape[2] == 1:
            members = np.concatenate([1.0 - members, members], axis=2)
        return {
            "this model": panel._predictor.probabilities(awake),
            "mean of all members": members.mean(axis=0),
            **dict(zip(panel._predictor.names, members, strict=True)),
        }

    words = (
        "Each member's score of a row is that of the fit, by a member fitted without the row; the "
        "panel's weights and calibration were found anew without the labels of the fold, "
        f"with {count(n_rows, 'unlabeled row')}. These labels have helped to fit the members who "
        "scored the other rows, which may flatter the panel a little."
    )
    return HeldBack(codes, REWEIGHINGS, said, words)


def _log_odds(
    panel: Any,
    scores: np.ndarray,
    is_positive: np.ndarray,
    weights: np.ndarray,
    unlabeled: np.ndarray,
    column: int,
    train: np.ndarray,
) -> np.ndarray:
    """Return the panel's log-odds for all labeled rows, weighed by some of them."""
    known = PanelScores(
        labeled=scores[train, :, column],
        is_positive=is_positive[train],
        weights=weights[train],
        unlabeled=unlabeled[:, :, column],
    )
    found = aggregate(
        known,
        regions=panel.regions,
        loss=panel.loss,
        tol=panel.tol,
        max_passes=panel.max_passes,
    )
    return found.game.log_odds(scores[:, :, column])
