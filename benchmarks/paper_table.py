"""Results in the paper's protocol, beside the published values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from benchmarks.data.sources import DATASETS, PUBLISHED_COLUMNS
from benchmarks.figures import OURS, PairedFigures, Row
from benchmarks.methods import METHODS
from benchmarks.pages import listed
from benchmarks.run_table import COMPARISONS

REPRODUCED = ("random-forest", "base-forest", "adaboost", "mart")
PAPERS, SMALL_ALPHA = "hedgeclipper-paper", "hedgeclipper-paper-0.3"
HELD_OUT = "hedgeclipper-paper-20-80"
ONLY_IN_A = "logistic-unscaled"
COLUMNS_A = (OURS, PAPERS, SMALL_ALPHA, HELD_OUT, *PUBLISHED_COLUMNS[1:])
SETTINGS = {
    PAPERS: "alpha = 1",
    SMALL_ALPHA: "alpha = 0.3",
    HELD_OUT: "the alpha of the largest separation and 20% of the labels for the trees",
}


class Figures(PairedFigures):
    """The results of a table; the regression on unscaled columns is not compared."""

    order: ClassVar = COMPARISONS["paper"].rows
    titles: ClassVar = {name: method.title for name, method in METHODS.items()}
    outside: ClassVar = (ONLY_IN_A,)
    main_measure, command = "auc", "make table"


def published(row: Row) -> dict[str, float]:
    """Return the published values of a row; none if the paper has no such row."""
    found = DATASETS[row[0]].published.get(str(row[1]), ())
    figures = dict(zip(PUBLISHED_COLUMNS, found, strict=False))
    return figures | {name: figures[PAPERS] for name in (SMALL_ALPHA, HELD_OUT) if figures}


def in_papers_protocol(figures: Figures, row: Row, method: str) -> np.ndarray:
    """Return AUCs in the paper's protocol: scores for HedgeClipper, classes for the others."""
    is_ours = method.startswith("hedgeclipper")
    return figures.values(row, method, "auc" if is_ours else "auc_hard")


def distances(
    figures: Figures,
    methods: Sequence[str] = REPRODUCED,
    measure: str = "auc_hard",
    shift: int = 1,
) -> dict[str, float]:
    """Return the mean absolute difference of each column from the published values.

    Parameters
    ----------
    figures : Figures
        Ours.
    methods : sequence of str
        Which columns.
    measure : {"auc", "auc_hard"}
        Which figure.
    shift : int
        Compare ssl-secstr's rows with the published values for that many times fewer labels.
    """
    gaps: dict[str, list[float]] = {name: [] for name in methods}
    for row in figures.rows:
        theirs = published((row[0], row[1] // shift if row[0] == "ssl-secstr" else row[1]))
        for name in methods if theirs else ():
            gaps[name].append(abs(figures.mean(row, name, measure) - theirs[name]))
    return {name: float(np.mean(found)) for name, found in gaps.items()}


def gains(figures: Figures, method: str, other: str) -> np.ndarray:
    """Return by how much the AUC of a method is above that of another one, by setting."""
    means = [[figures.mean(row, name, "auc") for row in figures.rows] for name in (method, other)]
    return np.subtract(*means)


def describe_protocol(figures: Figures) -> str:
    """Return how far the published values are reproduced."""
    hard, scores, shifted = (
        distances(figures),
        distances(figures, measure="auc"),
        distances(figures, shift=10),
    )
    own = distances(figures, list(SETTINGS), "auc")
    average = [float(np.mean([*found.values()])) for found in (hard, scores, shifted)]
    settings = [f"{own[name]:.3f} with {words}" for name, words in SETTINGS.items()]
    forest = {name: gains(figures, name, "random-forest") for name in (PAPERS, SMALL_ALPHA)}
    behind = [
        f"in {np.sum(found < 0)} of {found.size} settings with {SETTINGS[name]} (median "
        f"{np.median(found):+.3f})"
        for name, found in forest.items()
    ]
    return "\n\n".join(
        [
            "Mean absolute difference from the published values: "
            + listed([f"{METHODS[name].title} {hard[name]:.3f}" for name in REPRODUCED])
            + f". These are AUCs of predicted classes, which fit the published values "
            f"({average[0]:.3f} on average). AUCs of scores do not ({average[1]:.3f}). If the rows "
            "of ssl-secstr have ten times as many labels as published, it is "
            f"{average[2]:.3f}.",
            f"HedgeClipper with the paper's settings, by scores: {listed(settings)}. Its AUC "
            f"is below that of the random forest {listed(behind)}.",
        ]
    )
