"""Labeled rows that correlations come from: out of bag for each tree, or held out from all."""

from matplotlib.figure import Figure

from benchmarks.ablations.effects import effect, effect_by_row
from benchmarks.ablations.models import BASE_FOREST, DEFAULT, FOREST, hedgeclipper
from benchmarks.ablations.plots import points_figure
from benchmarks.ablations.study import Study
from benchmarks.ablations.summary import Summary

OUT_OF_BAG = "out of bag"
HELD_OUT = {part: f"{part:.0%} held out".replace("%", " %") for part in (0.2, 0.5, 0.8)}


def sentence(summary: Summary) -> str:
    fifth, half, most = (summary.difference(name, OUT_OF_BAG) for name in HELD_OUT.values())
    return (
        f"Compared with out-of-bag rows, holding out half of the labels {effect_by_row(half)}, a "
        f"fifth {effect(fifth)}, and four fifths {effect(most)}."
    )


def plot(summary: Summary) -> Figure:
    return points_figure(summary, (OUT_OF_BAG, *HELD_OUT.values()))


STUDY = Study(
    name="held_out",
    title="Out-of-bag or held-out correlations",
    question=(
        "Should label correlations come from held-out rows? (The forest then grows on the rest.)"
    ),
    settings={
        FOREST: BASE_FOREST,
        OUT_OF_BAG: DEFAULT,
        **{name: hedgeclipper(holdout=part) for part, name in HELD_OUT.items()},
    },
    sentence=sentence,
    plot=plot,
)
