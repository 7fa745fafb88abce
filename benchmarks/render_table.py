"""Writes docs/table.md, its pictures and the README's table from the results.

python -m benchmarks.render_table [--results FILE] [--other FILE]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.figures import OURS, figure_table, on_draws_of, summary_table, when
from benchmarks.forest_text import (
    FOREST,
    N_TREES,
    ForestFigures,
    describe_forest,
    describe_in_short,
    measured,
)
from benchmarks.gains_plot import draw_gains
from benchmarks.other_data import CASES, COMPARISONS
from benchmarks.pages import DOCS, ROOT, save_figure, write_sections
from benchmarks.results_file import FOLDER, read_results
from benchmarks.table_findings import (
    describe_protocol,
    describe_run,
    describe_scores,
)
from benchmarks.table_plot import draw_table
from benchmarks.table_text import Figures, table_a

OTHER = COMPARISONS["forest"]
PAGE, README = DOCS / "table.md", ROOT / "README.md"
IN_README = {
    "hedged-voting": "`HedgedVotingClassifier`",
    "panel-mean": "mean of its members",
    "hedgeclipper": "`HedgeClipperClassifier`",
    FOREST: f"random forest of as many trees ({N_TREES})",
    "mart": "gradient boosting",
    "logistic-regression": "logistic regression",
    "self-training": "self-training",
}


def sections(figures: Figures) -> dict[str, str]:
    """Return the sections of docs/table.md that come from the results."""
    methods = figures.methods(without=figures.outside)
    controls = ForestFigures(figures.results)
    return {
        "run": describe_run(figures),
        "table-a": table_a(figures),
        "findings-a": describe_protocol(figures),
        "table-b": figure_table(figures, "auc", methods),
        "findings-b": describe_scores(figures),
        "table-controls": figure_table(controls, "auc", measured(controls)),
        "table-log-loss": figure_table(figures, "log_loss", methods),
        "table-accuracy": figure_table(figures, "accuracy", methods),
    }


def other_sections(figures: ForestFigures) -> dict[str, str]:
    """Return the sections of docs/table.md on data that is not the paper's."""
    n_draws = len({result.draw for result in figures.results})
    how = (
        f"{n_draws} draws of the labels, at most {OTHER.n_unlabeled:,} unlabeled rows, run on "
        f"{when(figures.results)}."
    )
    return {
        "table-other": how + "\n\n" + figure_table(figures, "auc", measured(figures)),
        "findings-other": describe_forest(figures),
    }


def readme_sections(figures: Figures) -> dict[str, str]:
    """Return the README's table, one line for each of some methods, and what it shows."""
    methods = [name for name in IN_README if name in figures.methods()]
    return {
        "table": summary_table(figures, "auc", methods, IN_README),
        "findings": describe_in_short(figures),
    }


def render(results: Path, other: Path, page: Path = PAGE, readme: Path = README) -> None:
    """Write the pictures, and the sections of the page and of the README."""
    figures = Figures(on_draws_of(read_results(results), OURS))
    others = ForestFigures(on_draws_of(read_results(other), OURS), CASES)
    if not figures.results or not others.results:
        raise SystemExit(f"No results in {results} or {other}: run `make table` first.")
    save_figure(draw_table(figures), page.parent / "figures" / "table.png")
    save_figure(draw_gains(figures), page.parent / "figures" / "gains.png")
    write_sections(page, {**sections(figures), **other_sections(others)})
    write_sections(readme, readme_sections(figures))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=FOLDER / "table.csv")
    parser.add_argument("--other", type=Path, default=OTHER.results)
    options = parser.parse_args()
    render(options.results, options.other)


if __name__ == "__main__":
    main()
