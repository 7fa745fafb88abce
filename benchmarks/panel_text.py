"""The hedged panel compared with single methods and with its own members, in Markdown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.comparison import holm, paired_p_value
from benchmarks.figures import OURS, Row, row_name
from benchmarks.methods import METHODS
from benchmarks.pages import markdown_table
from benchmarks.table_text import Figures

PANEL, MEAN, STACKING = "hedged-voting", "panel-mean", "panel-stacking"
REFERENCE = "random-forest"
COMPARATORS = (
    REFERENCE,
    "base-forest",
    "adaboost",
    "mart",
    "logistic-regression",
    "lightgbm",
    "self-training",
    "label-spreading",
)


@dataclass(frozen=True)
class PanelGain:
    """The panel's AUC by scores in a row, and its gain over others.

    Parameters
    ----------
    row : Row
        Data set and number of labels.
    auc : float
        The panel's, on average.
    best : str
        The comparator with the highest mean.
    over_best, over_reference, over_mean, over_stacking : float
        Mean gain over that one, over the random forest, and over the mean and a stacking of the
        panel's own members.
    log_loss_over_mean : float
        Difference in log loss from the mean of its members.
    is_below : bool
        Whether the best comparator is significantly ahead of it.
    """

    row: Row
    auc: float
    best: str
    over_best: float
    over_reference: float
    over_mean: float
    over_stacking: float
    log_loss_over_mean: float
    is_below: bool


def panel_gains(figures: Figures) -> list[PanelGain]:
    """Return the gains by row; whether one is below is tested one-sided, Holm over the rows."""
    best = {row: _best_comparator(figures, row) for row in figures.rows}
    p_values = [
        paired_p_value(
            figures.values(row, best[row], "auc"), figures.values(row, PANEL, "auc"), "greater"
        )
        for row in figures.rows
    ]
    below = holm(np.array(p_values))

    def gap(row: Row, other: str, measure: str = "auc") -> float:
        return figures.mean(row, PANEL, measure) - figures.mean(row, other, measure)

    return [
        PanelGain(
            row=row,
            auc=figures.mean(row, PANEL, "auc"),
            best=best[row],
            over_best=gap(row, best[row]),
            over_reference=gap(row, REFERENCE),
            over_mean=gap(row, MEAN),
            over_stacking=gap(row, STACKING),
            log_loss_over_mean=gap(row, MEAN, "log_loss"),
            is_below=bool(is_below),
        )
        for row, is_below in zip(figures.rows, below, strict=True)
    ]


def _best_comparator(figures: Figures, row: Row) -> str:
    able = [name for name in (*COMPARATORS, OURS) if figures.has(row, name)]
    return max(able, key=lambda name: figures.mean(row, name, "auc"))


def table_of_gains(gains: list[PanelGain]) -> str:
    """Return one line for each row, and their mean."""
    heads = ["data, labels", "AUC", "best comparator", "gain over it", "over Random Forest"]
    rows = [
        [*heads, "over the members' mean", "over stacking", "log loss, difference from the mean"]
    ]
    for gain in gains:
        over_best = f"{gain.over_best:+.4f}" + (" (significant)" if gain.is_below else "")
        numbers = (gain.over_reference, gain.over_mean, gain.over_stacking, gain.log_loss_over_mean)
        name = METHODS[gain.best].title
        rows.append(
            [
                row_name(gain.row),
                f"{gain.auc:.4f}",
                name,
                over_best,
                *[f"{x:+.4f}" for x in numbers],
            ]
        )
    means = [
        np.mean([getattr(gain, name) for gain in gains])
        for name in ("over_best", "over_reference", "over_mean", "over_stacking")
    ]
    losses = np.mean([gain.log_loss_over_mean for gain in gains])
    rows.append(["mean", "", "", *[f"{mean:+.4f}" for mean in [*means, losses]]])
    return markdown_table(rows)
