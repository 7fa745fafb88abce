"""Leaves, nodes and trees as specialists, on leaf numbers alone.

A row is in one leaf of each tree, so the matrix of the game is an array of leaf numbers and a small
table: what each specialist says in each leaf. A leaf speaks in itself, a node in the leaves below
it, a tree in all of its leaves. The awake prediction is then a sum of leaf scores, table @ theta.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.forest.leaf_rows import LeafRows
from hedgeclipper.forest.trees import ROWS_PER_BLOCK, LeafFinder, PackedTrees

KINDS = ("leaves", "nodes", "trees")


@dataclass(frozen=True, eq=False)
class LeafTable:
    """Which specialist is awake in which leaf.

    Parameters
    ----------
    awake : CSR matrix of shape (all leaves, n_specialists)
        1 where the specialist is awake in the leaf.
    own_leaf : ndarray of shape (n_specialists,)
        The leaf a specialist is, or -1 for inner nodes and trees.
    is_tree : ndarray of shape (n_specialists,), bool
        Whether it is a whole tree, which says in each leaf what the leaf says.
    """

    awake: sparse.csr_array
    own_leaf: np.ndarray
    is_tree: np.ndarray

    def select(self, specialists: np.ndarray) -> LeafTable:
        """Return the table of some specialists."""
        return LeafTable(
            self.awake[:, specialists], self.own_leaf[specialists], self.is_tree[specialists]
        )

    def votes(self, scores: np.ndarray, counts: np.ndarray) -> sparse.csr_array:
        """Return what each specialist says in each leaf, -1, 0 or 1.

        Parameters
        ----------
        scores : ndarray of shape (all leaves,)
            The leaves' scores, whose signs are their votes; a node has the sign of their mean.
        counts : ndarray of shape (all leaves,)
            Rows in each leaf, which weigh the leaves below a node.
        """
        by_leaf = sparse.diags_array(np.sign(scores)) @ self.awake
        by_column = self.awake @ sparse.diags_array(np.sign(self.sum_leaves(scores * counts)))
        is_tree = sparse.diags_array(self.is_tree.astype(float))
        is_node = sparse.diags_array((~self.is_tree).astype(float))
        says = sparse.csr_array(by_leaf @ is_tree + by_column @ is_node)
        says.eliminate_zeros()
        return says

    def sum_leaves(self, per_leaf: np.ndarray) -> np.ndarray:
        """Return for each specialist the sum of something over the leaves it is awake in."""
        return self.awake.T @ per_leaf


def leaf_table(finder: LeafFinder, kinds: Sequence[str]) -> LeafTable:
    """Return the table of the specialists of these kinds: "leaves", "nodes", "trees"."""
    n_leaves = int(finder.n_leaves.sum())
    parts, own, is_tree = [], [], []
    if "nodes" in kinds:
        awake, own_leaf = _inner_nodes_and_leaves(finder)
        parts.append(awake)
        own.append(own_leaf)
        is_tree.append(np.zeros(own_leaf.size, dtype=bool))
    elif "leaves" in kinds:
        parts.append(sparse.eye_array(n_leaves, format="csr"))
        own.append(np.arange(n_leaves))
        is_tree.append(np.zeros(n_leaves, dtype=bool))
    if "trees" in kinds:
        trees = np.repeat(np.arange(finder.n_trees), finder.n_leaves)
        ones = np.ones(n_leaves)
        parts.append(sparse.csr_array((ones, (np.arange(n_leaves), trees))))
        own.append(np.full(finder.n_trees, -1))
        is_tree.append(np.ones(finder.n_trees, dtype=bool))
    awake = sparse.hstack(parts, format="csr")
    return LeafTable(awake, np.concatenate(own), np.concatenate(is_tree))


def specialist_names(finder: LeafFinder, table: LeafTable, keep: np.ndarray) -> list[str]:
    """Return a name for each of these specialists: its tree, and its leaf where it is one.

    Parameters
    ----------
    finder : LeafFinder
        The trees.
    table : LeafTable
        All specialists.
    keep : ndarray of int
        Numbers of those to name.
    """
    by_column = table.awake.tocsc()
    first_leaf = by_column.indices[by_column.indptr[keep]]
    trees = np.searchsorted(finder.offsets, first_leaf, side="right") - 1
    names = []
    for number, tree, leaf in zip(keep, trees, first_leaf, strict=True):
        if table.own_leaf[number] >= 0:
            names.append(f"tree {tree}, leaf {leaf - finder.offsets[tree]}")
        else:
            names.append(f"tree {tree}" + ", inner node" * (not table.is_tree[number]))
    return names


def _inner_nodes_and_leaves(finder: LeafFinder) -> tuple[sparse.csr_array, np.ndarray]:
    """Return who is awake where, and own leaves, of all nodes but the roots.

    A root is awake everywhere and knows no more than the class balance.
    """
    if not isinstance(finder, PackedTrees):
        raise ValueError(
            "specialists='nodes' needs trees of scikit-learn, whose inner nodes can be read. Use "
            "'leaves' or 'trees' with LightGBM and XGBoost."
        )
    leaf_nodes = np.flatnonzero(finder.left < 0)
    rows, columns, climbing = [], [], leaf_nodes.copy()
    leaves = np.arange(leaf_nodes.size)
    while climbing.size:
        inside = finder.parent[climbing] >= 0
        leaves, climbing = leaves[inside], climbing[inside]
        rows.append(leaves)
        columns.append(climbing)
        climbing = finder.parent[climbing]
    row, column = np.concatenate(rows), np.concatenate(columns)
    shape = (leaf_nodes.size, finder.left.size)
    awake = sparse.csr_array((np.ones(row.size), (row, column)), shape=shape)
    own = np.full(finder.left.size, -1)
    own[leaf_nodes] = np.arange(leaf_nodes.size)
    below = np.flatnonzero(finder.parent >= 0)
    return awake[:, below], own[below]


@dataclass(frozen=True, eq=False)
class LeafSpecialists:
    """Specialists of a forest on rows whose leaf numbers are known.

    Parameters
    ----------
    leaves : LeafRows
        Leaf numbers, counted in each tree.
    offsets : ndarray of shape (n_trees,)
        Number of the first leaf of each tree.
    says : CSR matrix of shape (all leaves, n_specialists)
        Awake vote of each specialist in each leaf.
    coverage : ndarray of shape (n_specialists,)
        Share of the rows each specialist is awake on.
    n_jobs : int or None
        Threads for a pass.
    """

    leaves: LeafRows
    offsets: np.ndarray
    says: sparse.csr_array
    coverage: np.ndarray
    n_jobs: int | None = None
    is_fractional = False

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.leaves.n_samples

    @property
    def in_memory(self) -> bool:
        """Whether a pass reads memory only."""
        return self.leaves.in_memory

    @property
    def n_voters(self) -> int:
        """Number of specialists."""
        return self.says.shape[1]

    @cached_property
    def view(self) -> LeafView:
        """What makes awake votes of leaf numbers."""
        return LeafView(self.offsets, self.says, self.says.T.tocsr())

    def blocks(self) -> Iterator[LeafBlock]:
        """Yield the rows in blocks."""
        return map(self.view, self.leaves.blocks())

    def sum_blocks(self, work: Callable[[Any], Any]) -> Any:
        """Return the sum of the results of the work on each block, blocks side by side."""
        return self.leaves.sum_blocks(self.view, work, self.n_jobs)

    def thinned(self, stride: int) -> LeafSpecialists | None:
        """Return about every stride-th row, or None where that would not be cheap."""
        leaves = self.leaves.thinned(stride)
        return None if leaves is None else replace(self, leaves=leaves)


@dataclass(frozen=True, eq=False)
class LeafView:
    """Makes awake votes of the leaf numbers of a block of rows."""

    offsets: np.ndarray
    says: sparse.csr_array
    said: sparse.csr_array

    def __call__(self, leaves: np.ndarray) -> LeafBlock:
        """Return the awake votes in leaves of shape (n_trees, rows)."""
        return LeafBlock(leaves, self.offsets, self.says, self.said)


@dataclass(frozen=True, eq=False)
class LeafBlock:
    """Awake votes on a block of rows; knows ``block @ theta``, ``z @ block`` and ``block[a:b]``."""

    leaves: np.ndarray
    offsets: np.ndarray
    says: sparse.csr_array
    said: sparse.csr_array
    __array_ufunc__ = None  # so that NumPy leaves ``z @ block`` to us

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and specialists."""
        return self.leaves.shape[1], self.says.shape[1]

    def __matmul__(self, theta: np.ndarray) -> np.ndarray:
        return sum_scores(self.leaves, self.offsets, self.says @ theta)

    def __rmatmul__(self, z: np.ndarray) -> np.ndarray:
        return self.said @ sum_in_leaves(self.leaves, self.offsets, z, self.says.shape[0])

    def __getitem__(self, rows: slice) -> LeafBlock:
        return replace(self, leaves=self.leaves[:, rows])


def sum_scores(leaves: np.ndarray, offsets: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return for each row the sum over the trees of the score of its leaf."""
    from hedgeclipper.forest.kernels import sum_leaf_scores

    out = np.empty(leaves.shape[1])
    for start in range(0, out.size, ROWS_PER_BLOCK):
        rows = slice(start, start + ROWS_PER_BLOCK)
        sum_leaf_scores(leaves[:, rows], offsets, scores, out[rows])
    return out


def sum_in_leaves(
    leaves: np.ndarray, offsets: np.ndarray, values: np.ndarray, n_leaves: int
) -> np.ndarray:
    """Return for each leaf the sum of the values of a block's rows in it; zeros cost little."""
    from hedgeclipper.forest.kernels import add_all_to_leaves, add_to_leaves

    out = np.zeros(n_leaves)
    rows = np.flatnonzero(values)
    if 2 * rows.size > values.size:
        add_all_to_leaves(leaves, offsets, values, out)
    else:
        add_to_leaves(leaves, offsets, rows, values[rows], out)
    return out


def count_in_leaves(
    leaves: LeafRows, offsets: np.ndarray, n_leaves: int, n_jobs: int | None = None
) -> np.ndarray:
    """Return the number of rows in each leaf."""
    return leaves.sum_blocks(LeafCount(offsets, n_leaves), np.asarray, n_jobs)


@dataclass(frozen=True, eq=False)
class LeafCount:
    """Counts the rows of a block in each leaf."""

    offsets: np.ndarray
    n_leaves: int

    def __call__(self, leaves: np.ndarray) -> np.ndarray:
        """Return the counts in leaves of shape (n_trees, rows)."""
        from hedgeclipper.forest.kernels import count_leaves

        counts = np.zeros(self.n_leaves)
        for tree, offset in enumerate(self.offsets):
            count_leaves(leaves[tree], counts[offset:])
        return counts
