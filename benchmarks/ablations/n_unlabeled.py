"""Number of unlabeled rows, from none to all; the same rows are scored throughout.

With none the labeled rows are used instead. The controls weight the same leaves by labels only.
"""

import numpy as np
from matplotlib.figure import Figure

from benchmarks.ablations.effects import effect, effect_by_row
from benchmarks.ablations.models import BASE_FOREST, DEFAULT, FOREST, fit, method
from benchmarks.ablations.plots import Series, along, lines_figure
from benchmarks.ablations.study import MAX_UNLABELED, Outcome, Setting, Study, at
from benchmarks.ablations.summary import Summary
from benchmarks.draws import Draw
from benchmarks.methods import leaf_count, leaf_vote

PERCENTAGES = (0, 1, 10, 30, 100)
OURS, COUNT, VOTE = "HedgeClipper", "control: count of leaves", "control: b-weighted vote"


def with_percentage(percent: int) -> Setting:
    """Return HedgeClipper with a part of the unlabeled rows; larger parts include smaller."""

    def run(draw: Draw) -> Outcome:
        n_rows = len(draw.X_unlabeled) * percent // 100
        rows = np.random.default_rng(draw.seed).permutation(len(draw.X_unlabeled))[:n_rows]
        return fit(draw, draw.X_unlabeled[rows] if n_rows else None)

    return run


def sentence(summary: Summary) -> str:
    forest, none, few = (
        summary.difference(at(OURS, 100), over) for over in (FOREST, at(OURS, 0), at(OURS, 10))
    )
    count, vote = (summary.difference(at(OURS, 100), control) for control in (COUNT, VOTE))
    return (
        f"With all unlabeled rows (at most {MAX_UNLABELED:,} drawn at random) HedgeClipper "
        f"{effect_by_row(forest)} compared with the forest, {effect_by_row(none)} compared with no "
        f"unlabeled rows and {effect(few)} compared with a tenth of them. It "
        f"{effect_by_row(vote)} compared with a b-weighted vote and {effect(count)} compared with "
        "a count of leaves, two controls that use no unlabeled rows."
    )


def plot(summary: Summary) -> Figure:
    n = len(PERCENTAGES)
    places = range(n)
    series = [
        along(OURS, PERCENTAGES, places),
        *[Series(control, places, [control] * n, [FOREST] * n) for control in (COUNT, VOTE)],
    ]
    return lines_figure(
        summary,
        series,
        xlabel="unlabeled rows used in the game",
        ticks=dict(zip(places, [f"{percent} %" for percent in PERCENTAGES], strict=True)),
    )


STUDY = Study(
    name="n_unlabeled",
    title="From no unlabeled rows to all",
    question=(
        "How much of the gain comes from unlabeled rows, and how many are needed? (With none, the "
        "labeled rows are used instead. The same rows are scored throughout.)"
    ),
    settings={
        FOREST: BASE_FOREST,
        **{at(OURS, percent): with_percentage(percent) for percent in PERCENTAGES[:-1]},
        at(OURS, PERCENTAGES[-1]): DEFAULT,
        COUNT: method(leaf_count.METHOD),
        VOTE: method(leaf_vote.METHOD),
    },
    sentence=sentence,
    plot=plot,
)
