"""From 10 to 1,000 trees."""

from matplotlib.figure import Figure

from benchmarks.ablations.models import FOREST, forest, hedgeclipper
from benchmarks.ablations.plots import along, lines_figure
from benchmarks.ablations.study import Study, at
from benchmarks.ablations.summary import Summary
from benchmarks.ablations.words import effect, effect_by_row

NUMBERS = (10, 30, 100, 300, 1000)
OURS = "HedgeClipper"


def sentence(summary: Summary) -> str:
    few, usual, many = (
        summary.difference(at(OURS, n), at(FOREST, n)) for n in (NUMBERS[0], 100, NUMBERS[-1])
    )
    more = summary.difference(at(OURS, NUMBERS[-1]), at(OURS, 100))
    return (
        f"Against a forest of as many trees HedgeClipper {effect(few)} with {NUMBERS[0]} trees, "
        f"{effect_by_row(usual)} with 100 and {effect_by_row(many)} with {NUMBERS[-1]:,}, and "
        f"going from 100 trees to {NUMBERS[-1]:,} {effect(more)} for HedgeClipper itself."
    )


def plot(summary: Summary) -> Figure:
    return lines_figure(
        summary,
        [along(who, NUMBERS, NUMBERS, over=at(FOREST, 100)) for who in (OURS, FOREST)],
        xlabel="trees",
        ylabel="AUC less that of a forest of 100 trees",
        ticks={n: f"{n:,}" for n in NUMBERS},
        log=True,
    )


STUDY = Study(
    name="n_trees",
    title="10 to 1,000 trees",
    question="Does the game do for few trees what more trees would, and does it help many?",
    settings={
        **{at(FOREST, n): forest(n_estimators=n) for n in NUMBERS},
        **{at(OURS, n): hedgeclipper(changes={"n_estimators": n}) for n in NUMBERS},
    },
    sentence=sentence,
    plot=plot,
)
