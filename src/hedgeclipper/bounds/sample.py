"""A random sample of rows to label, with a record of how it was drawn.

A guarantee needs to know where labels come from: that their rows were drawn at random, from which
rows, and in which order. `draw_sample` draws them, and `Sample` is the record. The order is a
random permutation of the pool, all rows but the excluded ones, and the sample is its first part.
So a larger sample with the same seed begins with the smaller one, and labels may be added in the
order of the draw (`sequential`). It comes from a stream of random numbers of its own: ties among
uncertainties are broken by another one (`whole_file.order_by_uncertainty`), also with the same
seed.

**The record as columns** of the table that people label (`record_columns`, `read_record`): each
line has the number of its row, its position in the order of the draw, and the same short text with
the seed, the sizes and the digest. From these the draw is repeated, so that a row that was
exchanged, added or moved is found, and one that is missing is known. Rows that were left out of
the draw are listed as ranges in a column of their own, continued from line to line.
"""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np

from hedgeclipper.io.arrays import digest_in_order, plain_numbers
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
OTHER_PREDICTIONS = "the test labels have tested other predictions before"
ROW, POSITION, RECORD, EXCLUDED = "row", "position", "record", "excluded"
RECORD_COLUMNS = (ROW, POSITION, RECORD, EXCLUDED)
# spreadsheets cut cells of more than 32,767 characters
CELL = 20_000
# the largest number that a record may have: a seed
MOST = 2**128


@dataclass(eq=False)
class FirstQuestion:
    """The first question that test labels were asked: a guarantee is for this one alone.

    Each answer holds with its confidence by itself. But of many, some is wrong more often: over
    twelve largest errors in about 14% of all samples at 95% confidence. And whoever may choose
    among several predictions after their tests chooses lucky ones: so the question is about those
    that were tested first, whether or not anything was asked of them then.

    Parameters
    ----------
    words : str
        The question; "" before the first one.
    predictions : str
        Digests of the predictions that were tested first, and of what orders them.

    Examples
    --------
    >>> first, rule = FirstQuestion(), np.array([0.1, 0.2])
    >>> first.why_estimate("max_error=0.05", rule), first.why_estimate("max_error=0.05", rule)
    ('', '')
    >>> first.why_estimate("max_error=0.1", rule)
    'the test labels have answered max_error=0.05 before'
    """

    words: str = ""
    predictions: str = ""

    def why_estimate(self, words: str, *predictions: np.ndarray) -> str:
        """Return why the answer to a question is no guarantee; "" if it is the first one.

        Asked again, with the same predictions, it is still the first one. With ``words`` "" nothing
        is asked, and these predictions are the first ones if there were none before. What comes
        first among their arrays may be tested alone, before the others.
        """
        digest = "".join(map(_digest, predictions))
        is_first = digest.startswith(self.predictions)
        if is_first:
            self.predictions = digest
        self.words = self.words or words
        if words != self.words:
            return f"the test labels have answered {self.words} before"
        return "" if is_first else OTHER_PREDICTIONS

    def __deepcopy__(self, memo: Any) -> FirstQuestion:
        """Return this one: labels of a copy have answered what they have."""
        return self


def _digest(values: np.ndarray) -> str:
    """Return a digest of values, the same for strings in an array that could hold longer ones."""
    is_text = values.dtype.kind == "U"
    data = "\0".join(values.tolist()).encode() if is_text else values.tobytes()
    return hashlib.sha256(data).hexdigest()


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
        By which the rows of the file are recognized, in their order (`arrays.digest_in_order`); ""
        if only their number was known.
    n_first : int
        How many rows were drawn at first; fewer than ``rows`` if the sample was extended.
    first_question : FirstQuestion
        What its labels were asked first.

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
    first_question: FirstQuestion = field(default_factory=FirstQuestion)

    @property
    def n_drawn(self) -> int:
        """Number of rows that were drawn."""
        return self.rows.size

    @property
    def pool(self) -> np.ndarray:
        """Positions of the rows it was drawn from, in ascending order."""
        return np.delete(np.arange(self.n_rows), self.excluded)

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
            Number of rows in all, more than there are.

        Returns
        -------
        Sample
            The larger sample; it remembers the size of the first one.
        """
        if n <= self.n_drawn:
            raise ValueError(
                "n must be the number of rows in all, and larger than before. Got "
                f"n={n}, and {self.n_drawn} rows were drawn."
            )
        return replace(self, rows=_draw(self.n_rows, self.excluded, n, self.seed))

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
                "the rows as they were, or draw a new sample. If only columns were changed or left "
                "out, and the labels have tested nothing yet, draw_sample with the same n, seed "
                "and excluded draws the same rows."
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
        if self.is_extended:
            text += f", {self.n_first:,} of them first" if self.n_first else ", one after the other"
        return text

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
    left_out = row_positions(excluded, n_rows, "excluded")
    drawn = _draw(n_rows, left_out, n, seed)
    return Sample(drawn, n_rows, left_out, int(seed), digest, drawn.size)


def _draw(n_rows: int, excluded: np.ndarray, n: int, seed: int) -> np.ndarray:
    pool = np.delete(np.arange(n_rows), excluded)
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n must be a whole number, at least 1. Got {n!r}.")
    if n > pool.size:
        more = f" without a label ({excluded.size:,} more have one)" if excluded.size else ""
        raise ValueError(
            f"{n:,} rows cannot be drawn: there are {pool.size:,} rows{more}. Ask for fewer, or "
            "pass more rows."
        )
    if not (isinstance(seed, Integral) and 0 <= int(seed) <= MOST):
        raise ValueError(f"seed must be a whole number from 0 to 2**128. Got {seed!r}.")
    sequence = np.random.SeedSequence(int(seed), spawn_key=(SAMPLE_STREAM,))
    return pool[np.random.default_rng(sequence).permutation(pool.size)[:n]]


def _count_rows(rows: Any) -> tuple[int, str]:
    """Return the number of rows, and their digest if these are rows."""
    if isinstance(rows, Integral) and not isinstance(rows, bool):
        if rows < 0:
            raise ValueError(f"The number of rows must not be negative. Got {rows}.")
        return int(rows), ""
    if is_frame(rows):
        return int(rows.shape[0]), digest_in_order(rows)
    rows = np.asarray(rows) if isinstance(rows, (list, tuple)) else rows
    n_axes = len(getattr(rows, "shape", ()))
    if n_axes not in (1, 2) or type(rows).__module__.startswith("dask"):
        kind = f"an array of {n_axes} dimensions" if n_axes > 2 else type(rows).__name__
        raise TypeError(
            "rows must be an array, a sparse matrix, a frame of pandas, polars or Arrow, or the "
            f"number of rows. Got {kind}. For files, Dask and batches, pass the "
            "number of rows: rows are drawn by their number."
        )
    matrix = rows if n_axes == 2 else np.asarray(rows).reshape(-1, 1)
    if matrix.dtype.kind not in "biuf":
        matrix = np.column_stack([plain_numbers(column.astype(object)) for column in matrix.T])
    return int(matrix.shape[0]), digest_in_order(matrix)


def row_positions(rows: Any, n_rows: int, name: str) -> np.ndarray:
    """Return rows that are given as a mask or by their positions, in ascending order.

    ``name`` is that of the argument, for errors; None is no row.
    """
    given = np.asarray([] if rows is None else rows)
    if given.dtype == bool and given.shape == (n_rows,):
        return np.flatnonzero(given)
    if given.size == 0:
        return np.zeros(0, np.int64)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be positions of rows, or a mask of shape ({n_rows},). Got dtype "
            f"{given.dtype}, shape {given.shape}."
        )
    outside = given[(given < 0) | (given >= n_rows)]
    if outside.size:
        raise ValueError(f"{name} must be rows 0 to {n_rows - 1}. Got row {outside[0]}.")
    return np.unique(given)


def format_record(facts: Mapping[str, Any]) -> str:
    """Return facts in one line of text: ``name=value name=value``.

    Examples
    --------
    >>> format_record({"seed": 0, "rows": 5000})
    'seed=0 rows=5000'
    """
    return " ".join(f"{name}={value}" for name, value in facts.items())


def parse_record(cells: Sequence[Any], *names: str) -> dict[str, str]:
    """Return the facts that cells of a column hold, all the same; others are blank.

    Examples
    --------
    >>> parse_record(["", "seed=0 rows=5000"], "seed", "rows")
    {'seed': '0', 'rows': '5000'}
    """
    texts = {str(cell).strip() for cell in cells if cell is not None and cell == cell}
    texts -= {""}
    if len(texts) != 1:
        raise ValueError(
            f"The column {RECORD!r} must have one record. Got {len(texts)}"
            f"{': ' + '; '.join(sorted(texts)[:2]) if texts else ''}. Leave it as it was written."
        )
    text = texts.pop()
    facts = dict(part.split("=", 1) for part in text.split() if "=" in part)
    missing = [name for name in names if name not in facts]
    if missing:
        raise ValueError(
            f"The record {text!r} has no {missing[0]!r}. Leave the column {RECORD!r} as it was "
            "written."
        )
    return facts


def record_columns(sample: Sample, n_columns: int) -> dict[str, list]:
    """Return the columns that record a sample, a line for each of its rows.

    Parameters
    ----------
    sample : Sample
        The sample.
    n_columns : int
        Number of columns behind its digest.

    Returns
    -------
    dict of str to list
        "row", "position" (from 1), "record", and "excluded" if rows were left out.

    Examples
    --------
    >>> columns = record_columns(draw_sample(100, 2, excluded=[3, 4, 5, 9]), n_columns=0)
    >>> columns["row"], columns["position"], columns["excluded"]
    ([95, 40], [1, 2], ['3..5 9', ''])
    >>> columns["record"][0]
    'seed=0 drawn=2 first=2 rows=100 columns=0 digest=none'
    """
    facts = {
        "seed": sample.seed,
        "drawn": sample.n_drawn,
        "first": sample.n_first,
        "rows": sample.n_rows,
        "columns": n_columns,
        "digest": sample.digest or "none",
    }
    n = sample.n_drawn
    columns = {
        ROW: sample.rows.tolist(),
        POSITION: list(range(1, n + 1)),
        RECORD: [format_record(facts)] * n,
    }
    if sample.excluded.size:
        parts = np.split(sample.excluded, np.flatnonzero(np.diff(sample.excluded) != 1) + 1)
        ranges = (str(p[0]) if p.size == 1 else f"{p[0]}..{p[-1]}" for p in parts)
        cells = textwrap.wrap(" ".join(ranges), CELL)
        if len(cells) > n:
            raise ValueError(
                f"{sample.excluded.size:,} rows that are left out cannot be recorded in {n:,} "
                "lines. Draw more rows, or put the rows without a label into a file of their own."
            )
        columns[EXCLUDED] = cells + [""] * (n - len(cells))
    return columns


def read_record(
    columns: Mapping[str, Sequence[Any]], n_file: int
) -> tuple[Sample, np.ndarray, int]:
    """Return the sample that columns record, and for each line which of its rows it has.

    A row that was not drawn, or at another position, is an error.

    Parameters
    ----------
    columns : mapping of str to sequence
        The columns of `record_columns`, such as a frame; lines may be in another order, or
        missing.
    n_file : int
        Number of rows of the file; a record of another number is an error.

    Returns
    -------
    sample : Sample
        The sample, drawn again. `Sample.check` tells whether it was drawn from some rows.
    places : ndarray of int of shape (n_lines,)
        Place of each line in the order of the draw, from 0.
    n_columns : int
        Number of columns behind the digest.

    Examples
    --------
    >>> columns = record_columns(draw_sample(100, 3), n_columns=0)
    >>> columns = {name: cells[::-1] for name, cells in columns.items()}
    >>> sample, places, _ = read_record(columns, 100)
    >>> np.array_equal(sample.rows, draw_sample(100, 3).rows), places
    (True, array([2, 1, 0]))
    """
    names = "seed", "drawn", "first", "rows", "columns", "digest"
    facts = parse_record(columns[RECORD], *names)
    seed, n, n_first, n_rows, n_columns = (_whole(facts[name], RECORD) for name in names[:-1])
    digest = "" if facts["digest"] == "none" else facts["digest"]
    nothing = np.zeros(0, np.int64)
    sample = Sample(nothing, n_rows, nothing, seed, digest, n_first)
    sample.check(n_file)  # before the draw, since any number may be written
    if not n_first <= n <= n_rows:
        raise ValueError(
            f"The record says that {n_first:,} of {n:,} rows were drawn at first, from {n_rows:,}. "
            f"Leave the column {RECORD!r} as it was written."
        )
    places = np.array([_whole(cell, POSITION, n, 1) for cell in columns[POSITION]], np.int64) - 1
    given = np.array([_whole(cell, ROW, n_rows - 1) for cell in columns[ROW]], np.int64)
    excluded = _excluded(columns.get(EXCLUDED), places, n_rows)
    drawn = draw_sample(n_rows, n, seed=seed, excluded=excluded)
    sample = replace(sample, rows=drawn.rows, excluded=excluded)
    changed = np.flatnonzero(given != sample.rows[places])
    if changed.size:
        at = changed[0]
        raise ValueError(
            f"{changed.size:,} rows are not those that were drawn: row {given[at]} is at position "
            f"{places[at] + 1}, where row {sample.rows[places[at]]} was drawn with seed {seed}. "
            "A sample must not be changed after the draw."
        )
    return sample, places, n_columns


def _excluded(cells: Sequence[Any] | None, places: np.ndarray, n_rows: int) -> np.ndarray:
    if cells is None:
        return np.zeros(0, np.int64)
    texts = {
        int(place): str(cell) for place, cell in zip(places, cells, strict=True) if cell == cell
    }
    if 0 not in texts:
        raise ValueError(
            "The line of position 1 is missing. It records which rows were left out of the draw. "
            "Leave all lines in the file; a label may stay empty."
        )
    left_out, start = np.zeros(n_rows, bool), 0
    for place in sorted(texts):
        for word in texts[place].replace("None", "").split():
            first, _, last = word.partition("..")
            low, high = (_whole(end, EXCLUDED, n_rows - 1) for end in (first, last or first))
            if not start <= low <= high:
                raise ValueError(
                    f"The column {EXCLUDED!r} must hold rows in ascending order. Got {word!r} "
                    f"after row {start - 1}. Leave it as it was written."
                )
            start = high + 1
            left_out[low:start] = True
    return np.flatnonzero(left_out)


def _whole(cell: Any, column: str, most: int = MOST, least: int = 0) -> int:
    text = str(cell).strip().removesuffix(".0")
    if not (text.isdecimal() and len(text) <= len(str(MOST)) and least <= int(text) <= most):
        raise ValueError(
            f"The column {column!r} must hold whole numbers from {least} to {most}. Got "
            f"{text[:50]!r}. Leave it as it was written."
        )
    return int(text)
