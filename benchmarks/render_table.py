"""Writes docs/table.md, its pictures and the README's table from the results.

python -m benchmarks.render_table [--results FILE]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.figures import figure_table, summary_table
from benchmarks.gains_plot import draw_gains
from benchmarks.pages import DOCS, ROOT, save_figure, write_sections
from benchmarks.results_file import FOLDER, read_results
from benchmarks.table_findings import (
    describe_forest,
    describe_panel,
    describe_protocol,
    describe_run,
    describe_scores,
)
from benchmarks.table_plot import draw_table
from benchmarks.table_text import ONLY_IN_A, Figures, gains, table_a

PAGE, README = DOCS / "table.md", ROOT / "README.md"
IN_README = (
    "hedged-voting",
    "panel-mean",
    "panel-stacking",
    "hedgeclipper",
    "base-forest",
    "random-forest",
    "mart",
    "logistic-regression",
    "self-training",
)


def sections(figures: Figures) -> dict[str, str]:
    """Return the sections of docs/table.md that come from the results."""
    methods = figures.methods(without=[ONLY_IN_A])
    return {
        "run": describe_run(figures),
        "table-a": table_a(figures),
        "findings-a": describe_protocol(figures),
        "table-b": figure_table(figures, "auc", methods),
        "findings-b": describe_scores(figures),
        "table-log-loss": figure_table(figures, "log_loss", methods),
        "table-accuracy": figure_table(figures, "accuracy", methods),
    }


def readme_sections(figures: Figures) -> dict[str, str]:
    """Return the README's table, one line for each of some methods, and what it shows."""
    methods = [name for name in IN_README if name in figures.methods()]
    return {
        "table": summary_table(figures, "auc", methods),
        "findings": describe_panel(figures) + "\n\n" + describe_forest(gains(figures)),
    }


def render(results: Path, page: Path = PAGE, readme: Path = README) -> None:
    """Write the pictures, and the sections of the page and of the README."""
    figures = Figures(read_results(results))
    if not figures.results:
        raise SystemExit(f"No results in {results}: run `make table` first.")
    save_figure(draw_table(figures), page.parent / "figures" / "table.png")
    save_figure(draw_gains(figures), page.parent / "figures" / "gains.png")
    for path, parts in ((page, sections(figures)), (readme, readme_sections(figures))):
        write_sections(path, parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=FOLDER / "table.csv")
    render(parser.parse_args().results)


if __name__ == "__main__":
    main()
