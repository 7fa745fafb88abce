"""What to do with a column of a frame: which kind it is, and how its values are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from hedgeclipper.io import as_text, missing_labels
from hedgeclipper.io.frames import is_float

MOST_VALUES = 50
DATE_FORMATS = ("ISO8601", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y-%m")
# a column of strings is left out if more than this proportion of its values differ
OWN_TEXT = 0.5
# or if all are different in so many rows or more
MANY_UNIQUE = 20
# strings of which more than this proportion are numbers were probably meant as numbers
MOSTLY_NUMBERS = 0.9
# digits in groups of three or without commas, with a currency before or after, or a percent sign
_AMOUNT = re.compile(
    r"[-+]?[$€£¥]?\s?[-+]?(\d{1,3}(,\d{3})+|\d+)?(\.\d*)?(?<=[\d.])(e[-+]?\d+)?\s?[$€£¥%]?", re.I
)
_DAY = np.timedelta64(1, "D")
_EPOCH_WEEKDAY = 3  # 1970 began on a Thursday


@dataclass(frozen=True)
class ColumnPlan:
    """What is done with one column."""

    name: str
    # "numbers", "categories", "dates" or "left out"
    kind: str
    # what is done with it, as text
    what: str
    # how dates that are strings are read
    date_format: str | None = None
    # why this may be wrong, as text
    doubt: str | None = None

    @property
    def stays(self) -> bool:
        """Whether nothing is done with it."""
        return (self.kind, self.what) == ("numbers", "as they are")


def plan_column(name: Any, values: np.ndarray) -> ColumnPlan:
    """Return what to do with a column, given its values in all rows."""
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
    marked = f"; {n_missing:,} missing, marked in a column of their own" if n_missing else ""
    if kind == "numbers":
        return ColumnPlan(name, kind, f"as they are{marked}")
    texts = as_text(present).tolist() if kind == "categories" else []
    if are_amounts(texts):
        signed = next(text for text in texts if not is_float(text))
        note = f"{signed.strip()!r} is read as the number {amount_of(signed):g}"
        return ColumnPlan(name, "numbers", f"amounts, read as numbers{marked}", doubt=note)
    date_format = _date_format(texts)
    if kind == "dates" or date_format is not None:
        read = f", read as {date_format}" if date_format else ""
        missing = f"; {n_missing:,} missing" if n_missing else ""
        what = f"day, month and weekday{read}{missing}"
        return ColumnPlan(name, "dates", what, date_format, _doubt_of_dates(texts, date_format))
    doubt = _doubt_of_categories(texts)
    is_unique = n_values == len(values) >= MANY_UNIQUE
    if is_unique or (n_values > MOST_VALUES and n_values > OWN_TEXT * len(present)):
        what = f"text of its own in most rows ({n_values:,} values)"
        return ColumnPlan(name, "left out", what, doubt=doubt)
    each = f"{n_values:,} values, a column of 0 and 1 for each"
    # a missing value is one more
    if len(set(texts)) + (n_missing > 0) > MOST_VALUES:
        each = f"{n_values:,} values, a column for each of the {MOST_VALUES - 1} most common"
        each += " and one for the others"
    also = f"; {n_missing:,} missing are a value too" if n_missing else ""
    return ColumnPlan(name, kind, each + also, doubt=doubt)


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


def are_amounts(texts: list[str]) -> bool:
    """Return whether strings are numbers, some with a currency, a percent sign or thousands."""
    different = [text.strip() for text in set(texts)]
    if all(map(is_float, different)) or not all(map(_AMOUNT.fullmatch, different)):
        return False
    return len({text.endswith("%") for text in different}) == 1


def amount_of(text: str) -> float:
    """Return a string as a number: ``"$1,234.50"`` is 1234.5, ``"12%"`` is 0.12."""
    digits = re.sub(r"[\s,$€£¥%]", "", text) if _AMOUNT.fullmatch(text.strip()) else text
    return float(digits) / (100.0 if "%" in text else 1.0)


def dates_of(values: np.ndarray, date_format: str | None) -> np.ndarray:
    """Return a column as datetime64 in UTC; what cannot be read is missing."""
    if values.dtype.kind == "M":
        return values.astype("datetime64[us]")
    missing = missing_labels(values)
    found = {value: _date_of(value, date_format) for value in set(values[~missing].tolist())}
    dates = np.full(values.shape, np.datetime64("NaT"), dtype="datetime64[us]")
    dates[~missing] = [found[value] for value in values[~missing].tolist()]
    return dates


def date_numbers(dates: np.ndarray) -> list[np.ndarray]:
    """Return days since 1970, months from 1 and weekdays from Monday = 0; NaN for no date."""
    days, missing = dates.astype("datetime64[D]").astype(np.int64), np.isnat(dates)
    months = dates.astype("datetime64[M]").astype(np.int64) % 12 + 1
    exact = (dates - np.datetime64(0, "us")) / _DAY
    found = (exact, months, (days + _EPOCH_WEEKDAY) % 7)
    return [np.where(missing, np.nan, numbers) for numbers in found]


def _date_of(value: Any, date_format: str | None) -> Any:
    """Return a date, or a string that is one, without a time zone; None for anything else."""
    if isinstance(value, str):
        try:
            if date_format in (None, "ISO8601"):
                value = datetime.fromisoformat(value)
            else:
                value = datetime.strptime(value, str(date_format))
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
    """Return a note if days and months could be read the other way round as well."""
    if date_format != "%d/%m/%Y" or not all(_date_of(text, "%m/%d/%Y") for text in set(texts)):
        return None
    return f"{texts[0]} may begin with the day or the month, and is read with the day first"


def _doubt_of_categories(texts: list[str]) -> str | None:
    """Return a note if most strings look like numbers, with one that does not, or has a comma."""
    texts = [text.strip() for text in texts]
    commas = [text for text in texts if re.fullmatch(r"[-+]?\d+,\d+", text)]
    if len(commas) > MOSTLY_NUMBERS * len(texts):
        return f"{commas[0]!r} is read as a string; write a number with a point"
    others = [text for text in texts if not is_float(text)]
    if others and len(texts) - len(others) > MOSTLY_NUMBERS * len(texts):
        return (
            f"{others[0]!r} and the like in {len(others):,} rows make its numbers strings; leave "
            "the place of a missing number empty"
        )
    return None
