"""Where the leaf numbers of the unlabeled rows are: in memory, in a file, or found anew each pass.

The game reads them in blocks of shape (n_trees, rows), again and again. `keep_leaves` chooses the
way by the size: memory up to a limit, then a temporary file, and where the disk has no room for
that, none at all.
"""

from __future__ import annotations

import operator
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from hedgeclipper.base.semi_supervised import Batches, RowSlices
from hedgeclipper.forest.trees import ROWS_PER_BLOCK, LeafFinder, map_in_threads

STORAGES = ("auto", "memory", "disk", "recompute")
ROWS_IN_RESERVOIR = 50_000
ROWS_TO_COPY = 1 << 16
RUN, LONG_RUN, MANY_RUNS = 1 << 6, 1 << 12, 1 << 6
SHARE_OF_DISK = 0.5


@dataclass(frozen=True)
class Runs:
    """Which rows are about every stride-th: runs of rows, the same wherever these are kept.

    Runs are quicker to read than single rows. Short ones make a sample of few rows, which are put
    together, since work on a block costs something whatever its size. Of many rows a copy would
    take memory: they are taken where they lie, in long runs.

    Parameters
    ----------
    length : int
        Rows of a run.
    period : int
        Rows from the start of one run to the next.
    """

    length: int
    period: int

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
            return LeafArray(np.concatenate(parts, axis=1))
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

    def close(self) -> None:  # noqa: B027
        """Give back what is not memory; most have nothing of the kind."""

    def forget_views(self) -> None:  # noqa: B027
        """Give back what is kept for the views of `sum_blocks`; most keep nothing."""

    def map_blocks(
        self, work: Callable[[np.ndarray], Any], n_jobs: int | None = None
    ) -> Iterator[Any]:
        """Yield the result of the work on each block, in order, blocks side by side."""
        return map_in_threads(work, self.blocks(), n_jobs)

    def sum_blocks(
        self, view: Callable[[np.ndarray], Any], work: Callable[[Any], Any], n_jobs: int | None
    ) -> Any:
        """Return the sum of what the work makes of the views of all blocks.

        Parameters
        ----------
        view : callable
            From leaf numbers to what the work wants; the same in every pass.
        work : callable
            What is added up; its results know ``+=``.
        n_jobs : int or None
            Threads.
        """
        return reduce(operator.iadd, self.map_blocks(lambda block: work(view(block)), n_jobs))


class LeafArray(LeafRows):
    """Leaf numbers in memory.

    Parameters
    ----------
    leaves : ndarray of shape (n_trees, n_samples)
        Leaf numbers, counted in each tree.
    """

    in_memory = True

    def __init__(self, leaves: np.ndarray):
        self.leaves = leaves
        self.n_samples = leaves.shape[1]

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield views of the array."""
        for start in range(0, self.n_samples, ROWS_PER_BLOCK):
            yield self.leaves[:, start : start + ROWS_PER_BLOCK]


class LeafBlocks(LeafRows):
    """Leaf numbers in blocks that lie apart from each other.

    Parameters
    ----------
    parts : list of ndarray of shape (n_trees, rows)
        The blocks.
    """

    in_memory = True

    def __init__(self, parts: list[np.ndarray]):
        self.parts = parts
        self.n_samples = sum(part.shape[1] for part in parts)

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the blocks."""
        return iter(self.parts)


class LeafFile(LeafRows):
    """Leaf numbers in a temporary file that has no name, so that no kill can leave it behind.

    Parameters
    ----------
    n_trees : int
        Number of trees.
    dtype : dtype
        Of the leaf numbers.
    """

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
        start, numbers = 0, self._mapped()
        for rows in self._sizes:
            stop = start + rows * self.n_trees
            yield numbers[start:stop].reshape(self.n_trees, rows)
            start = stop

    def _mapped(self) -> np.ndarray:
        if self._map is None:
            self._map = np.memmap(self._file, dtype=self.dtype, mode="r")
        return self._map


class RecomputedLeaves(LeafRows):
    """Leaf numbers that are found anew on every pass.

    Parameters
    ----------
    batches : Batches
        Rows, the same on every pass.
    finder : LeafFinder
        Finds their leaves.
    n_samples : int
        Number of rows of all batches.
    n_jobs : int or None
        Threads for finding.
    """

    def __init__(self, batches: Batches, finder: LeafFinder, n_samples: int, n_jobs: int | None):
        self.batches, self.finder = batches, finder
        self.n_samples, self.n_jobs = n_samples, n_jobs

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the leaf numbers of one batch after the other."""
        n_read = 0
        for batch in self.batches:
            n_read += batch.shape[0]
            yield from LeafArray(self.finder.find(batch, self.n_jobs)).blocks()
        if n_read != self.n_samples:
            raise ValueError(
                f"The unlabeled rows changed between passes: {self.n_samples:,} at first, then "
                f"{n_read:,}. Pass a source that yields the same rows every time."
            )

    def thinned(self, stride: int) -> None:
        """Return None: rows that are left out would have to be read all the same."""


class Reservoir:
    """A random sample of all rows so far, of a fixed size.

    The first rows may be a sample themselves, spread evenly over all of them; from then on every
    new row is as likely to be in it as any other.

    Parameters
    ----------
    leaves : LeafRows or None
        Leaf numbers of the first rows, of which some are taken.
    rng : Generator
        Draws the rows that stay.
    """

    def __init__(self, leaves: LeafRows | None, rng: np.random.Generator):
        self.rng, self.n_seen = rng, 0
        self._sample: np.ndarray | None = None
        if leaves is not None:
            stride = leaves.n_samples // ROWS_IN_RESERVOIR
            thin = leaves.thinned(stride) if stride > 1 else None
            for block in (thin or leaves).blocks():
                self.add(block)
            self.n_seen = leaves.n_samples

    @property
    def leaves(self) -> LeafArray:
        """Leaf numbers of the sample."""
        assert self._sample is not None
        return LeafArray(self._sample)

    def copy(self) -> Reservoir:
        """Return a reservoir of its own with the same rows."""
        return deepcopy(self)

    def add(self, leaves: np.ndarray) -> None:
        """Let new rows, leaf numbers of shape (n_trees, rows), take the places of old ones."""
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


def keep_leaves(
    batches: Batches,
    finder: LeafFinder,
    *,
    storage: str,
    memory_limit: float,
    n_jobs: int | None,
    report: Callable[[int], None] = lambda n_rows: None,
) -> LeafRows:
    """Find the leaves of all rows and keep them as the storage, or the size, asks for.

    Parameters
    ----------
    batches : Batches
        Rows; read once, or on every pass with "recompute".
    finder : LeafFinder
        Finds their leaves.
    storage : {"auto", "memory", "disk", "recompute"}
        "auto" is memory up to the limit, then disk, and "recompute" where more than half of the
        free disk would be needed.
    memory_limit : float
        Bytes of leaf numbers that may be kept in memory.
    n_jobs : int or None
        Threads.
    report : callable
        Told how many rows are done, after each batch.
    """
    limit = {"memory": np.inf, "disk": 0}.get(storage, memory_limit)
    keeper = _Keeper(finder, limit, _room_on_disk if storage == "auto" else lambda: np.inf)
    if storage == "recompute" or not keeper.has_room(batches.n_rows or 0):
        return RecomputedLeaves(batches, finder, _count_rows(batches, report), n_jobs)
    if isinstance(batches, RowSlices) and keeper.fits(batches.n_rows):
        return LeafArray(finder.find(batches.rows, n_jobs))
    with ExitStack() as undo:
        undo.callback(keeper.close)
        for batch in batches:
            if not keeper.add(finder.find(batch, n_jobs)):
                return RecomputedLeaves(batches, finder, _count_rows(batches, report), n_jobs)
            report(keeper.n_rows)
        kept = keeper.result()
        undo.pop_all()
    return kept


def _room_on_disk() -> float:
    """Return the bytes that may be written to the temporary folder; none if there is no such."""
    try:
        return SHARE_OF_DISK * shutil.disk_usage(tempfile.gettempdir()).free
    except OSError:
        return 0.0


def _count_rows(batches: Batches, report: Callable[[int], None]) -> int:
    """Return the number of rows, which are read for that where it is not known."""
    if batches.n_rows is not None:
        return batches.n_rows
    n_rows = 0
    for batch in batches:
        n_rows += batch.shape[0]
        report(n_rows)
    return n_rows


class _Keeper:
    """Gathers leaf numbers in even blocks: in memory until the limit, from then on in a file."""

    def __init__(self, finder: LeafFinder, limit: float, find_room: Callable[[], float]):
        self.limit, self.find_room = limit, find_room
        self.row_bytes = finder.n_trees * finder.dtype.itemsize
        self.n_rows = 0
        self.block = np.empty((finder.n_trees, ROWS_PER_BLOCK), finder.dtype)
        self.filled = 0
        self.whole: list[np.ndarray] = []
        self.file: LeafFile | None = None

    @cached_property
    def room(self) -> float:
        """Bytes that may be written, looked for when memory does not do, before there is a file."""
        return self.find_room()

    def fits(self, n_rows: int) -> bool:
        """Return whether so many rows may be kept in memory."""
        return n_rows * self.row_bytes <= self.limit

    def has_room(self, n_rows: int) -> bool:
        """Return whether so many rows may be kept, in memory or in a file."""
        return self.fits(n_rows) or n_rows * self.row_bytes <= self.room

    def add(self, leaves: np.ndarray) -> bool:
        """Take leaf numbers of shape (n_trees, rows); return whether there was room."""
        self.n_rows += leaves.shape[1]
        if not self.has_room(self.n_rows):
            return False
        start = 0
        while start < leaves.shape[1]:
            taken = min(ROWS_PER_BLOCK - self.filled, leaves.shape[1] - start)
            self.block[:, self.filled : self.filled + taken] = leaves[:, start : start + taken]
            self.filled, start = self.filled + taken, start + taken
            if self.filled == ROWS_PER_BLOCK:
                self._flush()
        return True

    def close(self) -> None:
        """Forget all."""
        if self.file is not None:
            self.file.close()

    def result(self) -> LeafRows:
        """Return all that was added."""
        self._flush()
        if self.file is not None:
            return self.file
        return LeafBlocks(self.whole)

    def _flush(self) -> None:
        block, self.filled = self.block[:, : self.filled], 0
        if block.shape[1] == 0:
            return
        held = sum(part.shape[1] for part in self.whole) + block.shape[1]
        if self.file is None and not self.fits(held):
            self.file = LeafFile(self.block.shape[0], self.block.dtype)
            for part in self.whole:
                self.file.append(part)
            self.whole = []
        if self.file is None:
            self.whole.append(block.copy())
        else:
            self.file.append(block)
