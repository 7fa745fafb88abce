"""Hierarchical shrinkage: the value of a leaf is drawn towards those of the nodes above it.

A node's value is that of its parent plus (its own mean - the parent's mean) / (1 + strength / n),
n the training rows in the parent, summed along the path [1]_. Every node votes, and its weight
follows from its size: splits of few rows count little. So trees can be grown freely.

.. [1] A. Agarwal, Y. S. Tan, O. Ronen, C. Singh and B. Yu, "Hierarchical shrinkage: improving the
   accuracy and interpretability of tree-based methods", ICML 2022.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# from no shrinkage to one that leaves little but the first splits of a hundred rows
STRENGTHS = np.array([0.0, 2.0, 8.0, 30.0, 100.0, 300.0])
LEAST_PROBABILITY = 1e-6


@dataclass(frozen=True, eq=False)
class TreeNodes:
    """How the leaves of all trees hang together; parents are counted before their children."""

    parent: np.ndarray  # (n_nodes,): number of the parent, -1 for a root
    leaf_nodes: np.ndarray  # (all leaves,): number of the node that each leaf is
    leaf_sizes: np.ndarray  # (all leaves,): training rows in each leaf, by weight

    @property
    def sizes(self) -> np.ndarray:
        """Training rows in each node, shape (n_nodes,)."""
        return self._sum_up(self.leaf_sizes)

    def node_means(self, values: np.ndarray) -> np.ndarray:
        """Return the mean over the training rows in each node, given that of each leaf."""
        sums, sizes = self._sum_up(values * self.leaf_sizes), self.sizes
        return np.divide(sums, sizes, out=np.zeros_like(sums), where=sizes > 0)

    def _sum_up(self, values: np.ndarray) -> np.ndarray:
        """Return for each node the sum of a quantity over the leaves below it."""
        from hedgeclipper.forest.kernels import sum_up_nodes

        sums = np.zeros(self.parent.size)
        sums[self.leaf_nodes] = values
        sum_up_nodes(self.parent, sums)
        return sums

    @classmethod
    def joined(cls, parts: list[TreeNodes]) -> TreeNodes:
        """Return the nodes of several ensembles, one after the other."""
        starts = np.cumsum([0, *(part.parent.size for part in parts)])[:-1]
        shifted = [
            (np.where(part.parent < 0, -1, part.parent + start), part.leaf_nodes + start)
            for part, start in zip(parts, starts, strict=True)
        ]
        parents, leaf_nodes = (np.concatenate(arrays) for arrays in zip(*shifted, strict=True))
        return cls(parents, leaf_nodes, np.concatenate([part.leaf_sizes for part in parts]))


def shrink(nodes: TreeNodes, values: np.ndarray, strengths: np.ndarray) -> np.ndarray:
    """Return the values of leaves, shrunk with each of the strengths (lambda).

    Parameters
    ----------
    nodes : TreeNodes
        The trees.
    values : ndarray of shape (all leaves,)
        The mean of the training rows in each leaf.
    strengths : ndarray of shape (n_strengths,)
        Rows of a parent at which what its children add is halved; 0 changes nothing.

    Returns
    -------
    ndarray of shape (n_strengths, all leaves)

    Examples
    --------
    A root of 4 rows with the mean 1/2, whose leaves have the means 0 and 1:

    >>> nodes = TreeNodes(np.array([-1, 0, 0]), np.array([1, 2]), np.array([2.0, 2.0]))
    >>> shrink(nodes, np.array([0.0, 1.0]), np.array([0.0, 4.0]))
    array([[0.  , 1.  ],
           [0.25, 0.75]])
    """
    from hedgeclipper.forest.kernels import shrink_nodes

    sizes, means = nodes.sizes, nodes.node_means(values)
    out = np.empty((strengths.size, values.size))
    for number, strength in enumerate(strengths):
        shrunk = np.empty_like(means)
        shrink_nodes(nodes.parent, sizes, means, float(strength), shrunk)
        out[number] = shrunk[nodes.leaf_nodes]
    return out


def choose_strength(
    scores: np.ndarray, is_positive: np.ndarray, weights: np.ndarray | None = None
) -> int:
    """Return the number of the strength whose scores predict labels best, by log loss.

    Scores, of shape (n_strengths, n_labeled, n_games), are probabilities of each game's class, by
    trees that were grown without the row; NaN if there are none.
    """
    known = ~np.isnan(scores).any(axis=(0, 2))
    if not known.any():
        return 0
    p = np.clip(scores[:, known], LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
    losses = -np.where(is_positive[known], np.log(p), np.log1p(-p)).sum(axis=2)
    return int(
        np.argmin(np.average(losses, axis=1, weights=None if weights is None else weights[known]))
    )
