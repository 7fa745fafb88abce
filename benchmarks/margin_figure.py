"""The paper's Figure 2, on covtype: awake predictions of each class, by labels and alpha.

    python -m benchmarks.margin_figure [--n-unlabeled N]

Rows of the picture are the paper's numbers of labels; columns are the base forest and
`PaperHedgeClipper` with the paper's three weights of the unlabeled rows. Rows drawn are the
unlabeled ones, as in the paper. Writes docs/figures/margins.png.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from sklearn.metrics import roc_auc_score

from benchmarks.data.sources import fetch
from benchmarks.pages import FIGURES, save_figure
from hedgeclipper.paper import ContradictoryCorrelationsWarning, MarginDisplay, PaperHedgeClipper

N_LABELED = (1_000, 10_000, 100_000)
ALPHAS = (1.0, 0.3, 3.0)
FOREST = "base forest"
SEED, BINS = 0, 60
# proportion of rows within the drawn range
DRAWN = 0.99


@dataclass(frozen=True, eq=False)
class Panel:
    """Awake predictions of one model."""

    n_labeled: int
    column: str
    awake: np.ndarray

    @property
    def reach(self) -> float:
        """What nearly all awake predictions are within, and the hedged range too."""
        return float(max(np.quantile(np.abs(self.awake), DRAWN), 1.0))


def fit_panels(X, y, labeled, unlabeled) -> list[Panel]:
    """Return the panels of one number of labels: the forest's, then one for each alpha."""
    rows, panels = X[unlabeled], []
    for alpha in ALPHAS:
        model = PaperHedgeClipper(unlabeled_weight=alpha, n_jobs=-1, random_state=SEED)
        model.fit(X[labeled], y[labeled], X_unlabeled=rows)
        panels.append(Panel(labeled.size, f"alpha = {alpha}", model.decision_function(rows)))
    forest = 2.0 * model.forest_.predict_proba(rows)[:, 1] - 1.0
    return [Panel(labeled.size, FOREST, forest), *panels]


def draw_rows(n_rows: int, n_labeled: int, n_unlabeled: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labeled and unlabeled rows; fewer labels are some of the more, the rest the same."""
    order = np.random.default_rng(SEED).permutation(n_rows)
    return order[:n_labeled], order[max(N_LABELED) :][:n_unlabeled]


def draw_figure(panels: list[Panel], labels: np.ndarray) -> Figure:
    columns = list(dict.fromkeys(panel.column for panel in panels))
    figure = Figure(figsize=(11.0, 7.4), layout="constrained")
    grid = figure.subplots(len(N_LABELED), len(columns))
    for panel in panels:
        ax = grid[N_LABELED.index(panel.n_labeled), columns.index(panel.column)]
        reach = 1.05 * panel.reach
        drawn = MarginDisplay.from_predictions(
            labels, panel.awake, bins=BINS, limits=(-reach, reach), ax=ax
        )
        ax.get_legend().remove()
        tidy(ax, reach, 1.05 * drawn.densities.max())
        ax.set_title(f"AUC {roc_auc_score(labels, panel.awake):.3f}", fontsize=9)
    for ax, column in zip(grid[0], columns, strict=True):
        ax.set_title(f"{column}\n{ax.get_title()}", fontsize=10)
    for ax, n_labeled in zip(grid[:, 0], N_LABELED, strict=True):
        ax.set_ylabel(f"{n_labeled:,} labels\ndensity", fontsize=10)
    note = "awake prediction on covtype; each panel has its own scale, end bins hold rows beyond"
    figure.supxlabel(note, fontsize=10)
    handles, _ = grid[0, 1].get_legend_handles_labels()
    names = [*(f"class {label}" for label in np.unique(labels)), "hedged"]
    figure.legend(handles, names, loc="outside upper center", ncols=3, fontsize=9)
    return figure


def tidy(ax: Any, reach: float, top: float) -> None:
    """Leave three ticks, none so near the edge that its label sticks out."""
    tick = 1.0 if reach < 2.0 else round_number_below(0.8 * reach)
    ax.set(xlabel="", ylabel="", ylim=(0.0, top), yticks=[], xticks=[-tick, 0.0, tick])
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    ax.tick_params(labelsize=9)


def round_number_below(value: float) -> float:
    """Return the greatest of 1, 2 and 5 times a power of ten that is not above the value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(max(digit * power for digit in (1, 2, 5) if digit * power <= value))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-unlabeled", type=int, default=50_000)
    arguments = parser.parse_args()
    try:
        data = fetch("covtype")
    except OSError as error:
        print(f"skipped: {error}")
        return
    warnings.simplefilter("ignore", ContradictoryCorrelationsWarning)
    panels = []
    for n_labeled in N_LABELED:
        labeled, unlabeled = draw_rows(data.target.size, n_labeled, arguments.n_unlabeled)
        panels += fit_panels(data.data, data.target, labeled, unlabeled)
    labels = data.target[unlabeled]
    save_figure(draw_figure(panels, labels), FIGURES / "margins.png")


if __name__ == "__main__":
    main()
