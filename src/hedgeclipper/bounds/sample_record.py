"""The record of a random sample as columns of the table that people label.

Each line has the number of its row, its position in the order of the draw, and the same short text
with the seed, the sizes and the digest. From these the draw is repeated, so that a row that was
exchanged, added or moved is found, and one that is missing is known. Rows that were left out of
the draw are listed as ranges in a column of their own, continued from line to line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hedgeclipper.bounds.random_sample import Sample, draw_sample

ROW, POSITION, RECORD, EXCLUDED = "row", "position", "record", "excluded"
RECORD_COLUMNS = (ROW, POSITION, RECORD, EXCLUDED)
# spreadsheets cut cells of more than 32,767 characters
CELL = 20_000


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
        cells = _cells(_ranges(sample.excluded))
        if len(cells) > n:
            raise ValueError(
                f"{sample.excluded.size:,} rows that are left out cannot be recorded in {n:,} "
                "lines. Draw more rows, or put the rows without a label into a file of their own."
            )
        columns[EXCLUDED] = cells + [""] * (n - len(cells))
    return columns


def read_record(
    columns: Mapping[str, Sequence[Any]], rows: Any = None
) -> tuple[Sample, np.ndarray, int]:
    """Return the sample that columns record, and for each line which of its rows it has.

    A row that was not drawn, or at another position, is an error.

    Parameters
    ----------
    columns : mapping of str to sequence
        The columns of `record_columns`, such as a frame; lines may be in another order, or
        missing.
    rows : array-like, sparse matrix, frame or int, default=None
        The rows that it should have been drawn from, or their number; others are an error.

    Returns
    -------
    sample : Sample
        The sample, drawn again.
    places : ndarray of int of shape (n_lines,)
        Place of each line in the order of the draw, from 0.
    n_columns : int
        Number of columns behind the digest.

    Examples
    --------
    >>> columns = record_columns(draw_sample(100, 3), n_columns=0)
    >>> sample, places, _ = read_record({name: cells[::-1] for name, cells in columns.items()})
    >>> np.array_equal(sample.rows, draw_sample(100, 3).rows), places
    (True, array([2, 1, 0]))
    """
    names = "seed", "drawn", "first", "rows", "columns", "digest"
    facts = parse_record(columns[RECORD], *names)
    seed, n, n_first, n_rows, n_columns = (_whole(facts[name], RECORD) for name in names[:-1])
    places = np.array([_whole(cell, POSITION) for cell in columns[POSITION]], np.int64) - 1
    given = np.array([_whole(cell, ROW) for cell in columns[ROW]], np.int64)
    excluded = _excluded(columns.get(EXCLUDED), places)
    drawn = draw_sample(n_rows, n, seed=seed, excluded=excluded)
    digest = "" if facts["digest"] == "none" else facts["digest"]
    sample = Sample(drawn.rows, n_rows, drawn.excluded, seed, digest, n_first)
    outside = places[(places < 0) | (places >= n)]
    if outside.size:
        raise ValueError(
            f"Position {outside[0] + 1} is not in the sample, which has {n:,} rows. Leave the "
            f"column {POSITION!r} as it was written."
        )
    changed = np.flatnonzero(given != sample.rows[places])
    if changed.size:
        at = changed[0]
        raise ValueError(
            f"{changed.size:,} rows are not those that were drawn: row {given[at]} is at position "
            f"{places[at] + 1}, where row {sample.rows[places[at]]} was drawn with seed {seed}. "
            "A sample must not be changed after the draw."
        )
    if rows is not None:
        sample.check(rows)
    return sample, places, n_columns


def _ranges(rows: np.ndarray) -> list[str]:
    """Return ascending numbers as ranges: 3..5 for 3, 4 and 5."""
    parts = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1)
    return [str(part[0]) if part.size == 1 else f"{part[0]}..{part[-1]}" for part in parts]


def _cells(words: list[str]) -> list[str]:
    """Return words in as few cells as can hold them."""
    cells, size = [[words[0]]], len(words[0])
    for word in words[1:]:
        size += len(word) + 1
        if size > CELL:
            cells.append([])
            size = len(word)
        cells[-1].append(word)
    return [" ".join(cell) for cell in cells]


def _excluded(cells: Sequence[Any] | None, places: np.ndarray) -> np.ndarray:
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
    found = []
    for place in sorted(texts):
        for word in texts[place].replace("None", "").split():
            first, _, last = word.partition("..")
            found.append(np.arange(_whole(first, EXCLUDED), _whole(last or first, EXCLUDED) + 1))
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _whole(cell: Any, column: str) -> int:
    try:
        number = float(cell)
        if number != int(number):
            raise ValueError
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"The column {column!r} must hold whole numbers. Got {cell!r}. Leave it as it was "
            "written."
        ) from error
    return int(number)
