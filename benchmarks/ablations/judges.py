"""Which labeled rows judge a tree: those out of its bag, or a share held out from all trees."""

from matplotlib.figure import Figure

from benchmarks.ablations.models import BASE_FOREST, DEFAULT, FOREST, hedgeclipper
from benchmarks.ablations.plots import points_figure
from benchmarks.ablations.study import Study
from benchmarks.ablations.summary import Summary
from benchmarks.ablations.words import effect, effect_by_row

OUT_OF_BAG = "out of bag"
HELD_OUT = {share: f"{share:.0%} held out".replace("%", " %") for share in (0.2, 0.5, 0.8)}


def sentence(summary: Summary) -> str:
    fifth, half, most = (summary.difference(name, OUT_OF_BAG) for name in HELD_OUT.values())
    return (
        f"Against out-of-bag rows, holding out half of the labels {effect_by_row(half)}, a fifth "
        f"{effect(fifth)}, and four fifths {effect(most)}."
    )


def plot(summary: Summary) -> Figure:
    return points_figure(summary, (OUT_OF_BAG, *HELD_OUT.values()))


STUDY = Study(
    name="judges",
    title="Out-of-bag against held-out correlations",
    question="Should labels be held out to judge the leaves? (The forest then grows on the rest.)",
    settings={
        FOREST: BASE_FOREST,
        OUT_OF_BAG: DEFAULT,
        **{name: hedgeclipper(holdout=share) for share, name in HELD_OUT.items()},
    },
    sentence=sentence,
    plot=plot,
)
