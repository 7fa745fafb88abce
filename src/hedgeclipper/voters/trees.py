"""Trees of scikit-learn as flat arrays, and which leaf of each tree a row falls into.

Leaf numbers are counted from 0 in each tree and stored by tree, shape (trees, rows), in two bytes
each where they fit: the scores of one tree then stay in the nearest cache while the rows of a block
go by. Numba kernels are at the end. They know arrays only, the caller allocates, and all of them
release the interpreter's lock, so that blocks of rows can run side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from numba import njit
from scipy import sparse

from hedgeclipper.io.arrays import is_array

ROWS_PER_BLOCK = 1 << 14


def n_workers(n_jobs: int | None) -> int:
    """Return how many jobs run at a time: ``n_jobs`` as in joblib, but at most one per core."""
    return min(effective_n_jobs(n_jobs), cpu_count())


@dataclass(eq=False)
class PackedTrees:
    """scikit-learn trees as flat arrays, nodes of all trees one after the other.

    ``used`` lists the features that occur in a split; ``feature`` counts among these. ``parent`` is
    the number of each node's parent, smaller than its own, -1 for a root; ``leaf_sizes`` are the
    training rows in each leaf.
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
    leaf_sizes: np.ndarray

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.n_leaves.size

    @property
    def offsets(self) -> np.ndarray:
        """Number of the first leaf of each tree, all trees counted through."""
        return np.concatenate([[0], np.cumsum(self.n_leaves)[:-1]])

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

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf numbers of all rows of X, shape (n_trees, n_samples)."""
        dtype = np.uint16 if self.n_leaves.max(initial=1) <= 1 << 16 else np.uint32
        out = np.empty((self.n_leaves.size, X.shape[0]), dtype)
        splits = self.feature, self.threshold, self.left, self.right, self.missing_left
        # the features of so many rows stay in the cache
        size = int(np.clip((1 << 21) // max(1, self.used.size), 1024, ROWS_PER_BLOCK))
        for start in range(0, X.shape[0], size):
            some = X[start : start + size]
            used = some if self.used.size == X.shape[1] else some[:, self.used]
            used = used.toarray() if sparse.issparse(used) else used
            columns = np.ascontiguousarray(used.T, dtype=np.float32)
            if self.used.size == 0:
                # a forest of single leaves has no features, but the kernel wants the number of rows
                columns = np.zeros((1, some.shape[0]), np.float32)
            # a block of its own is quicker to write to, row by row, than a part of a larger array
            block = np.empty((self.n_leaves.size, some.shape[0]), dtype)
            find_leaves(columns, *splits, self.leaf, self.roots, self.depth, block)
            out[:, start : start + size] = block
        return out


@dataclass(frozen=True, eq=False)
class TreeSplits:
    """A copy of the splits of a fitted tree of scikit-learn, without the classes in its nodes."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    sizes: np.ndarray
    depth: int

    @classmethod
    def of(cls, tree: Any) -> TreeSplits:
        """Return the splits of a fitted tree."""
        own = tree.tree_
        return cls(
            feature=own.feature.copy(),
            threshold=own.threshold.copy(),
            left=own.children_left.copy(),
            right=own.children_right.copy(),
            missing_left=own.missing_go_to_left.copy(),
            sizes=own.weighted_n_node_samples.copy(),
            depth=own.max_depth,
        )


def pack_trees(trees: Sequence[Any]) -> PackedTrees:
    """Return fitted trees of scikit-learn, or their splits, as flat arrays."""
    parts = [tree if isinstance(tree, TreeSplits) else TreeSplits.of(tree) for tree in trees]
    starts = np.concatenate([[0], np.cumsum([part.left.size for part in parts])])
    is_leaf = np.concatenate([part.left < 0 for part in parts])
    split_features = [np.maximum(part.feature, 0) for part in parts]
    used, feature = np.unique(np.concatenate(split_features), return_inverse=True)
    if np.all(is_leaf):
        used, feature = used[:0], np.zeros_like(feature)
    starts_of = np.repeat(starts[:-1], np.diff(starts))
    children = np.hstack([[part.left, part.right] for part in parts])
    left, right = np.where(children < 0, -1, children + starts_of).astype(np.int32)
    parent, inner = np.full(starts[-1], -1, dtype=np.int32), np.flatnonzero(~is_leaf)
    parent[left[inner]] = parent[right[inner]] = inner
    leaf = np.concatenate([np.cumsum(part.left < 0) - 1 for part in parts])
    # the largest float32 not above: x <= it and x <= threshold agree for every float32
    threshold = np.concatenate([part.threshold for part in parts])
    rounded = threshold.astype(np.float32)
    below = np.nextafter(rounded, np.float32(-np.inf))
    return PackedTrees(
        used=used,
        feature=feature.astype(np.int32),
        threshold=np.where(rounded.astype(np.float64) > threshold, below, rounded),
        left=left,
        right=right,
        parent=parent,
        missing_left=np.concatenate([part.missing_left for part in parts]).astype(bool),
        leaf=leaf.astype(np.uint32),
        roots=starts[:-1].astype(np.int32),
        depth=max(part.depth for part in parts),
        n_leaves=np.array([np.count_nonzero(part.left < 0) for part in parts]),
        leaf_sizes=np.concatenate([part.sizes for part in parts])[is_leaf],
    )


def leaf_proportions(trees: Sequence[Any]) -> sparse.csc_array:
    """Return the proportion of each class in the leaves of fitted trees, (all leaves, n_classes).

    Most leaves of large trees hold a single class.
    """
    parts = [tree.tree_ for tree in trees]
    return sparse.csc_array(np.concatenate([own.value[own.children_left < 0, 0] for own in parts]))


@njit(cache=True, nogil=True)
def divide_rows(rows, first, last, values, cut, missing_left, out):
    """Put rows[first:last] into out[first:last], those that go left first; return the border.

    rows, out (rows,) uint16; values (rows,) float32, one feature of all rows. A row goes right
    where its value is larger than the cut, and where it is NaN unless missing_left. Left ones are
    written from the front and right ones from the back, both always, so that there is no branch to
    guess; unsigned counters save the check for negative indices.
    """
    front, back, one = np.uintp(first), np.uintp(last - 1), np.uintp(1)
    if missing_left:
        for k in range(np.uintp(first), np.uintp(last)):
            row = rows[k]
            goes_right = np.uintp(values[row] > cut)
            out[front] = row
            out[back] = row
            front += one - goes_right
            back -= goes_right
    else:
        for k in range(np.uintp(first), np.uintp(last)):
            row = rows[k]
            goes_left = np.uintp(values[row] <= cut)
            out[front] = row
            out[back] = row
            front += goes_left
            back -= one - goes_left
    return np.int64(front)


@njit(cache=True, nogil=True)
def push(stack, height, node, first, last, side):
    """Write a row (node, first, last, side) on top of the stack and return the new height."""
    stack[height, 0], stack[height, 1] = node, first
    stack[height, 2], stack[height, 3] = last, side
    return height + 1


@njit(cache=True, nogil=True)
def find_leaves(columns, feature, threshold, left, right, missing_left, leaf, roots, depth, out):
    """out[t, i] = number of the leaf that row i reaches in tree t.

    columns (features, rows) float32, at most 65,536 rows; feature, threshold, left, right,
    missing_left, leaf (nodes of all trees,); roots (trees,); depth, that of the deepest tree; out
    (trees, rows). left < 0 marks a leaf. All rows go down a tree together: a node splits its
    stretch of a list of rows in two and puts both on a stack of (node, first, last, which list).
    """
    n_rows = columns.shape[1]
    lists = np.empty((2, n_rows), np.uint16)
    stack = np.empty((depth + 2, 4), np.int64)
    for tree in range(roots.shape[0]):
        lists[0] = np.arange(n_rows)
        height = push(stack, 0, roots[tree], 0, n_rows, 0)
        while height > 0:
            height -= 1
            node, first, last, side = stack[height]
            if left[node] < 0:
                for k in range(first, last):
                    out[tree, lists[side, k]] = leaf[node]
                continue
            values, cut, nan_left = columns[feature[node]], threshold[node], missing_left[node]
            border = divide_rows(lists[side], first, last, values, cut, nan_left, lists[1 - side])
            if border > first:
                height = push(stack, height, left[node], first, border, 1 - side)
            if border < last:
                height = push(stack, height, right[node], border, last, 1 - side)


@njit(cache=True, nogil=True)
def sum_leaf_scores(leaves, offsets, scores, out):
    """out[i] = sum over the trees t of scores[offsets[t] + leaves[t, i]].

    leaves (trees, rows), offsets (trees,), scores (leaves of all trees,), out (rows,).
    """
    out[:] = 0.0
    for tree in range(leaves.shape[0]):
        own = scores[offsets[tree] :]
        for row in range(leaves.shape[1]):
            out[row] += own[leaves[tree, row]]


@njit(cache=True, nogil=True)
def sum_unseen_scores(leaves, unseen, offsets, scores, out):
    """The same over the trees t with unseen[t, i], of shape (trees, rows)."""
    out[:] = 0.0
    for tree in range(leaves.shape[0]):
        own = scores[offsets[tree] :]
        for row in range(leaves.shape[1]):
            if unseen[tree, row]:
                out[row] += own[leaves[tree, row]]


@njit(cache=True, nogil=True)
def add_to_leaves(leaves, offsets, rows, values, out):
    """out[offsets[t] + leaves[t, rows[k]]] += values[k], for all trees t and all k.

    leaves (trees, rows), offsets (trees,), rows and values (k,), out (leaves of all trees,).
    """
    for tree in range(leaves.shape[0]):
        own = out[offsets[tree] :]
        for k in range(rows.shape[0]):
            own[leaves[tree, rows[k]]] += values[k]


@njit(cache=True, nogil=True)
def shrink_leaves(parent, is_leaf, sums, sizes, strengths, out):
    """out[s, l] = value[v], v the l-th leaf; sums and sizes are added up from leaves to roots.

    value[v] = value[u] + (mean[v] - mean[u]) / (1 + strengths[s] / sizes[u]), u the parent of v;
    that of a root is its mean. mean = sums / sizes, and 0 where there are no rows. parent, is_leaf
    (nodes,): the number of each node's parent, smaller than its own, -1 for a root; sums, sizes
    (nodes,), 0 in all nodes but leaves; strengths (strengths,), out (strengths, leaves).
    """
    n_nodes = parent.shape[0]
    means, values = np.zeros(n_nodes), np.empty(n_nodes)
    for node in range(n_nodes - 1, -1, -1):
        above = parent[node]
        if above >= 0:
            sums[above] += sums[node]
            sizes[above] += sizes[node]
        if sizes[node] > 0.0:
            means[node] = sums[node] / sizes[node]
    for number in range(strengths.shape[0]):
        leaf = 0
        for node in range(n_nodes):
            above = parent[node]
            if above < 0:
                values[node] = means[node]
            else:
                step = means[node] - means[above]
                total = sizes[above] + strengths[number]
                values[node] = values[above] + (step * sizes[above] / total if total > 0 else 0.0)
            if is_leaf[node]:
                out[number, leaf] = values[node]
                leaf += 1
