"""Bins of awake predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite

# shares of the rows below and above the drawn range, where the range is not given
LEFT_OUT = 0.005
PADDING = 0.05
ROUNDING = 1e-9

Span = tuple[float, float]


def check_span(span: Any, name: str) -> Span | None:
    """Return two ascending finite numbers, or None."""
    if span is None:
        return None
    try:
        low, high = (float(end) for end in span)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not (np.isfinite([low, high]).all() and low < high):
        raise ValueError(f"{name} must be two finite numbers, the smaller one first. Got {span!r}.")
    return low, high


def bin_edges(
    awake: np.ndarray, bins: Any, limits: Span | None, clip_at: Span | None
) -> np.ndarray:
    """Return ascending edges: given ones, or so many bins within the limits.

    Parameters
    ----------
    awake : ndarray of shape (n_samples,)
        Awake predictions.
    bins : int or array of edges
        Number of bins, or their edges.
    limits, clip_at : tuple of two floats or None
        First and last edge, and where clipping starts.
    """
    if np.ndim(bins) == 0:
        if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
            raise ValueError(f"bins must be a positive integer or an array of edges. Got {bins!r}.")
        return np.linspace(*(limits or _usual_limits(awake, clip_at)), int(bins) + 1)
    edges = np.asarray(bins, dtype=float)
    if limits is not None:
        raise ValueError(f"bins already has the edges: leave out limits. Got limits={limits!r}.")
    if edges.ndim != 1 or edges.size < 2 or not np.all(np.diff(edges) > 0):
        raise ValueError(f"bins, as edges, must be two or more and ascending. Got {bins!r}.")
    assert_all_finite(edges, input_name="bins")
    return edges


def _usual_limits(awake: np.ndarray, clip_at: Span | None) -> Span:
    """Return a range that leaves out few rows and shows where clipping starts."""
    ends = [*np.quantile(awake, [LEFT_OUT, 1.0 - LEFT_OUT]), *(clip_at or ())]
    low, high = float(min(ends)), float(max(ends))
    is_point = high - low <= ROUNDING * max(abs(low), abs(high), 1.0)
    padding = 0.5 if is_point else PADDING * (high - low)
    return low - padding, high + padding


def gathered_counts(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return how many values are in each bin; those beyond count in the end bins."""
    return np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0]


def count_outside(values: np.ndarray, clip_at: Span | None) -> int:
    """Return how many values are clipped; the kink counts as clipped."""
    return 0 if clip_at is None else int(np.sum((values <= clip_at[0]) | (values >= clip_at[1])))
