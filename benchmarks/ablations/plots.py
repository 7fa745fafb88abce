"""Figures: points by data set, or lines along what is varied, with standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from benchmarks.ablations.models import FOREST
from benchmarks.ablations.study import Row, at
from benchmarks.ablations.summary import Difference, Summary

# Okabe and Ito's colors, told apart by the color-blind; markers and lines differ as well.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
MARKERS = ("o", "s", "^", "D")
LINES = ("-", "--", ":", "-.")
SMALL, WIDE, SQUARE = (4.5, 3.0), (6.2, 2.9), (4.7, 3.4)
FONT = 8
GAIN = "AUC gain over the base forest"


class Series(NamedTuple):
    """A line: its name, where on the x axis, and at each place a setting and what it is over."""

    label: str
    places: Sequence[float]
    settings: Sequence[str]
    over: Sequence[str]


def along(
    label: str,
    xs: Sequence[Any],
    places: Sequence[float],
    *,
    over: str = FOREST,
    over_along: str | None = None,
) -> Series:
    """Return the series of the settings ``at(label, x)``.

    Parameters
    ----------
    label : str
        Name of the line.
    xs : sequence
        What is varied.
    places : sequence of float
        Where that is on the x axis.
    over : str
        The setting that gains are counted from.
    over_along : str, optional
        Counts them from the settings ``at(over_along, x)`` instead.
    """
    settings = [at(label, x) for x in xs]
    others = [over if over_along is None else at(over_along, x) for x in xs]
    return Series(label, places, settings, others)


def points_figure(summary: Summary, settings: Sequence[str]) -> Figure:
    """Return a picture of gains over the base forest by data set, a marker for each setting."""
    figure = Figure(figsize=SMALL, layout="constrained")
    ax = figure.subplots()
    draw_points(ax, summary, {name: name for name in settings}, settings)
    ax.set_xticks(ax.get_xticks(), [row_label(row, "\n") for row in summary.rows])
    ax.set_ylabel(GAIN, fontsize=FONT)
    add_legend(figure, ax, len(settings))
    return figure


def points_panels(summary: Summary, panels: dict[str, dict[str, str]]) -> Figure:
    """Return panels of gains over the base forest, on scales of their own.

    Parameters
    ----------
    summary : Summary
        Results of the study.
    panels : dict
        Title of each panel to its settings: their names in the results and in the legend. The first
        panel has all that are in the legend.
    """
    figure = Figure(figsize=WIDE, layout="constrained")
    axes = figure.subplots(1, len(panels))
    legend = list(next(iter(panels.values())).values())
    for ax, (title, settings) in zip(axes, panels.items(), strict=True):
        draw_points(ax, summary, settings, legend)
        ax.set_title(title, fontsize=FONT)
        ax.tick_params(axis="x", rotation=35)
    axes[0].set_ylabel(f"{GAIN} (own scales)", fontsize=FONT)
    add_legend(figure, axes[0], len(legend))
    return figure


def draw_points(ax: Any, summary: Summary, settings: dict[str, str], legend: Sequence[str]) -> None:
    """Draw gains by data set, the settings beside each other, in the styles of the legend."""
    shifts = 0.16 * (np.arange(len(settings)) - (len(settings) - 1) / 2)
    for shift, (setting, label) in zip(shifts, settings.items(), strict=True):
        gains = [summary.difference(setting, FOREST, [row]) for row in summary.rows]
        places = np.arange(len(gains)) + shift
        draw_line(ax, places, gains, legend.index(label), label, joined=False)
    ax.set_xticks(range(len(summary.rows)), [row.data for row in summary.rows])
    ax.set_xlim(-0.5, len(summary.rows) - 0.5)
    tidy(ax)


def lines_figure(
    summary: Summary, series: Sequence[Series], *, xlabel: str, ticks: dict[float, str],
    log: bool = False, ylabel: str = GAIN,
) -> Figure:  # fmt: skip
    """Return a picture with a panel for each row, all on one scale.

    Parameters
    ----------
    summary : Summary
        Results of the study.
    series : sequence of Series
        The lines.
    xlabel, ylabel : str
        What the axes show.
    ticks : dict
        Places on the x axis and their names.
    log : bool
        Whether the x axis is logarithmic.
    """
    figure = Figure(figsize=SQUARE, layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    for ax, row in zip(axes, summary.rows, strict=False):
        draw_series(ax, summary, series, [row])
        mark_x(ax, ticks, log)
        ax.set_title(row_label(row, ", "), fontsize=FONT)
    for ax in axes[len(summary.rows) :]:
        ax.set_visible(False)
    figure.supxlabel(xlabel, fontsize=FONT)
    figure.supylabel(ylabel, fontsize=FONT)
    add_legend(figure, axes[0], len(series))
    return figure


def draw_series(ax: Any, summary: Summary, series: Sequence[Series], rows: Sequence[Row]) -> None:
    """Draw lines of gains, the mean over the rows."""
    for number, (label, places, settings, over) in enumerate(series):
        pairs = zip(settings, over, strict=True)
        draw_line(ax, places, [summary.difference(*pair, rows) for pair in pairs], number, label)
    tidy(ax)


def draw_line(
    ax: Any,
    places: Any,
    gains: Sequence[Difference],
    number: int,
    label: str,
    *,
    joined: bool = True,
) -> None:
    """Draw means with their standard errors, in the style of that number."""
    ax.errorbar(
        places,
        [gain.mean for gain in gains],
        yerr=[gain.error for gain in gains],
        label=label,
        color=COLORS[number],
        marker=MARKERS[number],
        linestyle=LINES[number] if joined else "none",
        markersize=4.5,
        linewidth=1.2,
        elinewidth=1.0,
        capsize=2.0,
    )


def mark_x(ax: Any, ticks: dict[float, str], log: bool) -> None:
    if log:
        ax.set_xscale("log")
        ax.minorticks_off()
    ax.set_xticks(list(ticks), list(ticks.values()))


def tidy(ax: Any) -> None:
    ax.axhline(0.0, color="0.4", linewidth=0.8, zorder=1)
    ax.grid(axis="y", color="0.9")
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=FONT)


def add_legend(figure: Figure, ax: Any, columns: int) -> None:
    """Put one legend for all panels above them, where it hides nothing."""
    figure.legend(
        *ax.get_legend_handles_labels(),
        loc="outside upper center",
        ncols=columns,
        fontsize=FONT,
        frameon=False,
        columnspacing=1.0,
        handletextpad=0.4,
    )


def row_label(row: Row, between: str) -> str:
    return f"{row.data}{between}{row.n_labels:,} labels"
