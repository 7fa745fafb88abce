"""Trees, leaves, and both in one game."""

from matplotlib.figure import Figure

from benchmarks.ablations.effects import effect_by_row
from benchmarks.ablations.models import BASE_FOREST, DEFAULT, FOREST, TREES, hedgeclipper
from benchmarks.ablations.plots import points_figure
from benchmarks.ablations.study import Study
from benchmarks.ablations.summary import Summary

BOTH = "leaves and trees"


def sentence(summary: Summary) -> str:
    leaves, trees = (summary.difference(BOTH, kind) for kind in ("leaves", "trees"))
    return (
        f"Using both in one game {effect_by_row(leaves)} compared with leaves only, and "
        f"{effect_by_row(trees)} compared with trees only."
    )


def plot(summary: Summary) -> Figure:
    return points_figure(summary, ("leaves", "trees", BOTH))


STUDY = Study(
    name="together",
    title="Leaves, trees, or both",
    question="Do whole trees add information that their leaves do not have?",
    settings={
        FOREST: BASE_FOREST,
        "trees": TREES,
        "leaves": DEFAULT,
        BOTH: hedgeclipper(specialists=["leaves", "trees"]),
    },
    sentence=sentence,
    plot=plot,
)
