"""Writes docs/panel.md from the results of the table, of other and rare data, and of the study.

python -m benchmarks.render_panel
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.other_data import CASES, COMPARISONS
from benchmarks.pages import DOCS, markdown_table, write_sections
from benchmarks.panel_rare import RESULTS as RARE
from benchmarks.panel_rare import describe
from benchmarks.panel_study import N_DRAWS as STUDY_DRAWS
from benchmarks.panel_study import N_ROWS, WAYS, StudyResult
from benchmarks.panel_study import RESULTS as STUDY
from benchmarks.panel_text import panel_gains, table_of_gains, verdicts
from benchmarks.results_file import FOLDER, read_results
from benchmarks.run_table import table_rows
from benchmarks.table_text import Figures

PAGE = DOCS / "panel.md"
LEFT_OUT = ("ssl-secstr", 10_000)
LEAST_AHEAD, LEAST_GAIN = 13, 0.032


def sections() -> dict[str, str]:
    """Return the parts of the page that come from results."""
    rows = [row for row in table_rows() if row != LEFT_OUT]
    paper = panel_gains(Figures(read_results(FOLDER / "table.csv"), rows))
    others = COMPARISONS["panel"]
    other = panel_gains(Figures(read_results(others.results), CASES))
    most = len(CASES) // 2 + 1
    return {
        "table": table_of_gains(paper),
        "verdicts": verdicts(paper, LEAST_AHEAD, LEAST_GAIN),
        "other": f"{others.n_draws} draws of the labels, at most {others.n_unlabeled:,} unlabeled "
        "rows.\n\n" + table_of_gains(other),
        "other-verdicts": verdicts(other, most, 0.0),
        "rare": describe(read_results(RARE)),
        "study": f"{STUDY_DRAWS} draws of the labels; weights from at most {N_ROWS:,} rows.\n\n"
        + table_of_ways(read_results(STUDY, StudyResult))
        + "\n\n"
        + describe_agreement(read_results(STUDY, StudyResult)),
    }


def table_of_ways(results: Sequence[StudyResult]) -> str:
    """Return the mean difference in AUC of each variant from the panel, over all and some rows."""
    known = {result.key: result.auc for result in results}
    cells = sorted({key[:3] for key in known if key[:2] != LEFT_OUT})
    first, *others = [way for way in WAYS if all((*cell, way) in known for cell in cells)]

    def gain(way: str, some: list[tuple]) -> float:
        return float(np.mean([known[(*cell, way)] - known[(*cell, first)] for cell in some]))

    budgets = sorted({cell[1] for cell in cells})
    rows = [["variant", "all rows", *[f"{n:,} labels" for n in budgets], "worst row"]]
    for way in others:
        by_row = {cell[:2]: [] for cell in cells}
        for cell in cells:
            by_row[cell[:2]].append(known[(*cell, way)] - known[(*cell, first)])
        parts = [[cell for cell in cells if cell[1] == n] for n in budgets]
        worst = min(float(np.mean(found)) for found in by_row.values())
        numbers = [gain(way, cells), *[gain(way, part) for part in parts], worst]
        rows.append([way, *[f"{number:+.4f}" for number in numbers]])
    return markdown_table(rows)


def describe_agreement(results: Sequence[StudyResult]) -> str:
    """Return what unlabeled rows add to the weights of members."""
    kept = [result for result in results if (result.data, result.n_labels) != LEFT_OUT]

    def mean(way: str) -> float:
        return float(np.mean([result.auc for result in kept if result.method == way]))

    own = mean("the panel as it is")
    labeled = mean("agreement from labeled rows alone") - own
    unlabeled = mean("agreement from unlabeled rows alone") - own
    verdict = "no worse" if labeled > -0.0005 else "worse"
    return (
        "The lines on agreement are controls. If the members' agreement is measured on labeled "
        f"rows only, the panel is {verdict} ({labeled:+.4f}); on unlabeled rows only, the "
        f"difference is {unlabeled:+.4f}. The rest of what unlabeled rows add comes from the "
        "members that learn from them and from the scale they give to votes."
    )


def main() -> None:
    write_sections(PAGE, sections())


if __name__ == "__main__":
    main()
