"""What to do with each column of a table, and what may be wrong with that."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from hedgeclipper.panel.member_frames import MOST_VALUES

DATE_FORMATS = ("ISO8601", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d")
OWN_TEXT = 0.5
MOSTLY_NUMBERS = 0.9


@dataclass(frozen=True)
class ColumnPlan:
    """What is done with one column.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"numbers", "words", "dates", "left out"}
        What it holds.
    what : str
        What is done with it, in words.
    date_format : str or None
        How dates that are text are read.
    doubt : str or None
        Why this may be wrong, in words.
    """

    name: str
    kind: str
    what: str
    date_format: str | None = None
    doubt: str | None = None

    @property
    def stays(self) -> bool:
        """Whether nothing is done with it."""
        return (self.kind, self.what) == ("numbers", "as they are")


def plan_column(column: pd.Series) -> ColumnPlan:
    """Return what to do with a column of all rows."""
    name, present = str(column.name), column.dropna()
    n_missing = len(column) - len(present)
    if present.empty:
        return ColumnPlan(name, "left out", "all values are missing")
    kind = kind_of(present)
    if kind is None:
        return ColumnPlan(name, "left out", f"its type, {column.dtype}, cannot be used")
    n_values = present.nunique()
    if n_values == 1 and n_missing == 0:
        return ColumnPlan(name, "left out", "it has the same value everywhere")
    if kind == "numbers":
        marked = f"; {n_missing:,} missing, marked in a column of their own" if n_missing else ""
        return ColumnPlan(name, kind, f"as they are{marked}")
    date_format = _date_format(present) if kind == "words" else None
    if kind == "dates" or date_format is not None:
        read = f", read as {date_format}" if date_format else ""
        missing = f"; {n_missing:,} missing" if n_missing else ""
        what = f"day, month and weekday{read}{missing}"
        return ColumnPlan(name, "dates", what, date_format, _doubt_of_dates(present, date_format))
    doubt = _doubt_of_words(present)
    if n_values > MOST_VALUES and n_values > OWN_TEXT * len(present):
        what = f"text of its own in most rows ({n_values:,} values)"
        return ColumnPlan(name, "left out", what, doubt=doubt)
    return ColumnPlan(name, "words", _word_plan(n_values, n_missing), doubt=doubt)


def _doubt_of_dates(present: pd.Series, date_format: str | None) -> str | None:
    """Say so if days and months could be read the other way round as well."""
    swapped = {"%d/%m/%Y": "%m/%d/%Y"}.get(date_format or "")
    if swapped is None or as_dates(present, swapped).isna().any():
        return None
    return f"{present.iloc[0]} may begin with the day or the month, and is read with the day first"


def _doubt_of_words(present: pd.Series) -> str | None:
    """Say so if most words look like numbers, and show one that does not, or one with a comma."""
    words = present.astype(str).str.strip()
    commas = words.str.fullmatch(r"[-+]?\d+,\d+")
    if commas.mean() > MOSTLY_NUMBERS:
        return f"{words[commas].iloc[0]!r} is taken as a word; write a number with a point"
    numbers = pd.to_numeric(words, errors="coerce").notna()
    if MOSTLY_NUMBERS < numbers.mean() < 1:
        n_words = int((~numbers).sum())
        return (
            f"{words[~numbers].iloc[0]!r} and the like in {n_words:,} rows make its numbers words; "
            "leave the place of a missing number empty"
        )
    return None


def _word_plan(n_values: int, n_missing: int) -> str:
    each = f"{n_values:,} values, a column of 0 and 1 for each"
    if n_values > MOST_VALUES:
        each = f"{n_values:,} values, a column for each of the {MOST_VALUES - 1} most common"
    return each + (f"; {n_missing:,} missing are a value too" if n_missing else "")


def plain_numbers(n_missing: int) -> str:
    """Say what is done with a column of numbers where all columns are."""
    return "as they are" + (f"; {n_missing:,} missing stay so" if n_missing else "")


def kind_of(present: pd.Series) -> str | None:
    """Return what a column without missing values holds; None for what cannot be used."""
    if present.dtype.kind in "biuf":
        return "numbers"
    if present.dtype.kind == "M":
        return "dates"
    inferred = pd.api.types.infer_dtype(present)
    if inferred == "boolean":
        return "numbers"
    return "words" if inferred in ("string", "categorical", "mixed-integer") else None


def _date_format(present: pd.Series) -> str | None:
    """Return how all values of a column of words can be read as dates; None if they cannot."""
    words = present.astype(str)
    if not words.str.contains(r"\d[-/.]\d").all():
        return None
    for date_format in DATE_FORMATS:
        if not as_dates(words, date_format).isna().any():
            return date_format
    return None


def as_dates(column: pd.Series, date_format: str | None) -> pd.Series:
    """Return a column as dates in UTC; what cannot be read is missing."""
    if column.dtype.kind != "M":
        column = column.astype(object)
    return pd.to_datetime(column, format=date_format, errors="coerce", utc=True)
