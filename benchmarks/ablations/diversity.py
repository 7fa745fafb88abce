"""Diversity of the trees: features tried at a split, with and without bootstrap samples.

Without a bootstrap there are no out-of-bag rows: HedgeClipper holds out half of the labels, while
the forest it is compared with grows on all of them.
"""

from matplotlib.figure import Figure

from benchmarks.ablations.effects import effect, effect_by_row
from benchmarks.ablations.models import FOREST, forest, hedgeclipper
from benchmarks.ablations.plots import along, lines_figure
from benchmarks.ablations.study import Study, at
from benchmarks.ablations.summary import Difference, Summary

FEATURES: dict[str, int | float | str] = {"1": 1, "root": "sqrt", "half": 0.5, "all": 1.0}
BAGS = {True: "bootstrap", False: "no bootstrap"}
OURS = "HedgeClipper"
USUAL = "root"


def kind(model: str, bootstrap: bool) -> str:
    return f"{model}, {BAGS[bootstrap]}"


def name(model: str, bootstrap: bool, features: str) -> str:
    return at(kind(model, bootstrap), features)


def gain(summary: Summary, bootstrap: bool, features: str) -> Difference:
    """Return the gain over the forest of the same kind."""
    ours, theirs = (name(model, bootstrap, features) for model in (OURS, FOREST))
    return summary.difference(ours, theirs)


def sentence(summary: Summary) -> str:
    fewest, usual, most = (gain(summary, True, f) for f in ("1", USUAL, "all"))
    held_out = gain(summary, False, USUAL)
    forest_itself = summary.difference(name(FOREST, True, "half"), name(FOREST, True, USUAL))
    return (
        "Compared with the bootstrapped forest it is built from, HedgeClipper "
        f"{effect_by_row(usual)} if the square root of the features is tried at a split, "
        f"{effect(fewest)} with one feature and {effect(most)} with all. Without bootstrap "
        f"samples, where half of its labels are held out, it {effect(held_out)} compared with the "
        f"forest of all labels. Trying half of the features {effect(forest_itself)} for the "
        "bootstrapped forest itself."
    )


def plot(summary: Summary) -> Figure:
    places = range(len(FEATURES))
    series = [
        along(kind(OURS, bag), list(FEATURES), places, over_along=kind(FOREST, bag)) for bag in BAGS
    ]
    return lines_figure(
        summary,
        series,
        xlabel="features tried at a split",
        ylabel="AUC gain over the forest of the same kind",
        ticks=dict(enumerate(FEATURES)),
    )


STUDY = Study(
    name="diversity",
    title="Diversity of the forest",
    question="Does the game gain more if the trees are more diverse?",
    settings={
        name(model, bag, f): make(bag, FEATURES[f])
        for model, make in (
            (FOREST, lambda bag, f: forest(bootstrap=bag, max_features=f)),
            (OURS, lambda bag, f: hedgeclipper(changes={"bootstrap": bag, "max_features": f})),
        )
        for bag in BAGS
        for f in FEATURES
    },
    sentence=sentence,
    plot=plot,
)
