"""From 10 to 1,000 trees."""

from matplotlib.figure import Figure

from benchmarks.ablations.effects import effect, effect_by_row
from benchmarks.ablations.models import FOREST, forest, hedgeclipper
from benchmarks.ablations.plots import along, lines_figure
from benchmarks.ablations.study import Study, at
from benchmarks.ablations.summary import Summary

NUMBERS = (10, 30, 100, 300, 1000)
OURS = "HedgeClipper"


def sentence(summary: Summary) -> str:
    few, usual, many = (
        summary.difference(at(OURS, n), at(FOREST, n)) for n in (NUMBERS[0], 100, NUMBERS[-1])
    )
    more = summary.difference(at(OURS, NUMBERS[-1]), at(OURS, 100))
    return (
        f"Compared with a forest of the same size, HedgeClipper {effect(few)} with {NUMBERS[0]} "
        f"trees, {effect_by_row(usual)} with 100 and {effect_by_row(many)} with {NUMBERS[-1]:,}, "
        f"and going from 100 to {NUMBERS[-1]:,} trees {effect(more)} for HedgeClipper itself."
    )


def plot(summary: Summary) -> Figure:
    return lines_figure(
        summary,
        [along(name, NUMBERS, NUMBERS, over=at(FOREST, 100)) for name in (OURS, FOREST)],
        xlabel="trees",
        ylabel="AUC gain over a forest of 100 trees",
        ticks={n: f"{n:,}" for n in NUMBERS},
        log=True,
    )


STUDY = Study(
    name="n_trees",
    title="10 to 1,000 trees",
    question="Can the game replace more trees, and does it still help with many?",
    settings={
        **{at(FOREST, n): forest(n_estimators=n) for n in NUMBERS},
        **{at(OURS, n): hedgeclipper(changes={"n_estimators": n}) for n in NUMBERS},
    },
    sentence=sentence,
    plot=plot,
)
