"""Writes docs/panel.md from the results of the table, of other and rare data, and of the study.

python -m benchmarks.render_panel
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.figures import OURS, row_name
from benchmarks.other_data import CASES, COMPARISONS
from benchmarks.pages import DOCS, listed, markdown_table, verdict, write_sections
from benchmarks.panel_rare import RESULTS as RARE
from benchmarks.panel_rare import describe
from benchmarks.panel_study import N_DRAWS as STUDY_DRAWS
from benchmarks.panel_study import N_ROWS, WAYS, WITHOUT, StudyResult
from benchmarks.panel_study import RESULTS as STUDY
from benchmarks.panel_text import panel_gains, table_of_gains, verdicts
from benchmarks.results_file import FOLDER, Key, read_results
from benchmarks.run_table import table_rows
from benchmarks.table_text import Figures

PAGE = DOCS / "panel.md"
LEAST_AHEAD, LEAST_GAIN = 12, 0.040
NEAR_BEST = 0.005


def sections() -> dict[str, str]:
    """Return the parts of the page that come from results."""
    paper = panel_gains(Figures(read_results(FOLDER / "table.csv"), table_rows()))
    others, forests = COMPARISONS["panel"], COMPARISONS["forest"]
    results = read_results(others.results)
    draws = {result.draw for result in results}
    ours = [r for r in read_results(forests.results) if r.method == OURS and r.draw in draws]
    other = panel_gains(Figures(results + ours, CASES))
    most = len(CASES) // 2 + 1
    return {
        "table": table_of_gains(paper),
        "verdicts": verdicts(paper, LEAST_AHEAD, LEAST_GAIN),
        "other": f"{len(draws)} draws of the labels, at most {others.n_unlabeled:,} unlabeled "
        "rows.\n\n" + table_of_gains(other),
        "other-verdicts": verdicts(other, most, 0.035),
        "rare": describe(read_results(RARE)),
        "study": f"{STUDY_DRAWS} draws of the labels; weights from at most {N_ROWS:,} rows.\n\n"
        + table_of_ways(read_results(STUDY, StudyResult))
        + "\n\n"
        + describe_agreement(read_results(STUDY, StudyResult)),
        "members": table_of_members(read_results(STUDY, StudyResult)),
        "best-member": describe_best_member(read_results(STUDY, StudyResult)),
    }


def table_of_members(results: Sequence[StudyResult]) -> str:
    """Return what the panel loses without each member, on the paper's and on other data."""
    known = {result.key: result.auc for result in results}
    names = list(dict.fromkeys(r.method for r in results if r.method.startswith(WITHOUT)))
    parts = {"the paper's data": set(table_rows()), "other data": set(CASES)}
    rows = [["member", *parts, "largest loss in a row"]]
    for name in names:
        losses = _gains(known, next(iter(WAYS)), name)
        worst = max(losses, key=lambda row: np.mean(losses[row]))
        shown = [
            _mean_and_error([loss for row in part & losses.keys() for loss in losses[row]])
            for part in parts.values()
        ]
        largest = f"{np.mean(losses[worst]):+.4f} ({row_name(worst)})"
        rows.append([name.removeprefix(WITHOUT), *shown, largest])
    return markdown_table(rows)


def describe_best_member(results: Sequence[StudyResult]) -> str:
    """Return whether the panel is far below the member that is best out of fold in some row."""
    known = {result.key: result.auc for result in results}
    gains = _gains(known, next(iter(WAYS)), "the best member by out-of-fold labels")
    means = {row: float(np.mean(own)) for row, own in gains.items()}
    far = sorted(row for row, gain in means.items() if gain < -NEAR_BEST)
    where = listed([f"{row_name(row)} ({means[row]:+.4f})" for row in far]) if far else "no row"
    average = float(np.mean(list(means.values())))
    return verdict(
        not far,
        f"more than {NEAR_BEST} below the member that is best out of fold in {where}; on average "
        f"{average:+.4f} from it",
    )


def _gains(known: dict[Key, float], one: str, other: str) -> dict[tuple[str, int], list[float]]:
    """Return the differences in AUC of two ways, draw by draw, for each row."""
    gains: dict[tuple[str, int], list[float]] = {}
    for data, n_labels, draw, method in known:
        if method == other:
            gain = known[Key(data, n_labels, draw, one)] - known[Key(data, n_labels, draw, other)]
            gains.setdefault((data, n_labels), []).append(gain)
    return gains


def _mean_and_error(values: Sequence[float]) -> str:
    if len(values) < 2:
        return "-"
    return f"{np.mean(values):+.4f} ± {np.std(values, ddof=1) / len(values) ** 0.5:.4f}"


def table_of_ways(results: Sequence[StudyResult]) -> str:
    """Return the mean difference in AUC of each variant from the panel, over all and some rows."""
    known = {result.key: result.auc for result in results}
    cells = sorted({key[:3] for key in known})
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

    def mean(way: str) -> float:
        return float(np.mean([result.auc for result in results if result.method == way]))

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
