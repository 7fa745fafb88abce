"""The settings: data with a number of labels, of three kinds, and their draws.

The paper's data and the other data are those of `benchmarks.run_table`, with at most 8,000
unlabeled rows. ssl-text is left out: it has 1,500 rows of 11,960 columns, for which AutoGluon's 60
seconds are too few to be fair. The CSV files are those of `benchmarks.csv_files`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.preprocessing import OrdinalEncoder

from benchmarks.csv_files import FILES, N_LABELS, column_encoder, with_dates_as_numbers
from benchmarks.csv_files import draw_rows as draw_rows_of_file
from benchmarks.data.sources import DATASETS
from benchmarks.draws import Draw, make_draw, to_dense, whole
from benchmarks.figures import Row
from benchmarks.run_table import COMPARISONS

N_UNLABELED = 8_000
SETS = ("a1a", "w1a", "covtype", "kagg-cred", "kagg-prot", "ssl-secstr")
KINDS: dict[str, list[Row]] = {
    "paper": [(data, n_labels) for data in SETS for n_labels in (100, 1_000)],
    "other": COMPARISONS["other"].rows,
    "csv": [(name, N_LABELS) for name in FILES],
}
TITLES = {"paper": "the paper's data", "other": "other data", "csv": "CSV files"}
KIND_OF = {row: kind for kind, rows in KINDS.items() for row in rows}
SETTINGS = list(KIND_OF)


@lru_cache(maxsize=1)  # one method after the other is run on it
def draw_setting(data: str, n_labels: int, draw: int) -> Draw:
    """Return a draw of a setting; rows of a CSV file are frames, and its labels codes from 0."""
    if data not in FILES:
        return make_draw(data, n_labels, draw, max_unlabeled=N_UNLABELED)
    frame, y = FILES[data]()
    drawn, rest = draw_rows_of_file(y, draw)
    codes = np.unique(y[drawn], return_inverse=True)[1]
    scored = np.searchsorted(np.unique(y[drawn]), y[rest])
    frames = [frame.iloc[rows].reset_index(drop=True) for rows in (drawn, rest)]
    return Draw(frames[0], codes, frames[1], scored, draw, is_sparse=False)


def n_columns(data: str) -> int:
    """Return how many columns a data set has."""
    if data in DATASETS:
        return DATASETS[data].shape[1]
    return (FILES[data]()[0] if data in FILES else whole(data).data).shape[1]


def why_absent(data: str) -> str:
    """Return why a CSV file cannot be had, or nothing."""
    try:
        if data in FILES:
            FILES[data]()
    except ImportError as error:
        return f"{error}. Install the package in brackets."
    return ""


def one_hot(draw: Draw) -> Draw:
    """Return the draw with numbers imputed and scaled, and strings as columns of 0 and 1."""
    return _encoded(draw, column_encoder())


def ordinal(draw: Draw) -> Draw:
    """Return the draw with strings as codes, numbers as they are, and missing values as NaN."""
    codes = OrdinalEncoder()  # missing values stay missing
    encoder = make_column_transformer(
        (codes, make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    return _encoded(draw, encoder)


def _encoded(draw: Draw, encoder: Any) -> Draw:
    """Return the draw with frames encoded, by what all of its rows show; arrays stay as they are.

    Dates become year, month, day and weekday.
    """
    if not isinstance(draw.X, pd.DataFrame):
        return draw
    rows = with_dates_as_numbers(pd.concat([draw.X, draw.X_unlabeled], ignore_index=True))
    rows = rows.where(rows.notna(), np.nan)  # None would be a category
    X = to_dense(encoder.fit_transform(rows)).astype(float)
    return replace(draw, X=X[: draw.y.size], X_unlabeled=X[draw.y.size :])
