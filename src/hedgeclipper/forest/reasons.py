"""Why a forest predicts what it does for a row, in terms of the columns that its trees split on.

The value of a node is the mean of the (shrunk) values of the leaves below it, by their training
rows. Each step of a row down a tree changes it, and that change is put down to the column of the
split; changes add up over all trees to the difference from what is predicted for no row at all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.base.score_votes import ProbabilityScale
from hedgeclipper.forest.groups import GroupPredictor
from hedgeclipper.forest.trees import PackedTrees, ViewedTrees

MOST_REASONS = 4


def column_contributions(predictor: GroupPredictor, X: Any, game: int) -> np.ndarray | None:
    """Return what each column adds to the log-odds of a game's class, for each row.

    Parameters
    ----------
    predictor : GroupPredictor
        A fitted forest.
    X : ndarray or CSR matrix of shape (n_samples, n_columns)
        Rows as trees see them.
    game : int
        Number of the game.

    Returns
    -------
    ndarray of shape (n_samples, n_columns + 1) or None
        The last entry is that of all columns of views together. None for boosters, whose splits
        are not known.
    """
    finder, scorer = predictor.finder, predictor.scorer
    views, parts = [None], [finder]
    if isinstance(finder, ViewedTrees):
        views, parts = finder.views, finder.parts
    if scorer.are_log_odds or not all(isinstance(part, PackedTrees) for part in parts):
        return None
    out = np.zeros((X.shape[0], X.shape[1] + 1))
    values = _leaf_log_odds(predictor, game)
    first = 0
    for view, part in zip(views, parts, strict=True):
        assert isinstance(part, PackedTrees)
        n_leaves = int(part.n_leaves.sum())
        columns = part.used if view is None else np.full(part.used.size, X.shape[1])
        rows = X if view is None else view.transform(X)
        own = values[first : first + n_leaves]
        _add_steps(part, part.find(rows), own, columns, out)
        first += n_leaves
    return out


def _leaf_log_odds(predictor: GroupPredictor, game: int) -> np.ndarray:
    """Return what each leaf adds to the log-odds, up to a constant."""
    scorer, own = predictor.scorer, predictor.games[game]
    scale = own.scales[0]
    assert isinstance(scale, ProbabilityScale)
    weights = own.calibration.slope * own.weights / max(scale.center, 1.0 - scale.center)
    per_leaf = np.repeat(weights[scorer.groups], scorer.finder.n_leaves)
    return scorer.leaf_values[game] * per_leaf


def _add_steps(
    trees: PackedTrees,
    leaves: np.ndarray,
    values: np.ndarray,
    columns: np.ndarray,
    out: np.ndarray,
) -> None:
    """Add the changes on the paths to the leaves of rows, shape (n_trees, rows), to their columns.

    ``columns`` are the places in out of the features that occur in splits.
    """
    node_values = trees.nodes.node_means(values)
    nodes = trees.nodes.leaf_nodes[leaves.astype(np.int64) + trees.offsets[:, None]]
    rows = np.broadcast_to(np.arange(out.shape[0]), nodes.shape)
    nodes, rows = nodes.ravel(), rows.ravel()
    while nodes.size:
        parents = trees.parent[nodes]
        below = parents >= 0
        nodes, rows, parents = nodes[below], rows[below], parents[below]
        steps = node_values[nodes] - node_values[parents]
        np.add.at(out, (rows, columns[trees.feature[parents]]), steps)
        nodes = parents


def describe_reasons(model: Any, rows: Any) -> list[str] | None:
    """Return which columns speak most for and against the prediction of each row, in words.

    ``model`` is a fitted `HedgeClipperClassifier`, rows are as ``predict`` has checked them. None
    if the splits of its trees are not known.
    """
    predictor = model._predictor
    X = rows if predictor.prepare is None else predictor.prepare(rows)
    codes = predictor.classes(replace(predictor, prepare=None).raw_predictions(X, model.n_jobs))
    texts = []
    for row, code in enumerate(codes):
        one = X[row : row + 1]
        game, sign = (code, 1.0) if predictor.n_games > 1 else (0, 1.0 if code else -1.0)
        found = column_contributions(predictor, one, game)
        if found is None:
            return None
        texts.append(_in_words(model, one, sign * found[0]))
    return texts


def _in_words(model: Any, row: Any, added: np.ndarray) -> str:
    """Return the columns that add most and least to the prediction of a row, and their values.

    The last entry of ``added`` is that of all components together.
    """
    values = (row.toarray() if sparse.issparse(row) else np.asarray(row))[0]
    order = np.argsort(-np.abs(added), kind="stable")[:MOST_REASONS]
    names = {k: f"{model._column_name(k)} = {values[k]:.4g}" for k in order if k < values.size}
    parts = []
    for word, own in (("for", added > 0), ("against", added < 0)):
        named = [names.get(k, "components") for k in order if own[k]]
        if named:
            parts.append(f"{word}: {', '.join(named)}")
    return "; ".join(parts)
