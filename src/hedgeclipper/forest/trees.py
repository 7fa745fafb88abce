"""From a tree ensemble to leaf numbers: which leaf of each tree a row falls into.

Leaf numbers are counted from 0 in each tree and stored by tree, shape (trees, rows), in two bytes
each where they fit. Forests, bagged trees and gradient boosting of scikit-learn are packed into
flat arrays and walked by a kernel of our own; LightGBM and XGBoost find their leaves themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import BaseDecisionTree

from hedgeclipper.base.threads import map_in_threads
from hedgeclipper.io.arrays import is_array

ROWS_PER_BLOCK = 1 << 14
BYTES_PER_BLOCK = 1 << 23


@dataclass(frozen=True, eq=False)
class TreeNodes:
    """How the leaves of all trees hang together; parents are counted before their children."""

    parent: np.ndarray  # (n_nodes,): number of the parent, -1 for a root
    leaf_nodes: np.ndarray  # (all leaves,): number of the node that each leaf is
    leaf_sizes: np.ndarray  # (all leaves,): training rows in each leaf, by weight

    def means_and_sizes(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and number of the training rows in each node, given the mean in each leaf."""
        from hedgeclipper.forest.kernels import sum_up_nodes

        sums, sizes = np.zeros((2, self.parent.size))
        sums[self.leaf_nodes], sizes[self.leaf_nodes] = values * self.leaf_sizes, self.leaf_sizes
        sum_up_nodes(self.parent, sums)
        sum_up_nodes(self.parent, sizes)
        return np.divide(sums, sizes, out=np.zeros_like(sums), where=sizes > 0), sizes


class LeafFinder(ABC):
    """Finds the leaf of every row in every tree of an ensemble.

    Attributes
    ----------
    n_leaves : ndarray of shape (n_trees,)
        Leaves of each tree.
    leaf_values : ndarray of shape (all leaves, n_outputs) or None
        What the model predicts in each leaf: the proportion of each class, or for a booster its raw
        output.
    tree_output : ndarray of shape (n_trees,) or None
        The one output that each tree of a booster adds to; None where every tree predicts all.
    """

    n_leaves: np.ndarray
    leaf_values: np.ndarray
    tree_output: np.ndarray | None = None
    has_own_threads = False  # then blocks of rows are not spread over threads

    @property
    @abstractmethod
    def nodes(self) -> TreeNodes:
        """How the leaves hang together."""

    @property
    def n_block_rows(self) -> int:
        """How many rows to take at a time."""
        return ROWS_PER_BLOCK

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.n_leaves.size

    @property
    def offsets(self) -> np.ndarray:
        """Number of the first leaf of each tree, all trees counted through."""
        return np.concatenate([[0], np.cumsum(self.n_leaves)[:-1]])

    @property
    def dtype(self) -> np.dtype:
        """Two bytes where the leaf numbers fit, else four."""
        return np.dtype(np.uint16 if self.n_leaves.max(initial=1) <= 1 << 16 else np.uint32)

    @abstractmethod
    def fill(self, X: Any, out: np.ndarray) -> None:
        """Write the leaf numbers of a block of rows into out, shape (n_trees, rows)."""

    def find(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the leaf numbers of all rows of X, shape (n_trees, n_samples)."""
        out = np.empty((self.n_trees, X.shape[0]), self.dtype)
        size = self.n_block_rows
        slices = (slice(start, start + size) for start in range(0, X.shape[0], size))
        n_jobs = 1 if self.has_own_threads else n_jobs
        for _ in map_in_threads(lambda rows: self.fill(X[rows], out[:, rows]), slices, n_jobs):
            pass
        return out


@dataclass(eq=False)
class PackedTrees(LeafFinder):
    """scikit-learn trees as flat arrays, nodes of all trees one after the other.

    ``used`` lists the features that occur in a split; ``feature`` counts among these. ``parent`` is
    the number of each node's parent, -1 for a root.
    """

    used: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    parent: np.ndarray
    missing_left: np.ndarray
    leaf: np.ndarray
    roots: np.ndarray
    depth: int
    n_leaves: np.ndarray
    leaf_values: np.ndarray
    leaf_sizes: np.ndarray
    tree_output: np.ndarray | None

    @property
    def nodes(self) -> TreeNodes:
        """How the leaves hang together."""
        return TreeNodes(self.parent, np.flatnonzero(self.left < 0), self.leaf_sizes)

    @property
    def n_block_rows(self) -> int:
        """How many rows fit a block of features that stays in the cache."""
        size = BYTES_PER_BLOCK // (4 * max(1, self.used.size))
        return int(np.clip(size, 1024, ROWS_PER_BLOCK))

    def check_arrays(self) -> None:
        """Raise unless every path from a root ends in a leaf of the same tree: kernels rely on it.

        Each node has one parent: otherwise paths could double at each step, and never all be seen.
        """
        n_nodes, n_trees = len(self.left), len(self.roots)
        kinds = {"i": (self.left, self.right, self.parent), "iu": (self.feature, self.leaf)}
        kinds |= {"f": (self.threshold,), "b": (self.missing_left,)}
        fits = all(is_array(own, kind, n_nodes) for kind in kinds for own in kinds[kind])
        fits = fits and is_array(self.roots, "i", n_trees) and is_array(self.used, "i", None)
        fits = fits and is_array(self.n_leaves, "i", n_trees)
        if not (fits and self._are_nodes_linked() and self._depth() <= self.depth <= n_nodes):
            raise ValueError("its trees have nodes that do not fit together")

    def _are_nodes_linked(self) -> bool:
        is_leaf, tree = self.left < 0, np.cumsum(self.parent < 0) - 1
        inner, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
        children, above = np.append(self.left[inner], self.right[inner]), np.tile(inner, 2)
        columns, counts = self.feature[inner], np.bincount(tree[leaves], minlength=self.n_trees)
        numbers = np.arange(leaves.size) - self.offsets[tree[leaves]]  # from 0 in each tree
        return bool(
            np.array_equal(np.sort(np.append(self.roots, children)), np.arange(self.left.size))
            and np.array_equal(self.roots, np.flatnonzero(self.parent < 0))
            and np.array_equal(self.parent[children], above)
            and np.all((children > above) & (tree[children] == tree[above]))
            and np.array_equal(self.n_leaves, counts)
            and np.array_equal(self.leaf[leaves], numbers)
            and np.all((columns >= 0) & (columns < self.used.size))
        )

    def _depth(self) -> int:
        nodes, depth = self.roots, -1
        while nodes.size:
            inner, depth = nodes[self.left[nodes] >= 0], depth + 1
            nodes = np.append(self.left[inner], self.right[inner])
        return depth

    def fill(self, X: Any, out: np.ndarray) -> None:
        """Write the leaf numbers of a block of rows into out, shape (n_trees, rows)."""
        from hedgeclipper.forest.kernels import find_leaves

        used = X if self.used.size == X.shape[1] else X[:, self.used]
        used = used.toarray() if sparse.issparse(used) else used
        columns = np.ascontiguousarray(used.T, dtype=np.float32)
        if self.used.size == 0:
            # a forest of single leaves has no features, but the kernel wants the number of rows
            columns = np.zeros((1, X.shape[0]), np.float32)
        # a block of its own is quicker to write to, row by row, than a part of a larger array
        block = np.empty(out.shape, out.dtype)
        splits = self.feature, self.threshold, self.left, self.right, self.missing_left
        find_leaves(columns, *splits, self.leaf, self.roots, self.depth, block)
        out[:] = block


def pack_trees(
    trees: list[Any],
    features: list[np.ndarray] | None = None,
    tree_output: np.ndarray | None = None,
) -> PackedTrees:
    """Return fitted scikit-learn trees as flat arrays.

    ``features`` are the columns that each tree uses, where these are not all, and ``tree_output``
    is the output that each tree of a booster adds to.
    """
    parts = [tree.tree_ for tree in trees]
    starts = np.concatenate([[0], np.cumsum([part.node_count for part in parts])])
    split_features = [np.maximum(part.feature, 0) for part in parts]
    if features is not None:
        split_features = [own[split] for own, split in zip(features, split_features, strict=True)]
    is_leaf = np.concatenate([part.children_left < 0 for part in parts])
    used, feature = np.unique(np.concatenate(split_features), return_inverse=True)
    if np.all(is_leaf):
        used, feature = used[:0], np.zeros_like(feature)
    starts_of = np.repeat(starts[:-1], np.diff(starts))
    children = np.hstack([[part.children_left, part.children_right] for part in parts])
    left, right = np.where(children < 0, -1, children + starts_of).astype(np.int32)
    parent, inner = np.full(starts[-1], -1, dtype=np.int32), np.flatnonzero(~is_leaf)
    parent[left[inner]] = parent[right[inner]] = inner
    values = np.concatenate([part.value[:, 0, :] for part in parts])[is_leaf]
    n_leaves = np.array([part.n_leaves for part in parts])
    if tree_output is not None:
        values = _spread(values[:, 0], np.repeat(np.arange(len(parts)), n_leaves), tree_output)
    return PackedTrees(
        used=used,
        feature=feature.astype(np.int32),
        threshold=_round_down(np.concatenate([part.threshold for part in parts])),
        left=left,
        right=right,
        parent=parent,
        missing_left=np.concatenate([part.missing_go_to_left for part in parts]).astype(bool),
        leaf=np.concatenate([np.cumsum(part.children_left < 0) - 1 for part in parts]).astype(
            np.uint32
        ),
        roots=starts[:-1].astype(np.int32),
        depth=max(part.max_depth for part in parts),
        n_leaves=n_leaves,
        leaf_values=values,
        leaf_sizes=np.concatenate([part.weighted_n_node_samples for part in parts])[is_leaf],
        tree_output=tree_output,
    )


def _round_down(threshold: np.ndarray) -> np.ndarray:
    """Return the largest float32 not above: x <= it and x <= threshold agree for every float32."""
    rounded = threshold.astype(np.float32)
    below = np.nextafter(rounded, np.float32(-np.inf))
    return np.where(rounded.astype(np.float64) > threshold, below, rounded)


class BoosterLeaves(LeafFinder):
    """Leaves of a booster that finds them itself."""

    _nodes: TreeNodes

    @property
    def nodes(self) -> TreeNodes:
        """How the leaves hang together; XGBoost counts rows by their second derivatives."""
        return self._nodes


class LightGBMLeaves(BoosterLeaves):
    """Leaves of a fitted LightGBM classifier, found by itself."""

    def __init__(self, model: Any):
        self.model = model
        booster = model.booster_
        n_outputs = max(1, booster.num_model_per_iteration())
        n_rounds = booster.best_iteration if booster.best_iteration > 0 else None
        n_trees = n_outputs * n_rounds if n_rounds else booster.num_trees()
        frame = booster.trees_to_dataframe()
        frame = frame[frame["tree_index"] < n_trees].reset_index(drop=True)
        leaves = frame[frame["node_index"].str.contains("-L")]
        # a tree without a split is a single leaf, "0-L"
        numbers = leaves["node_index"].str.extract(r"-L(\d*)$")[0].replace("", "0").astype(int)
        order = np.lexsort([numbers, leaves["tree_index"]])
        trees = leaves["tree_index"].to_numpy()[order]
        self.n_leaves = np.bincount(trees, minlength=n_trees)
        self.tree_output = np.arange(n_trees) % n_outputs
        self.leaf_values = _spread(leaves["value"].to_numpy()[order], trees, self.tree_output)
        parent = frame["parent_index"].map(_numbers(frame["node_index"])).fillna(-1).to_numpy(int)
        sizes = leaves["count"].fillna(1).to_numpy(float)[order]
        self._nodes = TreeNodes(parent, leaves.index.to_numpy()[order], sizes)
        _add_base(self, booster.num_feature(), partial(booster.predict, raw_score=True))

    def fill(self, X: Any, out: np.ndarray) -> None:
        """Write the leaf numbers of a block of rows into out, shape (n_trees, rows)."""
        found = self.model.booster_.predict(X, pred_leaf=True, num_threads=1)
        out[:] = np.asarray(found).reshape(X.shape[0], self.n_trees).T


class XGBoostLeaves(BoosterLeaves):
    """Leaves of a fitted XGBoost classifier, found by itself and numbered from 0."""

    has_own_threads = True

    def __init__(self, model: Any):
        self.model = model
        booster = model.get_booster()
        best = getattr(model, "best_iteration", None) if model.early_stopping_rounds else None
        booster = booster if best is None else booster[: best + 1]
        frame = booster.trees_to_dataframe().sort_values(["Tree", "Node"], ignore_index=True)
        leaves = frame[frame["Feature"] == "Leaf"]
        trees, nodes = leaves["Tree"].to_numpy(), leaves["Node"].to_numpy()
        self.n_leaves = np.bincount(trees)
        n_outputs = 1 if len(model.classes_) == 2 else len(model.classes_)
        # of one round: all trees of the first class, then all of the next
        n_parallel = max(1, self.n_trees // (n_outputs * booster.num_boosted_rounds()))
        self.tree_output = np.arange(self.n_trees) // n_parallel % n_outputs
        self.leaf_values = _spread(leaves["Gain"].to_numpy(), trees, self.tree_output)
        self._numbers = [nodes[trees == tree] for tree in range(self.n_trees)]
        number, parent = _numbers(frame["ID"]), np.full(len(frame), -1)
        inner = frame[frame["Feature"] != "Leaf"]
        for side in ("Yes", "No"):
            parent[inner[side].map(number).to_numpy(int)] = inner.index
        self._nodes = TreeNodes(parent, leaves.index.to_numpy(), leaves["Cover"].to_numpy(float))
        margins = partial(booster.inplace_predict, predict_type="margin", validate_features=False)
        _add_base(self, booster.num_features(), margins)

    def fill(self, X: Any, out: np.ndarray) -> None:
        """Write the leaf numbers of a block of rows into out, shape (n_trees, rows)."""
        found = np.asarray(self.model.apply(X)).reshape(X.shape[0], self.n_trees).astype(np.int64)
        for tree, own in enumerate(self._numbers):
            out[tree] = np.searchsorted(own, found[:, tree])


def _add_base(finder: LeafFinder, n_features: int, margins: Callable[[Any], Any]) -> None:
    """Add what a booster starts from to the leaves of the first tree for each of its outputs.

    The sums of a row's leaf values are then the margins of the booster, or it raises.
    """
    rows = np.random.default_rng(0).normal(size=(5, n_features)).astype(np.float32)
    places = finder.offsets[:, None] + finder.find(rows)
    found = np.asarray(margins(rows)).reshape(5, -1)
    rest = found - finder.leaf_values[places].sum(axis=0)
    if np.any(np.ptp(rest, axis=0) > 1e-3 * (1.0 + np.abs(found).max())):
        raise TypeError(
            "The booster's margins are not the sums of its leaves, from a constant on. Got a model "
            "with an init estimator, or with boosting by dart or rf: leave these out."
        )
    assert finder.tree_output is not None
    for output, tree in enumerate(np.unique(finder.tree_output, return_index=True)[1]):
        first = finder.offsets[tree]
        finder.leaf_values[first : first + finder.n_leaves[tree], output] += rest[:, output].mean()


def _numbers(names: Any) -> dict[str, int]:
    """Return the place of each name in a column of a frame."""
    return {name: place for place, name in enumerate(names)}


def _spread(values: np.ndarray, trees: np.ndarray, tree_output: np.ndarray) -> np.ndarray:
    """Return each leaf's value in the column of its tree's output and 0 elsewhere."""
    spread = np.zeros((values.size, int(tree_output.max()) + 1))
    spread[np.arange(values.size), tree_output[trees]] = values
    return spread


def leaf_finder(model: Any) -> LeafFinder:
    """Return the leaf finder of a fitted tree ensemble, or say why there is none."""
    if not is_classifier(model):
        raise TypeError(f"The 'estimator' parameter must be a classifier. Got {model!r}.")
    if isinstance(model, (RandomForestClassifier, ExtraTreesClassifier)):
        return pack_trees(model.estimators_)
    if isinstance(model, BaggingClassifier):
        if not all(isinstance(tree, BaseDecisionTree) for tree in model.estimators_):
            raise TypeError(
                "A BaggingClassifier must hold decision trees, whose leaves are the specialists. "
                f"Got {type(model.estimators_[0]).__name__}."
            )
        return pack_trees(model.estimators_, [np.asarray(f) for f in model.estimators_features_])
    if isinstance(model, GradientBoostingClassifier):
        n_outputs = model.estimators_.shape[1]
        outputs = np.tile(np.arange(n_outputs), model.estimators_.shape[0])
        packed = pack_trees(list(model.estimators_.ravel()), tree_output=outputs)
        packed.leaf_values *= model.learning_rate
        _add_base(packed, model.n_features_in_, model._raw_predict)
        return packed
    module = type(model).__module__.partition(".")[0]
    if module == "lightgbm":
        return LightGBMLeaves(model)
    if module == "xgboost":
        return XGBoostLeaves(model)
    if isinstance(model, HistGradientBoostingClassifier):
        raise TypeError(
            "HistGradientBoostingClassifier does not give out its leaves. Use "
            "GradientBoostingClassifier, LightGBM or XGBoost instead."
        )
    raise TypeError(
        "The 'estimator' parameter must be a tree ensemble: a random forest, extra trees, bagged "
        "decision trees or gradient boosting of scikit-learn, LightGBM or XGBoost. Got "
        f"{type(model).__name__}."
    )
