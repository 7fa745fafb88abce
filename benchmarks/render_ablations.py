"""Writes docs/ablations.md and its pictures from the results.

python -m benchmarks.render_ablations [--results FILE]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from benchmarks.ablations import STUDIES
from benchmarks.ablations.results import AblationResult
from benchmarks.ablations.study import MAX_UNLABELED, ROWS, Row, Study
from benchmarks.ablations.summary import Summary
from benchmarks.figures import when
from benchmarks.pages import DOCS, FIGURES, listed, save_figure, write_page
from benchmarks.results_file import FOLDER, read_results

RESULTS = FOLDER / "ablations.csv"


def summaries(results: list[AblationResult]) -> dict[str, Summary]:
    """Return the summary of each study that has results."""
    parts = {name: [r for r in results if r.study == name] for name in STUDIES}
    return {name: Summary(part, STUDIES[name].rows) for name, part in parts.items() if part}


def page(results: list[AblationResult]) -> str:
    """Return docs/ablations.md."""
    sections = [section(STUDIES[name], part) for name, part in summaries(results).items()]
    return "\n".join([f"# Ablations: what each part contributes\n\n{how(results)}\n", *sections])


def how(results: list[AblationResult]) -> str:
    """Return how the figures were measured."""
    draws = len({result.draw for result in results})
    return (
        f"AUC by scores over {draws} draws of the labels of {row_names(ROWS)}, with at most "
        f"{MAX_UNLABELED:,} unlabeled rows. Settings are compared in pairs on the same draws, and "
        "everything else has its default. HedgeClipper's constants were chosen while looking at "
        "these data sets.\n\n"
        "Bars and ± are one standard error over the draws. Significance is a t-test at 5 % for "
        "each claim separately. There are dozens of claims, so some of the weak ones will be false "
        "positives, and draws of one data set share rows, so all p-values are a little too small. "
        "`python -m benchmarks.render_ablations` writes this page from "
        f"`benchmarks/results/ablations.csv`, run {when(results)}."
    )


def row_names(rows: Iterable[Row]) -> str:
    return listed([f"{row.data} ({row.n_labels:,} labels)" for row in rows])


def section(study: Study, summary: Summary) -> str:
    """Return a study's part of the page."""
    return (
        f"## {study.title}\n\n{study.question}\n\n"
        f"![{study.title}]({FIGURES.name}/{figure_name(study)})\n\n{study.sentence(summary)}\n"
    )


def figure_name(study: Study) -> str:
    return f"ablation_{study.name}.png"


def render(results: Path, docs: Path = DOCS) -> None:
    """Write the page and the pictures."""
    known = read_results(results, AblationResult)
    if not known:
        raise SystemExit(f"No results in {results}: run benchmarks.run_ablations first.")
    for name, summary in summaries(known).items():
        study = STUDIES[name]
        save_figure(study.plot(summary), docs / FIGURES.name / figure_name(study))
    write_page(docs / "ablations.md", page(known))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder of the page")
    options = parser.parse_args()
    render(options.results, options.docs)


if __name__ == "__main__":
    main()
