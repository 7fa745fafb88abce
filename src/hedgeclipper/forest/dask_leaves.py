"""Leaf numbers of the rows of a Dask collection.

They are found and kept where the partitions are. A pass sends the weights out once, adds up over
each partition, and adds the sums of length n_specialists in a tree.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np

from hedgeclipper.forest.leaf_rows import LeafBlocks, LeafRows, Runs
from hedgeclipper.forest.trees import RowFinder
from hedgeclipper.io import distributed
from hedgeclipper.io.distributed import Box, compute, persist, sent, task
from hedgeclipper.io.progress import row_reporter


class DaskLeaves(LeafRows):
    """Leaf numbers of the partitions of a Dask collection, kept by the scheduler's workers.

    Each part is a Delayed array of shape (n_trees, rows), and ``sizes`` are their rows.
    """

    def __init__(self, parts: list[Any], sizes: list[int]):
        self.parts, self.sizes = parts, sizes
        self.n_samples = sum(sizes)
        self._views: dict[int, tuple[Any, Any]] = {}

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the leaf numbers, fetched one partition after the other."""
        for part in self.parts:
            (leaves,) = compute(part)
            yield from LeafBlocks([leaves]).blocks()

    def thinned(self, stride: int) -> LeafRows:
        """Return about every stride-th row, brought here."""
        runs = Runs.every(stride, self.n_samples)
        starts = np.cumsum([0, *self.sizes[:-1]]).tolist()
        parts = [
            task("thin", _thin, part, start, runs)
            for part, start in zip(self.parts, starts, strict=True)
        ]
        here = [run for part in compute(*parts) for run in part]
        return runs.sample(here, in_memory=True)

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers of rows with these positions, in ascending order, brought here."""
        ends = np.cumsum([0, *self.sizes])
        own = np.split(rows, np.searchsorted(rows, ends[1:-1]))
        parts = [
            task("take", np.take, part, of_part - start, 1)
            for part, of_part, start in zip(self.parts, own, ends[:-1], strict=True)
        ]
        return np.concatenate(compute(*parts), axis=1)

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
        sent_view, sent_work = self._sent(view), sent("work", work)
        sums = [task("sum", _sum_partition, part, sent_view, sent_work) for part in self.parts]
        return distributed.join_in_tree(sums, _add)

    def _sent(self, view: Any) -> Any:
        """Return the view as a task that is sent out once and kept for all passes of a game."""
        if id(view) not in self._views:
            # the view itself is held, too, so that its id stays its own
            (kept,) = persist(sent("view", view))
            self._views[id(view)] = view, kept
        return self._views[id(view)][1]


def find_leaves(
    finder: RowFinder,
    X: Any,
    names: Any,
    check: Callable[[Any], Any],
    verbose: int = 0,
) -> DaskLeaves:
    """Return the leaf numbers of a Dask collection's rows, found and kept on the workers.

    ``names`` are the columns of a frame in the order of the trees, and ``check`` returns a
    partition's rows as the trees need them, or raises. If ``verbose``, the number of partitions
    that are done is shown: after each one with a ``Client``, else after all.
    """
    X = distributed.select_columns(X, names, "X_unlabeled")
    parts, sent_finder = distributed.parts_of(X), sent("finder", (finder, check))
    with row_reporter(verbose, "finding leaves", len(parts), "partitions") as report:
        kept = persist(*[task("leaves", _find, part, sent_finder) for part in parts])
        distributed.watch(kept, report)
        sizes = compute(*[task("rows", _n_rows, part) for part in kept])
        report(len(kept))
    filled = [(part, size) for part, size in zip(kept, sizes, strict=True) if size]
    if not filled:
        raise ValueError("The Dask collection has no rows. The game needs an unlabeled row.")
    return DaskLeaves([part for part, _ in filled], [size for _, size in filled])


def _find(part: Any, box: Box) -> np.ndarray:
    finder, check = box.content
    return finder.find(check(part), 1)


def _n_rows(leaves: np.ndarray) -> int:
    return leaves.shape[1]


def _thin(leaves: np.ndarray, start: int, runs: Runs) -> list[np.ndarray]:
    return [np.ascontiguousarray(run) for run in runs.within(leaves, start)]


def _sum_partition(leaves: np.ndarray, view: Box, work: Box) -> Any:
    return LeafBlocks([leaves]).sum_blocks(view.content, work.content, 1)


def _add(sums: list[Any]) -> Any:
    # not in place, since a sum may be asked for again after a worker has died
    return reduce(operator.add, sums)
