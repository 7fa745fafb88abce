"""Rows in Dask collections; the only module that imports Dask.

Every task can be done again from the collection, so that a worker that dies takes nothing with it
that is not made again. Any scheduler will do: that of the current ``Client``, or Dask's threads or
processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial, reduce
from importlib import import_module
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed

from hedgeclipper.io.arrays import MAX_SEED, MODULUS, Draw, finish_draw, merge_draws, tag_rows
from hedgeclipper.io.frames import check_columns
from hedgeclipper.io.messages import ROWS_CHANGED, import_extra

# else it is imported, and brings its own settings, while ours are set, and both are undone
with suppress(ImportError):
    import_module("distributed")

FAN_IN = 8
# Trees, views and weights travel inside the graph on purpose, without a warning: their tasks can be
# made again if every worker that holds them dies, which is not so for data that was scattered.
LARGE_GRAPHS = {"distributed.admin.large-graph-warning-threshold": "1 TB"}


def draw_from(
    X: Any, sizes: list[int], n_rows: int, random_state: np.random.RandomState, n_more: int
) -> tuple[Any, np.ndarray]:
    """Return what `arrays.draw_batches` would, of the partitions of a Dask collection."""
    seed = random_state.randint(MAX_SEED)
    with dask.config.set(LARGE_GRAPHS):
        drawn = _draw(partitions_of(X), sizes, n_rows, seed).compute()
    return finish_draw(drawn, n_rows, seed, sum(sizes), n_more)


def score_and_draw(
    X: Any, sizes: list[int], score: Callable[[Any], tuple[int, np.ndarray]], n_rows: int, seed: int
) -> tuple[int, Draw]:
    """Return the digest of the rows of a Dask collection, and scores of some, drawn there.

    ``score`` returns digest and scores of a partition's rows, or raises.
    """
    sent = _sent(score)
    scored = [dask.delayed(_call)(part, sent) for part in partitions_of(X)]
    drawn = _draw([one[1] for one in scored], sizes, n_rows, seed)
    with dask.config.set(LARGE_GRAPHS):
        digests, found = dask.compute([one[0] for one in scored], drawn)
    return sum(digests) % MODULUS, found


def _draw(parts: Sequence[Any], sizes: Sequence[int], n_rows: int, seed: int) -> Any:
    """Return a task that draws rows from parts of these sizes, as from the rows in batches.

    Draws are merged on the workers, a few at a time.
    """
    starts = np.cumsum([0, *sizes[:-1]]).tolist()
    draws = [
        dask.delayed(_draw_part)(part, n_rows, seed, start, size)
        for part, start, size in zip(parts, starts, sizes, strict=True)
    ]
    merge = partial(reduce, partial(merge_draws, n_rows=n_rows))
    while len(draws) > 1:
        groups = [draws[start : start + FAN_IN] for start in range(0, len(draws), FAN_IN)]
        draws = [dask.delayed(merge)(group) for group in groups]
    return draws[0]


def select_columns(X: Any, names: list[str] | None, name: str, n_features: int) -> Any:
    """Return an array of Dask with so many columns, or the columns of these names of a frame.

    ``name`` is what errors call it.
    """
    if isinstance(X, Delayed) or getattr(X, "ndim", None) != 2:
        raise TypeError(
            f"{name} must be a two-dimensional array or a frame if it is a Dask collection. Got "
            f"{type(X).__name__}. Make one with to_dataframe, or with from_delayed of "
            "dask.dataframe or dask.array."
        )
    if _is_array(X) and X.shape[1] != n_features:
        raise ValueError(
            f"{name} must have {n_features} columns, as the labeled rows have. Got a Dask array of "
            f"shape {X.shape}."
        )
    if names is None or _is_array(X):
        return X
    check_columns(names, list(X.columns), name)
    return X[names]


def map_partitions(
    predict: Callable[[Any], np.ndarray],
    nothing: np.ndarray,
    X: Any,
    columns: str | list[str],
) -> Any:
    """Return predictions for each partition, as a lazy Dask collection like X.

    ``nothing`` is what is predicted for no rows. Of a frame ``columns`` are the names of the
    predictions, or the name of a single one.
    """
    sent = _sent(predict)
    if not _is_array(X):
        meta = _framed(nothing, X._meta.index[:0], columns)
        return X.map_partitions(_predict_frame, sent, columns, meta=meta)
    X = X.rechunk({1: -1})
    chunks = (X.chunks[0],) if nothing.ndim == 1 else (X.chunks[0], (nothing.shape[1],))
    drop = [1] if nothing.ndim == 1 else None
    return X.map_blocks(
        _call, sent, dtype=nothing.dtype, chunks=chunks, drop_axis=drop, meta=nothing
    )


def _sent(work: Callable[[Any], Any]) -> Any:
    """Return a task whose result is what workers shall do; Dask does not look into it."""
    return dask.delayed(work, pure=False, traverse=False)


def _is_array(X: Any) -> bool:
    return hasattr(X, "chunks")


def partitions_of(X: Any) -> list[Any]:
    """Return the partitions of rows of a Dask array or frame, as tasks."""
    if _is_array(X):
        X = X.rechunk({1: -1})
    return list(np.ravel(X.to_delayed()))


def sizes_of(X: Any) -> list[int]:
    """Return the number of rows of each partition, which are read if Dask does not know it."""
    if _is_array(X) and not np.isnan(X.chunks[0]).any():
        return list(X.chunks[0])
    # of files, Dask reads the columns that are used
    some = X if _is_array(X) else X[list(X.columns[:1])]
    return list(dask.compute(*[part.shape[0] for part in partitions_of(some)]))


def _call(part: Any, work: Callable[[Any], Any]) -> Any:
    return work(part)


def _draw_part(rows: Any, n_rows: int, seed: int, start: int, size: int) -> Draw:
    if rows.shape[0] != size:
        raise ValueError(ROWS_CHANGED)
    return merge_draws(None, tag_rows(seed, start, rows), n_rows)


def _predict_frame(frame: Any, predict: Any, columns: str | list[str]) -> Any:
    """Return predictions with the index of the frame."""
    return _framed(predict(frame), frame.index, columns)


def _framed(found: np.ndarray, index: Any, columns: str | list[str]) -> Any:
    pandas = import_extra("pandas", "io", "A Dask frame")
    if isinstance(columns, str):
        return pandas.Series(found, index=index, name=columns)
    return pandas.DataFrame(found, index=index, columns=columns)
