"""The README's figure: mean difference in AUC from a random forest of as many trees."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from benchmarks.figures import OURS
from benchmarks.forest_text import FOREST, N_TREES
from benchmarks.panel_text import MEAN, PANEL
from benchmarks.table_text import Figures

# Okabe and Ito's colors, as in the table's picture
COLORS = {PANEL: "#D55E00", OURS: "#0072B2"}
METHODS = {
    PANEL: "HedgedVotingClassifier",
    MEAN: "mean of its members",
    OURS: "HedgeClipperClassifier",
    "random-forest": "random forest, 100 trees",
    "mart": "gradient boosting",
    "logistic-regression": "logistic regression",
    "self-training": "self-training",
}


def draw_gains(figures: Figures) -> Figure:
    """Return the picture, the best method first; methods that could not be run are left out."""
    whole = [name for name in METHODS if all(figures.has(row, name) for row in figures.rows)]
    gains = {name: mean_gain(figures, name) for name in whole}
    names = sorted(gains, key=gains.__getitem__)
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    ax = figure.subplots()
    colors = [COLORS.get(name, "0.7") for name in names]
    bars = ax.barh([METHODS[name] for name in names], [gains[name] for name in names], color=colors)
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


def mean_gain(figures: Figures, method: str) -> float:
    """Return the mean over rows of the difference in AUC from a random forest of as many trees."""
    own, other = (
        [figures.mean(row, name, "auc") for row in figures.rows] for name in (method, FOREST)
    )
    return float(np.mean(np.subtract(own, other)))
