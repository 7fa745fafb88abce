"""Writes tables and pictures of README, benchmarks, ablations and paper from the results.

    python -m benchmarks.table_page

Figures are those on the draws that all methods of a table have, and rows that are still being run
are left out. A table of which ours has no results says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures import (
    OURS,
    differences_table,
    gains_rows,
    on_common_draws,
    row_name,
    summary_table,
    when,
    with_what,
)
from benchmarks.methods import METHODS
from benchmarks.methods.supervised import EQUAL_FOREST, N_TREES
from benchmarks.pages import (
    NOT_RUN,
    ROOT,
    listed,
    markdown_table,
    save_figure,
    write_pages,
)
from benchmarks.paper_table import COLUMNS_A, ONLY_IN_A, Figures, describe_protocol
from benchmarks.plots import draw_gains, draw_table
from benchmarks.results_file import FOLDER, read_results
from benchmarks.rivals.page import describe_in_short as describe_rivals
from benchmarks.run_table import COMPARISONS, MEMBERS, RARE_DATA, RARE_LABELS, RARE_PERCENTS
from benchmarks.run_table import OURS as OWN

FOREST = "random-forest"
IN_README = {
    OURS: "`HedgeClipperClassifier`",
    "hedgeclipper-mean": "mean of its voters",
    EQUAL_FOREST: f"random forest of as many trees ({N_TREES})",
    "stacking": f"stacking of {len(MEMBERS)} methods",
    "mart": "gradient boosting",
    "logistic-regression": "logistic regression",
}
# the paper's own settings are on the page of the paper
LEFT_OUT = (OURS, ONLY_IN_A, *COLUMNS_A[1:4], "base-forest", "random-forest", "adaboost", "mean")
CLEARLY = 0.005  # AUC by which a method counts as ahead
PARTS = {
    "hedgeclipper-trees": "trees alone",
    "hedgeclipper-mean": "equal weights, no game",
}


def read_figures(name: str, folder: Path = FOLDER, methods: Sequence[str] = ()) -> Figures:
    """Return the results of a comparison, on the draws that all of its methods, or these, have."""
    comparison = COMPARISONS[name]
    results = read_results(folder / comparison.results.name)
    return Figures(on_common_draws(results, methods or comparison.methods), comparison.rows)


def page_sections(folder: Path = FOLDER) -> dict[str, str]:
    """Return the sections of docs/benchmarks.md."""
    paper, other, rare = (read_figures(name, folder) for name in ("paper", "other", "rare"))
    found = _made(paper, {"tables-run": describe_run})
    whole = {"paper": paper, "other": other} if paper.rows and other.rows else {}
    found["tables"] = gains_over(whole) if whole else NOT_RUN
    found["tables-behind"] = describe_behind(folder)
    return found | _made(rare, {"tables-rare": lambda figures: rare_classes(figures.results)})


def protocol_sections(folder: Path = FOLDER) -> dict[str, str]:
    """Return the section of docs/paper.md: how far the published values are reproduced."""
    return _made(read_figures("paper", folder, COLUMNS_A[1:]), {"protocol": describe_protocol})


def ablation_sections(folder: Path = FOLDER) -> dict[str, str]:
    """Return the table of docs/ablations.md: what the parts of the classifier contribute."""
    rows: list[list[str]] = []
    for name, title in {"paper": "the paper's", "other": "other", "rare": "rare classes"}.items():
        figures = read_figures(name, folder)
        if figures.rows:
            head, *lines = gains_rows(figures, PARTS)
            rows = rows or [["data, settings", *head]]
            rows += [[f"{title}, {len(figures.rows)}", *line] for line in lines]
    return {"parts": markdown_table(rows) if rows else NOT_RUN}


def readme_sections(folder: Path = FOLDER) -> dict[str, str]:
    """Return the README's table, one line for each of some methods, and where others are ahead."""

    def table(figures: Figures) -> str:
        table = summary_table(figures, "auc", IN_README)
        return f"{table}\n\n{describe_behind(folder)} {describe_rivals(folder)}"

    return _made(read_figures("paper", folder), {"table": table})


def describe_behind(folder: Path = FOLDER) -> str:
    """Return the settings in which another method is clearly ahead, or that there are none."""
    found, n_rows = [], 0
    for name in ("paper", "other"):
        figures = read_figures(name, folder)
        n_rows += len(figures.rows)
        others = [m for m in figures.methods() if m not in (*OWN, ONLY_IN_A)]
        for row in figures.rows:
            gains = {
                m: figures.mean(row, m, "auc") - figures.mean(row, OURS, "auc") for m in others
            }
            best = max(others, key=lambda m: np.nan_to_num(gains[m], nan=-1.0))
            if gains[best] > CLEARLY:
                found.append(f"{row_name(row)} ({METHODS[best].title} {gains[best]:+.3f})")
    if not n_rows:
        return NOT_RUN
    listing = f": {listed(found)}" if found else ""
    return (
        f"In {len(found)} of {n_rows} settings some other method has a mean AUC that is more than "
        f"{CLEARLY} higher{listing}."
    )


def _made(figures: Figures, makers: dict[str, Any]) -> dict[str, str]:
    return {name: make(figures) if figures.rows else NOT_RUN for name, make in makers.items()}


def describe_run(figures: Figures) -> str:
    """Return the number of rows and draws, when ours was run, and with which versions."""
    own = [result for result in figures.results if result.method == OURS]
    n_draws = len(own) // len(figures.rows)
    most = max(result.n_unlabeled for result in own)
    return (
        f"{n_draws} draws of the labels for each setting, at most {most:,} unlabeled rows. "
        f"HedgeClipper was run on {when(own)} with {with_what(own)}, the others on "
        f"{when([result for result in figures.results if result.method not in OWN])}."
    )


def gains_over(figures: dict[str, Figures]) -> str:
    """Return a table of HedgeClipper's differences in AUC from other methods."""
    names = [name for name in METHODS if name not in LEFT_OUT]
    return differences_table(figures, {name: METHODS[name].title for name in names})


def rare_classes(results: Sequence[Any]) -> str:
    """Return mean differences from the random forest, of cells that have all data sets."""
    figures = Figures(results, COMPARISONS["rare"].rows)
    rows = [["positives", *(f"{n} labels" for n in RARE_LABELS)]]
    for percent in RARE_PERCENTS:
        rows.append([f"{percent}%"])
        for n_labels in RARE_LABELS:
            cell = [(f"{data} {percent} %", n_labels) for data in RARE_DATA]
            if not set(cell) <= set(figures.rows):
                rows[-1].append("")
                continue
            ours, forest = (
                np.array([figures.mean(row, name, "auc") for row in cell])
                for name in (OURS, FOREST)
            )
            gains = ours - forest
            rows[-1].append(f"{forest.mean():.2f}, {gains.mean():+.3f} ({gains.min():+.3f})")
    return markdown_table(rows)


def pages(folder: Path = FOLDER) -> dict[str, dict[str, str]]:
    """Return the sections by page."""
    return {
        "docs/benchmarks.md": page_sections(folder),
        "docs/paper.md": protocol_sections(folder),
        "docs/ablations.md": ablation_sections(folder),
        "README.md": readme_sections(folder),
    }


def render(folder: Path = FOLDER, root: Path = ROOT) -> None:
    """Write the pictures, and the sections of the pages."""
    figures = read_figures("paper", folder)
    if figures.rows:
        save_figure(draw_table(figures), root / "docs/figures/table.png")
        save_figure(draw_gains(figures, IN_README), root / "docs/figures/gains.png")
    write_pages(pages(folder), root)


if __name__ == "__main__":
    render()
