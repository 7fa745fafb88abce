"""A table of what each member of a panel is worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.metrics import roc_auc_score

from hedgeclipper.panel.weighing import PanelSolution


def summarize(
    names: Sequence[str],
    weights: np.ndarray,
    solution: PanelSolution,
    out_of_fold: np.ndarray,
    is_positive: np.ndarray,
    votes: np.ndarray,
) -> dict[str, list]:
    """Return columns, one entry for each member.

    Parameters
    ----------
    names : sequence of str
        Names of the members.
    weights : ndarray of shape (n_members,)
        Weights, those of regions added up.
    solution : PanelSolution
        Knows b with both classes weighing the same, and its standard error.
    out_of_fold : ndarray of shape (n_labeled, n_members)
        Scores of the labeled rows.
    is_positive : ndarray of shape (n_labeled,), bool
        Their labels.
    votes : ndarray of shape (n_unlabeled, n_members)
        Votes on unlabeled rows.
    """
    parts = np.abs(weights) * votes.std(axis=0)
    total = parts.sum()
    return {
        "member": list(names),
        "weight": weights.tolist(),
        "correlation": solution.label_correlations.tolist(),
        "standard_error": solution.errors.tolist(),
        "auc": [_auc(is_positive, scores) for scores in out_of_fold.T],
        "agreement": _agreement(votes).tolist(),
        "share": (parts / total if total > 0 else parts).tolist(),
    }


def _auc(is_positive: np.ndarray, scores: np.ndarray) -> float:
    if is_positive.all() or not is_positive.any():
        return float("nan")
    return float(roc_auc_score(is_positive, scores))


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
