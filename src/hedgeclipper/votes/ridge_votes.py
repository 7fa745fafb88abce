"""Logistic regression on votes with a ridge: it alone takes account of voters that err together.

Each vote of a voter is a column of zeros and ones. With more than two classes there is a regression
for each class against the others. The ridge is the one of a few with the least log loss on labeled
rows, each predicted without its own label. That prediction is a Newton step from the regression
with all labels (the approximate leave-one-out of Opper and Winther, 2000), so that nothing is
fitted twice.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import expit
from threadpoolctl import threadpool_limits

from hedgeclipper.game.losses import soft_maximum
from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.component_models import ComponentModel

# relative to the mean number of votes on a row
RIDGES = (0.5, 0.1, 0.02)
MAX_LABELS = 500
MAX_STEPS, TOL = 10, 0.02
RANK_TOL, LEAST_SLOPE = 1e-9, 1e-3


# threads of BLAS wait for each other in matrices as small as these
@threadpool_limits.wrap(limits=1, user_api="blas")
def fit_ridge(labeled: Ballots, codes: np.ndarray) -> ComponentModel:
    """Return the regression with the best ridge, fitted to at most ``MAX_LABELS`` labels."""
    n_voters, n_classes, _ = labeled.shape
    chosen = np.unique(np.linspace(0, codes.size - 1, MAX_LABELS).astype(np.intp))
    columns, scale = _columns(labeled)
    reduced, back = _reduced(columns[chosen])
    targets = np.eye(n_classes)[codes[chosen]]
    # with two classes one regression serves both, half of it for the one and half against the other
    by_class = np.array([[0.5], [-0.5]]) if n_classes == 2 else np.eye(n_classes)
    weights = np.zeros((by_class.shape[1], reduced.shape[1]))
    least = np.inf
    for ridge in RIDGES:
        fits = [_regress(reduced, targets[:, k], ridge, start) for k, start in enumerate(weights)]
        weights, without_own = (np.array(part) for part in zip(*fits, strict=True))
        scores = (by_class @ without_own).T
        loss = float(np.sum(soft_maximum(scores)[0]) - np.sum(targets * scores))
        if loss < least:
            least, best, best_scores = loss, weights, scores
    table = back @ (by_class @ best).T
    scores = np.asarray(columns @ table)
    scores[chosen] = best_scores
    votes = table[:-1].reshape(n_voters, n_classes, n_classes) * scale
    return ComponentModel(table[-1], votes, scores)


def _columns(labeled: Ballots) -> tuple[sparse.csr_array, float]:
    """Return a column for each vote of each voter, and one of ones; and the scale of the votes."""
    rows, voters, votes = labeled.votes.triplets()
    n_voters, n_classes, _ = labeled.shape
    scale = 1.0 / np.sqrt(max(rows.size / labeled.n_rows, 1.0))
    places = rows, voters * n_classes + votes
    ones = np.full(rows.size, scale)
    cast = sparse.csr_array((ones, places), shape=(labeled.n_rows, n_voters * n_classes))
    return sparse.hstack([cast, np.ones((labeled.n_rows, 1))], format="csr"), scale


def _reduced(columns: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return as few columns as span all of them, and the matrix that turns weights back."""
    n_rows, n_columns = columns.shape
    if n_rows <= n_columns:
        values, vectors = np.linalg.eigh((columns @ columns.T).toarray())
        kept = values > RANK_TOL * values[-1]
        roots, vectors = np.sqrt(values[kept]), vectors[:, kept]
        return vectors * roots, np.asarray(columns.T @ (vectors / roots))
    values, vectors = np.linalg.eigh((columns.T @ columns).toarray())
    vectors = vectors[:, values > RANK_TOL * values[-1]]
    return np.asarray(columns @ vectors), vectors


def _regress(
    columns: np.ndarray, target: np.ndarray, ridge: float, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of a logistic regression, and scores of rows without their own label."""
    weights = start
    for _ in range(MAX_STEPS):
        expected = expit(columns @ weights)
        hessian = _hessian(columns, expected, ridge)
        step = np.linalg.solve(hessian, columns.T @ (target - expected) - ridge * weights)
        weights = weights + step
        if np.abs(columns @ step).max() < TOL:
            break
    scores = columns @ weights
    expected = expit(scores)
    hessian = _hessian(columns, expected, ridge)
    leverage = np.sum(columns * np.linalg.solve(hessian, columns.T).T, axis=1)
    rest = np.maximum(1.0 - leverage * expected * (1.0 - expected), LEAST_SLOPE)
    return weights, scores - leverage * (target - expected) / rest


def _hessian(columns: np.ndarray, expected: np.ndarray, ridge: float) -> np.ndarray:
    out = (columns * (expected * (1.0 - expected))[:, None]).T @ columns
    out.flat[:: len(out) + 1] += ridge
    return out
