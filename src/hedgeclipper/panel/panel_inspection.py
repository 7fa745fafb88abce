"""What a panel and its members are worth: on held-out labels without a new fit, and on new rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgeclipper.base.evaluation import evaluate_predictions
from hedgeclipper.base.inspection import FoldPredictor
from hedgeclipper.base.weighing import aggregate, panel_scores
from hedgeclipper.io import split_target
from hedgeclipper.io.extras import import_extra
from hedgeclipper.sklearn_private import _safe_indexing

N_FOLDS = 5
HOW_HELD_OUT = (
    "Each member's score of a row is out of fold, by a member fitted without the row; weights and "
    "calibration of the panel were found again without the labels of the fold. These labels have "
    "helped to fit the members that scored the other rows, which may flatter the panel a little."
)


def hold_out(model: Any, X_unlabeled: Any) -> FoldPredictor:
    """Return how to predict labeled rows by weights that were found without their labels.

    Members of the model, a fitted `HedgedVotingClassifier`, are not fitted again. Labeled rows that
    some member has not scored out of fold are left out. Without unlabeled rows labeled ones are
    reused, as in a fit.
    """
    predictor, (codes, weights), games = model._predictor, model._labeled, model._games()
    rows = np.flatnonzero(~np.isnan(model.out_of_fold_).any(axis=(1, 2)))
    unlabeled = labeled = model.out_of_fold_[rows]
    if X_unlabeled is not None:
        unlabeled = predictor.scores(X_unlabeled, model.n_jobs)
    codes, weights = codes[rows], np.ones(rows.size) if weights is None else weights[rows]

    def predict(train: np.ndarray, test: np.ndarray) -> dict[str, np.ndarray]:
        """Return probabilities of the test rows by the panel, the members' mean, and each member.

        Members are weighed by the labels of the rows in ``train`` alone; both are row numbers.
        """
        scores = panel_scores(labeled[train], unlabeled, codes[train], weights[train], games)
        found = [aggregate(own, **model._game_options()).game for own in scores]
        log_odds = [game.log_odds(labeled[test, :, k]) for k, game in enumerate(found)]
        members = _member_probabilities(labeled[test])
        return {
            "this model": predictor.probabilities(np.column_stack(log_odds)),
            "mean of all members": members.mean(axis=0),
            **dict(zip(predictor.members, members, strict=True)),
        }

    return FoldPredictor(codes, N_FOLDS, predict, HOW_HELD_OUT)


def summary_frame(summaries: Sequence[dict[str, list]], classes: np.ndarray) -> Any:
    """Return the frame of `HedgedVotingClassifier.member_summary`, given columns of each game."""
    pandas = import_extra("pandas", "io", "member_summary")
    parts = [pandas.DataFrame(columns) for columns in summaries]
    if len(parts) > 1:
        for part, label in zip(parts, classes, strict=True):
            part.insert(1, "class", label)
    frame = pandas.concat(parts, ignore_index=True)
    return frame.sort_values("contribution", ascending=False, ignore_index=True)


def leaderboard(model: Any, X: Any, y: Any) -> Any:
    """Return the frame of `HedgedVotingClassifier.leaderboard`."""
    pandas = import_extra("pandas", "io", "leaderboard")
    X, y = split_target(X, y)
    known, true = model._labels_to_score(y)
    rows = _safe_indexing(model._check_more(X, "X"), np.flatnonzero(known))
    predictor, classes = model._predictor, model.classes_
    scores = predictor.scores(rows, model.n_jobs)
    raw = predictor.log_odds(scores)
    seconds = model._summaries[0]["seconds"]
    lines = [("panel", predictor.classes(raw), predictor.probabilities(raw), sum(seconds))]
    for name, own, took in zip(
        predictor.members, _member_probabilities(scores), seconds, strict=True
    ):
        sums = own.sum(axis=1, keepdims=True)
        own = np.divide(own, sums, out=np.full_like(own, 1.0 / classes.size), where=sums > 0)
        lines.append((name, own.argmax(axis=1), own, took))
    table: dict[str, list] = {"member": [], "auc": [], "accuracy": [], "log_loss": []}
    for name, codes, probabilities, _ in lines:
        found = evaluate_predictions(true, classes[codes], probabilities, classes)
        row = (name, found.auc, found.accuracy, found.log_loss)
        for column, value in zip(table.values(), row, strict=True):
            column.append(value)
    table["seconds"] = [took for *_, took in lines]
    return pandas.DataFrame(table).sort_values("auc", ascending=False, ignore_index=True)


def _member_probabilities(scores: np.ndarray) -> np.ndarray:
    """Return scores of shape (n_rows, n_members, n_games) by member, with a column per class."""
    members = np.moveaxis(scores, 1, 0)
    return np.concatenate([1.0 - members, members], axis=2) if members.shape[2] == 1 else members
