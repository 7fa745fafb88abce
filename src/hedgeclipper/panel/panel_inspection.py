"""What a panel shows of itself: a table of its members, and predictions of held-out labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from hedgeclipper.base.inspection import HeldOut, VoterTable
from hedgeclipper.panel.members import Member
from hedgeclipper.panel.panel_predictor import PanelPredictor
from hedgeclipper.panel.weighing import Aggregate, PanelScores, aggregate, panel_scores

N_FOLDS = 5
HOW_HELD_OUT = (
    "Each member's score of a row is out of fold, by a member fitted without the row; weights and "
    "calibration of the panel were found again without the labels of the fold. These labels have "
    "helped to fit the members that scored the other rows, which may flatter the panel a little."
)


def summarize(members: Sequence[Member], scores: PanelScores, found: Aggregate) -> dict[str, list]:
    """Return columns of `HedgedVotingClassifier.member_summary`, one entry for each member."""
    votes, solution = found.votes.unlabeled[:, : len(members)], found.solution
    weights = solution.weights.reshape(-1, len(members)).sum(axis=0)
    parts = np.abs(weights) * votes.std(axis=0)
    total = parts.sum()
    has_both = scores.is_positive.any() and not scores.is_positive.all()
    return {
        "member": [member.name for member in members],
        "weight": weights.tolist(),
        "correlation": solution.label_correlations.tolist(),
        "standard_error": solution.errors.tolist(),
        "auc": [
            float(roc_auc_score(scores.is_positive, own)) if has_both else float("nan")
            for own in scores.labeled.T
        ],
        "agreement": _agreement(votes).tolist(),
        "share": (parts / total if total > 0 else parts).tolist(),
    }


def _agreement(votes: np.ndarray) -> np.ndarray:
    """Return the correlation of each member's votes with the mean vote of the others."""
    n_members = votes.shape[1]
    if n_members == 1:
        return np.full(1, np.nan)
    centered = votes - votes.mean(axis=0)
    others = (centered.sum(axis=1, keepdims=True) - centered) / (n_members - 1)
    sizes = np.sqrt((centered**2).sum(axis=0) * (others**2).sum(axis=0))
    together = (centered * others).sum(axis=0)
    return np.divide(together, sizes, out=np.zeros(n_members), where=sizes > 0)


def voter_table(summaries: Sequence[dict[str, list]], classes: np.ndarray) -> VoterTable:
    """Return the members in all games, given their summaries, one of each game."""
    columns = {name: [v for part in summaries for v in part[name]] for name in summaries[0]}
    n_members = len(summaries[0]["member"])
    return VoterTable(
        kind="member",
        names=columns["member"],
        weights=np.array(columns["weight"]),
        correlations=np.array(columns["correlation"]),
        contributions=np.array(columns["share"]),
        errors=np.array(columns["standard_error"]),
        targets=np.repeat(classes, n_members).tolist() if len(summaries) > 1 else None,
        more={"AUC, out of fold": columns["auc"], "agreement": columns["agreement"]},
    )


def hold_out(
    out_of_fold: np.ndarray,
    unlabeled: np.ndarray | None,
    codes: np.ndarray,
    weights: np.ndarray | None,
    predictor: PanelPredictor,
    options: dict[str, Any],
) -> HeldOut:
    """Return how to predict labeled rows by weights that were found without their labels.

    Members are not fitted again. Scores come as arrays of shape (n_rows, n_members, n_games);
    labeled rows with NaN are left out. Without unlabeled rows labeled ones are reused, as in a fit.
    ``options`` are those of `aggregate`.
    """
    rows = np.flatnonzero(~np.isnan(out_of_fold).any(axis=(1, 2)))
    labeled, codes = out_of_fold[rows], codes[rows]
    unlabeled = labeled if unlabeled is None else unlabeled
    weights = np.ones(rows.size) if weights is None else weights[rows]
    games = [1] if predictor.n_games == 1 else range(predictor.n_games)

    def predict(train: np.ndarray, test: np.ndarray) -> dict[str, np.ndarray]:
        """Return probabilities of the test rows by the panel, the members' mean, and each member.

        Members are weighed by the labels of the rows in ``train`` alone; both are row numbers.
        """
        scores = panel_scores(labeled[train], unlabeled, codes[train], weights[train], games)
        found = [aggregate(own, **options).game for own in scores]
        log_odds = [game.log_odds(labeled[test, :, k]) for k, game in enumerate(found)]
        members = np.moveaxis(labeled[test], 1, 0)
        if members.shape[2] == 1:
            members = np.concatenate([1.0 - members, members], axis=2)
        return {
            "this model": predictor.probabilities(np.column_stack(log_odds)),
            "mean of all members": members.mean(axis=0),
            **dict(zip(predictor.members, members, strict=True)),
        }

    return HeldOut(codes, N_FOLDS, predict, HOW_HELD_OUT)
