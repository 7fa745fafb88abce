"""The README's figure: difference in AUC from a random forest, row by row."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from benchmarks.figures import OURS, Row, row_name
from benchmarks.forest_text import FOREST, N_TREES
from benchmarks.panel_text import COMPARATORS, PANEL, REFERENCE
from benchmarks.table_text import Figures

# Okabe and Ito's colors, as in the table's picture; the markers differ as well.
PANEL_COLOR, OURS_COLOR = "#D55E00", "#0072B2"


def draw_gains(figures: Figures) -> Figure:
    """Return the picture: a line for each row, sorted by what the hedged panel gains."""
    rows = sorted(figures.rows, key=lambda row: _gain(figures, row, PANEL))
    places = np.arange(len(rows))
    figure = Figure(figsize=(8.0, 5.2), layout="constrained")
    ax = figure.subplots()
    ax.axvline(0.0, color="0.45", linewidth=1.2)
    for place, row in zip(places, rows, strict=True):
        others = [_gain(figures, row, name) for name in COMPARATORS if figures.has(row, name)]
        label = "eight single methods (the forest at 0)" if place == 0 else None
        ax.plot(others, [place] * len(others), "|", color="0.6", markersize=9, label=label)
    ax.plot([_gain(figures, r, OURS) for r in rows], places, "o", color=OURS_COLOR, mfc="none",
            label="HedgeClipper")  # fmt: skip
    ax.plot([_gain(figures, r, FOREST) for r in rows], places, "x", color="0.3", markersize=5,
            label=f"random forest of {N_TREES} trees")  # fmt: skip
    ax.plot([_gain(figures, r, PANEL) for r in rows], places, "D", color=PANEL_COLOR,
            label="hedged panel")  # fmt: skip
    ax.set_yticks(places, [f"{row_name(row)} labels" for row in rows])
    ax.set_xlabel("difference in AUC from a random forest, mean of ten draws of the labels")
    ax.grid(axis="y", color="0.92")
    ax.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def _gain(figures: Figures, row: Row, method: str) -> float:
    return figures.mean(row, method, "auc") - figures.mean(row, REFERENCE, "auc")
