"""HedgeClipper compared with a forest of as many trees and with its controls, in Markdown."""

from __future__ import annotations

from typing import ClassVar

from benchmarks.comparison import Difference
from benchmarks.figures import OURS, PairedFigures, Row, row_name
from benchmarks.methods import (
    ABLATIONS,
    CONTROLS,
    METHODS,
    equal_forest,
    hedgeclipper_labeled_views,
)
from benchmarks.table_text import Figures

FOREST, SMALL_FOREST = equal_forest.METHOD.name, "random-forest"
LABELED_VIEWS = hedgeclipper_labeled_views.METHOD.name
COLUMNS = (SMALL_FOREST, FOREST, OURS, *(name for name in CONTROLS if name not in ABLATIONS))
MANY_LABELS = 100
N_TREES = equal_forest.N_TREES


class ForestFigures(Figures):
    """The results of HedgeClipper, its controls and two forests; only these are compared."""

    outside: ClassVar = tuple(name for name in METHODS if name not in COLUMNS)


def measured(figures: PairedFigures) -> list[str]:
    """Return the columns that there are results of."""
    known = figures.methods()
    return [name for name in COLUMNS if name in known]


def difference(figures: PairedFigures, ours: str, theirs: str, measure: str = "auc") -> Difference:
    """Return the paired difference of a figure between two methods, over all rows."""
    return Difference(
        {
            row: figures.values(row, ours, measure) - figures.values(row, theirs, measure)
            for row in figures.rows
        }
    )


def describe_forest(figures: PairedFigures) -> str:
    """Return in short what HedgeClipper gains over forests, and what unlabeled rows add."""
    gain, small, views = (
        difference(figures, OURS, other) for other in (FOREST, SMALL_FOREST, LABELED_VIEWS)
    )
    loss, accuracy = (difference(figures, OURS, FOREST, m) for m in ("log_loss", "accuracy"))
    helped, hurt = views.rows_of_sign(1), views.rows_of_sign(-1)
    return (
        f"Mean difference in AUC between HedgeClipper and a random forest of as many trees "
        f"({N_TREES}): {gain.describe()}; it is {small.mean:+.4f} over the default of 100 trees. "
        f"It is significantly ahead in {len(gain.rows_of_sign(1))} of {len(figures.rows)} rows and "
        f"the forest in {len(gain.rows_of_sign(-1))}; the lowest difference with {MANY_LABELS} "
        f"labels or more is {_worst(gain)}. Its accuracy differs from that forest's by "
        f"{accuracy.mean:+.4f} on average and its log loss, where lower is better, by "
        f"{loss.mean:+.4f}. Unlabeled rows add {views.describe()}, to HedgeClipper's AUC: that is "
        "the difference from a control whose views are learned from the labeled rows only. They "
        f"help significantly in {len(helped)} rows and hurt in {len(hurt)}."
    )


def describe_in_short(figures: PairedFigures) -> str:
    """Return the same in two sentences."""
    gain, views = (difference(figures, OURS, other) for other in (FOREST, LABELED_VIEWS))
    accuracy = difference(figures, OURS, FOREST, "accuracy")
    better, worse = (len(gain.rows_of_sign(sign)) for sign in (1, -1))
    return (
        f"Compared with a random forest of as many trees, `HedgeClipperClassifier` has "
        f"{gain.mean:+.3f} ± {gain.error:.3f} AUC and {accuracy.mean:+.3f} accuracy; its AUC is "
        f"significantly higher in {better} of {len(figures.rows)} settings and significantly lower "
        f"in {worse}. If its components are learned from the labeled rows alone, it loses "
        f"{views.mean:.3f} ± {views.error:.3f} AUC: that is what the unlabeled rows bring."
    )


def _many(found: Difference) -> dict[Row, float]:
    """Return the means of the rows with many labels; all rows if there are no such."""
    means = found.means
    return {row: mean for row, mean in means.items() if row[1] >= MANY_LABELS} or means


def _worst(found: Difference) -> str:
    row, mean = min(_many(found).items(), key=lambda pair: pair[1])
    return f"{mean:+.4f} ({row_name(row)})"
