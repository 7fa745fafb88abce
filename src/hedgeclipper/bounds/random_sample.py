"""A random sample of rows to label, with a record of how it was drawn.

A guarantee needs to know where labels come from: that their rows were drawn at random, from which
rows, and in which order. `draw_sample` draws them, and `Sample` is the record. The order is a
random permutation of the pool, all rows but the excluded ones, and the sample is its first part.
So a larger sample with the same seed begins with the smaller one, and labels may be added in the
order of the draw (`sequential`).

The order comes from a stream of random numbers of its own: ties among uncertainties are broken by
another one (`whole_file.order_by_uncertainty`), also with the same seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from hedgeclipper.io.digests import digest_in_order, plain_numbers
from hedgeclipper.io.frames import is_frame

SAMPLE_STREAM = 0x5A3B
# why there is no guarantee
LABELED_AFTER = (
    "rows outside of the sample were labeled after the draw, so that the sample tells less of the "
    "rows that are left; draw a new one"
)
EXTENDED_SAMPLE = (
    "rows were added to the sample after the first draw, which needs the sequential test from the "
    "first look on"
)


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows that were drawn at random to be labeled, and how.

    Parameters
    ----------
    rows : ndarray of int of shape (n_drawn,)
        Positions of the rows in the file, from 0, in the order of the draw.
    n_rows : int
        Number of rows of the file.
    excluded : ndarray of int of shape (n_excluded,)
        Rows that could not be drawn, since they had a label already; in ascending order.
    seed : int
        Seed of the random order.
    digest : str
        By which the rows of the file are recognized, in their order (`digests.digest_in_order`); ""
        if only their number was known.
    n_first : int
        How many rows were drawn at first; fewer than ``rows`` if the sample was extended.

    Examples
    --------
    >>> sample = draw_sample(1000, 5, seed=3)
    >>> print(sample.describe())
    5 of 1,000 rows, drawn at random with seed 3
    """

    rows: np.ndarray
    n_rows: int
    excluded: np.ndarray
    seed: int
    digest: str
    n_first: int

    @property
    def n_drawn(self) -> int:
        """Number of rows that were drawn."""
        return self.rows.size

    @property
    def pool(self) -> np.ndarray:
        """Positions of the rows it was drawn from, in ascending order."""
        return _pool(self.n_rows, self.excluded)

    @property
    def is_extended(self) -> bool:
        """Whether rows were added after the first draw."""
        return self.n_first < self.n_drawn

    def extended(self, n: int) -> Sample:
        """Return the first ``n`` rows of the same random order.

        Labels that are added because a result was not good enough need a test that is valid at
        every look: ``audit(..., sequential=True)``, from the first look on.

        Parameters
        ----------
        n : int
            Number of rows, at least as many as there are.

        Returns
        -------
        Sample
            The larger sample; it remembers the size of the first one.
        """
        if n < self.n_drawn:
            raise ValueError(
                f"A sample cannot become smaller. Got n={n}, and {self.n_drawn} rows were drawn."
            )
        rows = _draw(self.n_rows, self.excluded, n, self.seed)
        return Sample(rows, self.n_rows, self.excluded, self.seed, self.digest, self.n_first)

    def check(self, rows: Any) -> None:
        """Raise unless these are the rows that the sample was drawn from, in the same order.

        Parameters
        ----------
        rows : array-like, sparse matrix, frame or int
            The rows, or their number.
        """
        n_rows, digest = _count_rows(rows)
        if n_rows != self.n_rows:
            raise ValueError(
                f"The sample was drawn from {self.n_rows:,} rows. Got {n_rows:,}. Pass the rows "
                "that it was drawn from."
            )
        if digest and self.digest and digest != self.digest:
            raise ValueError(
                "These are not the rows that the sample was drawn from, or their order has "
                f"changed: their digest is {digest} and that of the sample {self.digest}. Pass "
                "the rows as they were, or draw a new sample."
            )

    def why_estimate(self, labeled: np.ndarray) -> str:
        """Return why labels of these rows allow no guarantee by a fixed test; "" if they do.

        Parameters
        ----------
        labeled : ndarray of int
            All rows of the file that have a label. Those that the draw excluded must be among
            them.
        """
        lost = np.setdiff1d(self.excluded, labeled)
        if lost.size:
            raise ValueError(
                f"{lost.size:,} rows were left out of the draw since they had a label, and have "
                f"none now, such as row {lost[0]}. Pass their labels, too, or draw a new sample."
            )
        if np.setdiff1d(labeled, np.append(self.rows, self.excluded)).size:
            return LABELED_AFTER
        return EXTENDED_SAMPLE if self.is_extended else ""

    def describe(self) -> str:
        """Return what was drawn from what, in one sentence."""
        pool = self.n_rows - self.excluded.size
        text = f"{self.n_drawn:,} of {pool:,} rows, drawn at random with seed {self.seed}"
        if self.excluded.size:
            text += f" ({self.excluded.size:,} more rows had a label already)"
        return text + (f", at first {self.n_first:,}" if self.is_extended else "")

    def __repr__(self) -> str:
        return f"<Sample: {self.describe()}>"


def draw_sample(rows: Any, n: int, *, seed: int = 0, excluded: Any = None) -> Sample:
    """Return rows to label, drawn at random, with a record of how they were drawn.

    Parameters
    ----------
    rows : array-like, sparse matrix, frame or int
        The rows to draw from, or their number. Rows themselves are recorded by a digest, so that a
        file that has changed in the meantime is recognized.
    n : int
        Number of rows to draw.
    seed : int, default=0
        Seed of the random order. It is part of the record.
    excluded : array-like of int, or mask of shape (n_rows,), default=None
        Rows that have a label already. They are not drawn, and the labels of the sample tell of
        the other rows.

    Returns
    -------
    Sample
        Positions of the rows in the order of the draw, and the record.

    Examples
    --------
    >>> draw_sample(1000, 5, seed=3).rows
    array([564, 404, 819, 994, 183])
    >>> draw_sample(1000, 3, seed=3).rows
    array([564, 404, 819])
    """
    n_rows, digest = _count_rows(rows)
    left_out = _positions(excluded, n_rows)
    drawn = _draw(n_rows, left_out, n, seed)
    return Sample(drawn, n_rows, left_out, int(seed), digest, drawn.size)


def _draw(n_rows: int, excluded: np.ndarray, n: int, seed: int) -> np.ndarray:
    pool = _pool(n_rows, excluded)
    if not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n must be a whole number, at least 1. Got {n!r}.")
    if n > pool.size:
        more = f" without a label ({excluded.size:,} more have one)" if excluded.size else ""
        raise ValueError(f"n={n:,} rows cannot be drawn: there are {pool.size:,}{more}.")
    if not isinstance(seed, Integral) or seed < 0:
        raise ValueError(f"seed must be a whole number and not negative. Got {seed!r}.")
    sequence = np.random.SeedSequence(int(seed), spawn_key=(SAMPLE_STREAM,))
    return pool[np.random.default_rng(sequence).permutation(pool.size)[:n]]


def _pool(n_rows: int, excluded: np.ndarray) -> np.ndarray:
    inside = np.ones(n_rows, bool)
    inside[excluded] = False
    return np.flatnonzero(inside)


def _count_rows(rows: Any) -> tuple[int, str]:
    """Return the number of rows, and their digest if these are rows."""
    if isinstance(rows, Integral) and not isinstance(rows, bool):
        return int(rows), ""
    if is_frame(rows):
        return int(rows.shape[0]), digest_in_order(rows)
    rows = np.asarray(rows) if isinstance(rows, (list, tuple)) else rows
    if not hasattr(rows, "shape") or type(rows).__module__.startswith("dask"):
        raise TypeError(
            "rows must be an array, a sparse matrix, a frame of pandas, polars or Arrow, or the "
            f"number of rows. Got {type(rows).__name__}. For files, Dask and batches, pass the "
            "number of rows: rows are drawn by their number."
        )
    matrix = rows if len(rows.shape) == 2 else np.asarray(rows).reshape(-1, 1)
    if matrix.dtype.kind not in "biuf":
        matrix = np.column_stack([plain_numbers(column.astype(object)) for column in matrix.T])
    return int(matrix.shape[0]), digest_in_order(matrix)


def _positions(excluded: Any, n_rows: int) -> np.ndarray:
    """Return rows that are given as a mask or by their positions, in ascending order."""
    given = np.asarray([] if excluded is None else excluded)
    if given.dtype == bool and given.shape == (n_rows,):
        return np.flatnonzero(given)
    if given.size == 0:
        return np.zeros(0, np.int64)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ValueError(
            f"excluded must be positions of rows, or a mask of shape ({n_rows},). Got dtype "
            f"{given.dtype}, shape {given.shape}."
        )
    outside = given[(given < 0) | (given >= n_rows)]
    if outside.size:
        raise ValueError(f"Excluded rows must be 0 to {n_rows - 1}. Got row {outside[0]}.")
    return np.unique(given)
