"""Checks of a model from a file, before anything is done with it.

Compiled code does not check whether a child, a row, a column or a class exists. In a hostile file
they need not, so that every number that something is looked up by is checked here, on both sides,
and every number that predictions are made of is finite. At the end the model predicts a few rows:
what still does not fit together shows there, and not when somebody needs a prediction.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import KDTree
from sklearn.preprocessing import FunctionTransformer

from hedgeclipper.base.predictions import GamePredictor, PanelGame
from hedgeclipper.base.semi_supervised import BatchCheck
from hedgeclipper.base.semi_supervised_classifier import SemiSupervisedClassifier
from hedgeclipper.forest.groups import GroupScorer
from hedgeclipper.forest.trees import LeafFinder, PackedTrees
from hedgeclipper.forest.views import Components, ViewedTrees
from hedgeclipper.panel.fitting import NamedColumns, PanelPredictor
from hedgeclipper.votes.aggregator import VoteAggregator
from hedgeclipper.votes.gold import GoldRows
from hedgeclipper.votes.matrix import Votes

INTEGERS, NUMBERS, ANY = "iu", "fiu", None
ROWS_TO_TRY = (0.0, -1e6, 1e6)


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
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple, set)):
            waiting.extend(part)
        elif isinstance(part, np.ndarray):
            waiting.extend(part.ravel().tolist() if part.dtype == object else [])
        elif hasattr(part, "__dict__"):
            waiting.extend(vars(part).values())


def check_model(model: Any) -> None:
    """Raise unless all parts of a model fit together, and it predicts probabilities."""
    parts = list(parts_of(model))
    for part in parts:
        check_part(part)
    for part in parts:
        if isinstance(part, SemiSupervisedClassifier | VoteAggregator):
            _try_predictions(part)


def check_part(part: Any) -> None:
    """Raise unless what a part refers to exists: nodes, rows, columns and classes."""
    for type_, check in _OUR_CHECKS.items():
        if isinstance(part, type_):
            check(part)
    if (check_other := TYPES_OF_OTHERS.get(_name_of(part))) is not None:
        check_other(part)
    elif sparse.issparse(part):
        _check_sparse(part)
    elif hasattr(part, "n_features_in_") and hasattr(part, "__dict__"):
        _check_width(part)


def _name_of(part: Any) -> str:
    return f"{type(part).__module__}.{type(part).__name__}"


def _check_array(
    array: Any,
    kinds: str,
    shape: tuple[int | None, ...],
    low: float = -np.inf,
    below: float = np.inf,
) -> None:
    """Raise unless an array has a dtype of these kinds, this shape, and numbers in [low, below).

    A length of None may be any. NaN is in no interval.
    """
    _require(isinstance(array, np.ndarray) and array.dtype.kind in kinds)
    _require(len(array.shape) == len(shape))
    _require(all(want in (None, got) for want, got in zip(shape, array.shape, strict=True)))
    if np.isfinite(below):
        _check_range(array, below, low)
    else:
        _require(np.all(np.isfinite(array)) and np.all(array >= low))


def _check_range(numbers: Any, below: Any, low: float = 0) -> None:
    _require(np.all((numbers >= low) & (numbers < below)))


def _require(holds: bool | np.bool_) -> None:
    if not holds:
        raise ValueError(
            "it holds a number out of range, or refers to a node, row, column or class that does "
            "not exist"
        )


def _check_tree(tree: Any) -> None:
    _check_links(tree.children_left, tree.children_right, tree.children_left == -1)
    _check_range(tree.feature[tree.children_left != -1], tree.n_features)


def _check_boosted_tree(tree: Any) -> None:
    """Raise unless nodes exist, and each that splits categories has its set of them, 256 bits."""
    nodes = tree.nodes
    _check_links(nodes["left"].astype(int), nodes["right"].astype(int), nodes["is_leaf"])
    numbers = nodes["bitset_idx"][_splits_categories(tree)]
    for sets in (tree.raw_left_cat_bitsets, tree.binned_left_cat_bitsets):
        _check_array(sets, "u", (ANY, 8))
        _check_range(numbers, len(sets))


def _splits_categories(tree: Any) -> np.ndarray:
    return (tree.nodes["is_categorical"] != 0) & (tree.nodes["is_leaf"] == 0)


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
    known = model._bin_mapper.is_categorical_
    _check_array(known, "bu", (model.n_features_in_,))
    for one in (one for predictors in model._predictors for one in predictors):
        columns = one.nodes["feature_idx"]
        _check_range(columns, model.n_features_in_)
        _require(np.all(known[columns[_splits_categories(one)]]))
    if getattr(model, "_preprocessor", None) is not None:
        # scikit-learn's own keeps all columns; the function in it is loaded only if it is trusted
        steps = [step for _, step, _ in model._preprocessor.transformers_]
        functions = [step.func for step in steps if isinstance(step, FunctionTransformer)]
        _require(any(isinstance(function, partial) for function in functions))


def _check_neighbors(tree: Any) -> None:
    """Raise unless a tree of neighbors has all its nodes, and these have rows that exist."""
    rows, order, nodes, bounds = (np.asarray(array) for array in tree.get_arrays())
    n_rows, n_columns = rows.shape
    n_bounds = 2 if isinstance(tree, KDTree) else 1
    _check_array(order, INTEGERS, (n_rows,), 0, n_rows)
    _require(nodes.size > 0 and bounds.shape == (n_bounds, nodes.size, n_columns))
    starts, ends = nodes["idx_start"], nodes["idx_end"]
    _require(np.all((starts >= 0) & (starts <= ends) & (ends <= n_rows)))
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    _check_range(2 * inner + 2, nodes.size)
    _require(all(field is not None for field in tree.__getstate__()[:-1]))


def _check_packed(trees: PackedTrees) -> None:
    is_leaf = trees.left < 0
    n_nodes, n_trees = is_leaf.size, len(trees.roots)
    _check_array(trees.used, INTEGERS, (ANY,), 0)
    _require(np.all(np.diff(trees.used.astype(int)) > 0))
    _check_array(trees.missing_left, "b", (n_nodes,))
    _require(trees.threshold.dtype.kind == "f" and trees.threshold.shape == (n_nodes,))
    for array in (trees.left, trees.right, trees.parent):
        _check_array(array, "i", (n_nodes,), -1, n_nodes)
    _check_array(trees.leaf, "u", (n_nodes,))
    _check_array(trees.feature, INTEGERS, (n_nodes,), 0, max(trees.used.size, 1))
    _require(bool(np.all(is_leaf)) or trees.used.size > 0)
    _check_links(trees.left, trees.right, is_leaf)
    _check_array(trees.roots, INTEGERS, (n_trees,), 0, n_nodes)
    _check_parents(trees, np.flatnonzero(~is_leaf))
    # each is small, so that their sum is what it seems
    _check_array(trees.n_leaves, INTEGERS, (n_trees,), 1, n_nodes + 1)
    n_leaves = int(trees.n_leaves.sum())
    _require(n_leaves == is_leaf.sum())
    _check_array(trees.leaf_values, NUMBERS, (n_leaves, ANY))
    _check_array(trees.leaf_sizes, NUMBERS, (n_leaves,), 0)
    level, depth = np.stack([trees.roots, np.arange(n_trees)]), -1
    while level.size:
        depth += 1
        node, tree = level
        leaves = is_leaf[node]
        _check_range(trees.leaf[node[leaves]], trees.n_leaves[tree[leaves]])
        inner = level[:, ~leaves]
        below = [np.stack([side[inner[0]], inner[1]]) for side in (trees.left, trees.right)]
        level = np.concatenate(below, axis=1)
    _require(depth <= trees.depth <= n_nodes)


def _check_parents(trees: PackedTrees, inner: np.ndarray) -> None:
    """Raise unless every node but the roots has one parent, which is noted."""
    children = np.concatenate([trees.left[inner], trees.right[inner]])
    every = np.sort(np.concatenate([trees.roots, children]))
    _require(np.array_equal(every, np.arange(trees.left.size)))
    parent = np.full(trees.left.size, -1)
    parent[children] = np.tile(inner, 2)
    _require(np.array_equal(trees.parent, parent))


def _check_viewed(trees: ViewedTrees) -> None:
    """Raise unless all parts look at views there are, and their leaves are those of all."""
    _require(len(trees.looks) == len(trees.parts) > 0)
    tables = set(range(len(trees.views) + 1))
    _check_array(np.array(trees.widths), INTEGERS, (len(tables),), 1)
    for look in trees.looks:
        _require(isinstance(look, tuple) and len(look) > 0)
        _require(tables.issuperset(look) and look == tuple(sorted(set(look))))
    _require(all(isinstance(part, LeafFinder) and part is not trees for part in trees.parts))
    counts = np.concatenate([part.n_leaves for part in trees.parts])
    _check_array(trees.n_leaves, INTEGERS, counts.shape)
    _require(np.array_equal(trees.n_leaves, counts))
    _check_array(trees.leaf_values, NUMBERS, (counts.sum(), ANY))


def _check_components(view: Components) -> None:
    """Raise unless all columns, and no others, have what their components are made of."""
    if not hasattr(view, "directions_"):  # not fitted
        return
    _check_array(view.directions_, "f", (view.n_features_in_, ANY))
    _check_array(view.offset_, "f", (view.directions_.shape[1],))
    _check_array(view.fill_, "f", (view.n_features_in_,))
    for column in (view.lowest_, view.highest_):  # may be infinite
        _require(column.dtype.kind == "f" and column.shape == (view.n_features_in_,))
        _require(not np.isnan(column).any())


def _check_groups(scorer: GroupScorer) -> None:
    """Raise unless each tree is in a group, and each leaf has a value in each game."""
    finder, groups = scorer.finder, scorer.groups
    _require(isinstance(finder, LeafFinder))
    _check_array(groups, INTEGERS, (finder.n_trees,), 0, finder.n_trees)
    _require(groups[0] == 0 and np.isin(np.diff(groups.astype(int)), (0, 1)).all())
    _check_array(scorer.leaf_values, "f", (ANY, finder.n_leaves.sum()))
    _require(len(scorer.leaf_values) > 0)


def _check_panel_game(game: PanelGame) -> None:
    """Raise unless everything that a member's score is multiplied by is a number."""
    _check_array(game.weights, "f", (ANY,))
    numbers = [game.calibration.slope, game.calibration.intercept]
    for scale in game.scales:
        numbers += [number for number in vars(scale).values() if np.ndim(number) == 0]
        for array in (array for array in vars(scale).values() if np.ndim(array)):
            _check_array(array, NUMBERS, (ANY,))
    _require(np.all(np.isfinite(np.array(numbers, dtype=float))))


def _check_votes(votes: Votes) -> None:
    """Raise unless votes are of voters, on rows and for classes that exist."""
    _require(sparse.issparse(votes.matrix) and votes.matrix.format == "csr")
    _require(votes.voters.shape == votes.matrix.shape[1:])
    _require(votes.rows is None or votes.rows.shape == votes.matrix.shape[:1])
    _require(votes.classes.ndim == 1)
    _check_array(votes.matrix.data, INTEGERS, (ANY,), 1, votes.classes.size + 1)


def _check_gold(gold: GoldRows) -> None:
    """Raise unless labeled and unlabeled rows have the same voters, and labels are classes."""
    labeled, unlabeled = gold.labeled, gold.unlabeled
    _check_array(gold.codes, INTEGERS, (labeled.n_rows,), 0, labeled.n_classes)
    _require((labeled.n_voters, labeled.n_classes) == (unlabeled.n_voters, unlabeled.n_classes))


def _check_sparse(matrix: Any) -> None:
    """Raise unless entries are in rows and columns that exist, whatever the file calls the type."""
    if matrix.format == "coo":
        for numbers, size in zip((matrix.row, matrix.col), matrix.shape, strict=True):
            _check_array(numbers, INTEGERS, matrix.data.shape, 0, size)
        return
    _require(matrix.format in ("csr", "csc", "bsr"))
    _check_array(matrix.indptr, INTEGERS, (ANY,))
    _check_array(matrix.indices, INTEGERS, (ANY,))
    matrix.check_format(full_check=True)


def _check_links(left: np.ndarray, right: np.ndarray, is_leaf: np.ndarray) -> None:
    """Raise unless each inner node has two children further down, so that every path ends."""
    _require(left.size > 0)
    inner = np.flatnonzero(np.asarray(is_leaf) == 0)
    for children in (left, right):
        _check_range(children[inner], left.size)
        _require(np.all(children[inner] > inner))


def _try_predictions(model: Any) -> None:
    """Raise unless a fitted model of ours predicts classes and probabilities for a few rows."""
    if not hasattr(model, "_predictor"):
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        tried = _tried_votes if isinstance(model, VoteAggregator) else _tried_rows
        _require(model.classes_.ndim == 1)
        if (found := tried(model)) is not None:
            _check_array(found, "f", (ANY, model.classes_.size), 0)
            _require(np.allclose(found.sum(axis=1), 1.0))


def _tried_votes(model: VoteAggregator) -> np.ndarray:
    """Return probabilities of a row that all vote on, for each class, and of one without votes."""
    labels = [*model.classes_.tolist(), None]
    votes = np.array([[label] * model.voters_.size for label in labels], dtype=object)
    model.predict(votes)
    return model.predict_proba(votes)


def _tried_rows(model: SemiSupervisedClassifier) -> np.ndarray | None:
    """Return probabilities of a few rows of numbers; None where trees have views of other kinds.

    Members and views of other libraries may refuse such rows with a ValueError, as they would
    refuse those of a user, and members that pick columns by name are not tried. What members
    predict then is taken as 0.5.
    """
    predictor = model._predictor
    prepare = predictor.prepare
    width = prepare.n_features if isinstance(prepare, BatchCheck) else model.n_features_in_
    rows = np.repeat(np.array(ROWS_TO_TRY, np.float32)[:, None], width, axis=1)
    if isinstance(predictor, PanelPredictor):
        return predictor.probabilities(predictor.log_odds(_tried_scores(predictor, rows)))
    views = getattr(predictor.finder, "views", [])
    _require(getattr(predictor.finder, "widths", [width])[0] == width)
    try:
        if prepare is None:
            model.predict(rows)
            return model.predict_proba(rows)
        return predictor.probabilities(replace(predictor, prepare=None).raw_predictions(rows, 1))
    except ValueError:
        if all(isinstance(view, Components) for view in views):
            raise
    return None


def _tried_scores(predictor: PanelPredictor, rows: np.ndarray) -> np.ndarray:
    """Return what the members of a panel predict, shape (n_rows, n_members, n_games)."""
    for member in predictor.members.values():
        classes = np.asarray(getattr(member, "classes_", []))
        _require(classes.ndim == 1 and np.unique(classes).size == classes.size)
    if not isinstance(predictor.prepare, NamedColumns):
        try:
            return replace(predictor, prepare=None).scores(rows, 1)
        except IndexError:  # some are ValueErrors, too
            raise
        except ValueError:
            pass
    return np.full((len(rows), len(predictor.members), predictor.n_games), 0.5)


def _check_costs(predictor: Any) -> None:
    """Raise unless the costs of errors are those of the classes that there are games for."""
    if predictor.costs is not None:
        n_classes = max(2, predictor.n_games)
        _check_array(predictor.costs, "f", (n_classes, n_classes), 0)
        _require(np.all(predictor.costs[~np.eye(n_classes, dtype=bool)] > 0))


_OUR_CHECKS: dict[Any, Callable[[Any], None]] = {
    GamePredictor: _check_costs,
    PackedTrees: _check_packed,
    ViewedTrees: _check_viewed,
    Components: _check_components,
    GroupScorer: _check_groups,
    PanelGame: _check_panel_game,
    Votes: _check_votes,
    GoldRows: _check_gold,
}
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
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": _check_boosted_tree,
    "sklearn.metrics._dist_metrics.EuclideanDistance64": None,
    "sklearn.neighbors._ball_tree.BallTree": _check_neighbors,
    "sklearn.pipeline.Pipeline": None,
    "sklearn.neighbors._kd_tree.KDTree": _check_neighbors,
    "sklearn.tree._tree.Tree": _check_tree,
}
