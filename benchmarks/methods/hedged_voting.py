"""The hedged panel with its defaults, and the mean and a stacking of its own members.

All three come from one fit. What the members say of a draw is kept in ``results/panel``, where that
folder exists, so that other ways to combine them can be tried without fitting them again.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import joblib
import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods.method import Method
from benchmarks.methods.stacking import stack
from benchmarks.results_file import FOLDER
from hedgeclipper import HedgedVotingClassifier
from hedgeclipper.panel.classifier import ROWS_IN_GAME

KEPT = FOLDER / "panel"


class Predictions(NamedTuple):
    """Predictions of the panel and its members on a draw; those of members by name, a column each.

    ``out_of_fold`` is of the labeled rows, ``scores`` of the unlabeled ones.
    """

    names: list[str]
    out_of_fold: np.ndarray
    scores: np.ndarray
    panel: np.ndarray


class Recording(HedgedVotingClassifier):
    """A panel that keeps its members' predictions for the unlabeled rows."""

    def _store_rule(self, given, held, unlabeled):
        super()._store_rule(given, held, unlabeled)
        self.scores_ = unlabeled[:, :, 0]
        predictor = self._predictor
        self.probabilities_ = predictor.probabilities(predictor.log_odds(unlabeled))[:, 1]


@lru_cache(maxsize=1)
def predictions_on(draw: Draw) -> Predictions:
    """Return the predictions of the panel and its members on a draw."""
    model = Recording(random_state=draw.seed)
    model.fit(draw.X, draw.y, X_unlabeled=draw.X_unlabeled)
    if model.scores_.shape[0] != draw.X_unlabeled.shape[0]:
        raise ValueError(
            f"The panel has drawn {model.scores_.shape[0]} of {draw.X_unlabeled.shape[0]} rows, so "
            "that its members' scores are not those of the rows to score. Pass fewer."
        )
    found = Predictions(
        list(model.members_),
        model.out_of_fold_[:, :, 0],
        model.scores_,
        model.probabilities_[: draw.n_scored],
    )
    if KEPT.is_dir():
        whole = {**found._asdict(), "scores": found.scores.astype(np.float32)}
        np.savez(kept_file(draw), **whole)
    return found


def kept_file(draw: Draw) -> Path:
    """Return where the scores of a draw are kept."""
    return KEPT / f"{joblib.hash((draw.X, draw.y, draw.X_unlabeled, draw.seed))}.npz"


def scores(draw: Draw) -> np.ndarray:
    return predictions_on(draw).panel


def mean_scores(draw: Draw) -> np.ndarray:
    return predictions_on(draw).scores[: draw.n_scored].mean(axis=1)


def stacked_scores(draw: Draw) -> np.ndarray:
    found = predictions_on(draw)
    return stack(found.out_of_fold, draw.y, found.scores[: draw.n_scored])


LIMITS = {"uses_unlabeled": True, "max_rows": ROWS_IN_GAME}
METHOD = Method("hedged-voting", "Hedged panel", scores, **LIMITS)
MEAN = Method("panel-mean", "Mean of the panel", mean_scores, **LIMITS)
STACKING = Method("panel-stacking", "Stacking of the panel", stacked_scores, **LIMITS)
