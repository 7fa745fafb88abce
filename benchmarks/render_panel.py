"""Writes docs/panel.md from the results of the table, and of other and rare data.

python -m benchmarks.render_panel
"""

from __future__ import annotations

from benchmarks.figures import OURS
from benchmarks.other_data import CASES, COMPARISONS
from benchmarks.pages import DOCS, write_sections
from benchmarks.panel_rare import RESULTS as RARE
from benchmarks.panel_rare import describe
from benchmarks.panel_text import panel_gains, table_of_gains
from benchmarks.results_file import FOLDER, read_results
from benchmarks.run_table import table_rows
from benchmarks.table_text import Figures

PAGE = DOCS / "panel.md"


def sections() -> dict[str, str]:
    """Return the parts of the page that come from results."""
    paper = panel_gains(Figures(read_results(FOLDER / "table.csv"), table_rows()))
    others, forests = COMPARISONS["panel"], COMPARISONS["forest"]
    results = read_results(others.results)
    draws = {result.draw for result in results}
    ours = [r for r in read_results(forests.results) if r.method == OURS and r.draw in draws]
    other = panel_gains(Figures(results + ours, CASES))
    return {
        "table": table_of_gains(paper),
        "other": f"{len(draws)} draws of the labels, at most {others.n_unlabeled:,} unlabeled "
        "rows.\n\n" + table_of_gains(other),
        "rare": describe(read_results(RARE)),
    }


def main() -> None:
    write_sections(PAGE, sections())


if __name__ == "__main__":
    main()
