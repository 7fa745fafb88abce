"""Small leaves: not grown, or grown and left out of the game.

Sizes are multiples of the paper's minimum leaf size: 10 rows from 1,000 labels on, 4 below.
"""

from typing import Any

from matplotlib.figure import Figure

from benchmarks.ablations.effects import effect, effect_by_row
from benchmarks.ablations.models import BASE_FOREST, DEFAULT, FOREST, fit, grow
from benchmarks.ablations.plots import Series, along, lines_figure
from benchmarks.ablations.study import Outcome, Setting, Study, at
from benchmarks.ablations.summary import Summary
from benchmarks.draws import Draw
from benchmarks.methods.method import probability

TIMES = (1, 2, 4)
GROWN, FILTERED, ALONE = "constrained forest", "filtered leaves", "the forest alone"


def least(draw: Draw, times: int) -> int:
    """Return a multiple of the paper's minimum leaf size."""
    return times * grow(draw, {}).min_samples_leaf


def constrained(times: int) -> Setting:
    def run(draw: Draw) -> Outcome:
        return fit(draw, draw.X_unlabeled, {"min_samples_leaf": least(draw, times)})

    return run


def filtered(times: int) -> Setting:
    def run(draw: Draw) -> Outcome:
        size = least(draw, times)
        return fit(draw, draw.X_unlabeled, {"min_samples_leaf": 1}, min_specialist_size=size)

    return run


def unfiltered(draw: Draw) -> Outcome:
    return fit(draw, draw.X_unlabeled, {"min_samples_leaf": 1})


def alone(times: int | None) -> Setting:
    def run(draw: Draw) -> Outcome:
        changes: dict[str, Any] = {"min_samples_leaf": 1 if times is None else least(draw, times)}
        return Outcome(probability(grow(draw, changes).fit(draw.X, draw.y), draw.X_scored))

    return run


def sentence(summary: Summary) -> str:
    paper = summary.difference(at(FILTERED, 1), at(GROWN, 1))
    free = summary.difference(at(GROWN, "none"), at(GROWN, 1))
    return (
        "At the paper's minimum size, filtering the leaves of an unconstrained forest "
        f"{effect_by_row(paper)} compared with constraining the forest, and using no minimum "
        f"{effect(free)}."
    )


def plot(summary: Summary) -> Figure:
    places = (0, *range(1, len(TIMES) + 1))
    over = [FOREST] * len(places)
    filtered_names = [at(GROWN, "none"), *[at(FILTERED, times) for times in TIMES]]
    alone_names = [at(ALONE, "none"), FOREST, *[at(ALONE, times) for times in TIMES[1:]]]
    series = [
        along(GROWN, ("none", *TIMES), places),
        Series(FILTERED, places, filtered_names, over),
        Series(ALONE, places, alone_names, over),
    ]
    ticks = ["none", "paper's", *[f"x {times}" for times in TIMES[1:]]]
    return lines_figure(
        summary,
        series,
        xlabel="minimum leaf size; the paper's is 10 rows, or 4 for few labels",
        ticks=dict(zip(places, ticks, strict=True)),
    )


STUDY = Study(
    name="small_leaves",
    title="Constrained forest or filtered leaves",
    question="Is it better to grow no small leaves, or to leave them out of the game?",
    settings={
        FOREST: BASE_FOREST,
        at(GROWN, "none"): unfiltered,
        at(GROWN, 1): DEFAULT,
        **{at(GROWN, times): constrained(times) for times in TIMES[1:]},
        **{at(FILTERED, times): filtered(times) for times in TIMES},
        at(ALONE, "none"): alone(None),
        **{at(ALONE, times): alone(times) for times in TIMES[1:]},
    },
    sentence=sentence,
    plot=plot,
)
