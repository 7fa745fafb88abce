"""Drawing rows at random from rows in any form, in one pass and in bounded memory."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from hedgeclipper.io.frames import is_pandas

Draw = tuple[np.ndarray, Any]


def draw_rows(X: Any, n_rows: int, random_state: np.random.RandomState) -> Any:
    """Return so many rows, each as likely as any other, or all where there are no more.

    Parameters
    ----------
    X : ndarray, CSR matrix or frame of pandas or polars, or iterable of these
        Rows. Those in memory keep their order.
    n_rows : int
        How many to draw.
    random_state : RandomState
        Draws them.
    """
    if hasattr(X, "shape"):
        if X.shape[0] <= n_rows:
            return X
        return _safe_indexing(X, np.sort(random_state.choice(X.shape[0], n_rows, replace=False)))
    drawn = None
    for batch in X:
        drawn = merge_draws(drawn, tagged(batch, random_state), n_rows)
    return np.empty((0, 0)) if drawn is None else drawn[1]


def tagged(rows: Any, random_state: np.random.RandomState) -> Draw:
    """Return rows with a random number for each; those with the smallest will be drawn."""
    return random_state.random_sample(rows.shape[0]), rows


def merge_draws(one: Draw | None, other: Draw, n_rows: int) -> Draw:
    """Return the rows with the smallest numbers of two draws, at most ``n_rows``."""
    tags, rows = other
    if one is not None:
        tags, rows = np.concatenate([one[0], tags]), stack_rows(one[1], rows)
    if tags.size <= n_rows:
        return tags, rows
    kept = np.sort(np.argpartition(tags, n_rows)[:n_rows])
    return tags[kept], _safe_indexing(rows, kept)


def stack_rows(above: Any, below: Any) -> Any:
    """Return rows one below the other; CSR if one of them is, and frames make a frame."""
    if hasattr(above, "columns"):
        library = nw.get_native_namespace(above)
        options = {"ignore_index": True} if is_pandas(above) else {"how": "vertical_relaxed"}
        return library.concat([above, below], **options)
    if sparse.issparse(above) or sparse.issparse(below):
        return sparse.vstack([above, below], format="csr")
    return np.concatenate([above, below])
