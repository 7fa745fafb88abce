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

OURS, FOREST, ALONE = "hedgeclipper", "base-forest", "hedgeclipper-alone"
LEAF_CONTROLS = ("leaf-count", "leaf-vote")
CONTROLS = (*LEAF_CONTROLS, ALONE)
REPRODUCED = ("random-forest", "base-forest", "adaboost", "mart")
PAPERS, SMALL_ALPHA = "hedgeclipper-paper", "hedgeclipper-paper-0.3"
ONLY_IN_A = "logistic-unscaled"
COLUMNS_A = (OURS, PAPERS, SMALL_ALPHA, *PRINTED_COLUMNS[1:])
FAR_OFF = 0.1
Row = tuple[str, int]


class Figures:
    """The results by row of the table, method and draw.

    Parameters
    ----------
    results : sequence of Result
        All of them.
    rows : sequence of Row, optional
        The rows in order; those of the paper's table unless told.
    """

    def __init__(self, results: Sequence[Result], rows: Sequence[Row] | None = None):
        self.results = results
        self._order = [(d.name, n) for d in DATA for n in d.budgets] if rows is None else rows
        self._known: dict[tuple[Row, str], dict[int, Result]] = {}
        for result in results:
            row = (result.data, result.n_labels)
            self._known.setdefault((row, result.method), {})[result.draw] = result

    @property
    def rows(self) -> list[Row]:
        """Return the rows that there are results of, in the table's order."""
        return [row for row in self._order if (row, OURS) in self._known]

    def values(self, row: Row, method: str, measure: str) -> np.ndarray:
        """Return a figure of a method on the draws of the row, which are the same for all."""
        draws, own = self._known[row, OURS], self._known.get((row, method), {})
        missing = sorted(set(draws) - set(own))
        if missing:
            raise ValueError(
                f"{row_name(row)} has no result of {method} for draw {missing[0]} "
                f"({len(missing)} missing in all). Run `make table` to the end."
            )
        return np.array([getattr(own[draw], measure) for draw in sorted(draws)])

    def mean(self, row: Row, method: str, measure: str) -> float:
        """Return the mean of a figure over the draws."""
        return float(self.values(row, method, measure).mean())

    def has(self, row: Row, method: str) -> bool:
        """Return whether the method could be run on the row."""
        return not np.isnan(self.values(row, method, "auc")).any()

    def methods(self, *, without: Sequence[str] = ()) -> list[str]:
        """Return the methods that there are results of, in the table's order."""
        known = {method for _, method in self._known}
        return [name for name in METHODS if name in known and name not in without]

    def ties(self, row: Row, measure: str) -> list[str]:
        """Return the best of all methods, the unscaled regression left out, and its ties."""
        names = [name for name in self.methods(without=[ONLY_IN_A]) if self.has(row, name)]
        values = {name: self.values(row, name, measure) for name in names}
        return best_and_ties(values, larger=measure != "log_loss")


def row_name(row: Row) -> str:
    """Return data set and number of labels."""
    n_labels = f"{row[1] // 1000}K" if row[1] >= 1000 else str(row[1])
    return f"{row[0]}, {n_labels}"


def printed(row: Row) -> dict[str, float]:
    """Return the paper's figures of a row; none where the paper has no such row."""
    data = next(data for data in DATA if data.name == row[0])
    figures = dict(zip(PRINTED_COLUMNS, data.printed.get(row[1], ()), strict=False))
    return figures | ({SMALL_ALPHA: figures[PAPERS]} if figures else {})


def as_printed(figures: Figures, row: Row, method: str) -> np.ndarray:
    """Return AUCs in the paper's protocol: scores for HedgeClipper, classes for the others."""
    is_ours = METHODS[method].name.startswith("hedgeclipper")
    return figures.values(row, method, "auc" if is_ours else "auc_hard")


def table_a(figures: Figures) -> str:
    """Return the table in the paper's protocol, the paper's figure and the difference beside."""
    rows = [["data, labels", *[METHODS[name].title for name in COLUMNS_A]]]
    for row in figures.rows:
        values = {name: as_printed(figures, row, name) for name in COLUMNS_A}
        ties, theirs = best_and_ties(values), printed(row)
        cells = [_bold(f"{values[n].mean():.3f}", n in ties) + _beside(values[n], theirs.get(n))
                 for n in COLUMNS_A]  # fmt: skip
        rows.append([row_name(row), *cells])
    return markdown_table(rows)


def _beside(ours: np.ndarray, theirs: float | None) -> str:
    return "" if theirs is None else f" / {theirs:.3f} ({ours.mean() - theirs:+.3f})"


def table_b(figures: Figures, measure: str, shown: Sequence[str]) -> str:
    """Return the table of one figure, everybody by scores, the best of all and its ties in bold."""
    rows = [["data, labels", *[METHODS[name].title for name in shown]]]
    for row in figures.rows:
        ties = figures.ties(row, measure)
        rows.append([row_name(row), *[_cell(figures, row, n, measure, ties) for n in shown]])
    means = [np.mean([figures.mean(row, n, measure) for row in figures.rows]) for n in shown]
    rows.append(["mean", *["-" if np.isnan(mean) else f"{mean:.3f}" for mean in means]])
    first, alone = first_counts(figures, measure)
    rows.append(["first or tied", *[str(first[name]) for name in shown]])
    rows.append(["first alone", *[str(alone[name]) for name in shown]])
    return markdown_table(rows)


def _cell(figures: Figures, row: Row, method: str, measure: str, ties: list[str]) -> str:
    if not figures.has(row, method):
        return "-"
    return _bold(f"{figures.mean(row, method, measure):.3f}", method in ties)


def first_counts(figures: Figures, measure: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return in how many rows each method is first or tied, and in how many it alone is first."""
    ties = [figures.ties(row, measure) for row in figures.rows]
    names = figures.methods()
    first = {name: sum(name in tied for tied in ties) for name in names}
    return first, {name: sum(tied == [name] for tied in ties) for name in names}


def _bold(text: str, is_bold: bool) -> str:
    return f"**{text}**" if is_bold else text


def distances(
    figures: Figures,
    methods: Sequence[str] = REPRODUCED,
    measure: str | None = None,
    shift: int = 1,
) -> dict[str, float]:
    """Return the mean distance of each column from the paper's print.

    Parameters
    ----------
    figures : Figures
        Ours.
    methods : sequence of str
        Which columns.
    measure : {"auc", "auc_hard"} or None
        Which figure; None is that of the paper's protocol.
    shift : int
        Compare ssl-secstr's rows with the print for that many times fewer labels.
    """
    gaps: dict[str, list[float]] = {name: [] for name in methods}
    for row in figures.rows:
        label = row[1] // shift if row[0] == "ssl-secstr" else row[1]
        theirs = printed((row[0], label))
        for name in methods if theirs else ():
            own = as_printed(figures, row, name)
            own = own if measure is None else figures.values(row, name, measure)
            gaps[name].append(abs(own.mean() - theirs[name]))
    return {name: float(np.mean(found)) for name, found in gaps.items()}


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
