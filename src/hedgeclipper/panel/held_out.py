"""Predictions of a panel for labeled rows whose labels are held out, without fitting members again.

Members take long to fit, and the fit of the panel has scored each labeled row by members fitted
without it. These scores are used again: only weights and calibration are found again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.panel.panel_game import PanelScores, aggregate
from hedgeclipper.panel.panel_predictor import PanelPredictor

N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Scores of the members from which weights can be found again.

    Parameters
    ----------
    labeled : ndarray of shape (n_labeled, n_members, n_games)
        Out-of-fold scores of labeled rows.
    unlabeled : ndarray of shape (n_unlabeled, n_members, n_games)
        Scores of unlabeled rows.
    codes : ndarray of shape (n_labeled,)
        Classes of the labeled rows.
    weights : ndarray of shape (n_labeled,)
        Their weights.
    games : sequence of int
        The class that plays in each game.
    predictor : PanelPredictor
        Turns log-odds into probabilities.
    options : dict
        Options of `aggregate`.
    """

    labeled: np.ndarray
    unlabeled: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    games: Sequence[int]
    predictor: PanelPredictor
    options: dict[str, Any]

    def predict(self, train: np.ndarray, test: np.ndarray) -> dict[str, np.ndarray]:
        """Return probabilities of the test rows by the panel, the members' mean, and each member.

        Parameters
        ----------
        train, test : ndarray of int
            Labeled rows that weigh the members, and those whose labels are held out.
        """
        columns = [self._log_odds(game, column, train) for column, game in enumerate(self.games)]
        members = np.moveaxis(self.labeled[test], 1, 0)
        if members.shape[2] == 1:
            members = np.concatenate([1.0 - members, members], axis=2)
        return {
            "this model": self.predictor.probabilities(np.column_stack(columns)[test]),
            "mean of all members": members.mean(axis=0),
            **dict(zip(self.predictor.names, members, strict=True)),
        }

    def _log_odds(self, game: int, column: int, train: np.ndarray) -> np.ndarray:
        """Return the log-odds of a class for all labeled rows, by weights from some of them."""
        scores = PanelScores(
            labeled=self.labeled[train, :, column],
            is_positive=self.codes[train] == game,
            weights=self.weights[train],
            unlabeled=self.unlabeled[:, :, column],
        )
        return aggregate(scores, **self.options).game.log_odds(self.labeled[:, :, column])
