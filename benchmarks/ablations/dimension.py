"""Low dimensions, where the paper found no gain: two Gaussians, equally hard in any dimension.

Both have variance 1, and their means lie 2 apart along the diagonal, so the best possible AUC is
0.921 in any dimension, and all columns are equally informative.
"""

import numpy as np
from matplotlib.figure import Figure

from benchmarks.ablations.effects import effect
from benchmarks.ablations.models import BASE_FOREST, DEFAULT, FOREST, PAPER
from benchmarks.ablations.plots import FONT, GAIN, WIDE, add_legend, draw_line, mark_x, tidy
from benchmarks.ablations.study import MAX_UNLABELED, Row, Study
from benchmarks.ablations.summary import Summary
from benchmarks.draws import Draw
from benchmarks.pages import listed

LOW, HIGH = (1, 2, 3), (10, 20)
DIMENSIONS = (*LOW, 5, *HIGH)
BUDGETS = (100, 1000)
DISTANCE = 2.0
OURS, PAPERS = "HedgeClipper", "paper's settings"


def data_name(dimension: int) -> str:
    return f"gaussians-{dimension}"


def draw_gaussians(
    name: str, n_labels: int, seed: int, *, max_unlabeled: int | None = MAX_UNLABELED
) -> Draw:
    """Return rows of two equally common classes; half of the unlabeled rows are scored."""
    dimension = int(name.removeprefix("gaussians-"))
    n_unlabeled = max_unlabeled or MAX_UNLABELED
    rng = np.random.default_rng([seed, n_labels, dimension])
    y = rng.permutation(np.arange(n_labels + n_unlabeled) % 2)
    X = rng.standard_normal((y.size, dimension))
    X += np.where(y == 1, 0.5, -0.5)[:, None] * DISTANCE / np.sqrt(dimension)
    X = X.astype(np.float32)
    return Draw(
        X=X[:n_labels],
        y=y[:n_labels],
        X_unlabeled=X[n_labels:],
        y_scored=y[n_labels : n_labels + n_unlabeled // 2],
        seed=seed,
        is_sparse=False,
    )


def sentence(summary: Summary) -> str:
    parts = []
    for n_labels in BUDGETS:
        low, high = (
            summary.difference(OURS, FOREST, [Row(data_name(d), n_labels) for d in part])
            for part in (LOW, HIGH)
        )
        parts.append(
            f"with {n_labels:,} labels HedgeClipper {effect(low)} in {_listed(LOW)} dimensions and "
            f"{effect(high)} in {_listed(HIGH)}"
        )
    text = "; ".join(parts)
    paper = summary.difference(PAPERS, FOREST)
    return (
        f"{text[0].upper()}{text[1:]}; with the paper's settings it {effect(paper)} over all "
        "dimensions."
    )


def _listed(dimensions: tuple[int, ...]) -> str:
    return listed([str(d) for d in dimensions])


def plot(summary: Summary) -> Figure:
    figure = Figure(figsize=WIDE, layout="constrained")
    axes = figure.subplots(1, 2)
    for ax, setting in zip(axes, (OURS, PAPERS), strict=True):
        for number, n_labels in enumerate(BUDGETS):
            rows = [Row(data_name(d), n_labels) for d in DIMENSIONS]
            gains = [summary.difference(setting, FOREST, [row]) for row in rows]
            draw_line(ax, DIMENSIONS, gains, number, f"{n_labels:,} labels")
        tidy(ax)
        mark_x(ax, {d: str(d) for d in DIMENSIONS}, log=True)
        ax.set_title(setting, fontsize=FONT)
    figure.supxlabel("dimension", fontsize=FONT)
    axes[0].set_ylabel(f"{GAIN} (own scales)", fontsize=FONT)
    add_legend(figure, axes[0], len(BUDGETS))
    return figure


STUDY = Study(
    name="dimension",
    title="Low-dimensional data",
    question="Is there a gain in low dimensions, where the paper found none?",
    settings={FOREST: BASE_FOREST, OURS: DEFAULT, PAPERS: PAPER},
    rows=tuple(Row(data_name(d), n) for n in BUDGETS for d in DIMENSIONS),
    draw=draw_gaussians,
    sentence=sentence,
    plot=plot,
)
