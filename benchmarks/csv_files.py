"""Writes the section on CSV files of docs/benchmarks.md; `benchmarks.run_table` runs them.

python -m benchmarks.csv_files
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import t as student

from benchmarks.data.frames import CSV_FILES
from benchmarks.pages import NOT_RUN, markdown_table, write_pages
from benchmarks.results_file import Result, read_results
from benchmarks.run_table import COMPARISONS

RESULTS = COMPARISONS["csv"].results
OURS = "hedgeclipper"
TITLES = {name: method.title for name, method in COMPARISONS["csv"].methods.items()}


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
    for name in [name for name in CSV_FILES if name in means.index]:
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


def pages() -> dict[str, dict[str, str]]:
    """Return the section by page."""
    return {"docs/benchmarks.md": {"csv files": findings(read_results(RESULTS))}}


if __name__ == "__main__":
    write_pages(pages())
