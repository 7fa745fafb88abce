"""Columns that only number or name the rows, and would be learned by heart."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from hedgeclipper.cli.table_files import Files

# fewer rows may be numbered by accident
LEAST_ROWS = 20
_FIRST_ROWS = 1000
# how pandas, R and spreadsheets call the index that they have written
_INDEX = re.compile(r"|unnamed: ?\d+|row_?names?|(row|record)[ _.]?(index|id|number|no|nr)", re.I)
_ID = re.compile(r"(.*[\W_])?(id|uuid|guid|key)|index|row|.*[a-z\d](Id|ID|Key)")


def find_id_columns(files: Files, names: Sequence[str]) -> dict[str, str]:
    """Return which of these columns only tell rows apart, and why that seems so.

    These are the index of a frame, numbers that count the rows from 0 or 1, and whole numbers with
    the name of an id of which none is there twice. Strings are left to the encoder.
    """
    reasons = {name: "it is the index of the rows" for name in names if _INDEX.fullmatch(name)}
    whole = [n for n in names if n not in reasons and _is_whole(files.schema.field(n).type)]
    if not whole:
        return reasons
    first = next(files.tables[0].batches(whole, None, _FIRST_ROWS), None)
    for name in whole:
        # most columns are known by their first rows to be none
        if first is not None and _reason(name, [first.column(name)]) is not None:
            parts = [table.table([name]).column(0) for table in files.tables]
            reason = _reason(name, parts)
            if reason is not None:
                reasons[name] = reason
    return {name: reasons[name] for name in names if name in reasons}


def _is_whole(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind)


def _reason(name: str, parts: Sequence[pa.Array]) -> str | None:
    """Return why a column tells rows apart only, given its values in each file; None if not so."""
    if any(part.null_count for part in parts) or sum(map(len, parts)) < LEAST_ROWS:
        return None
    numbers = [part.to_numpy().astype(np.float64) for part in parts if len(part)]
    if all(_counts(part) for part in numbers) or _counts(np.concatenate(numbers)):
        return "it numbers the rows"
    whole = np.concatenate(numbers)
    if _ID.fullmatch(name) or _ID.fullmatch(name.lower()):
        return "it is an id, different in each row" if np.unique(whole).size == whole.size else None
    return None


def _counts(numbers: np.ndarray) -> bool:
    return numbers[0] in (0, 1) and bool(np.all(np.diff(numbers) == 1))
