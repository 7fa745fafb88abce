"""The one way to make numbers of columns: strings, categories, booleans and dates in frames.

Frames are those of pandas, polars and Arrow, read through narwhals. What is done with a column is
decided from labeled and unlabeled rows together; `hedgeclipper.base.column_plans` has the rules.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.column_plans import (
    MOST_VALUES,
    ColumnPlan,
    as_dates,
    as_numbers,
    kind_of,
    plain_numbers,
    plan_column,
)
from hedgeclipper.io import as_text, frame_arrays, is_frame, listed, missing_labels

_DAY = np.timedelta64(1, "D")
_EPOCH_WEEKDAY = 3  # 1970 began on a Thursday


class MixedColumnError(ValueError):
    """A column holds numbers in some rows and something else in others."""

    def __init__(self, column: Any, places: str = "X and X_unlabeled"):
        super().__init__(
            f"Column {column!r} holds numbers only in one of {places}. Write it in the same way in "
            "both."
        )
        self.column = column


class ColumnEncoder(TransformerMixin, BaseEstimator):
    """Makes an array of numbers of a frame, its columns matched by name.

    Numbers and booleans stay as they are, with one more column of 0 and 1 for each that has missing
    values. Of strings and categories each value becomes a column of 0 and 1, the 49 most common
    ones and one for the others if there are more than 50; a missing value is a value too, and one
    that ``fit`` has not seen counts as uncommon. Dates, and strings that are all dates, become the
    day since 1970, month and weekday. Columns without information are left out: those with one
    value, or none, and strings that differ from row to row.

    Parameters
    ----------
    target : str or None, default=None
        Name of the column to predict; it may be there or not when rows are encoded.

    Attributes
    ----------
    plans_ : list of ColumnPlan
        What is done with each column.
    is_plain_ : bool
        Whether all columns are numbers that stay as they are, so that files need not be in memory.
    names_out_ : list of str
        Names of the new columns, all different.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"town": ["Ulm", "Bern", None], "size": [1.5, None, 2.0]})
    >>> encoder = ColumnEncoder().fit(rows)
    >>> encoder.names_out_
    ['size', 'size_missing', 'town_', 'town_Bern', 'town_Ulm']
    >>> encoder.transform(rows[:1])
    array([[1.5, 0. , 0. , 0. , 1. ]])
    """

    def __init__(self, target=None):
        self.target = target

    def fit(self, X, y=None, X_unlabeled=None):
        """Decide what is done with each column.

        Parameters
        ----------
        X : frame of shape (n_samples, n_features)
            Rows, without the target.
        y : None
            Not used.
        X_unlabeled : frame, optional
            More rows to learn from.
        """
        columns = _arrays(X)
        if X_unlabeled is not None:
            columns = _joined(columns, _arrays(X_unlabeled, list(columns)))
        self.plans_ = [plan_column(name, values) for name, values in columns.items()]
        if all(plan.kind == "left out" for plan in self.plans_):
            reasons = "; ".join(f"{plan.name!r}: {plan.what}" for plan in self.plans_[:3])
            raise ValueError(f"No column can be used ({reasons}). Add columns to learn from.")
        self.is_plain_ = False
        numbers, categories = self.names_of("numbers"), self.names_of("categories")
        self.marked_ = [name for name in numbers if missing_labels(columns[name]).any()]
        made = numbers + [f"{name}_missing" for name in self.marked_]
        self.one_hot_ = None
        if categories:
            self.one_hot_ = OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                max_categories=MOST_VALUES,
                sparse_output=False,
            ).fit(_texts(columns, categories))
            made += self.one_hot_.get_feature_names_out(categories).tolist()
        parts = ("day", "month", "weekday")
        made += [f"{name}_{part}" for name in self.names_of("dates") for part in parts]
        self.names_out_ = different_names(made)
        return self

    def fit_plain(self, names, n_missing):
        """Note that all columns are numbers that stay as they are.

        Parameters
        ----------
        names : list of str
            Names of the columns.
        n_missing : array-like of int
            Missing values of each.
        """
        self.plans_ = [
            ColumnPlan(name, "numbers", plain_numbers(n))
            for name, n in zip(names, n_missing, strict=True)
        ]
        self.is_plain_, self.marked_, self.one_hot_ = True, [], None
        self.names_out_ = list(names)
        return self

    def transform(self, X):
        """Return the rows as numbers.

        Parameters
        ----------
        X : frame
            Rows; columns beyond those of ``fit`` are not used, and the order does not matter.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_columns_out)
            Numbers, NaN where a number or a date is missing.
        """
        check_is_fitted(self)
        columns = _arrays(X, [plan.name for plan in self.plans_ if plan.kind != "left out"])
        made = [as_numbers(name, columns[name]) for name in self.names_of("numbers")]
        made += [missing_labels(columns[name]).astype(float) for name in self.marked_]
        if self.one_hot_ is not None:
            made += [*self.one_hot_.transform(_texts(columns, self.names_of("categories"))).T]
        for plan in self.plans_:
            if plan.kind == "dates":
                made += _date_numbers(as_dates(columns[plan.name], plan.date_format))
        return _finite(np.column_stack(made), self.names_out_)

    def names_of(self, kind):
        """Return the names of the columns of this kind.

        Parameters
        ----------
        kind : str
            As in `ColumnPlan`.
        """
        return [plan.name for plan in self.plans_ if plan.kind == kind]

    def get_feature_names_out(self, input_features=None):
        """Return the names of the new columns."""
        return np.array(self.names_out_, dtype=object)

    def n_lost_dates(self, X):
        """Return how many values of each column of dates are there and cannot be read.

        Parameters
        ----------
        X : frame
            Rows.
        """
        columns, lost = _arrays(X, self.names_of("dates")), {}
        for plan in self.plans_:
            if plan.kind == "dates":
                values = columns[plan.name]
                unread = np.isnat(as_dates(values, plan.date_format)) & ~missing_labels(values)
                lost[plan.name] = int(unread.sum())
        return lost


def needs_encoding(X: Any) -> bool:
    """Return whether X is a frame with columns that are not numbers or booleans.

    Parameters
    ----------
    X : any
        Rows; a column of a frame that cannot be used is an error.
    """
    if not is_frame(X):
        return False
    kinds = {name: (kind_of(values), values.dtype) for name, values in frame_arrays(X).items()}
    for name, (kind, dtype) in kinds.items():
        if kind is None:
            raise ValueError(
                f"Column {name!r} must have numbers, booleans, strings, categories or dates. Got "
                f"{dtype}. Make one of these of it, or leave it out."
            )
    return any(kind not in ("numbers", "nothing") for kind, _ in kinds.values())


def _arrays(X: Any, names: list[Any] | None = None) -> dict[Any, np.ndarray]:
    """Return the columns of a frame by name, all or those that are asked for."""
    if not is_frame(X):
        raise TypeError(
            "Rows must be a frame with named columns, as those of fit, of which some hold strings, "
            f"categories or dates. Got {type(X).__name__}. Pass a frame, or encode the columns "
            "first."
        )
    columns = frame_arrays(X, names)
    missing = [name for name in names or () if name not in columns]
    if missing:
        raise ValueError(
            f"The rows lack {len(missing)} of the columns that the model knows: "
            f"{listed(missing, 5)}. Pass rows with all columns of those it was fitted to."
        )
    return columns


def _joined(one: dict[Any, np.ndarray], other: dict[Any, np.ndarray]) -> dict[Any, np.ndarray]:
    """Return columns one below the other; each must be of the same kind in both."""
    for name, values in one.items():
        kinds = {kind_of(values), kind_of(other[name])} - {"nothing"}
        if len(kinds) > 1 and "numbers" in kinds:
            raise MixedColumnError(name)
    return {
        name: np.concatenate([values, other[name]])
        if values.dtype.kind == other[name].dtype.kind
        else np.concatenate([values.astype(object), other[name].astype(object)])
        for name, values in one.items()
    }


def _texts(columns: dict[Any, np.ndarray], names: list[Any]) -> np.ndarray:
    return np.column_stack([as_text(columns[name]) for name in names])


def _date_numbers(dates: np.ndarray) -> list[np.ndarray]:
    """Return days since 1970, months from 1 and weekdays from Monday = 0; NaN for no date."""
    days, missing = dates.astype("datetime64[D]").astype(np.int64), np.isnat(dates)
    months = dates.astype("datetime64[M]").astype(np.int64) % 12 + 1
    exact = (dates - np.datetime64(0, "us")) / _DAY
    found = (exact, months, (days + _EPOCH_WEEKDAY) % 7)
    return [np.where(missing, np.nan, numbers) for numbers in found]


def _finite(rows: np.ndarray, names: list[str]) -> np.ndarray:
    """Return rows that float32 can hold, or say which column it cannot."""
    infinite = (np.abs(rows) > np.finfo(np.float32).max).any(axis=0)
    if infinite.any():
        raise ValueError(
            f"Column {names[int(infinite.argmax())]!r} has an infinite number, or one too large. "
            "Rescale the column, or leave the place empty."
        )
    return rows


def different_names(names: list[str]) -> list[str]:
    """Return names with a number behind each that was there before, so that all are different."""
    taken: dict[str, None] = {}
    for name in names:
        free, number = name, 1
        while free in taken:
            number += 1
            free = f"{name}_{number}"
        taken[free] = None
    return list(taken)
