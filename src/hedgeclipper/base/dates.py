"""Dates and times of day, also those that are strings: how they are written, and as numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Any

import numpy as np

from hedgeclipper.io.frames import missing_labels, unique_values

ISO = "ISO8601"
_TIME = re.compile(r"(^|,? |T)\d{1,2}:\d\d(:\d\d)?(\.\d{1,6})?( ?)([ap]m)?$", re.IGNORECASE)
_YEAR = re.compile(r"1[6-9]\d\d|2[01]\d\d|9999")
# what a day, a month and a year in numbers may be, by what else is known; d, m, y as in strptime
_ORDERS = {
    ("month", "year"): ("", "d"),
    ("month",): ("dy",),
    ("year",): ("m", "dm", "md"),
    (): ("dmy", "mdy", "ymd"),
}


def date_formats(text: str) -> list[str]:
    """Return the formats, as of ``strptime``, that a date, a time of day or both may have.

    Examples
    --------
    >>> date_formats("08/07/2021 10:00 PM"), date_formats("Dec 26, 2000")
    (['%m/%d/%Y %I:%M %p', '%d/%m/%Y %I:%M %p'], ['%b %d, %Y'])
    >>> date_formats("20:56"), date_formats("10-12"), date_formats("2000-12-26T20:56Z")
    (['%H:%M'], [], ['ISO8601'])
    """
    text = text.strip()
    if re.match(r"\d{4}-\d\d-\d\d", text):
        return [ISO]
    clock, day, found = "", text, _TIME.search(text)
    if found:
        before, seconds, fraction, blank, half = found.groups(default="")
        clock = f"{before}{'%I' if half else '%H'}:%M{seconds and ':%S'}{fraction and '.%f'}"
        clock, day = clock + blank + (half and "%p"), text[: found.start()]
    if not day:
        return [clock] if clock else []
    parts = re.split(r"([-/., ]+)", day)
    kinds = [_kind_of(part) for part in parts[::2]]
    known = tuple(name for name in ("month", "year") if name in kinds)
    if None in kinds or len({*known}) < sum(kind != "number" for kind in kinds):
        return []
    orders = [order for order in _ORDERS[known] if len(order) == kinds.count("number")]
    if kinds[0] == "year":
        orders = [order for order in orders if order != "dm"]
    if "%p" in clock:  # those who write AM and PM put the month first
        orders.sort(key=lambda order: not order.startswith("m"))
    named = "".join(part for part, kind in zip(parts[::2], kinds, strict=True) if kind == "month")
    months = ["%b"] if len(named) == 3 else ["%B"]
    if named.lower() == "may":  # short and long
        months = ["%b", "%B"]
    return [_filled(parts, kinds, order, month) + clock for order in orders for month in months]


def _kind_of(part: str) -> str | None:
    if _YEAR.fullmatch(part):
        return "year"
    if re.fullmatch(r"[A-Za-z]{3,9}", part):
        return "month"
    return "number" if re.fullmatch(r"\d{1,2}", part) else None


def _filled(parts: list[str], kinds: list[str | None], order: str, month: str) -> str:
    """Return the parts of a date with signs of ``strptime`` in place of its values."""
    numbers, made, signs = iter(order), list(parts), {"year": "%Y", "month": month}
    for k, kind in enumerate(kinds):
        made[2 * k] = signs.get(str(kind)) or "%" + next(numbers)
    return "".join(made)


def formats_of(texts: Sequence[str]) -> list[str]:
    """Return the formats in which all of these strings are dates; more than one is ambiguous."""
    if not texts:
        return []
    values = np.array([*dict.fromkeys(texts)], dtype=object)
    found = [
        one
        for one in date_formats(values[0])
        # the first few rule out most
        if not any(np.isnat(dates_of(some, one)).any() for some in (values[:20], values))
    ]
    # both forms of a month are the same date, if all are in May
    return [one for one in found if "%B" not in one or one.replace("%B", "%b") not in found]


def dates_of(values: np.ndarray, date_format: str | None = None) -> np.ndarray:
    """Return a column as datetime64 in UTC; what cannot be read is missing."""
    if values.dtype.kind == "M":
        return values.astype("datetime64[us]")
    values, codes = unique_values(values)
    dates = _read_by_pandas(values, date_format)
    left = np.flatnonzero(np.isnat(dates) & ~missing_labels(values))
    dates[left] = [_date_of(value, date_format) for value in values[left]]
    return dates[codes]


def date_texts(values: np.ndarray, date_format: str) -> np.ndarray:
    """Return dates as strings of this format, None for missing ones."""
    different, codes = unique_values(dates_of(values).astype(object))
    pattern = "%Y-%m-%d %H:%M:%S.%f" if date_format == ISO else date_format
    texts = [None if value is None else value.strftime(pattern) for value in different]
    return np.array(texts, dtype=object)[codes]


def _read_by_pandas(values: np.ndarray, date_format: str | None) -> np.ndarray:
    """Return the strings that pandas can read; it is fast, and does not know all years."""
    nothing = np.full(values.shape, np.datetime64("NaT"), dtype="datetime64[us]")
    if date_format is None or not values.size:
        return nothing
    try:
        import pandas
    except ImportError:
        return nothing
    texts = [value.strip() if isinstance(value, str) else None for value in values.tolist()]
    column = pandas.Series(texts, dtype=object)
    found = pandas.to_datetime(column, format=date_format, errors="coerce", utc=True)
    return found.dt.tz_localize(None).to_numpy().astype("datetime64[us]")


def _date_of(value: Any, date_format: str | None) -> Any:
    """Return a date, or a string that is one, without a time zone; None for anything else."""
    if isinstance(value, str):
        value = value.strip()
        try:
            if date_format in (None, ISO):
                value = datetime.fromisoformat(value)
            else:
                value = datetime.strptime(value, date_format or "")
        except ValueError:
            return None
    if isinstance(value, time):
        return datetime.combine(date(1900, 1, 1), value.replace(tzinfo=None))
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value if isinstance(value, date) else None


def date_numbers(dates: np.ndarray) -> dict[str, np.ndarray]:
    """Return parts of dates by name, NaN for no date.

    These are days since 1970 with the time of day as a fraction, years, months from 1, weekdays
    from Monday = 0, and hours with minutes as a fraction.
    """
    days, missing = dates.astype("datetime64[D]"), np.isnat(dates)
    clock = (dates - days) / np.timedelta64(1, "h")
    numbers = days.astype(np.int64)
    parts = {
        "day": numbers + clock / 24,
        "year": dates.astype("datetime64[Y]").astype(np.int64) + 1970,
        "month": dates.astype("datetime64[M]").astype(np.int64) % 12 + 1,
        "weekday": (numbers + 3) % 7,  # 1970 began on a Thursday
        "hour": clock,
    }
    return {name: np.where(missing, np.nan, part) for name, part in parts.items()}


def varying_parts(dates: np.ndarray) -> tuple[str, ...]:
    """Return the names of the parts of dates that differ between rows; times have an hour alone."""
    known = dates[~np.isnat(dates)]
    parts = date_numbers(known)
    if np.unique(known.astype("datetime64[D]")).size == 1:
        del parts["day"]
    return tuple(name for name, part in parts.items() if np.unique(part).size > 1)
