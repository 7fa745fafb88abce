"""The tables as pictures."""

from __future__ import annotations

from matplotlib.figure import Figure

from benchmarks.data.sources import PUBLISHED_COLUMNS
from benchmarks.figures import OURS, PairedFigures, difference, row_name
from benchmarks.methods.supervised import EQUAL_FOREST, N_TREES
from benchmarks.paper_table import ONLY_IN_A, in_papers_protocol

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
    """Return the mean difference in AUC of some methods from a forest of as many trees."""
    gains = {
        titles[name]: difference(figures, name, EQUAL_FOREST).mean
        for name in titles
        if name != EQUAL_FOREST
    }
    names = sorted(gains, key=gains.__getitem__)
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    ax = figure.subplots()
    colors = ["#0072B2" if name == titles[OURS] else "0.7" for name in names]
    bars = ax.barh(names, [gains[name] for name in names], color=colors)
    ax.bar_label(bars, [f"{gains[name]:+.3f}" for name in names], padding=4)
    ax.axvline(0.0, color="0.3", linewidth=1.2)
    ax.set_xlabel(
        f"mean difference in AUC from a random forest of {N_TREES} trees, "
        f"{len(figures.rows)} settings"
    )
    ax.margins(x=0.15)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(left=False)
    return figure
