"""All small pools: each pattern of errors, and each sample of test rows."""

import itertools

import numpy as np


def all_masks(n, size=None):
    """Return all masks of n rows, or those of so many rows, as an array of bool."""
    if size is None:
        return np.array(list(itertools.product([False, True], repeat=n)), bool).reshape(-1, n)
    chosen = list(itertools.combinations(range(n), size))
    masks = np.zeros((len(chosen), n), bool)
    for mask, rows in zip(masks, chosen, strict=True):
        mask[list(rows)] = True
    return masks


def accepted_first(found, allowed):
    """Return which rows come before the (allowed + 1)-th wrong test row, for many pools at once."""
    return np.cumsum(found, axis=-1) <= allowed
