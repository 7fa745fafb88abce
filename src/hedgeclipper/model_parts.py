"""The objects a model is made of: what to leave out of a file, and what to check in one.

Trees are walked by compiled code that does not check whether a child or a column exists. In a
hostile file they need not.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.neighbors import BallTree, KDTree
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree

from hedgeclipper.forest.leaves import LeafPredictor
from hedgeclipper.forest.trees import PackedTrees


def parts_of(model: Any) -> Iterator[Any]:
    """Yield every object that can be reached from a model, once each."""
    seen, waiting = set(), [model]
    while waiting:
        part = waiting.pop()
        # kept alive by the model, so that no number is used twice
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        waiting.extend(_inside(part))


def _inside(part: Any) -> list[Any]:
    if isinstance(part, dict):
        return list(part.values())
    if isinstance(part, (list, tuple, set)):
        return list(part)
    if isinstance(part, np.ndarray):
        return part.ravel().tolist() if part.dtype == object else []
    return list(vars(part).values()) if hasattr(part, "__dict__") else []


def without_tree_seeds(model: Any) -> Any:
    """Return a copy whose fitted trees have no random state, which boosters keep in each."""
    copy = deepcopy(model)
    for part in parts_of(copy):
        is_fitted_tree = isinstance(part, BaseDecisionTree) and hasattr(part, "tree_")
        if is_fitted_tree and isinstance(part.random_state, np.random.RandomState):
            part.random_state = None
    return copy


def check_trees(model: Any) -> None:
    """Raise unless all trees of a model refer to nodes, rows and columns that exist."""
    for part in parts_of(model):
        if isinstance(part, Tree):
            _check_links(part.children_left, part.children_right, part.children_left == -1)
            _check_range(part.feature[part.children_left != -1], part.n_features)
        elif isinstance(part, TreePredictor):
            nodes = part.nodes
            _check_links(nodes["left"].astype(int), nodes["right"].astype(int), nodes["is_leaf"])
            _check_categories(part)
        elif isinstance(part, KDTree | BallTree):
            _check_neighbors(part)
        elif isinstance(part, PackedTrees):
            _check_packed(part)
        elif isinstance(part, LeafPredictor) and isinstance(part.finder, PackedTrees):
            _require(part.leaf_scores.shape == (part.finder.n_leaves.sum(), part.n_games))
        elif hasattr(part, "n_features_in_") and hasattr(part, "__dict__"):
            _check_width(part)


def _check_width(model: Any) -> None:
    """Raise if a tree of an ensemble uses columns that the ensemble does not require."""
    members = np.ravel(np.asarray(getattr(model, "estimators_", [model]), dtype=object))
    trees = [getattr(member, "tree_", None) for member in members]
    columns = getattr(model, "estimators_features_", None) or [[model.n_features_in_ - 1]]
    widest = max(int(np.max(own, initial=-1)) for own in columns) + 1
    _require(widest <= model.n_features_in_)
    if not hasattr(model, "estimators_features_"):
        _require(all(tree.n_features <= widest for tree in trees if tree is not None))
    if hasattr(model, "_predictors"):
        _check_booster(model)


def _check_booster(model: Any) -> None:
    """Raise unless boosted trees use columns that exist, and categories of categorical ones."""
    known = np.asarray(model._bin_mapper.is_categorical_)
    _require(known.shape == (model.n_features_in_,))
    for one in (one for predictors in model._predictors for one in predictors):
        columns = one.nodes["feature_idx"]
        _check_range(columns, model.n_features_in_)
        _require(bool(np.all(known[columns[_splits_categories(one)]])))
    if getattr(model, "_preprocessor", None) is not None:
        _check_preprocessor(model._preprocessor)


def _check_preprocessor(preprocessor: Any) -> None:
    """Raise unless it keeps all columns, as scikit-learn's own does.

    Its own holds a function, which is loaded only where the caller trusts it by name.
    """
    steps = [step for _, step, _ in preprocessor.transformers_]
    functions = [step.func for step in steps if isinstance(step, FunctionTransformer)]
    _require(any(isinstance(function, partial) for function in functions))


def _splits_categories(tree: TreePredictor) -> np.ndarray:
    return (tree.nodes["is_categorical"] != 0) & (tree.nodes["is_leaf"] == 0)


def _check_categories(tree: TreePredictor) -> None:
    """Raise unless each node that splits categories has its set of them, 256 bits."""
    numbers = tree.nodes["bitset_idx"][_splits_categories(tree)]
    for sets in (tree.raw_left_cat_bitsets, tree.binned_left_cat_bitsets):
        _require(sets.ndim == 2 and sets.shape[1] == 8)
        _check_range(numbers, len(sets))


def _check_neighbors(tree: KDTree | BallTree) -> None:
    """Raise unless a tree of neighbors has all its nodes, and these have rows that exist."""
    rows, order, nodes, bounds = (np.asarray(array) for array in tree.get_arrays())
    n_rows, n_columns = rows.shape
    n_bounds = 2 if isinstance(tree, KDTree) else 1
    _require(order.shape == (n_rows,))
    _check_range(order, n_rows)
    _require(nodes.size > 0 and bounds.shape == (n_bounds, nodes.size, n_columns))
    starts, ends = nodes["idx_start"], nodes["idx_end"]
    _require(bool(np.all((starts >= 0) & (starts <= ends) & (ends <= n_rows))))
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    _check_range(2 * inner + 2, nodes.size)
    _require(all(field is not None for field in tree.__getstate__()[:-1]))


def _check_packed(trees: PackedTrees) -> None:
    is_leaf = trees.left < 0
    n_nodes = is_leaf.size
    arrays = (trees.feature, trees.threshold, trees.right, trees.missing_left, trees.leaf)
    _require(all(array.shape == (n_nodes,) for array in arrays))
    _check_links(trees.left, trees.right, is_leaf)
    _check_range(trees.feature[~is_leaf], trees.used.size)
    _require(bool(np.all(trees.used >= 0)))
    _check_range(trees.roots, n_nodes)
    _require(trees.roots.shape == trees.n_leaves.shape)
    level, depth = np.stack([trees.roots, np.arange(trees.n_trees)]), -1
    while level.size:
        depth += 1
        node, tree = level
        leaves = is_leaf[node]
        _require(bool(np.all(trees.leaf[node[leaves]] < trees.n_leaves[tree[leaves]])))
        inner = level[:, ~leaves]
        below = [np.stack([side[inner[0]], inner[1]]) for side in (trees.left, trees.right)]
        level = np.concatenate(below, axis=1)
    _require(depth <= trees.depth)


def _check_links(left: np.ndarray, right: np.ndarray, is_leaf: np.ndarray) -> None:
    """Raise unless each inner node has two children further down, so that every path ends."""
    _require(left.size > 0)
    inner = np.flatnonzero(np.asarray(is_leaf) == 0)
    for children in (left, right):
        _check_range(children[inner], left.size)
        _require(bool(np.all(children[inner] > inner)))


def _check_range(numbers: np.ndarray, size: int) -> None:
    _require(bool(np.all((numbers >= 0) & (numbers < size))))


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError("a tree in it refers to a node, row or column that does not exist")
