"""Writes the tables of votes in docs/benchmarks.md, docs/votes.md and the README from the results.

python -m benchmarks.votes.page
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import ClassVar

import numpy as np

from benchmarks.figures import OURS, PairedFigures, summary_table, when, with_what
from benchmarks.pages import NOT_RUN, listed, markdown_table, write_pages
from benchmarks.results_file import FOLDER, read_results
from benchmarks.votes.crowds import CELLS, COMPARED, LABELS, RESULTS, CrowdResult
from benchmarks.votes.data import BUDGETS, JUDGES, JUDGES_BUDGETS, SETS
from benchmarks.votes.methods import METHODS, ON_A_MILLION_ROWS, OWN, VoteResult
from benchmarks.votes.rates import CASES, RATES, RateResult
from benchmarks.votes.run_votes import VOTES
from benchmarks.votes.speed import SPEED

JUDGES_SHOWN = (OURS, "ridge", "majority")


class VoteFigures(PairedFigures):
    """The results of the table of votes."""

    order: ClassVar = [
        *((name, n_labels) for name in SETS for n_labels in BUDGETS),
        *((JUDGES, n_labels) for n_labels in JUDGES_BUDGETS),
    ]
    titles: ClassVar = {name: method.title for name, method in METHODS.items()}
    main_measure, command = "accuracy", "make votes-table"


def read_figures(folder: Path = FOLDER, *, judges: bool = False) -> VoteFigures:
    """Return the results of the table, or those on the verdicts of language models."""
    results = read_results(folder / VOTES.name, VoteResult)
    known = [result for result in results if result.method in METHODS]
    return VoteFigures([result for result in known if (result.data == JUDGES) == judges])


def sections(folder: Path = FOLDER) -> dict[str, str]:
    """Return the sections of docs/benchmarks.md, of those results that there are."""
    figures = read_figures(folder)
    found = dict.fromkeys(("run", "accuracy"), NOT_RUN)
    if figures.rows:
        shown = {name: figures.titles[name] for name in figures.methods()}
        found = {
            "run": describe_run(figures),
            "accuracy": summary_table(figures, "accuracy", shown),
        }
    for name, path, kind, table in (
        ("crowds", RESULTS, CrowdResult, describe_crowds),
        ("rates", RATES, RateResult, describe_rates),
        ("speed", SPEED, VoteResult, speed_table),
    ):
        results = read_results(folder / path.name, kind)
        found[name] = table(results) if results else NOT_RUN
    return {f"votes-{name}": text for name, text in found.items()}


def readme_sections(folder: Path = FOLDER) -> dict[str, str]:
    """Return the table of judges, for the README and docs/votes.md."""
    judges = read_figures(folder, judges=True)
    return {"judges": judges_table(judges) if judges.rows else NOT_RUN}


def judges_table(figures: VoteFigures) -> str:
    """Return accuracies on the verdicts of language models, a column for each number of labels."""
    budgets = [row[1] for row in figures.rows]
    rows = [["accuracy, by number of labels", *[str(n) for n in budgets]]]
    for name in JUDGES_SHOWN:
        values = [figures.mean(row, name, "accuracy") for row in figures.rows]
        title = "`VoteAggregator`" if name == OURS else METHODS[name].title
        rows.append([title, *[f"{value:.3f}" for value in values]])
    return markdown_table(rows)


def describe_run(figures: VoteFigures) -> str:
    """Return when and with what it was run, and which methods could not be run on all draws."""
    draws = len({result.draw for result in figures.results})
    missing = Counter(METHODS[r.method].title for r in figures.results if r.reason)
    gaps = listed([f"{title} on {n:,} draws" for title, n in sorted(missing.items())])
    slow = f" Too slow to be run: {gaps}." if gaps else ""
    own = [result for result in figures.results if result.method == OURS]
    others = [result for result in figures.results if result.method != OURS]
    elsewhere = [result for result in others if METHODS[result.method].environment != OWN]
    return (
        f"{draws} draws of the labels for each set and number of labels.{slow} HedgeClipper was "
        f"run on {when(own)} with {with_what(own)}, the others on {when(others)}, some of them "
        f"with {with_what(elsewhere)}."
    )


def describe_crowds(results: Sequence[CrowdResult]) -> str:
    """Return how ours compares with the simple method that is best in each cell."""
    known: dict[tuple, list[float]] = {}
    for result in results:
        known.setdefault((result.data, result.n_labels, result.method), []).append(result.accuracy)
    gains = []
    for name, n in product(CELLS, LABELS):
        means = {m: np.mean(known[name, n, m]) for m in COMPARED if (name, n, m) in known}
        if len(means) == len(COMPARED):
            ours = means.pop(OURS)
            gains.append(ours - max(means.values()))
    if not gains:
        return NOT_RUN
    n_behind = sum(gain < -0.01 for gain in gains)
    return (
        f"On generated crowds, `VoteAggregator` is on average {100 * np.mean(gains):+.1f} points "
        f"from the simple method that is best on each, and more than a point behind it on "
        f"{n_behind} of {len(gains)}."
    )


def describe_rates(results: Sequence[RateResult]) -> str:
    """Return how often intervals of class rates hold."""
    said = []
    for kind in ("estimate", "guarantee"):
        held = [np.mean([r.holds for r in own]) for own in _by_case(results, kind) if own]
        said.append(f"{np.mean(held):.1%} ({kind}; the lowest of {len(held)} sets {min(held):.1%})")
    return f"The 95% intervals of `class_rates()` contain the true rate in {listed(said)} of draws."


def _by_case(results: Sequence[RateResult], kind: str) -> list[list[RateResult]]:
    return [
        [r for r in results if (r.data, r.n_labels, r.method) == (*case, kind)] for case in CASES
    ]


def speed_table(results: Sequence[VoteResult]) -> str:
    """Return time and memory of each method, medians of the rounds, and their ratio to ours."""

    def median(method: str, *names: str) -> float:
        own = [result for result in results if result.method == method]
        return float(np.median([sum(getattr(r, name) for name in names) for r in own]))

    rows = [["method", "fit, s", "conversion, s", "both, x ours", "peak MB", "x ours", "accuracy"]]
    for name in ON_A_MILLION_ROWS:
        both = [median(m, "seconds", "conversion_seconds") for m in (name, OURS)]
        memory = [median(m, "peak_mb") for m in (name, OURS)]
        cells = [f"{median(name, m):.2f}" for m in ("seconds", "conversion_seconds")]
        cells += [f"{both[0] / both[1]:.2f}", f"{memory[0]:.0f}", f"{memory[0] / memory[1]:.2f}"]
        rows.append([METHODS[name].title, *cells, f"{median(name, 'accuracy'):.4f}"])
    return markdown_table(rows)


def pages(folder: Path = FOLDER) -> dict[str, dict[str, str]]:
    """Return the sections by page."""
    judges = readme_sections(folder)
    return {"docs/benchmarks.md": sections(folder), "docs/votes.md": judges, "README.md": judges}


if __name__ == "__main__":
    write_pages(pages())
