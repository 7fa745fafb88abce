"""The tables as pictures."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from benchmarks.data.sources import PUBLISHED_COLUMNS
from benchmarks.figures import OURS, PairedFigures, difference, row_name
from benchmarks.paper_table import ONLY_IN_A, in_papers_protocol

LIMIT = 0.15  # differences beyond it are drawn at the edge, hollow
# Okabe and Ito's colors, told apart by the color-blind; the markers differ as well.
STYLES = {
    OURS: ("#0072B2", "o"),
    "hedgeclipper-paper": ("#56B4E9", "v"),
    "random-forest": ("#D55E00", "s"),
    "base-forest": ("#E69F00", "D"),
    "adaboost": ("#009E73", "^"),
    "mart": ("#CC79A7", "P"),
    "logistic-regression": ("#000000", "x"),
    ONLY_IN_A: ("#000000", "x"),
}


def draw_table(figures: PairedFigures) -> Figure:
    """Return the picture: AUC of the paper's columns in both protocols, on one scale."""
    figure = Figure(figsize=(10.0, 6.4), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, sharex=True)
    columns_a = [OURS, *PUBLISHED_COLUMNS]
    columns_b = ["logistic-regression" if c == ONLY_IN_A else c for c in columns_a]
    dots(left, figures, columns_a, lambda row, m: in_papers_protocol(figures, row, m).mean())
    dots(right, figures, columns_b, lambda row, m: figures.mean(row, m, "auc"))
    left.set_title("(a) HedgeClipper by scores,\nthe others by predicted classes")
    right.set_title("(b) all methods\nby scores")
    left.set_yticks(range(len(figures.rows)), [row_name(row) for row in figures.rows])
    left.invert_yaxis()
    for ax in (left, right):
        ax.set_xlabel("AUC, mean of the draws")
        ax.axvline(0.5, color="0.7", linewidth=0.8)
    handles, labels = right.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def dots(ax, figures: PairedFigures, columns: list[str], value, styles=STYLES) -> None:
    """Draw a dot for each row and column."""
    for name in columns:
        color, marker = styles[name]
        ax.scatter(
            [value(row, name) for row in figures.rows],
            range(len(figures.rows)),
            s=34,
            marker=marker,
            facecolors=color if marker == "x" or name.startswith("hedge") else "none",
            edgecolors=None if marker == "x" else color,
            label=figures.titles[name],
            zorder=3 if name == OURS else 2,
        )
    ax.grid(axis="y", color="0.9")
    ax.set_axisbelow(True)


def draw_gains(figures: PairedFigures, titles: dict[str, str]) -> Figure:
    """Return the differences in AUC from other methods: a dot for each setting, and medians."""
    gains = {
        titles[name].replace("`", ""): [*difference(figures, name).means.values()]
        for name in titles
        if name != OURS
    }
    names = sorted(gains, key=lambda name: -np.median(gains[name]))
    figure = Figure(figsize=(9.0, 4.4), layout="constrained")
    ax = figure.subplots()
    for place, name in enumerate(names):
        values = np.array(gains[name])
        shown = np.clip(values, -LIMIT, LIMIT)
        faces = np.where(shown == values, "#0072B2", "none")
        ax.scatter(shown, np.full(shown.size, place), c=faces, edgecolors="#0072B2", alpha=0.55)
        middle = np.clip(np.median(values), -LIMIT, LIMIT)
        ax.plot([middle, middle], [place - 0.32, place + 0.32], color="black", linewidth=2.5)
    ax.axvline(0.0, color="0.3", linewidth=1.2, zorder=1)
    ax.set_yticks(range(len(names)), names, fontsize=12)
    ax.tick_params(axis="x", labelsize=12)
    ax.set_xlim(-LIMIT * 1.04, LIMIT * 1.04)
    ax.set_xlabel("HedgeClipper has higher AUC by", fontsize=13)
    ax.grid(axis="y", color="0.93")
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(left=False)
    return figure
