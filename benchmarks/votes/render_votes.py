"""Writes docs/votes_table.md, its picture and the README's part from the results.

python -m benchmarks.votes.render_votes [--results FOLDER]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import figure_table, summary_table
from benchmarks.pages import DOCS, ROOT, save_figure, write_sections
from benchmarks.results_file import FOLDER, read_results
from benchmarks.votes.data import JUDGES
from benchmarks.votes.methods import BF
from benchmarks.votes.panel_tables import describe_rates, describe_stress, rates_table, stress_table
from benchmarks.votes.plot import draw_votes
from benchmarks.votes.published import published_findings, published_table
from benchmarks.votes.rates import RateResult
from benchmarks.votes.results import RATES, SPEED, STRESS, VOTES, VoteResult
from benchmarks.votes.speed_table import describe_speed, speed_table
from benchmarks.votes.stress import StressResult
from benchmarks.votes.table import (
    JudgeFigures,
    VoteFigures,
    describe_accuracy,
    describe_first,
    describe_judges,
    describe_run,
    describe_time,
)

PAGE, README = DOCS / "votes_table.md", ROOT / "README.md"
PICTURE = "figures/votes_table.png"
NOT_RUN = "Not run yet: `make votes-table`."


def table_of(figures: VoteFigures, measure: str) -> str:
    """Return the table of one figure."""
    return figure_table(figures, measure, figures.methods(without=[BF]))


TABLE_PARTS = {
    "votes-run": (describe_run, lambda _: f"![Accuracy and log loss by row]({PICTURE})"),
    "votes-accuracy": (lambda figures: table_of(figures, "accuracy"), describe_accuracy),
    "votes-log-loss": (
        lambda figures: table_of(figures, "log_loss"),
        lambda figures: describe_first(figures, "log_loss"),
    ),
    "votes-seconds": (lambda figures: table_of(figures, "seconds"), describe_time),
    "votes-published": (published_table, published_findings),
}
IN_README = {
    "hedgeclipper": "`VoteAggregator`",
    "mace": "MACE (crowd-kit)",
    "naive_bayes": "naive Bayes",
    "dawid_skene": "Dawid-Skene (crowd-kit)",
    "majority": "majority vote",
    "label_model": "Snorkel LabelModel",
}
README_TEXT = (
    "Accuracy on nine real sets of votes of labeling functions, classifiers and crowds, with 20, "
    "100 and 500 gold labels. Majority vote and MACE use no gold labels, and Snorkel uses them for "
    "the class prior alone; [votes and judges](docs/votes_table.md) has all methods."
)


def read_figures(folder: Path) -> VoteFigures:
    """Return the results of the table."""
    results = read_results(folder / VOTES.name, VoteResult)
    return VoteFigures([result for result in results if result.data != JUDGES])


def read_judges(folder: Path) -> JudgeFigures:
    """Return the results on the verdicts of language models."""
    results = read_results(folder / VOTES.name, VoteResult)
    return JudgeFigures([result for result in results if result.data == JUDGES])


def sections(folder: Path) -> dict[str, str]:
    """Return the sections of docs/votes_table.md, of those results that there are."""
    figures = read_figures(folder)
    speed, judges = read_results(folder / SPEED.name, VoteResult), read_judges(folder)
    stress = read_results(folder / STRESS.name, StressResult)
    rates = read_results(folder / RATES.name, RateResult)
    return {
        **{name: _text(figures.results, makers, figures) for name, makers in TABLE_PARTS.items()},
        "votes-judges": _text(
            judges.results,
            (
                lambda found: table_of(found, "accuracy"),
                describe_judges,
                lambda found: table_of(found, "log_loss"),
            ),
            judges,
        ),
        "votes-stress": _text(stress, (stress_table, describe_stress), stress),
        "votes-rates": _text(rates, (rates_table, describe_rates), rates),
        "votes-speed": _text(speed, (speed_table, describe_speed), speed),
    }


def readme_sections(folder: Path) -> dict[str, str]:
    """Return the README's summary of accuracies; empty if there are no results."""
    figures = read_figures(folder)
    if not figures.results:
        return {"votes": ""}
    shown = [name for name in IN_README if name in figures.methods()]
    return {"votes": README_TEXT + "\n\n" + summary_table(figures, "accuracy", shown, IN_README)}


def _text(results: Sequence[Any], makers: tuple[Callable[..., str], ...], argument: Any) -> str:
    """Return what the makers make of the argument, if there are results."""
    return "\n\n".join(make(argument) for make in makers) if results else NOT_RUN


def render(folder: Path, page: Path = PAGE, readme: Path = README) -> None:
    """Write the picture, and the sections of the page and of the README."""
    figures = read_figures(folder)
    if figures.results:
        save_figure(draw_votes(figures), page.parent / PICTURE)
    for path, parts in ((page, sections(folder)), (readme, readme_sections(folder))):
        write_sections(path, parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=FOLDER, help="folder of the CSV files")
    render(parser.parse_args().results)


if __name__ == "__main__":
    main()
