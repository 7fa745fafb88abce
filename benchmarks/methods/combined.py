"""The comparators combined: the mean of their probabilities, and stacking.

Stacking is a logistic regression on their out-of-fold log-odds, five folds.
"""

import numpy as np
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from benchmarks.draws import Draw
from benchmarks.methods.method import Member, Method, two_classes

N_FOLDS, N_UNLABELED = 5, 5_000
LEAST = 1e-3


def mean(draw: Draw, n_jobs: int, members: list[Member]) -> np.ndarray:
    return two_classes(np.mean([member.scores for member in members], axis=0))


def stacking(draw: Draw, n_jobs: int, members: list[Member]) -> np.ndarray:
    out_of_fold = np.column_stack([_out_of_fold(draw, n_jobs, one.method) for one in members])
    model = LogisticRegression(max_iter=1000).fit(_log_odds(out_of_fold), draw.y)
    scores = np.column_stack([member.scores for member in members])
    return model.predict_proba(_log_odds(scores))


def _out_of_fold(draw: Draw, n_jobs: int, method: Method) -> np.ndarray:
    """Return a member's out-of-fold scores of the labeled rows.

    To save time, the semi-supervised members see the first 5,000 unlabeled rows alone in a fold.
    """
    n_folds = min(N_FOLDS, np.bincount(draw.y).min())
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=draw.seed).split(draw.X, draw.y)
    out = np.empty(draw.y.size)
    for kept, held_out in folds:
        fold = draw.fold(kept, held_out, N_UNLABELED)
        out[held_out] = method.probabilities(fold, n_jobs)[:, 1]
    return out


def _log_odds(probabilities: np.ndarray) -> np.ndarray:
    return logit(np.clip(probabilities, LEAST, 1 - LEAST))


METHODS = (
    Method("mean", "Mean", mean, combines=True),
    Method("stacking", "Stacking", stacking, combines=True),
)
