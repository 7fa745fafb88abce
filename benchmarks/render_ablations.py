"""Writes the tables of docs/ablations.md, from the results of HedgeClipper and its controls.

python -m benchmarks.render_ablations
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.comparison import Difference
from benchmarks.figures import OURS, PairedFigures, on_draws_of, row_name, when
from benchmarks.forest_text import ForestFigures, difference
from benchmarks.other_data import CASES, COMPARISONS
from benchmarks.pages import DOCS, markdown_table, write_sections
from benchmarks.results_file import FOLDER, read_results

PAGE = DOCS / "ablations.md"


@dataclass(frozen=True)
class Part:
    """A part of HedgeClipper: the method that has it, and the one that has not."""

    title: str
    with_it: str
    without: str


PARTS = (
    Part("shrinkage, chosen out of bag", OURS, "hedgeclipper-unshrunk"),
    Part("extra trees in place of random forests on components", OURS, "hedgeclipper-no-extra"),
    Part("trees on columns and components together", OURS, "hedgeclipper-apart"),
    Part("trees on components beside raw columns", OURS, "hedgeclipper-no-views"),
    Part("components of all rows, not of labeled ones", OURS, "hedgeclipper-labeled-views"),
    Part("game of groups instead of equal weights of trees", OURS, "hedgeclipper-mean"),
)


def sections(paper: PairedFigures, other: PairedFigures) -> dict[str, str]:
    """Return the parts of the page that come from results."""
    tables = {
        name: f"{describe_run(figures)}\n\n{table(figures)}"
        for name, figures in (("paper", paper), ("other", other))
    }
    return {**tables, "parts": describe_parts(other)}


def describe_run(figures: PairedFigures) -> str:
    """Return how the figures were measured."""
    own = [result for result in figures.results if result.method == OURS]
    most = max(result.n_unlabeled for result in own)
    return f"{len(figures.rows)} rows, at most {most:,} unlabeled rows, run on {when(own)}."


def table(figures: PairedFigures) -> str:
    """Return a line for each part."""
    rows = [["part", "draws", "AUC", "better, worse", "log loss", "better, worse"]]
    for part in known_parts(figures):
        auc, loss = (effect(figures, part, measure) for measure in ("auc", "log_loss"))
        cells = [_mean(auc), _counts(auc, 1), _mean(loss), _counts(loss, -1)]
        n_draws = min(values.size for values in auc.by_row.values())
        rows.append([part.title, str(n_draws), *cells])
    return markdown_table(rows)


def effect(figures: PairedFigures, part: Part, measure: str = "auc") -> Difference:
    """Return what a part adds to a figure, on the draws that both of its methods were run on."""
    results = on_draws_of(on_draws_of(figures.results, part.with_it), part.without)
    return difference(ForestFigures(results, figures.rows), part.with_it, part.without, measure)


def known_parts(figures: PairedFigures) -> list[Part]:
    """Return the parts whose methods have both been run."""
    known = figures.methods()
    return [part for part in PARTS if {part.with_it, part.without} <= set(known)]


def describe_parts(figures: PairedFigures) -> str:
    """Return which parts bring more than their standard error in AUC, and where they lose most."""
    lines = []
    for part in known_parts(figures):
        found = effect(figures, part)
        row, least = min(found.means.items(), key=lambda pair: pair[1])
        brings = "more than its standard error" if found.mean > found.error else "not measurable"
        brings = "worse than without it" if found.mean < -found.error else brings
        lines.append(
            f"- {part.title}: {brings} ({_mean(found)}); the lowest difference is {least:+.4f} "
            f"({row_name(row)})."
        )
    known = known_parts(figures)
    if missing := [part.title for part in PARTS if part not in known]:
        lines.append(f"- Not measured yet: {'; '.join(missing)}.")
    return "\n".join(lines)


def _mean(found: Difference) -> str:
    return f"{found.mean:+.4f} ± {found.error:.4f}"


def _counts(found: Difference, better: int) -> str:
    return ", ".join(str(len(found.rows_of_sign(sign))) for sign in (better, -better))


def figures() -> tuple[ForestFigures, ForestFigures]:
    """Return the results on the paper's and on other data, on draws of HedgeClipper."""
    files = FOLDER / "table.csv", COMPARISONS["ablations"].results
    paper, other = (on_draws_of(read_results(path), OURS) for path in files)
    if not paper or not other:
        raise SystemExit("No results of HedgeClipper: run `make table` first.")
    return ForestFigures(paper), ForestFigures(other, CASES)


def main() -> None:
    write_sections(PAGE, sections(*figures()))


if __name__ == "__main__":
    main()
