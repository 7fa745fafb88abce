"""The paper's Figure 2, on covtype: awake predictions of each class, by labels and alpha.

    python -m benchmarks.margin_figure [--n-unlabeled N]

Rows of the picture are the paper's numbers of labels; columns are the forest that the classifier
was built from and the classifier with the paper's three weights of the unlabeled rows. Rows drawn
are the unlabeled ones, as in the paper. Draws it with the paper's settings and with the default
ones of `LeafGame`, in docs/figures, and writes the tables in docs/margins.md.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from scipy.stats import kurtosis
from sklearn.metrics import roc_auc_score

from benchmarks.data.fetching import fetch
from benchmarks.pages import DOCS, FIGURES, markdown_table, save_figure, with_section, write_page
from benchmarks.timing import print_rows
from hedgeclipper import HedgeClipperClassifier, LeafGame, MarginDisplay
from hedgeclipper.inspection import per_cent

N_LABELED = (1_000, 10_000, 100_000)
ALPHAS = (1.0, 0.3, 3.0)
FOREST = "base forest"
SEED = 0
BINS = 60
# proportion of rows within the drawn range, and largest ratio of ranges that share an axis
DRAWN, SAME_SCALE = 0.99, 10.0
PEAK_BIN = 0.1

HEADING = (
    "labels",
    "panel",
    "AUC",
    "accuracy of the sign",
    "clipped",
    "99 % of rows within",
    "distance of the classes",
    "excess kurtosis",
    "height of the peak",
)

PAGE = DOCS / "margins.md"
NAMES = {"paper": "margins", "default": "margins-default"}


@dataclass(frozen=True, eq=False)
class Panel:
    """Awake predictions of one model, and where it clips."""

    n_labeled: int
    column: str
    awake: np.ndarray
    clip_at: tuple[float, float]

    @property
    def reach(self) -> float:
        """What nearly all awake predictions are within, and the clipping too."""
        return float(max(np.quantile(np.abs(self.awake), DRAWN), *np.abs(self.clip_at)))

    @property
    def clipped(self) -> float:
        """Proportion of clipped rows."""
        low, high = self.clip_at
        return float(np.mean((self.awake <= low) | (self.awake >= high)))


def alpha_column(alpha: float) -> str:
    return f"alpha = {alpha}"


def classifier(settings: str, alpha: float) -> HedgeClipperClassifier:
    """Return the classifier of the paper's forest, with the paper's game or the default one."""
    model = HedgeClipperClassifier.as_in_paper(random_state=SEED, n_jobs=-1)
    if settings != "paper":
        usual = HedgeClipperClassifier()
        model.set_params(game=LeafGame(), loss=usual.loss, tol=usual.tol)
    return model.set_params(game__unlabeled_weight=alpha)


def fit_panels(X, y, labeled, unlabeled, settings: str) -> list[Panel]:
    """Return the panels of one number of labels: the forest's, then one for each alpha."""
    rows, panels, forests = X[unlabeled], [], []
    for alpha in ALPHAS:
        model = classifier(settings, alpha).fit(X[labeled], y[labeled], X_unlabeled=rows)
        (forest,) = model.estimators_.values()
        forests.append(2.0 * forest.predict_proba(rows)[:, 1] - 1.0)
        panels.append(
            Panel(
                labeled.size,
                alpha_column(alpha),
                model.decision_function(rows),
                model.hedged_range_[0],
            )
        )
    assert all(np.allclose(forests[0], forest) for forest in forests), "alpha changed the forest"
    return [Panel(labeled.size, FOREST, forests[0], (-1.0, 1.0)), *panels]


def draw_rows(n_rows: int, n_labeled: int, n_unlabeled: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labeled and unlabeled rows; fewer labels are some of the more, the rest the same."""
    order = np.random.default_rng(SEED).permutation(n_rows)
    return order[:n_labeled], order[max(N_LABELED) :][:n_unlabeled]


def scale_groups(panels: list[Panel]) -> list[list[Panel]]:
    """Return the panels that share their axes: the forests, and the others if similar."""
    forests = [panel for panel in panels if panel.column == FOREST]
    others = [panel for panel in panels if panel.column != FOREST]
    reaches = [panel.reach for panel in others]
    if max(reaches) <= SAME_SCALE * min(reaches):
        return [forests, others]
    return [forests, *[[panel] for panel in others]]


def draw_figure(panels: list[Panel], labels: np.ndarray, settings: str) -> Figure:
    columns = [FOREST, *[alpha_column(alpha) for alpha in ALPHAS]]
    figure = Figure(figsize=(11.0, 7.4), layout="constrained")
    grid = figure.subplots(len(N_LABELED), len(columns))
    axes = {
        (n_labeled, column): grid[i, j]
        for i, n_labeled in enumerate(N_LABELED)
        for j, column in enumerate(columns)
    }
    groups = scale_groups(panels)
    for group in groups:
        draw_group(group, axes, labels)
    for ax, column in zip(grid[0], columns, strict=True):
        ax.set_title(f"{column}\n{ax.get_title()}", fontsize=10)
    for ax, n_labeled in zip(grid[:, 0], N_LABELED, strict=True):
        ax.set_ylabel(f"{n_labeled:,} labels\ndensity", fontsize=10)
    figure.supxlabel(axis_note(groups, settings), fontsize=10)
    add_legend(figure, grid[0, 1], labels)
    return figure


def draw_group(group: list[Panel], axes: dict[tuple[int, str], Any], labels: np.ndarray) -> None:
    """Draw panels with one range and one height."""
    reach = 1.05 * max(panel.reach for panel in group)
    displays = [
        MarginDisplay.from_predictions(
            labels,
            panel.awake,
            clip_at=panel.clip_at,
            bins=BINS,
            limits=(-reach, reach),
            ax=axes[panel.n_labeled, panel.column],
            legend=False,
            curve_kwargs={"linewidth": 1.0},
        )
        for panel in group
    ]
    top = 1.05 * max(display.densities.max() for display in displays)
    for panel, display in zip(group, displays, strict=True):
        tidy(display.ax_, reach, top)
        text = f"AUC {auc(panel, labels):.3f}, {per_cent(panel.clipped)} clipped"
        display.ax_.set_title(text, fontsize=9)


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


def axis_note(groups: list[list[Panel]], settings: str) -> str:
    """Return what the x axis shows, and which panels share it."""
    whose = "the paper's settings" if settings == "paper" else "default settings of LeafGame"
    note = f"awake prediction on covtype, {whose}; the end bins also hold the rows beyond\n"
    if len(groups) == 2:
        return note + "the forests share both scales, and so do all other panels"
    return note + "the forests share both scales; each other panel has scales of its own"


def add_legend(figure: Figure, ax: Any, labels: np.ndarray) -> None:
    """Add one legend for all panels."""
    handles, _ = ax.get_legend_handles_labels()
    names = [f"class {label}" for label in np.unique(labels)]
    names += ["hedged: between the two marks", "clipping starts"]
    figure.legend(handles, names, loc="outside upper center", ncols=4, fontsize=9)


def auc(panel: Panel, labels: np.ndarray) -> float:
    return float(roc_auc_score(labels, panel.awake))


def table_rows(panels: list[Panel], labels: np.ndarray) -> list[tuple[str, ...]]:
    """Return a heading and a row of figures for each panel."""
    rows = [HEADING]
    for panel in panels:
        positive = labels == labels.max()
        accuracy = np.mean((panel.awake > 0) == positive)
        of_class = [panel.awake[~positive], panel.awake[positive]]
        rows.append(
            (
                f"{panel.n_labeled:,}",
                panel.column,
                f"{auc(panel, labels):.3f}",
                f"{accuracy:.3f}",
                per_cent(panel.clipped),
                three_digits(np.quantile(np.abs(panel.awake), DRAWN)),
                f"{distance(*of_class):.2f}",
                f"{np.mean([kurtosis(awake) for awake in of_class]):.2f}",
                f"{np.mean([peak_height(awake) for awake in of_class]):.2f}",
            )
        )
    return rows


def distance(negative: np.ndarray, positive: np.ndarray) -> float:
    """Return how far the class means are apart, in standard deviations within a class."""
    spread = np.sqrt((negative.var() + positive.var()) / 2.0)
    return float((positive.mean() - negative.mean()) / spread)


def peak_height(awake: np.ndarray) -> float:
    """Return the highest density over bins of a tenth of a standard deviation, in its units."""
    bins = np.floor((awake - awake.min()) / (PEAK_BIN * awake.std())).astype(int)
    return float(np.bincount(bins).max() / awake.size / PEAK_BIN)


def three_digits(value: float) -> str:
    return f"{float(f'{value:.3g}'):,g}"


def section(rows: list[tuple[str, ...]], n_unlabeled: int) -> str:
    """Return the figures as a section of the page."""
    text = f"Covtype, {n_unlabeled:,} unlabeled rows, one draw of the labels (seed {SEED})."
    return f"{text}\n\n{markdown_table([list(row) for row in rows])}"


def draw_all(X: np.ndarray, y: np.ndarray, n_unlabeled: int, settings: str) -> None:
    """Draw the grid with one kind of settings, and put its figures into the page."""
    panels = []
    for n_labeled in N_LABELED:
        labeled, unlabeled = draw_rows(y.size, n_labeled, n_unlabeled)
        panels += fit_panels(X, y, labeled, unlabeled, settings)
    labels = y[unlabeled]
    rows = table_rows(panels, labels)
    print_rows(rows)
    name = NAMES[settings]
    save_figure(draw_figure(panels, labels, settings), FIGURES / f"{name}.png")
    page = PAGE.read_text(encoding="utf-8")
    write_page(PAGE, with_section(page, name, section(rows, unlabeled.size)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-unlabeled", type=int, default=50_000)
    arguments = parser.parse_args()
    try:
        data = fetch("covtype")
    except OSError as error:
        print(f"skipped: {error}")
        return
    for settings in NAMES:
        draw_all(data.data, data.target, arguments.n_unlabeled, settings)


if __name__ == "__main__":
    main()
