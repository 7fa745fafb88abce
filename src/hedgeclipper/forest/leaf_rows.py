"""Where leaf numbers of the unlabeled rows are: in memory, in a file, or found again each pass.

The game reads them in blocks of shape (n_trees, rows), again and again. `keep_leaves` chooses the
place by the size: memory up to a limit, then a temporary file, and where the disk has no room for
that, none at all.
"""

from __future__ import annotations

import operator
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, reduce
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from hedgeclipper.base.semi_supervised import (
    BatchCheck,
    Batches,
    RowBatches,
    RowSlices,
    is_dask,
    parse_bytes,
)
from hedgeclipper.base.semi_supervised_classifier import NO_UNLABELED_ROWS
from hedgeclipper.base.threads import map_in_threads
from hedgeclipper.forest.trees import ROWS_PER_BLOCK, RowFinder
from hedgeclipper.io.progress import row_reporter
from hedgeclipper.sklearn_private import Interval, StrOptions

ROWS_IN_RESERVOIR = 50_000
ROWS_TO_COPY = 1 << 16
RUN, LONG_RUN, MANY_RUNS = 1 << 6, 1 << 12, 1 << 6
USABLE_DISK = 0.5
BYTES_FROM_FILES = 16 * 10**6


class LeafStorage(BaseEstimator):
    """Where scores or leaf numbers of the unlabeled rows are kept.

    Scores take 16 bytes a row with two classes; leaf numbers, which a `LeafGame` needs, two bytes
    for each row and tree.

    The defaults suit most data. Change them to bound the memory of a fit, or to spare the disk.
    For Dask collections this does not apply: their workers keep the leaf numbers.

    Parameters
    ----------
    place : {"auto", "memory", "disk", "recompute"}, default="auto"
        "memory" and "disk" (a temporary file) keep the leaf numbers there. "recompute" keeps none
        and finds them again on each pass, which is slower but needs no space. "auto" is memory up
        to ``memory_limit``, then disk, and "recompute" if that would take more than half of the
        free space on the disk.
    memory_limit : int, str or None, default=None
        Largest number of bytes to keep in memory, as a number or as a string such as "2GB" or
        "512MiB"; used by "auto". None is no limit for rows that are in memory themselves, and 16 MB
        for files and other batches.

    Examples
    --------
    >>> from hedgeclipper import HedgeClipperClassifier
    >>> HedgeClipperClassifier(storage=LeafStorage("disk"))
    HedgeClipperClassifier(storage=LeafStorage(place='disk'))
    """

    _parameter_constraints: ClassVar[dict] = {
        "place": [StrOptions({"auto", "memory", "disk", "recompute"})],
        "memory_limit": [Interval(Integral, 0, None, closed="left"), str, None],
    }

    def __init__(self, place="auto", *, memory_limit=None):
        self.place = place
        self.memory_limit = memory_limit

    def checked_for(self, X: Any) -> LeafStorage:
        """Return this, or raise an error if it is wrong or does not apply to these rows."""
        self._validate_params()
        if self.memory_limit is not None:
            parse_bytes(self.memory_limit)
        if is_dask(X) and self.get_params() != LeafStorage().get_params():
            raise ValueError(
                "What is kept of a Dask collection is kept by its workers: storage does not "
                f"apply. Got storage={self!r}. Leave it out, and set the memory of the workers in "
                "Dask."
            )
        return self


@dataclass(frozen=True)
class Runs:
    """Which rows are about every stride-th: runs of rows, the same wherever these are kept.

    Runs are quicker to read than single rows. Short ones make a sample of few rows, which are put
    together, since work on a block costs something whatever its size. Of many rows a copy would
    take memory: they are taken where they lie, in long runs.
    """

    length: int  # rows of a run
    period: int  # rows from the start of one run to the next

    @classmethod
    def every(cls, stride: int, n_rows: int) -> Runs:
        """Return the runs for about every stride-th of so many rows."""
        n_wanted = n_rows // stride
        short = min(RUN, max(1, n_wanted // MANY_RUNS))
        length = short if n_wanted <= ROWS_TO_COPY else LONG_RUN
        return cls(length, length * stride)

    def within(self, block: np.ndarray, start: int) -> list[np.ndarray]:
        """Return the parts of runs in a block whose first row has the number ``start``."""
        stop = start + block.shape[1]
        first, last = start // self.period, -(-stop // self.period)
        starts = [number * self.period for number in range(first, last)]
        ends = [(max(at, start), min(at + self.length, stop)) for at in starts]
        return [block[:, low - start : high - start] for low, high in ends if low < high]

    def sample(self, parts: list[np.ndarray], in_memory: bool) -> LeafRows:
        """Return the rows of all parts, put together if they are few."""
        if self.length < LONG_RUN:
            return LeafBlocks([np.concatenate(parts, axis=1)])
        sample = LeafBlocks(parts)
        sample.in_memory = in_memory
        return sample


class LeafRows(ABC):
    """Leaf numbers of rows, in blocks."""

    n_samples: int
    in_memory = False

    @abstractmethod
    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the leaf numbers in blocks of shape (n_trees, rows)."""

    def thinned(self, stride: int) -> LeafRows | None:
        """Return about every stride-th row, or None where that would not be cheap."""
        runs, parts, start = Runs.every(stride, self.n_samples), [], 0
        for block in self.blocks():
            parts += runs.within(block, start)
            start += block.shape[1]
        return runs.sample(parts, self.in_memory)

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers of rows with these positions, in ascending order, as an array."""
        parts, start = [], 0
        for block in self.blocks():
            low, high = np.searchsorted(rows, (start, start + block.shape[1]))
            parts.append(block[:, rows[low:high] - start])
            start += block.shape[1]
        return np.concatenate(parts, axis=1)

    def close(self) -> None:  # noqa: B027
        """Give back what is not memory; most have nothing of the kind."""

    def forget_views(self) -> None:  # noqa: B027
        """Give back what is kept for the views of `sum_blocks`; most keep nothing."""

    def sum_blocks(
        self, view: Callable[[np.ndarray], Any], work: Callable[[Any], Any], n_jobs: int | None
    ) -> Any:
        """Return the sum of work(view(block)) over all blocks; the view is the same in every pass.

        Results of the work must support ``+=``.
        """
        sums = map_in_threads(lambda block: work(view(block)), self.blocks(), n_jobs)
        return reduce(operator.iadd, sums)


class LeafBlocks(LeafRows):
    """Leaf numbers in memory, in one or more arrays of shape (n_trees, rows)."""

    in_memory = True

    def __init__(self, parts: list[np.ndarray]):
        self.parts = parts
        self.n_samples = sum(part.shape[1] for part in parts)

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield views of the arrays, of so many rows that they are quick to work on."""
        for part in self.parts:
            for start in range(0, part.shape[1], ROWS_PER_BLOCK):
                yield part[:, start : start + ROWS_PER_BLOCK]

    def append(self, block: np.ndarray) -> None:
        """Add a copy of a block of shape (n_trees, rows)."""
        self.parts.append(block.copy())
        self.n_samples += block.shape[1]


class LeafFile(LeafRows):
    """Leaf numbers in a temporary file that has no name, so that no kill can leave it behind."""

    def __init__(self, n_trees: int, dtype: np.dtype):
        self.n_trees, self.dtype = n_trees, dtype
        self.n_samples = 0
        self._sizes: list[int] = []
        self._file = tempfile.TemporaryFile(prefix="hedgeclipper-leaves-")  # noqa: SIM115
        self._map: np.ndarray | None = None

    def close(self) -> None:
        """Close the file, which is then gone."""
        self._map = None
        self._file.close()

    def append(self, block: np.ndarray) -> None:
        """Write a block of shape (n_trees, rows) behind the others."""
        try:
            self._write(block)
        except OSError as error:
            raise OSError(
                error.errno,
                f"The leaf numbers could not be written to the temporary folder "
                f"{tempfile.gettempdir()} ({error.strerror}) after {self.n_samples:,} rows, "
                f"{self.n_samples * self.n_trees * self.dtype.itemsize:,} bytes. Make room, set "
                "TMPDIR to another disk, or pass storage=LeafStorage('recompute')",
            ) from error
        self._sizes.append(block.shape[1])
        self.n_samples += block.shape[1]
        self._map = None

    def _write(self, block: np.ndarray) -> None:
        self._file.write(np.ascontiguousarray(block).data)
        self._file.flush()

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the blocks as they were written, mapped and not copied."""
        if self._map is None:
            self._map = np.memmap(self._file, dtype=self.dtype, mode="r")
        start, numbers = 0, self._map
        for rows in self._sizes:
            stop = start + rows * self.n_trees
            yield numbers[start:stop].reshape(self.n_trees, rows)
            start = stop


class RecomputedLeaves(LeafRows):
    """Leaf numbers that are found again on every pass over batches, which must stay the same."""

    def __init__(self, batches: Batches, finder: RowFinder, n_samples: int, n_jobs: int | None):
        self.batches, self.finder = batches, finder
        self.n_samples, self.n_jobs = n_samples, n_jobs

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the leaf numbers of one batch after the other."""
        n_read = 0
        for batch in self.batches:
            n_read += batch.shape[0]
            yield from LeafBlocks([self.finder.find(batch, self.n_jobs)]).blocks()
        if n_read != self.n_samples:
            raise ValueError(
                f"The unlabeled rows changed between passes: {self.n_samples:,} at first, then "
                f"{n_read:,}. Pass a source that yields the same rows every time."
            )

    def thinned(self, stride: int) -> None:
        """Return None: rows that are left out would have to be read all the same."""


@dataclass(eq=False)
class Reservoir:
    """A random sample of all rows so far, of a fixed size; every row is as likely to be in it."""

    rng: np.random.Generator
    n_seen: int = 0
    _sample: np.ndarray | None = field(default=None, init=False)

    def draw(self, leaves: LeafRows) -> np.ndarray:
        """Draw from the first rows, and return the positions of those drawn, in ascending order."""
        n_drawn = min(leaves.n_samples, ROWS_IN_RESERVOIR)
        rows = np.sort(self.rng.choice(leaves.n_samples, n_drawn, replace=False, shuffle=False))
        self._sample, self.n_seen = leaves.take(rows), leaves.n_samples
        return rows

    @property
    def leaves(self) -> LeafBlocks:
        """Leaf numbers of the sample."""
        assert self._sample is not None
        return LeafBlocks([self._sample])

    def grown(self, parts: Iterable[np.ndarray]) -> Reservoir:
        """Return a reservoir with more rows, leaf numbers of shape (n_trees, rows).

        This one stays as it is, so that no row is counted twice where reading them fails.
        """
        reservoir = deepcopy(self)
        for leaves in parts:
            reservoir.add(leaves)
        if reservoir.n_seen == 0:
            raise ValueError("There are no rows to add: X_unlabeled is empty.")
        return reservoir

    def add(self, leaves: np.ndarray) -> None:
        """Put new rows, leaf numbers of shape (n_trees, rows), in the places of some old ones."""
        sample = leaves[:, :0] if self._sample is None else self._sample
        n_free = min(max(0, ROWS_IN_RESERVOIR - sample.shape[1]), leaves.shape[1])
        n_free = n_free if self.n_seen == sample.shape[1] else 0
        if n_free:
            sample = np.concatenate([sample, leaves[:, :n_free]], axis=1)
        rest = leaves[:, n_free:]
        # row number k takes a place with probability size / k: Vitter's algorithm R
        numbers = self.n_seen + n_free + np.arange(1, rest.shape[1] + 1)
        place = np.floor(self.rng.random(rest.shape[1]) * numbers).astype(np.int64)
        taken = np.flatnonzero(place < sample.shape[1])
        sample[:, place[taken]] = rest[:, taken]
        self._sample = sample
        self.n_seen += leaves.shape[1]


def find_unlabeled(model: Any, finder: RowFinder, X: Any, storage: LeafStorage) -> LeafRows:
    """Return the leaf numbers of the unlabeled rows of a classifier's fit, kept as storage says."""
    if is_dask(X):
        from hedgeclipper.forest.dask_leaves import find_leaves

        check = BatchCheck("X_unlabeled", model.n_features_in_, model._row_checks)
        names = getattr(model, "feature_names_in_", None)
        return find_leaves(finder, X, names, check, model.verbose)
    rows = X if isinstance(X, RowBatches) else RowSlices(X)
    task = "counting rows" if storage.place == "recompute" else "finding leaves"
    with row_reporter(model.verbose, task, rows.n_rows) as report:
        leaves = keep_leaves(rows, finder, storage, model.n_jobs, report)
    if leaves.n_samples == 0:
        raise ValueError(NO_UNLABELED_ROWS)
    return leaves


def keep_leaves(
    batches: Batches,
    finder: RowFinder,
    storage: LeafStorage,
    n_jobs: int | None,
    report: Callable[[int], None] = lambda n_rows: None,
) -> LeafRows:
    """Find the leaves of all rows and keep them where the storage, or their size, demands.

    Batches are read once, or on every pass if leaves are recomputed. The report is called after
    each batch with the number of rows that are done.
    """
    limit: float = np.inf if isinstance(batches, RowSlices) else BYTES_FROM_FILES
    if storage.memory_limit is not None:
        limit = parse_bytes(storage.memory_limit)
    limit = {"memory": np.inf, "disk": 0}.get(storage.place, limit)
    # the disk is looked at only if memory is not enough, and before there is a file on it
    room = cache(_room_on_disk if storage.place == "auto" else lambda: np.inf)
    row_bytes = finder.n_numbers * finder.dtype.itemsize
    size = row_bytes * (batches.n_rows or 0)
    if storage.place != "recompute" and (size <= limit or size <= room()):
        if isinstance(batches, RowSlices) and size <= limit:
            return LeafBlocks([finder.find(batches.rows, n_jobs)])
        kept: LeafBlocks | LeafFile = LeafBlocks([])
        if size > limit:
            kept = LeafFile(finder.n_numbers, finder.dtype)
        with ExitStack() as undo:
            undo.callback(lambda: kept.close())
            for block in _even_blocks(batches, finder, n_jobs, report):
                size = row_bytes * (kept.n_samples + block.shape[1])
                if size > limit and size > room():
                    break
                if size > limit and isinstance(kept, LeafBlocks):
                    parts, kept = kept.parts, LeafFile(finder.n_numbers, finder.dtype)
                    for part in parts:
                        kept.append(part)
                kept.append(block)
            else:
                undo.pop_all()
                return kept
    n_rows = batches.n_rows
    if n_rows is None:
        n_rows = 0
        for batch in batches:
            n_rows += batch.shape[0]
            report(n_rows)
    return RecomputedLeaves(batches, finder, n_rows, n_jobs)


def _room_on_disk() -> float:
    """Return the bytes that may be written to the temporary folder; none if there is no such."""
    try:
        return USABLE_DISK * shutil.disk_usage(tempfile.gettempdir()).free
    except OSError:
        return 0.0


def _even_blocks(
    batches: Iterable[Any], finder: RowFinder, n_jobs: int | None, report: Callable[[int], None]
) -> Iterator[np.ndarray]:
    """Yield the leaf numbers of all batches in even blocks, each valid until the next."""
    block, filled = np.empty((finder.n_numbers, ROWS_PER_BLOCK), finder.dtype), 0
    n_rows = 0
    for batch in batches:
        leaves, start = finder.find(batch, n_jobs), 0
        while start < leaves.shape[1]:
            taken = min(ROWS_PER_BLOCK - filled, leaves.shape[1] - start)
            block[:, filled : filled + taken] = leaves[:, start : start + taken]
            filled, start = filled + taken, start + taken
            if filled == ROWS_PER_BLOCK:
                yield block
                filled = 0
        n_rows += leaves.shape[1]
        report(n_rows)
    if filled:
        yield block[:, :filled]
