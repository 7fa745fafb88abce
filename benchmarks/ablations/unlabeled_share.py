"""How many unlabeled rows there are, from none to all; always the same rows are scored.

With none the labeled rows take their place. The controls weigh the same leaves by their labels and
see no unlabeled row.
"""

import numpy as np
from matplotlib.figure import Figure

from benchmarks.ablations.models import BASE_FOREST, DEFAULT, FOREST, fit, method
from benchmarks.ablations.plots import Series, along, lines_figure
from benchmarks.ablations.study import MAX_UNLABELED, Outcome, Setting, Study, at
from benchmarks.ablations.summary import Summary
from benchmarks.ablations.words import effect, effect_by_row
from benchmarks.draws import Draw
from benchmarks.methods import leaf_count, leaf_vote

SHARES = (0, 1, 10, 30, 100)
OURS, COUNT, VOTE = "HedgeClipper", "control: count of leaves", "control: b-weighted vote"


def with_share(percent: int) -> Setting:
    """Return HedgeClipper with some of the unlabeled rows; fewer are among the more."""

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
        f"With all unlabeled rows ({MAX_UNLABELED:,} drawn ones at most) HedgeClipper "
        f"{effect_by_row(forest)} against the forest, "
        f"{effect_by_row(none)} against itself without any and {effect(few)} against a tenth of "
        f"them; it {effect_by_row(vote)} against the b-weighted vote and {effect(count)} against "
        "the count of leaves, the controls without unlabeled rows."
    )


def plot(summary: Summary) -> Figure:
    n = len(SHARES)
    places = range(n)
    series = [
        along(OURS, SHARES, places),
        *[Series(control, places, [control] * n, [FOREST] * n) for control in (COUNT, VOTE)],
    ]
    return lines_figure(
        summary,
        series,
        xlabel="share of the unlabeled rows that the game sees",
        ticks=dict(zip(places, [f"{share} %" for share in SHARES], strict=True)),
    )


STUDY = Study(
    name="unlabeled_share",
    title="From no unlabeled rows to all",
    question=(
        "How much of what HedgeClipper gains is owed to unlabeled rows, and how many? (With none, "
        "the labeled rows take their place. The same rows are scored throughout.)"
    ),
    settings={
        FOREST: BASE_FOREST,
        **{at(OURS, share): with_share(share) for share in SHARES[:-1]},
        at(OURS, SHARES[-1]): DEFAULT,
        COUNT: method(leaf_count.METHOD),
        VOTE: method(leaf_vote.METHOD),
    },
    sentence=sentence,
    plot=plot,
)
