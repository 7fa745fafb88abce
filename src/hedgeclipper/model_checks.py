"""What `load` checks of a model from a file before it returns it.

Compiled code does not look whether a node, row, column or class exists, and skops restores objects
without their constructors. So each class of ours whose arrays are indices in a kernel has a method
``check_arrays``; functions here do the same for compiled code of scikit-learn and SciPy. Then the
model predicts once, which shows whether its parts fit together.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.tree import BaseDecisionTree

from hedgeclipper.base.predictions import TablePredictor
from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.io.arrays import is_array
from hedgeclipper.sklearn_private import Tree
from hedgeclipper.votes.aggregator import VoteAggregator
from hedgeclipper.votes.initial_model import VotePredictor


def parts_of(model: Any) -> Iterator[Any]:
    """Yield every object that can be reached from a model, once each."""
    seen, waiting = set(), [model]
    while waiting:
        part = waiting.pop()
        # kept alive by the model, so that no number is used twice
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            waiting.extend(_held_by(part))


def _held_by(part: Any) -> Iterable[Any]:
    if isinstance(part, dict):
        return part.values()
    if isinstance(part, (list, tuple, set)):
        return part
    if isinstance(part, np.ndarray):
        return part.ravel().tolist() if part.dtype == object else ()
    return getattr(part, "__dict__", {}).values()


def check_model(model: Any) -> None:
    """Raise unless what the parts of a model refer to exists, and it predicts probabilities."""
    parts = list(parts_of(model))
    for part in parts:
        _check_part(part)
    for part in parts:
        if isinstance(part, HedgeClipperClassifier | VoteAggregator):
            _try_predictions(part)


def _check_part(part: Any) -> None:
    kind = type(part)
    if kind.__module__.startswith(("hedgeclipper.", "scipy.")):
        own = getattr(part, "__dict__", {})  # is looked into before the methods of the class
        _require(not any(callable(getattr(kind, name, None)) for name in own), "methods")
    if not isinstance(part, BaseDecisionTree):  # others would not check the rows of a tree
        _require(not any(isinstance(held, Tree) for held in _held_by(part)), "trees")
    if hasattr(kind, "check_arrays"):
        part.check_arrays()
    elif check := TYPES_OF_OTHERS.get(f"{kind.__module__}.{kind.__name__}"):
        check(part)
    elif sparse.issparse(part):
        _check_sparse(part)
    elif isinstance(part, BaseEstimator):
        _check_columns(part)


def _require(holds: bool | np.bool_, what: str) -> None:
    if not holds:
        raise ValueError(f"its {what} do not fit together")


def _check_sparse(matrix: Any) -> None:
    """Raise unless entries are in rows and columns that exist, whatever the file calls the type."""
    _require(matrix.format in ("csr", "csc"), "sparse matrices")
    indices = matrix.indices, matrix.indptr  # SciPy only warns of other dtypes
    _require(all(is_array(array, "iu", None) for array in indices), "sparse matrices")
    matrix.check_format(full_check=True)


def _check_nodes(left: Any, right: Any, is_inner: Any, columns: Any, n_columns: int) -> None:
    """Raise unless inner nodes have columns, and children further down, so that paths end."""
    inner = np.flatnonzero(is_inner)
    children = np.concatenate([left[inner], right[inner]]).astype(int)
    _require(len(left) > 0 and np.all(children > np.tile(inner, 2)), "nodes")
    _require(np.all(children < len(left)), "nodes")
    _require(np.all((columns[inner] >= 0) & (columns[inner] < n_columns)), "trees and columns")


def _check_tree(tree: Any) -> None:
    left, right = tree.children_left, tree.children_right
    _check_nodes(left, right, left != -1, tree.feature, tree.n_features)


def _check_columns(model: Any) -> None:
    """Raise if trees of an estimator use columns that its rows need not have."""
    members = getattr(model, "estimators_", [])
    if isinstance(members, np.ndarray):  # gradient boosting takes all of them for trees
        members = members.ravel().tolist()
        _require(all(isinstance(one, BaseDecisionTree) for one in members), "trees")
    for one in (model, *members):
        if isinstance(one, BaseDecisionTree) and hasattr(one, "tree_"):
            widths = [len(columns) for columns in getattr(model, "estimators_features_", [])]
            fits = isinstance(one.tree_, Tree)
            fits = fits and one.tree_.n_features <= min([model.n_features_in_, *widths])
            _require(fits, "trees and columns")
    for tree in (tree for trees in getattr(model, "_predictors", []) for tree in trees):
        _check_boosted_tree(tree, model)
    if getattr(model, "_preprocessor", None) is not None:
        # scikit-learn's own keeps all columns; the function in it is loaded only if it is trusted
        steps = [step for _, step, _ in model._preprocessor.transformers_]
        _require(any(isinstance(getattr(step, "func", 0), partial) for step in steps), "columns")


def _check_boosted_tree(tree: Any, model: Any) -> None:
    """Raise unless nodes and columns exist, and each split of categories has a set of 256 bits."""
    nodes, n_columns = tree.nodes, model.n_features_in_
    is_inner, column = nodes["is_leaf"] == 0, nodes["feature_idx"]
    _check_nodes(nodes["left"], nodes["right"], is_inner, column, n_columns)
    is_known, has_set = model._bin_mapper.is_categorical_, (nodes["is_categorical"] != 0) & is_inner
    _require(is_array(is_known, "bu", n_columns) and is_known[column[has_set]].all(), "categories")
    for sets in (tree.raw_left_cat_bitsets, tree.binned_left_cat_bitsets):
        exist = is_array(sets, "u", None, 8) and np.all(nodes["bitset_idx"][has_set] < len(sets))
        _require(exist, "categories")


def _try_predictions(model: Any) -> None:
    """Raise unless a fitted model predicts probabilities, where all voters predict 0.5."""
    predictor: Any = getattr(model, "_predictor", None)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if isinstance(predictor, VotePredictor):
            labels = np.array([[model.classes_[0]], [None]], dtype=object)
            found = model.predict_proba(np.repeat(labels, model.voters_.size, axis=1))
        elif isinstance(predictor, TablePredictor):
            shape = (1, len(predictor.scorer.names), predictor.n_games)
            found = predictor.probabilities(predictor.raw_of(np.full(shape, 0.5)))
        else:
            return
    _require(model.classes_.shape == found.shape[1:], "classes")
    _require(np.all(found >= 0) and np.allclose(found.sum(axis=1), 1.0), "probabilities")


# Types that models may hold, by their full names, beyond those that skops trusts by itself
# (scikit-learn's estimators, NumPy's arrays), and how each is checked. By name: a type that
# scikit-learn renames is refused, and not used without its check.
TYPES_OF_OTHERS: dict[str, Callable[[Any], None] | None] = {
    "numpy.dtype": None,
    "scipy.sparse._csc.csc_array": None,
    "scipy.sparse._csc.csc_matrix": None,
    "scipy.sparse._csr.csr_array": None,
    "scipy.sparse._csr.csr_matrix": None,
    # a list, until scikit-learn 1.9
    "sklearn.compose._column_transformer._RemainderColsList": None,
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": None,
    "sklearn.pipeline.Pipeline": None,
    "sklearn.tree._tree.Tree": _check_tree,
}
