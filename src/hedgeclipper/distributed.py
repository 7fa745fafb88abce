"""Unlabelled rows in Dask collections; the only module that imports Dask.

Leaf numbers are found and kept where the partitions are. A pass sends the weights out once, adds up
over each partition, and adds the sums of length n_specialists in a tree. Every task can be done
again from the collection, so that a worker that dies takes nothing with it that is not made anew.
Any scheduler will do: that of the current ``Client``, or Dask's threads or processes.
"""

from __future__ import annotations

import operator
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, reduce
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed

from hedgeclipper.extras import import_extra
from hedgeclipper.sampling import Draw, merge_draws, tagged
from hedgeclipper.specialists.leaf_rows import LeafArray, LeafRows, Runs
from hedgeclipper.specialists.trees import LeafFinder

FAN_IN = 8


class DaskLeaves(LeafRows):
    """Leaf numbers of the partitions of a Dask collection, kept by the scheduler's workers.

    Parameters
    ----------
    parts : list of Delayed
        Leaf numbers of each partition, shape (n_trees, rows).
    sizes : list of int
        Rows of each.
    """

    def __init__(self, parts: list[Any], sizes: list[int]):
        self.parts, self.sizes = parts, sizes
        self.n_samples = sum(sizes)
        self._views: dict[int, tuple[Any, Any]] = {}

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the leaf numbers, fetched one partition after the other."""
        for part in self.parts:
            (leaves,) = _compute(part)
            yield from LeafArray(leaves).blocks()

    def thinned(self, stride: int) -> LeafRows:
        """Return about every stride-th row, brought here."""
        runs, thin = Runs.every(stride, self.n_samples), dask.delayed(_thin)
        starts = np.cumsum([0, *self.sizes[:-1]]).tolist()
        parts = [
            thin(part, start, runs, dask_key_name=_key("thin"))
            for part, start in zip(self.parts, starts, strict=True)
        ]
        here = [run for part in _compute(*parts) for run in part]
        return runs.sample(here, in_memory=True)

    def close(self) -> None:
        """Let the workers forget the leaf numbers."""
        self.parts = []
        self.forget_views()

    def forget_views(self) -> None:
        """Let the workers forget the views that were sent to them."""
        self._views.clear()

    def sum_blocks(
        self, view: Callable[[np.ndarray], Any], work: Callable[[Any], Any], n_jobs: int | None
    ) -> Any:
        """Return the sum over all partitions: a map, then a tree of sums."""
        sent_view, sent_work = self._sent(view), dask.delayed(_Box(work), name=_key("work"))
        add_up = dask.delayed(_sum_partition)
        sums = [
            add_up(part, sent_view, sent_work, dask_key_name=_key("sum")) for part in self.parts
        ]
        return _joined_in_tree(sums, _add)

    def _sent(self, view: Any) -> Any:
        """Return the view as a task that is sent out once and kept for all passes of a game."""
        if id(view) not in self._views:
            task = dask.delayed(_Box(view), name=_key("view"))
            # the view itself is held, too, so that its id stays its own
            (kept,) = _persist(task)
            self._views[id(view)] = view, kept
        return self._views[id(view)][1]


def find_leaves(
    finder: LeafFinder,
    X: Any,
    names: Any,
    check: Callable[[Any], Any],
    report: Callable[[int], None] = lambda n_parts: None,
) -> DaskLeaves:
    """Return the leaf numbers of a Dask collection's rows, found and kept on the workers.

    Parameters
    ----------
    finder : LeafFinder
        Finds them.
    X : Dask array or frame
        Rows.
    names : sequence of str or None
        Columns of a frame that the trees know, in their order.
    check : callable
        Returns a partition's rows as the trees want them, or raises.
    report : callable
        Told how many partitions are done: after each one with a ``Client``, else after all.
    """
    X = _selected(X, names, "X_unlabeled")
    sent = dask.delayed(_Box((finder, check)), name=_key("finder"))
    find = dask.delayed(_find)
    return _kept([find(part, sent, dask_key_name=_key("leaves")) for part in _parts(X)], report)


def draw_from(
    X: Any,
    n_rows: int,
    names: Any,
    check: Callable[[Any], Any],
    random_state: np.random.RandomState,
) -> Any:
    """Return so many rows of a Dask collection, drawn at random, here.

    Parameters
    ----------
    X : Dask array or frame
        Rows.
    n_rows : int
        How many to draw; all where there are no more.
    names : sequence of str or None
        Columns of a frame that are wanted, in their order.
    check : callable
        Returns a partition's rows as an array, or raises.
    random_state : RandomState
        Draws a seed for each partition.
    """
    parts = _parts(_selected(X, names, "X_unlabeled"))
    seeds = random_state.randint(np.iinfo(np.int32).max, size=len(parts))
    draw, sent = dask.delayed(_draw_part), dask.delayed(_Box(check), name=_key("check"))
    draws = [
        draw(part, n_rows, sent, seed, dask_key_name=_key("draw"))
        for part, seed in zip(parts, seeds, strict=True)
    ]
    _, rows = _joined_in_tree(draws, partial(_merge, n_rows=n_rows))
    return rows


def count_partitions(X: Any) -> int:
    """Return the number of partitions of rows of a Dask array or frame."""
    return X.numblocks[0] if _is_array(X) else X.npartitions


def check_collection(X: Any, name: str, n_features: int) -> None:
    """Raise unless X is an array of Dask with so many columns, or a frame.

    Parameters
    ----------
    X : Dask collection
        Rows.
    name : str
        What to call them in errors.
    n_features : int
        Number of columns of the labelled rows.
    """
    if isinstance(X, Delayed) or not hasattr(X, "ndim"):
        raise TypeError(
            f"{name} must be an array or a frame if it is a Dask collection. Got "
            f"{type(X).__name__}. Make one with to_dataframe, or with from_delayed of "
            "dask.dataframe or dask.array."
        )
    if X.ndim != 2 or (_is_array(X) and X.shape[1] != n_features):
        shape = f"shape {X.shape}" if _is_array(X) else "one dimension"
        raise ValueError(
            f"{name} must have {n_features} columns, as the labelled rows have. Got a Dask "
            f"{type(X).__name__} of {shape}."
        )


def map_partitions(model: Any, method: str, X: Any, names: list[str] | None) -> Any:
    """Return a method's predictions for each partition, as a lazy Dask collection like X.

    Parameters
    ----------
    model : fitted estimator
        Who predicts.
    method : {"predict", "predict_proba", "decision_function"}
        How.
    X : Dask array or frame
        Rows.
    names : list of str or None
        Columns of a frame that the model knows, in their order.
    """
    nothing = _no_predictions(model, method)
    box = dask.delayed(_Box(model.for_prediction()), name=_key("model"))
    if not _is_array(X):
        X = _selected(X, names, "X")
        meta = _framed(nothing, X._meta.index[:0], model.classes_, method)
        return X.map_partitions(_predict_frame, box, method, meta=meta)
    X = X.rechunk({1: -1})
    chunks = (X.chunks[0],) if nothing.ndim == 1 else (X.chunks[0], (nothing.shape[1],))
    drop = [1] if nothing.ndim == 1 else None
    return X.map_blocks(
        _predict_block, box, method, dtype=nothing.dtype, chunks=chunks, drop_axis=drop,
        meta=nothing,
    )  # fmt: skip


class _Box:
    """Keeps Dask from looking into what is sent."""

    def __init__(self, content: Any):
        self.content = content

    def __dask_tokenize__(self) -> str:
        return uuid.uuid4().hex


def _key(name: str) -> str:
    return f"hedgeclipper-{name}-{uuid.uuid4().hex}"


def _is_array(X: Any) -> bool:
    return hasattr(X, "chunks")


def _parts(X: Any) -> list[Any]:
    if _is_array(X):
        X = X.rechunk({1: -1})
    return list(np.ravel(X.to_delayed()))


def _selected(X: Any, names: Any, name: str) -> Any:
    """Return a frame's columns of these names, in this order; arrays have none."""
    if names is None or not hasattr(X, "columns"):
        return X
    missing = [column for column in names if column not in X.columns]
    if missing:
        raise ValueError(
            f"{name} has no column {missing[0]!r} ({len(missing)} missing in all). It must have "
            "the columns of the labelled rows, in any order."
        )
    return X[list(names)]


@contextmanager
def _large_graphs_are_meant() -> Iterator[None]:
    """Keep Dask from warning of large graphs.

    Trees, views and weights travel inside the graph on purpose: their tasks can be made again if
    every worker that holds them dies, which is not so for data that was scattered.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        yield


def _compute(*tasks: Any) -> tuple[Any, ...]:
    with _large_graphs_are_meant():
        return dask.compute(*tasks)


def _persist(*tasks: Any) -> tuple[Any, ...]:
    with _large_graphs_are_meant():
        return dask.persist(*tasks)


def _kept(parts: list[Any], report: Callable[[int], None]) -> DaskLeaves:
    """Return the parts once they are there, and how many rows they have."""
    kept = _persist(*parts)
    _watch(kept, report)
    sizes = _compute(*[dask.delayed(_n_rows)(part) for part in kept])
    report(len(kept))
    filled = [(part, size) for part, size in zip(kept, sizes, strict=True) if size]
    if not filled:
        raise ValueError("The Dask collection has no rows. The game needs an unlabelled row.")
    return DaskLeaves([part for part, _ in filled], [size for _, size in filled])


def _watch(kept: tuple[Any, ...], report: Callable[[int], None]) -> None:
    """Report the parts that a Client's workers have done, until all are or one has failed.

    Other schedulers have done them all by now, and what has failed is raised when it is asked for.
    """
    if "distributed" not in sys.modules:  # there is no Client without it
        return
    from distributed import as_completed, futures_of

    futures = futures_of(list(kept))
    if not futures:
        return
    for n_done, future in enumerate(as_completed(futures, loop=futures[0].client.loop), 1):
        if future.status == "error":
            return
        report(n_done)


def _find(part: Any, sent: _Box) -> np.ndarray:
    finder, check = sent.content
    return finder.find(check(part), 1)


def _draw_part(part: Any, n_rows: int, check: _Box, seed: int) -> Draw:
    rows = check.content(part)
    return merge_draws(None, tagged(rows, np.random.RandomState(seed)), n_rows)


def _n_rows(leaves: np.ndarray) -> int:
    return leaves.shape[1]


def _thin(leaves: np.ndarray, start: int, runs: Runs) -> list[np.ndarray]:
    return [np.ascontiguousarray(run) for run in runs.within(leaves, start)]


def _sum_partition(leaves: np.ndarray, view: _Box, work: _Box) -> Any:
    return LeafArray(leaves).sum_blocks(view.content, work.content, 1)


def _joined_in_tree(parts: list[Any], join: Callable[[list[Any]], Any]) -> Any:
    """Return what comes of joining the results of tasks, a few at a time, on the workers."""
    while len(parts) > 1:
        groups = [parts[start : start + FAN_IN] for start in range(0, len(parts), FAN_IN)]
        parts = [dask.delayed(join)(group, dask_key_name=_key("join")) for group in groups]
    (whole,) = _compute(parts[0])
    return whole


def _merge(draws: list[Draw], n_rows: int) -> Draw:
    return reduce(partial(merge_draws, n_rows=n_rows), draws)


def _add(sums: list[Any]) -> Any:
    # not in place, since a sum may be asked for again after a worker has died
    return reduce(operator.add, sums)


def _predict_block(rows: Any, box: _Box, method: str) -> np.ndarray:
    """Return predictions of rows; there may be none."""
    model = box.content
    return getattr(model, method)(rows) if rows.shape[0] else _no_predictions(model, method)


def _no_predictions(model: Any, method: str) -> np.ndarray:
    """Return what the method would say of no rows."""
    n_classes = model.classes_.size
    if method == "predict":
        return model.classes_[:0]
    is_wide = method == "predict_proba" or n_classes > 2
    return np.empty((0, n_classes)) if is_wide else np.empty(0)


def _predict_frame(frame: Any, box: _Box, method: str) -> Any:
    """Return predictions with the index of the frame."""
    found = _predict_block(frame, box, method)
    return _framed(found, frame.index, box.content.classes_, method)


def _framed(found: np.ndarray, index: Any, classes: np.ndarray, method: str) -> Any:
    pandas = import_extra("pandas", "io", "A Dask frame")
    if found.ndim == 1:
        return pandas.Series(found, index=index, name=method)
    names = [f"{'probability' if method == 'predict_proba' else method}_{c}" for c in classes]
    return pandas.DataFrame(found, index=index, columns=names)
