"""How a panel predicts held-out labels without a new fit of its members."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgeclipper.base.inspection import FoldPredictor
from hedgeclipper.base.weighing import aggregate, panel_scores

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
        members = np.moveaxis(labeled[test], 1, 0)
        if members.shape[2] == 1:
            members = np.concatenate([1.0 - members, members], axis=2)
        return {
            "this model": predictor.probabilities(np.column_stack(log_odds)),
            "mean of all members": members.mean(axis=0),
            **dict(zip(predictor.members, members, strict=True)),
        }

    return FoldPredictor(codes, N_FOLDS, predict, HOW_HELD_OUT)
