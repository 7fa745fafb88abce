"""Who plays: every leaf, every node below the roots, or every tree."""

from matplotlib.figure import Figure

from benchmarks.ablations.models import BASE_FOREST, DEFAULT, FOREST, TREES, hedgeclipper
from benchmarks.ablations.plots import points_figure
from benchmarks.ablations.study import Study
from benchmarks.ablations.summary import Summary
from benchmarks.ablations.words import effect_by_row


def sentence(summary: Summary) -> str:
    nodes, trees = (summary.difference(kind, "leaves") for kind in ("nodes", "trees"))
    return (
        f"Against leaves, playing with all nodes {effect_by_row(nodes)}, and with whole trees "
        f"{effect_by_row(trees)}."
    )


def plot(summary: Summary) -> Figure:
    return points_figure(summary, ("leaves", "nodes", "trees"))


STUDY = Study(
    name="specialists",
    title="Leaves against nodes against trees",
    question="Which parts of the trees should play the game?",
    settings={
        FOREST: BASE_FOREST,
        "leaves": DEFAULT,
        "nodes": hedgeclipper(specialists="nodes"),
        "trees": TREES,
    },
    sentence=sentence,
    plot=plot,
)
