"""The table of votes as a picture."""

from __future__ import annotations

from matplotlib.figure import Figure

from benchmarks.figures import OURS, row_name
from benchmarks.plots import dots
from benchmarks.votes.methods import BF
from benchmarks.votes.table import VoteFigures

# Okabe and Ito's colors, told apart by the color-blind; the markers differ as well.
STYLES = {
    OURS: ("#0072B2", "o"),
    "majority": ("#000000", "x"),
    "label_model": ("#D55E00", "s"),
    "dawid_skene": ("#E69F00", "D"),
    "glad": ("#009E73", "^"),
    "mace": ("#CC79A7", "P"),
    "naive_bayes": ("#56B4E9", "v"),
    "accuracy_weights": ("#56B4E9", "<"),
    "ridge": ("#56B4E9", ">"),
    "best_voter": ("#999999", "d"),
}
LOSSES = (0.2, 0.5, 1.0, 2.0, 5.0)


def draw_votes(figures: VoteFigures) -> Figure:
    """Return the picture: accuracy and log loss of all methods by row."""
    figure = Figure(figsize=(10.0, 6.8), layout="constrained")
    columns = figures.methods(without=[BF])
    panels = figure.subplots(1, 2, sharey=True)
    for ax, measure in zip(panels, ("accuracy", "log_loss"), strict=True):
        dots(ax, figures, columns, lambda r, name, m=measure: figures.mean(r, name, m), STYLES)
        ax.set_xlabel(f"{measure.replace('_', ' ')}, mean of the draws")
    panels[1].set_xscale("log")
    panels[1].set_xticks(LOSSES, [f"{loss:g}" for loss in LOSSES])
    panels[1].minorticks_off()
    panels[0].set_yticks(range(len(figures.rows)), [row_name(row) for row in figures.rows])
    panels[0].invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    return figure
