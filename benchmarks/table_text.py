"""The paper's table in Markdown, from the results: its two forms, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from benchmarks.comparison import best_and_ties
from benchmarks.data import DATA
from benchmarks.data.paper import PUBLISHED_COLUMNS
from benchmarks.figures import OURS, PairedFigures, Row, bold, row_name
from benchmarks.methods import CONTROLS, METHODS
from benchmarks.pages import markdown_table

REPRODUCED = ("random-forest", "base-forest", "adaboost", "mart")
PAPERS, SMALL_ALPHA = "hedgeclipper-paper", "hedgeclipper-paper-0.3"
HELD_OUT = "hedgeclipper-paper-20-80"
ONLY_IN_A = "logistic-unscaled"
COLUMNS_A = (OURS, PAPERS, SMALL_ALPHA, HELD_OUT, *PUBLISHED_COLUMNS[1:])
FAR_OFF = 0.1


class Figures(PairedFigures):
    """The results of the paper's table; controls and unscaled regression are not compared."""

    order: ClassVar = [(data.name, n_labels) for data in DATA for n_labels in data.budgets]
    titles: ClassVar = {name: method.title for name, method in METHODS.items()}
    outside: ClassVar = (ONLY_IN_A, *CONTROLS)
    main_measure, command = "auc", "make table"


def published(row: Row) -> dict[str, float]:
    """Return the published values of a row; none if the paper has no such row."""
    data = next(data for data in DATA if data.name == row[0])
    figures = dict(zip(PUBLISHED_COLUMNS, data.published.get(row[1], ()), strict=False))
    return figures | {name: figures[PAPERS] for name in (SMALL_ALPHA, HELD_OUT) if figures}


def in_papers_protocol(figures: Figures, row: Row, method: str) -> np.ndarray:
    """Return AUCs in the paper's protocol: scores for HedgeClipper, classes for the others."""
    is_ours = METHODS[method].name.startswith("hedgeclipper")
    return figures.values(row, method, "auc" if is_ours else "auc_hard")


def table_a(figures: Figures) -> str:
    """Return the table in the paper's protocol, with published values and differences."""
    rows = [["data, labels", *[METHODS[name].title for name in COLUMNS_A]]]
    for row in figures.rows:
        values = {name: in_papers_protocol(figures, row, name) for name in COLUMNS_A}
        ties, theirs = best_and_ties(values), published(row)
        cells = [bold(f"{values[n].mean():.3f}", n in ties) + _beside(values[n], theirs.get(n))
                 for n in COLUMNS_A]  # fmt: skip
        rows.append([row_name(row), *cells])
    return markdown_table(rows)


def _beside(ours: np.ndarray, theirs: float | None) -> str:
    return "" if theirs is None else f" / {theirs:.3f} ({ours.mean() - theirs:+.3f})"


def distances(
    figures: Figures,
    methods: Sequence[str] = REPRODUCED,
    measure: str | None = None,
    shift: int = 1,
) -> dict[str, float]:
    """Return the mean absolute difference of each column from the published values.

    Parameters
    ----------
    figures : Figures
        Ours.
    methods : sequence of str
        Which columns.
    measure : {"auc", "auc_hard"} or None
        Which figure; None is that of the paper's protocol.
    shift : int
        Compare ssl-secstr's rows with the published values for that many times fewer labels.
    """
    gaps: dict[str, list[float]] = {name: [] for name in methods}
    for row in figures.rows:
        label = row[1] // shift if row[0] == "ssl-secstr" else row[1]
        theirs = published((row[0], label))
        for name in methods if theirs else ():
            own = in_papers_protocol(figures, row, name)
            own = own if measure is None else figures.values(row, name, measure)
            gaps[name].append(abs(own.mean() - theirs[name]))
    return {name: float(np.mean(found)) for name, found in gaps.items()}


def far_off(figures: Figures) -> list[tuple[Row, list[str]]]:
    """Return the rows with a figure over 0.1 from the published value, and which figures."""
    out = []
    for row in figures.rows:
        theirs = published(row)
        names = [
            n
            for n in theirs
            if abs(in_papers_protocol(figures, row, n).mean() - theirs[n]) > FAR_OFF
        ]
        if names:
            out.append((row, names))
    return out
