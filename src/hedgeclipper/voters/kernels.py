"""Numba twins of the hot loops: arrays in, arrays out.

No objects, no options, no messages; the caller allocates. All of them release the interpreter's
lock, so that blocks of rows can run side by side. Leaf numbers are stored by tree, shape
(trees, rows), each counted from 0 in its own tree: the scores of one tree then stay in the
nearest cache while the rows of a block go by.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def split_rows(rows, first, last, values, cut, missing_left, out):
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
            border = split_rows(lists[side], first, last, values, cut, nan_left, lists[1 - side])
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
def project_rows(X, fill, lowest, highest, has_unit_rows, directions, offset, out):
    """out[i] = offset + sum over columns f of x[f] directions[f], x the row i, filled and cut.

    X (rows, columns) float32; fill, lowest, highest (columns,); directions (columns, components);
    offset (components,); out (rows, components). The row is divided by its length if has_unit_rows.
    Sums go over columns in order, so that no row depends on the others.
    """
    sums = np.empty(offset.shape[0])
    for row in range(X.shape[0]):
        scale = 1.0
        if has_unit_rows:
            length = 0.0
            for column in range(X.shape[1]):
                x = float(X[row, column])
                if not np.isnan(x):
                    length += x * x
            scale = 1.0 / np.sqrt(length) if length > 0.0 else 1.0
        sums[:] = offset
        for column in range(X.shape[1]):
            x = float(X[row, column])
            x = fill[column] if np.isnan(x) else x
            x = scale * min(max(x, lowest[column]), highest[column])
            if x != 0.0:
                own = directions[column]
                for k in range(sums.shape[0]):
                    sums[k] += x * own[k]
        out[row] = sums


@njit(cache=True, nogil=True)
def project_sparse_rows(indptr, indices, data, directions, offset, out):
    """The same for rows in CSR form that are divided by their lengths; NaN counts as 0.

    indptr (rows + 1,), indices and data (entries,), indices ascending in each row.
    """
    sums = np.empty(offset.shape[0])
    for row in range(indptr.shape[0] - 1):
        length = 0.0
        for place in range(indptr[row], indptr[row + 1]):
            x = float(data[place])
            if not np.isnan(x):
                length += x * x
        scale = 1.0 / np.sqrt(length) if length > 0.0 else 1.0
        sums[:] = offset
        for place in range(indptr[row], indptr[row + 1]):
            x = scale * float(data[place])
            if not np.isnan(x):
                own = directions[indices[place]]
                for k in range(sums.shape[0]):
                    sums[k] += x * own[k]
        out[row] = sums


@njit(cache=True, nogil=True)
def sum_up_nodes(parent, sums):
    """Add the sums of all nodes to those of the nodes above them.

    parent, sums (nodes,): the number of each node's parent, smaller than its own, -1 for a root.
    """
    for node in range(parent.shape[0] - 1, -1, -1):
        if parent[node] >= 0:
            sums[parent[node]] += sums[node]


@njit(cache=True, nogil=True)
def shrink_nodes(parent, sizes, means, strength, out):
    """out[v] = out[u] + (means[v] - means[u]) / (1 + strength / sizes[u]), u the parent of v.

    parent, sizes, means, out (nodes,). Roots have their means.
    """
    for node in range(parent.shape[0]):
        above = parent[node]
        if above < 0:
            out[node] = means[node]
        else:
            step = means[node] - means[above]
            total = sizes[above] + strength
            out[node] = out[above] + (step * sizes[above] / total if total > 0.0 else 0.0)
