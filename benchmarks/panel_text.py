"""The hedged panel compared with single methods and with its own members, in Markdown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.comparison import holm, paired_p_value
from benchmarks.figures import OURS, Row, row_name
from benchmarks.methods import METHODS
from benchmarks.pages import listed, markdown_table, verdict
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
MANY_LABELS, NEAR = 100, 0.01


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


def verdicts(gains: list[PanelGain], least_ahead: int, least_gain: float) -> str:
    """Return which aims are met, as a Markdown list.

    Parameters
    ----------
    gains : list of PanelGain
        One for each row.
    least_ahead : int
        In how many rows the panel should be above all comparators.
    least_gain : float
        Its mean gain over the random forest should be this large.
    """
    below = [gain for gain in gains if gain.is_below]
    far = [g for g in gains if g.row[1] >= MANY_LABELS and g.over_best < -NEAR]
    ahead = sum(gain.over_best > 0 for gain in gains)
    over_reference = float(np.mean([gain.over_reference for gain in gains]))
    over_mean = float(np.mean([gain.over_mean for gain in gains]))
    over_stacking = float(np.mean([gain.over_stacking for gain in gains]))
    behind = [
        g for g in gains if g.row[1] >= MANY_LABELS and min(g.over_mean, g.over_stacking) < -NEAR
    ]
    worse = [g for g in gains if g.log_loss_over_mean > 0]
    loss = float(np.mean([gain.log_loss_over_mean for gain in gains]))
    return "\n".join(
        [
            verdict(not below, f"significantly below the best comparator in {_where(below)}"),
            verdict(
                not far,
                f"more than {NEAR} below it with {MANY_LABELS} labels or more in {_where(far)}",
            ),
            verdict(
                ahead >= least_ahead,
                f"above all of them in {ahead} of {len(gains)} rows (aim {least_ahead})",
            ),
            verdict(
                over_reference >= least_gain,
                f"mean gain over the random forest {over_reference:+.4f} (aim {least_gain:+.3f})",
            ),
            verdict(
                over_mean > 0 and over_stacking > 0,
                f"mean gain {over_mean:+.4f} over the mean of its members and {over_stacking:+.4f} "
                "over stacking them",
            ),
            verdict(
                not behind,
                f"more than {NEAR} below either of them with {MANY_LABELS} labels or more in "
                f"{_where(behind)}",
            ),
            verdict(
                loss <= 0,
                f"mean difference in log loss from the members' mean {loss:+.4f}; it is higher in "
                f"{_where(worse)}",
            ),
        ]
    )


def _where(gains: list[PanelGain]) -> str:
    return listed([row_name(gain.row) for gain in gains]) if gains else "no row"
