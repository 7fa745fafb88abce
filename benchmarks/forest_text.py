"""HedgeClipper compared with a forest of as many trees and with its controls, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
from benchmarks.pages import listed, verdict
from benchmarks.table_text import Figures

FOREST, SMALL_FOREST = equal_forest.METHOD.name, "random-forest"
LABELED_VIEWS = hedgeclipper_labeled_views.METHOD.name
COLUMNS = (SMALL_FOREST, FOREST, OURS, *(name for name in CONTROLS if name not in ABLATIONS))
MANY_LABELS, NEAR, NEAR_ACCURACY = 100, 0.005, 0.01
N_TREES = equal_forest.N_TREES


class ForestFigures(Figures):
    """The results of HedgeClipper, its controls and two forests; only these are compared."""

    outside: ClassVar = tuple(name for name in METHODS if name not in COLUMNS)


@dataclass(frozen=True)
class Aims:
    """What should be reached: mean gains in AUC, and in how many rows unlabeled rows help.

    ``gain`` is over the forest of as many trees, ``unlabeled_gain`` and ``n_rows`` are over the
    control whose views come from the labeled rows; None is no aim.
    """

    gain: float
    unlabeled_gain: float | None = None
    n_rows: int | None = None


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


def verdicts(figures: PairedFigures, aims: Aims) -> str:
    """Return which aims are met, as a Markdown list."""
    gain = difference(figures, OURS, FOREST)
    loss, accuracy = (difference(figures, OURS, FOREST, m) for m in ("log_loss", "accuracy"))
    below, wrong = _below(gain, NEAR), _below(accuracy, NEAR_ACCURACY)
    many = f"with {MANY_LABELS} labels or more"
    return "\n".join(
        [
            verdict(
                gain.mean >= aims.gain and gain.sign > 0,
                f"mean gain in AUC over a random forest of as many trees ({N_TREES}) "
                f"{gain.describe()} (aim {aims.gain:+.3f}, significant)",
            ),
            verdict(
                not below,
                f"more than {NEAR} below that forest {many} in {_where(below)}; the lowest gain "
                f"there is {_worst(gain)}",
            ),
            _views_verdict(figures, aims),
            verdict(
                accuracy.mean >= 0 and loss.mean <= 0,
                f"mean difference from that forest in accuracy {accuracy.describe()}, and in log "
                f"loss {loss.describe()}",
            ),
            verdict(
                not wrong,
                f"accuracy more than {NEAR_ACCURACY} below that forest's {many} in "
                f"{_where(wrong)}; the lowest difference there is {_worst(accuracy)}",
            ),
        ]
    )


def _views_verdict(figures: PairedFigures, aims: Aims) -> str:
    """Return what components of all rows bring over those of labeled rows, and which aim is met."""
    views = difference(figures, OURS, LABELED_VIEWS)
    helped = views.rows_of_sign(1)
    text = (
        "mean gain over the control whose views come from the labeled rows only "
        f"{views.describe()}{{}}; by row it is significant in {len(helped)} of "
        f"{len(figures.rows)}{{}}: {_where(helped)}"
    )
    if aims.unlabeled_gain is None or aims.n_rows is None:
        return f"- No aim: {text.format('', '')}."
    is_met = views.mean >= aims.unlabeled_gain and len(helped) >= aims.n_rows
    aimed = f" (aim {aims.unlabeled_gain:+.3f})", f" (aim {aims.n_rows})"
    return verdict(is_met, text.format(*aimed))


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


def _below(found: Difference, least: float) -> list[Row]:
    return [row for row, mean in _many(found).items() if mean < -least]


def _worst(found: Difference) -> str:
    row, mean = min(_many(found).items(), key=lambda pair: pair[1])
    return f"{mean:+.4f} ({row_name(row)})"


def _where(rows: Sequence[Row]) -> str:
    return listed([row_name(row) for row in rows]) if rows else "no row"
