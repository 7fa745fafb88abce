"""What is done with the columns of a table, learned from labeled and unlabeled rows together."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.cli.plans import ColumnPlan, as_dates, plain_numbers, plan_column
from hedgeclipper.panel.member_frames import MOST_VALUES


class PlainNumbers(TransformerMixin, BaseEstimator):
    """Columns of numbers as float64, and a column of 0 and 1 for each that has missing values."""

    def fit(self, X, y=None):
        """Note which columns have missing values.

        Parameters
        ----------
        X : pandas.DataFrame
            Rows.
        y : None
            Not used.
        """
        self.names_ = list(X.columns)
        self.marked_ = [name for name in X.columns if X[name].isna().any()]
        return self

    def transform(self, X):
        """Return the numbers.

        Parameters
        ----------
        X : pandas.DataFrame
            Rows.
        """
        numbers = [as_numbers(X[name]) for name in self.names_]
        marks = [X[name].isna().astype(float) for name in self.marked_]
        return np.column_stack(numbers + marks)

    def get_feature_names_out(self, input_features=None):
        """Return the names of the new columns."""
        return np.array([*self.names_, *(f"{name}_missing" for name in self.marked_)], dtype=object)


class PlainText(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Columns of words as text; what is missing is a word of its own."""

    def fit(self, X, y=None):
        """Note the columns.

        Parameters
        ----------
        X : pandas.DataFrame
            Rows.
        y : None
            Not used.
        """
        self.feature_names_in_ = np.array(X.columns, dtype=object)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        """Return the words.

        Parameters
        ----------
        X : pandas.DataFrame
            Rows.
        """
        return pd.DataFrame({name: as_text(X[name]) for name in X.columns}, index=X.index)


class DateNumbers(TransformerMixin, BaseEstimator):
    """Dates as days since 1970, month and weekday.

    Parameters
    ----------
    formats : dict of str to str or None
        How each column is read where it is text.
    """

    def __init__(self, formats=None):
        self.formats = formats

    def fit(self, X, y=None):
        """Note the columns.

        Parameters
        ----------
        X : pandas.DataFrame
            Rows.
        y : None
            Not used.
        """
        self.names_ = list(X.columns)
        return self

    def transform(self, X):
        """Return the numbers.

        Parameters
        ----------
        X : pandas.DataFrame
            Rows; what is no date is missing.
        """
        columns = []
        for name in self.names_:
            dates = as_dates(X[name], self.formats[name])
            columns.append((dates - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1))
            columns += [dates.dt.month.astype(float), dates.dt.day_of_week.astype(float)]
        return np.column_stack(columns)

    def get_feature_names_out(self, input_features=None):
        """Return the names of the new columns."""
        parts = ("day", "month", "weekday")
        return np.array([f"{n}_{part}" for n in self.names_ for part in parts], dtype=object)


class ColumnPreparation(TransformerMixin, BaseEstimator):
    """Makes frames of numbers from frames of whatever a table holds, columns matched by name.

    Parameters
    ----------
    target : str or None
        Name of the column to predict; it may be there or not when rows are prepared.

    Attributes
    ----------
    plans_ : list of ColumnPlan
        What is done with each column.
    is_plain_ : bool
        Whether all columns are numbers that stay as they are, so that files need not be in memory.
    names_out_ : list of str
        Names of the new columns, all different.
    """

    def __init__(self, target=None):
        self.target = target

    def fit(self, X, y=None):
        """Decide what is done with each column.

        Parameters
        ----------
        X : pandas.DataFrame
            All rows, labeled and not, without the target.
        y : None
            Not used.
        """
        self.plans_ = [plan_column(X.iloc[:, place]) for place in range(X.shape[1])]
        self.is_plain_ = False
        dates = {plan.name: plan.date_format for plan in self.plans_ if plan.kind == "dates"}
        one_hot = OneHotEncoder(
            handle_unknown="infrequent_if_exist", max_categories=MOST_VALUES, sparse_output=False
        )
        parts = [
            ("numbers", PlainNumbers(), self.names_of("numbers")),
            ("words", make_pipeline(PlainText(), one_hot), self.names_of("words")),
            ("dates", DateNumbers(dates), list(dates)),
        ]
        self.encoder_ = ColumnTransformer([part for part in parts if part[2]]).fit(X)
        # the encoder puts the name of the part before that of the column
        made = [name.split("__", 1)[1] for name in self.encoder_.get_feature_names_out()]
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
        self.is_plain_ = True
        self.encoder_ = None
        self.names_out_ = list(names)
        return self

    def transform(self, X):
        """Return the rows as numbers.

        Parameters
        ----------
        X : pandas.DataFrame
            Rows; columns beyond those of ``fit`` are not used.
        """
        check_is_fitted(self)
        X = pd.DataFrame(X)
        self._check_columns(list(X.columns))
        if self.encoder_ is not None:
            numbers = self.encoder_.transform(X)
            return pd.DataFrame(numbers, columns=self.names_out_, index=X.index)
        return pd.DataFrame({name: as_numbers(X[name]) for name in self.names_out_}, index=X.index)

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
        X : pandas.DataFrame
            Rows.
        """
        dates = [plan for plan in self.plans_ if plan.kind == "dates"]
        lost = {
            plan.name: (X[plan.name].notna() & as_dates(X[plan.name], plan.date_format).isna())
            for plan in dates
        }
        return {name: int(where.sum()) for name, where in lost.items()}

    def as_records(self):
        """Return the plans as dicts, for JSON."""
        return [asdict(plan) for plan in self.plans_]

    def _check_columns(self, names):
        missing = [p.name for p in self.plans_ if p.kind != "left out" and p.name not in names]
        if missing:
            listed = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
            raise ValueError(
                f"The rows lack {len(missing)} of the columns that the model knows: {listed}. Pass "
                "rows with all columns of those it was fitted to."
            )


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


def as_numbers(column: pd.Series) -> pd.Series:
    """Return a column as float64, or say that it does not hold numbers."""
    try:
        return pd.to_numeric(column).astype("float64")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Column {column.name!r} must hold numbers, as in the rows the model was fitted to "
            f"({error}). Correct it; leave the place of a missing number empty."
        ) from error


def as_text(column: pd.Series) -> pd.Series:
    """Return a column as text, whole numbers without a point, and nothing for what is missing."""
    words = column.astype(object)
    if column.dtype.kind == "f":
        whole = column.notna() & (column == column.round())
        words[whole] = column[whole].astype(np.int64).astype(object)
    return words.astype(str).where(column.notna(), "").astype(object)
