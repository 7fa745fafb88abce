"""What to do with each column of a frame, and what may be wrong with that."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from hedgeclipper.io import as_text, missing_labels

MOST_VALUES = 50
DATE_FORMATS = ("ISO8601", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y-%m")
OWN_TEXT = 0.5
MOSTLY_NUMBERS = 0.9


@dataclass(frozen=True)
class ColumnPlan:
    """What is done with one column.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"numbers", "categories", "dates", "left out"}
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


def plan_column(name: Any, values: np.ndarray) -> ColumnPlan:
    """Return what to do with a column.

    Parameters
    ----------
    name : str
        Its name.
    values : ndarray of shape (n_samples,)
        Its values in all rows, as `hedgeclipper.io.frame_arrays` reads them.
    """
    present = values[~missing_labels(values)]
    n_missing = len(values) - len(present)
    kind = kind_of(values)
    if kind == "nothing":
        return ColumnPlan(name, "left out", "all values are missing")
    if kind is None:
        return ColumnPlan(name, "left out", f"its type, {values.dtype}, cannot be used")
    n_values = len(set(present.tolist()))
    if n_values == 1 and n_missing == 0:
        return ColumnPlan(name, "left out", "it has the same value everywhere")
    if kind == "numbers":
        marked = f"; {n_missing:,} missing, marked in a column of their own" if n_missing else ""
        return ColumnPlan(name, kind, f"as they are{marked}")
    texts = as_text(present).tolist() if kind == "categories" else []
    date_format = _date_format(texts)
    if kind == "dates" or date_format is not None:
        read = f", read as {date_format}" if date_format else ""
        missing = f"; {n_missing:,} missing" if n_missing else ""
        what = f"day, month and weekday{read}{missing}"
        return ColumnPlan(name, "dates", what, date_format, _doubt_of_dates(texts, date_format))
    doubt = _doubt_of_categories(texts)
    if n_values > MOST_VALUES and n_values > OWN_TEXT * len(present):
        what = f"text of its own in most rows ({n_values:,} values)"
        return ColumnPlan(name, "left out", what, doubt=doubt)
    each = f"{n_values:,} values, a column of 0 and 1 for each"
    if n_values > MOST_VALUES:
        each = f"{n_values:,} values, a column for each of the {MOST_VALUES - 1} most common"
    also = f"; {n_missing:,} missing are a value too" if n_missing else ""
    return ColumnPlan(name, kind, each + also, doubt=doubt)


def plain_numbers(n_missing: int) -> str:
    """Say what is done with a column of numbers where all columns are."""
    return "as they are" + (f"; {n_missing:,} missing stay so" if n_missing else "")


def kind_of(values: np.ndarray) -> str | None:
    """Return what a column holds: numbers, categories, dates or nothing; None for anything else."""
    present = values[~missing_labels(values)]
    if present.size == 0:
        return "nothing"
    if values.dtype.kind != "O":
        return {**dict.fromkeys("biuf", "numbers"), "M": "dates"}.get(values.dtype.kind)
    types = set(map(type, present))
    if all(issubclass(one, (Real, Decimal, np.bool_)) for one in types):
        return "numbers"
    if all(issubclass(one, (date, np.datetime64)) for one in types):
        return "dates"
    is_text = any(issubclass(one, str) for one in types)
    texts = all(issubclass(one, (str, Real, Decimal, np.bool_)) for one in types)
    return "categories" if is_text and texts else None


def as_numbers(name: Any, values: np.ndarray) -> np.ndarray:
    """Return a column as float64, NaN where it is missing, or say that it does not hold numbers."""
    try:
        if values.dtype.kind == "O":
            values = np.where(missing_labels(values), np.nan, values)
        elif values.dtype.kind not in "biuf":
            raise TypeError(f"got {values.dtype}")
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Column {name!r} must hold numbers, as in the rows the model was fitted to "
            f"({error}). Correct it; leave the place of a missing number empty."
        ) from error


def as_dates(values: np.ndarray, date_format: str | None) -> np.ndarray:
    """Return a column as datetime64 in UTC; what cannot be read is missing."""
    if values.dtype.kind == "M":
        return values.astype("datetime64[us]")
    missing = missing_labels(values)
    found = {value: _date_of(value, date_format) for value in set(values[~missing].tolist())}
    dates = np.full(values.shape, np.datetime64("NaT"), dtype="datetime64[us]")
    dates[~missing] = [found[value] for value in values[~missing].tolist()]
    return dates


def _date_of(value: Any, date_format: str | None) -> Any:
    """Return a date, or text that is one, without a time zone; None for anything else."""
    if isinstance(value, str):
        try:
            is_iso = date_format in (None, "ISO8601")
            value = (
                datetime.fromisoformat(value)
                if is_iso
                else datetime.strptime(value, str(date_format))
            )
        except ValueError:
            return None
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value if isinstance(value, date) else None


def _date_format(texts: list[str]) -> str | None:
    """Return how all of these strings can be read as dates; None if they cannot, or are none."""
    different = set(texts)
    if not different or not all(re.search(r"\d[-/.]\d", text) for text in different):
        return None
    formats = (one for one in DATE_FORMATS if all(_date_of(text, one) for text in different))
    return next(formats, None)


def _doubt_of_dates(texts: list[str], date_format: str | None) -> str | None:
    """Say so if days and months could be read the other way round as well."""
    if date_format != "%d/%m/%Y" or not all(_date_of(text, "%m/%d/%Y") for text in set(texts)):
        return None
    return f"{texts[0]} may begin with the day or the month, and is read with the day first"


def _doubt_of_categories(texts: list[str]) -> str | None:
    """Say so if most strings look like numbers, and show one that does not, or has a comma."""
    texts = [text.strip() for text in texts]
    commas = [text for text in texts if re.fullmatch(r"[-+]?\d+,\d+", text)]
    if len(commas) > MOSTLY_NUMBERS * len(texts):
        return f"{commas[0]!r} is taken as a word; write a number with a point"
    others = [text for text in texts if not _is_number(text)]
    if others and len(texts) - len(others) > MOSTLY_NUMBERS * len(texts):
        return (
            f"{others[0]!r} and the like in {len(others):,} rows make its numbers words; leave the "
            "place of a missing number empty"
        )
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
