"""The paper's table in Markdown, from the results: its two forms, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.comparison import beats_all, best_and_ties, holm
from benchmarks.data import DATA
from benchmarks.data.printed import PRINTED_COLUMNS
from benchmarks.methods import METHODS
from benchmarks.pages import markdown_table
from benchmarks.results_file import Result

EVERY_ROW = "hedgeclipper-every-row"
OURS, FOREST, ALONE = "hedgeclipper", "base-forest", "hedgeclipper-alone"
LEAF_CONTROLS = ("leaf-count", "leaf-vote")
CONTROLS = (*LEAF_CONTROLS, ALONE)
REPRODUCED = ("random-forest", "base-forest", "adaboost", "mart")
ONLY_IN_A = "logistic-unscaled"
FAR_OFF = 0.1
Row = tuple[str, int]


@dataclass(frozen=True)
class Figures:
    """The results by row of the table, method and draw."""

    results: Sequence[Result]

    @property
    def rows(self) -> list[Row]:
        """Return the rows that there are results of, in the table's order."""
        known = {(result.data, result.n_labels) for result in self.results}
        return [(d.name, n) for d in DATA for n in d.budgets if (d.name, n) in known]

    def values(self, row: Row, method: str, measure: str) -> np.ndarray:
        """Return a figure of a method, draw by draw."""
        own = [r for r in self.results if (r.data, r.n_labels) == row and r.method == method]
        return np.array([getattr(r, measure) for r in sorted(own, key=lambda r: r.draw)])

    def mean(self, row: Row, method: str, measure: str) -> float:
        """Return the mean of a figure over the draws."""
        return float(self.values(row, method, measure).mean())

    def methods(self, *, without: Sequence[str] = ()) -> list[str]:
        """Return the methods that there are results of, in the table's order."""
        known = {result.method for result in self.results}
        return [name for name in METHODS if name in known and name not in without]


def row_name(row: Row) -> str:
    """Return data set and number of labels."""
    n_labels = f"{row[1] // 1000}K" if row[1] >= 1000 else str(row[1])
    return f"{row[0]}, {n_labels}"


def printed(row: Row) -> dict[str, float]:
    """Return the paper's figures of a row; none where the paper has no such row."""
    data = next(data for data in DATA if data.name == row[0])
    return dict(zip(PRINTED_COLUMNS, data.printed.get(row[1], ()), strict=False))


def as_printed(figures: Figures, row: Row, method: str) -> np.ndarray:
    """Return AUCs in the paper's protocol: scores for HedgeClipper, classes for the others."""
    is_ours = METHODS[method].name.startswith("hedgeclipper")
    return figures.values(row, method, "auc" if is_ours else "auc_hard")


def table_a(figures: Figures) -> str:
    """Return the table in the paper's protocol, the paper's figure and the difference beside."""
    columns = [OURS, *PRINTED_COLUMNS]
    rows = [["data, labels", *[METHODS[name].title for name in columns]]]
    for row in figures.rows:
        values = {name: as_printed(figures, row, name) for name in columns}
        ties, theirs = best_and_ties(values), printed(row)
        cells = [_bold(f"{values[n].mean():.3f}", n in ties) + _beside(values[n], theirs.get(n))
                 for n in columns]  # fmt: skip
        rows.append([row_name(row), *cells])
    return markdown_table(rows)


def _beside(ours: np.ndarray, theirs: float | None) -> str:
    return "" if theirs is None else f" / {theirs:.3f} ({ours.mean() - theirs:+.3f})"


def table_b(figures: Figures, measure: str, methods: Sequence[str]) -> str:
    """Return the table of one figure, everybody by scores, the best and its ties in bold."""
    larger = measure != "log_loss"
    rows = [["data, labels", *[METHODS[name].title for name in methods]]]
    for row in figures.rows:
        values = {name: figures.values(row, name, measure) for name in methods}
        ties = best_and_ties(values, larger=larger)
        cells = [_bold(f"{values[name].mean():.3f}", name in ties) for name in methods]
        rows.append([row_name(row), *cells])
    means = [np.mean([figures.mean(row, n, measure) for row in figures.rows]) for n in methods]
    rows.append(["mean", *[f"{mean:.3f}" for mean in means]])
    counts = first_counts(figures, measure, methods)
    rows.append(["first or tied", *[str(counts[name]) for name in methods]])
    return markdown_table(rows)


def first_counts(figures: Figures, measure: str, methods: Sequence[str]) -> dict[str, int]:
    """Return in how many rows each method is first or tied with the first."""
    larger = measure != "log_loss"
    ties = [
        best_and_ties({m: figures.values(row, m, measure) for m in methods}, larger=larger)
        for row in figures.rows
    ]
    return {name: sum(name in tied for tied in ties) for name in methods}


def _bold(text: str, is_bold: bool) -> str:
    return f"**{text}**" if is_bold else text


def distances(figures: Figures, shift: int = 1, measure: str | None = None) -> dict[str, float]:
    """Return the mean distance of each reproduced column from the paper's print.

    ``shift`` compares ssl-secstr's rows with the print for that many times fewer labels; the
    measure is the paper's protocol unless one is named.
    """
    out = {}
    for name in REPRODUCED:
        gaps = []
        for data, n_labels in figures.rows:
            label = n_labels // shift if data == "ssl-secstr" else n_labels
            theirs = printed((data, label)).get(name)
            if theirs is not None:
                row = (data, n_labels)
                ours = (
                    figures.values(row, name, measure)
                    if measure
                    else as_printed(figures, row, name)
                )
                gaps.append(abs(ours.mean() - theirs))
        out[name] = float(np.mean(gaps))
    return out


def far_off(figures: Figures) -> list[tuple[Row, list[str]]]:
    """Return the rows with a figure further than 0.1 from the print, and which figures."""
    out = []
    for row in figures.rows:
        theirs = printed(row)
        names = [n for n in theirs if abs(as_printed(figures, row, n).mean() - theirs[n]) > FAR_OFF]
        if names:
            out.append((row, names))
    return out


@dataclass(frozen=True)
class Gain:
    """HedgeClipper's AUC by scores in a row, less that of its forest and of its controls.

    Parameters
    ----------
    row : Row
        Data set and number of labels.
    over_forest, over_controls, over_alone : float
        Mean gain over the forest, over the better one of the two controls on the same leaves, and
        over HedgeClipper without unlabelled rows.
    beats_leaves : bool
        Whether it is ahead of the forest and both of these controls, beyond chance.
    is_credited : bool
        Whether it is ahead of itself without unlabelled rows, too, so that these get the credit.
    is_worse : bool
        Whether the forest is ahead of it, beyond chance.
    """

    row: Row
    over_forest: float
    over_controls: float
    over_alone: float
    beats_leaves: bool
    is_credited: bool
    is_worse: bool


def gains(figures: Figures) -> list[Gain]:
    """Return the gains by row; one-sided paired tests, the weakest counts, Holm over the rows."""

    def beyond_chance(ours: str, *others: str) -> np.ndarray:
        p_values = [
            beats_all(auc(row, ours), [auc(row, name) for name in others]) for row in figures.rows
        ]
        return holm(np.array(p_values))

    def auc(row: Row, method: str) -> np.ndarray:
        return figures.values(row, method, "auc")

    beats_leaves = beyond_chance(OURS, FOREST, *LEAF_CONTROLS)
    credited = beyond_chance(OURS, FOREST, *CONTROLS)
    worse = beyond_chance(FOREST, OURS)
    return [
        Gain(
            row=row,
            over_forest=float((auc(row, OURS) - auc(row, FOREST)).mean()),
            over_controls=min(float((auc(row, OURS) - auc(row, c)).mean()) for c in LEAF_CONTROLS),
            over_alone=float((auc(row, OURS) - auc(row, ALONE)).mean()),
            beats_leaves=bool(beats_leaves[number]),
            is_credited=bool(credited[number]),
            is_worse=bool(worse[number]),
        )
        for number, row in enumerate(figures.rows)
    ]
