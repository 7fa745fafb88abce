"""Writes docs/table.md, docs/ablations.md, their pictures and the README's table from the results.

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
    difference,
    figure_table,
    gains_table,
    on_common_draws,
    summary_table,
    when,
    with_what,
)
from benchmarks.methods import METHODS
from benchmarks.methods.supervised import EQUAL_FOREST, N_TREES
from benchmarks.pages import DOCS, NOT_RUN, ROOT, markdown_table, save_figure, write_sections
from benchmarks.paper_table import COLUMNS_A, ONLY_IN_A, Figures, describe_protocol, table_a
from benchmarks.plots import draw_gains, draw_table
from benchmarks.results_file import FOLDER, read_results
from benchmarks.run_table import COMPARISONS, RARE_DATA, RARE_LABELS, RARE_PERCENTS
from benchmarks.run_table import OURS as OWN

FOREST = "random-forest"
IN_README = {
    OURS: "`HedgeClipperClassifier`",
    "hedgeclipper-mean": "mean of its voters",
    "hedgeclipper-trees": "its trees alone",
    EQUAL_FOREST: f"random forest of as many trees ({N_TREES})",
    "mart": "gradient boosting",
    "logistic-regression": "logistic regression",
    "self-training": "self-training",
}
PARTS = {
    "hedgeclipper-trees": "trees alone, without the other voters",
    "hedgeclipper-mean": "equal weights of all voters, without the game",
}


def read_figures(name: str, folder: Path = FOLDER, methods: Sequence[str] = ()) -> Figures:
    """Return the results of a comparison, on the draws that all of its methods, or these, have."""
    comparison = COMPARISONS[name]
    results = read_results(folder / comparison.results.name)
    return Figures(on_common_draws(results, methods or comparison.methods), comparison.rows)


def page_sections(folder: Path = FOLDER) -> dict[str, str]:
    """Return the sections of docs/table.md."""
    paper, other, rare = (read_figures(name, folder) for name in ("paper", "other", "rare"))
    shown = [name for name in METHODS if name != ONLY_IN_A]
    return {
        **_made(
            paper,
            {
                "run": describe_run,
                "table-a": table_a,
                "table-b": lambda figures: figure_table(figures, "auc", shown),
                "findings-b": lambda figures: gains_over(figures, shown),
                "table-log-loss": lambda figures: figure_table(figures, "log_loss", shown),
                "table-accuracy": lambda figures: figure_table(figures, "accuracy", shown),
            },
        ),
        **_made(read_figures("paper", folder, COLUMNS_A[1:]), {"findings-a": describe_protocol}),
        **_made(other, {"table-other": other_data}),
        **_made(rare, {"table-rare": lambda figures: rare_classes(figures.results)}),
    }


def ablation_sections(folder: Path = FOLDER) -> dict[str, str]:
    """Return the sections of docs/ablations.md: what the parts of the classifier contribute."""

    def table(figures: Figures) -> str:
        return f"{describe_run(figures)}\n\n{gains_table(figures, OURS, PARTS)}"

    names = ("paper", "other", "rare")
    return {k: v for n in names for k, v in _made(read_figures(n, folder), {n: table}).items()}


def readme_sections(folder: Path = FOLDER) -> dict[str, str]:
    """Return the README's table, one line for each of some methods, and what it shows."""
    return _made(
        read_figures("paper", folder),
        {
            "table": lambda figures: summary_table(figures, "auc", list(IN_README), IN_README),
            "findings": describe_in_short,
        },
    )


def _made(figures: Figures, makers: dict[str, Any]) -> dict[str, str]:
    return {name: make(figures) if figures.rows else NOT_RUN for name, make in makers.items()}


def describe_run(figures: Figures) -> str:
    """Return the number of rows and draws, when ours was run, and with which versions."""
    own = [result for result in figures.results if result.method == OURS]
    n_draws = len(own) // len(figures.rows)
    most = max(result.n_unlabeled for result in own)
    return (
        f"{len(figures.rows)} rows, {n_draws} draws of the labels for each, at most {most:,} "
        f"unlabeled rows. HedgeClipper was run on {when(own)} with {with_what(own)}, the others on "
        f"{when([result for result in figures.results if result.method not in OWN])}."
    )


def gains_over(figures: Figures, shown: Sequence[str]) -> str:
    """Return a table of HedgeClipper's differences from all other columns."""
    return gains_table(figures, OURS, {n: METHODS[n].title for n in shown if n != OURS})


def other_data(figures: Figures) -> str:
    """Return the tables of data that is not the paper's."""
    shown = COMPARISONS["other"].methods
    tables = figure_table(figures, "auc", shown), gains_over(figures, shown)
    return "\n\n".join([describe_run(figures), *tables])


def rare_classes(results: Sequence[Any]) -> str:
    """Return mean differences from the random forest, of cells that have all data sets."""
    figures = Figures(results, COMPARISONS["rare"].rows)
    titles = [METHODS[name].title for name in OWN]
    rows = [["positives", "labels", METHODS[FOREST].title, *titles, "HedgeClipper, lowest"]]
    for percent in RARE_PERCENTS:
        for n_labels in RARE_LABELS:
            cell = [(f"{data} {percent} %", n_labels) for data in RARE_DATA]
            if not set(cell) <= set(figures.rows):
                continue
            auc = {
                name: np.array([figures.mean(row, name, "auc") for row in cell])
                for name in (*OWN, FOREST)
            }
            gains = [auc[name] - auc[FOREST] for name in OWN]
            means = [f"{gain.mean():+.4f}" for gain in gains]
            head = [f"{percent}%", str(n_labels), f"{auc[FOREST].mean():.4f}"]
            rows.append([*head, *means, f"{gains[0].min():+.4f}"])
    return f"{describe_run(figures)}\n\n{markdown_table(rows)}"


def describe_in_short(figures: Figures) -> str:
    """Return what HedgeClipper gains over a forest of as many trees, and over its own parts."""
    gain = difference(figures, OURS, EQUAL_FOREST)
    accuracy = difference(figures, OURS, EQUAL_FOREST, "accuracy")
    trees, mean = (difference(figures, OURS, name) for name in PARTS)
    better, worse = (len(gain.rows_of_sign(sign)) for sign in (1, -1))
    return (
        f"Compared with a random forest of as many trees, `HedgeClipperClassifier` has "
        f"{gain.mean:+.3f} ± {gain.error:.3f} AUC and {accuracy.mean:+.3f} accuracy; its AUC is "
        f"significantly higher in {better} of {len(figures.rows)} settings and significantly lower "
        f"in {worse}. It has {trees.mean:+.3f} ± {trees.error:.3f} AUC compared with its trees "
        f"alone, and {mean.mean:+.3f} ± {mean.error:.3f} compared with equal weights of its voters."
    )


def render(folder: Path = FOLDER, docs: Path = DOCS, readme: Path = ROOT / "README.md") -> None:
    """Write the pictures, and the sections of the pages and of the README."""
    figures = read_figures("paper", folder)
    if figures.rows:
        save_figure(draw_table(figures), docs / "figures" / "table.png")
        save_figure(draw_gains(figures, IN_README), docs / "figures" / "gains.png")
    write_sections(docs / "table.md", page_sections(folder))
    write_sections(docs / "ablations.md", ablation_sections(folder))
    write_sections(readme, readme_sections(folder))


if __name__ == "__main__":
    render()
