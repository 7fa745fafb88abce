"""Trees, leaves, and both in one game."""

from matplotlib.figure import Figure

from benchmarks.ablations.models import BASE_FOREST, DEFAULT, FOREST, TREES, hedgeclipper
from benchmarks.ablations.plots import points_figure
from benchmarks.ablations.study import Study
from benchmarks.ablations.summary import Summary
from benchmarks.ablations.words import effect_by_row

BOTH = "leaves and trees"


def sentence(summary: Summary) -> str:
    leaves, trees = (summary.difference(BOTH, kind) for kind in ("leaves", "trees"))
    return (
        f"Playing with both in one game {effect_by_row(leaves)} against leaves alone, and "
        f"{effect_by_row(trees)} against trees alone."
    )


def plot(summary: Summary) -> Figure:
    return points_figure(summary, ("leaves", "trees", BOTH))


STUDY = Study(
    name="together",
    title="Trees, leaves, and both",
    question="Do whole trees know something that their leaves do not?",
    settings={
        FOREST: BASE_FOREST,
        "trees": TREES,
        "leaves": DEFAULT,
        BOTH: hedgeclipper(specialists=["leaves", "trees"]),
    },
    sentence=sentence,
    plot=plot,
)
