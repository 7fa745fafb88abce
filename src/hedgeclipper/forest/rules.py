"""A leaf in words: the splits on the way to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgeclipper.forest.trees import PackedTrees


def leaf_rule(finder: PackedTrees, leaf: int, names: Sequence[Any] | None = None) -> str:
    """Return which rows fall into a leaf, as text; bounds on the same feature are put together.

    Parameters
    ----------
    finder : PackedTrees
        The trees.
    leaf : int
        Number of the leaf, all trees counted through.
    names : sequence, optional
        Names of the features; ``x0``, ``x1``, ... without.
    """
    node = int(np.flatnonzero(finder.left < 0)[leaf])
    bounds: dict[int, list[float]] = {}
    while (parent := int(finder.parent[node])) >= 0:
        feature = int(finder.used[finder.feature[parent]])
        low_high = bounds.setdefault(feature, [-np.inf, np.inf])
        cut = float(finder.threshold[parent])
        if finder.left[parent] == node:
            low_high[1] = min(low_high[1], cut)
        else:
            low_high[0] = max(low_high[0], cut)
        node = parent
    parts = [
        _between(f"x{feature}" if names is None else str(names[feature]), *bounds[feature])
        for feature in reversed(bounds)
    ]
    return ", ".join(parts) or "all rows"


def _between(name: str, low: float, high: float) -> str:
    if not np.isfinite(high):
        return f"{name} > {low:.4g}"
    if not np.isfinite(low):
        return f"{name} ≤ {high:.4g}"
    return f"{low:.4g} < {name} ≤ {high:.4g}"
