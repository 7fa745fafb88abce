"""Writes docs/votes_table.md, its picture and the README's part from the results.

python -m benchmarks.votes.page
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from benchmarks.figures import (
    OURS,
    PairedFigures,
    Row,
    figure_table,
    gains_table,
    row_name,
    summary_table,
    when,
    with_what,
)
from benchmarks.pages import DOCS, NOT_RUN, ROOT, markdown_table, save_figure, write_sections
from benchmarks.plots import dots
from benchmarks.results_file import FOLDER, read_results
from benchmarks.votes.data import BUDGETS, JUDGES, JUDGES_BUDGETS, SETS
from benchmarks.votes.methods import BF, METHODS, ON_A_MILLION_ROWS, VoteResult
from benchmarks.votes.panels import PANELS, PLAIN, PanelResult
from benchmarks.votes.rates import CASES, RATES, RateResult
from benchmarks.votes.run_votes import PAPERS_LABELS, VOTES
from benchmarks.votes.speed import SPEED

PICTURE = "figures/votes_table.png"
# Okabe and Ito's colors, told apart by the color-blind; the markers differ as well.
STYLES = {
    OURS: ("#0072B2", "o"),
    "majority": ("#000000", "x"),
    "label_model": ("#D55E00", "s"),
    "dawid_skene": ("#E69F00", "D"),
    "glad": ("#009E73", "^"),
    "mace": ("#CC79A7", "P"),
    "naive_bayes": ("#56B4E9", "v"),
    "accuracy_weights": ("#56B4E9", "<"),
    "ridge": ("#56B4E9", ">"),
    "best_voter": ("#999999", "d"),
}
LOSSES = (0.2, 0.5, 1.0, 2.0, 5.0)
IN_README = {
    OURS: "`VoteAggregator`",
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


class Published(NamedTuple):
    """An and Dasgupta's (UAI 2024) losses of BF, and the lowest log loss of any method."""

    bf_error: float
    bf_loss: float
    best_loss: float


PUBLISHED = {
    "bf_basketball": Published(0.1140, 0.39, 0.39),
    "bf_cardio": Published(0.0311, 0.20, 0.20),
    "bf_domain": Published(0.3675, 1.12, 1.12),
    "bf_yelp": Published(0.3442, 0.64, 0.60),
    "bf_youtube": Published(0.2434, 0.50, 0.42),
}


class VoteFigures(PairedFigures):
    """The results of the table of votes; An and Dasgupta's setting is not compared."""

    order: ClassVar = [
        *((name, n_labels) for name in SETS for n_labels in BUDGETS),
        *((JUDGES, n_labels) for n_labels in JUDGES_BUDGETS),
    ]
    titles: ClassVar = {name: method.title for name, method in METHODS.items()}
    outside, main_measure, command = (BF,), "accuracy", "make votes-table"

    def ties(self, row: Row, measure: str) -> list[str]:
        """Return the best and its ties; for times only the best, as a few draws show no ties."""
        if measure != "seconds":
            return super().ties(row, measure)
        names = [name for name in self.methods(without=self.outside) if self.has(row, name)]
        return [min(names, key=lambda name: self.mean(row, name, measure))]

    def table(self, measure: str) -> str:
        """Return the table of one figure."""
        return figure_table(self, measure, self.methods(without=[BF]))


def read_figures(folder: Path = FOLDER, *, judges: bool = False) -> VoteFigures:
    """Return the results of the table, or those on the verdicts of language models."""
    results = read_results(folder / VOTES.name, VoteResult)
    return VoteFigures([result for result in results if (result.data == JUDGES) == judges])


def sections(folder: Path = FOLDER) -> dict[str, str]:
    """Return the sections of docs/votes_table.md, of those results that there are."""
    figures, judges = read_figures(folder), read_figures(folder, judges=True)
    found = dict.fromkeys(("run", "accuracy", "log-loss", "seconds", "published"), NOT_RUN)
    if figures.rows:
        others = {name: METHODS[name].title for name in figures.methods(without=[OURS, BF])}
        gains = gains_table(figures, OURS, others, {"accuracy": 1, "log_loss": -1})
        found = {
            "run": f"{describe_run(figures)}\n\n![Accuracy and log loss by row]({PICTURE})",
            "accuracy": f"{figures.table('accuracy')}\n\nHedgeClipper and the others:\n\n{gains}",
            "log-loss": figures.table("log_loss"),
            "seconds": figures.table("seconds"),
            "published": published_table(figures),
        }
    tables = [judges.table(measure) for measure in ("accuracy", "log_loss") if judges.rows]
    found["judges"] = "\n\n".join(tables) or NOT_RUN
    for name, path, kind, table in (
        ("stress", PANELS["small"].results, PanelResult, stress_table),
        ("crowds", PANELS["crowds"].results, PanelResult, crowds_table),
        ("rates", RATES, RateResult, rates_table),
        ("speed", SPEED, VoteResult, speed_table),
    ):
        results = read_results(folder / path.name, kind)
        found[name] = table(results) if results else NOT_RUN
    return {f"votes-{name}": text for name, text in found.items()}


def readme_sections(folder: Path = FOLDER) -> dict[str, str]:
    """Return the README's summary of accuracies."""
    figures = read_figures(folder)
    if not figures.rows:
        return {"votes": NOT_RUN}
    table = summary_table(figures, "accuracy", list(IN_README), IN_README)
    return {"votes": f"{README_TEXT}\n\n{table}"}


def describe_run(figures: VoteFigures) -> str:
    """Return when and with what it was run, and what was not."""
    draws = len({result.draw for result in figures.results})
    lines = [
        f"Run on {when(figures.results)} with {with_what(figures.results)}. {draws} draws of the "
        "labels for each row. Runs without a result:\n"
    ]
    reasons = Counter((r.method, r.reason) for r in figures.results if r.reason)
    for (method, reason), count in sorted(reasons.items()):
        lines.append(f"- {METHODS[method].title}, {count} draw{'s' * (count > 1)}: {reason}.")
    return "\n".join(lines if reasons else [*lines, "- none."])


def published_table(figures: VoteFigures) -> str:
    """Return the published values beside ours."""
    rows = [
        [
            "data", "BF 0-1 loss: here / published", "BF log loss: here / published (difference)",
            "log loss: default / best published (difference)", "0-1 loss: default / majority vote",
        ]
    ]  # fmt: skip
    for row in figures.rows:
        if row[0] not in PUBLISHED or row[1] != PAPERS_LABELS:
            continue
        theirs, shown = PUBLISHED[row[0]], (BF, OURS, "majority")
        bf, own, majority = (100 * (1.0 - figures.mean(row, m, "accuracy")) for m in shown)
        bf_loss, loss = (figures.mean(row, m, "log_loss") for m in (BF, OURS))
        rows.append(
            [
                row[0],
                f"{bf:.2f} / {100 * theirs.bf_error:.2f}",
                f"{bf_loss:.3f} / {theirs.bf_loss:.2f} ({bf_loss - theirs.bf_loss:+.3f})",
                f"{loss:.3f} / {theirs.best_loss:.2f} ({loss - theirs.best_loss:+.3f})",
                f"{own:.2f} / {majority:.2f}",
            ]
        )
    return markdown_table(rows)


def stress_table(results: Sequence[PanelResult]) -> str:
    """Return accuracies of ours, naive Bayes and majority vote in each cell."""
    cells, labels, methods, *_ = PANELS["small"]
    known = accuracies(results)
    rows = [["voters", "voters, classes", *[f"{n} labels" for n in labels]]]
    for cell in cells:
        texts = []
        for n in labels:
            means = [known[cell.name, n, m] for m in methods if (cell.name, n, m) in known]
            texts.append(" / ".join(f"{mean:.3f}" for mean in means) or "-")
        rows.append([cell.kind, f"{cell.n_voters}, {cell.n_classes}", *texts])
    return markdown_table(rows)


def accuracies(results: Sequence[PanelResult]) -> dict[tuple[str, int, str], float]:
    """Return mean accuracies by cell, number of labels and method."""
    known: dict[tuple[str, int, str], list[float]] = {}
    for result in results:
        known.setdefault((result.data, result.n_labels, result.method), []).append(result.accuracy)
    return {key: float(np.mean(values)) for key, values in known.items()}


def crowds_table(results: Sequence[PanelResult]) -> str:
    """Return accuracies of ours beside those of the plain rule that is best in each cell."""
    cells, labels, *_ = PANELS["crowds"]
    known = accuracies(results)
    rows, gains = [["voters", *[f"{n} labels" for n in labels]]], []
    for name in (cell.name for cell in cells):
        texts = []
        for n in labels:
            means = {m: known[name, n, m] for m in (OURS, *PLAIN) if (name, n, m) in known}
            if len(means) <= len(PLAIN):
                texts.append("-")
                continue
            ours, best = means.pop(OURS), max(means, key=lambda m: means[m])
            gains.append(ours - means[best])
            texts.append(f"{ours:.3f} / {means[best]:.3f} ({METHODS[best].title})")
        rows.append([name, *texts])
    if not gains:
        return NOT_RUN
    n_behind = sum(gain < -0.01 for gain in gains)
    return (
        f"{markdown_table(rows)}\n\nOn average HedgeClipper is {100 * np.mean(gains):+.1f} points "
        f"from the best plain rule of a cell, and more than a point behind it in {n_behind} of "
        f"{len(gains)} cells."
    )


def rates_table(results: Sequence[RateResult]) -> str:
    """Return how often intervals hold, and their mean length."""
    rows = [["data, labels", "estimate: holds", "mean length", "guarantee: holds", "mean length"]]
    for data, n_labels in CASES:
        texts = [f"{data}, {n_labels}"]
        for kind in ("estimate", "guarantee"):
            own = [r for r in results if (r.data, r.n_labels, r.method) == (data, n_labels, kind)]
            texts.append(f"{np.mean([r.holds for r in own]):.1%}" if own else "-")
            texts.append(f"{np.mean([r.upper - r.lower for r in own]):.3f}" if own else "-")
        rows.append(texts)
    return markdown_table(rows)


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


def draw_votes(figures: VoteFigures) -> Figure:
    """Return the picture: accuracy and log loss of all methods by row."""
    figure = Figure(figsize=(10.0, 6.8), layout="constrained")
    columns = figures.methods(without=[BF])
    left, right = figure.subplots(1, 2, sharey=True)
    for ax, measure in ((left, "accuracy"), (right, "log_loss")):
        dots(ax, figures, columns, lambda r, name, m=measure: figures.mean(r, name, m), STYLES)
        ax.set_xlabel(f"{measure.replace('_', ' ')}, mean of the draws")
    right.set_xscale("log")
    right.set_xticks(LOSSES, [f"{loss:g}" for loss in LOSSES])
    right.minorticks_off()
    left.set_yticks(range(len(figures.rows)), [row_name(row) for row in figures.rows])
    left.invert_yaxis()
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    return figure


def render(folder: Path = FOLDER, docs: Path = DOCS, readme: Path = ROOT / "README.md") -> None:
    """Write the picture, and the sections of the page and of the README."""
    figures = read_figures(folder)
    if figures.rows:
        save_figure(draw_votes(figures), docs / PICTURE)
    write_sections(docs / "votes_table.md", sections(folder))
    write_sections(readme, readme_sections(folder))


if __name__ == "__main__":
    render()
