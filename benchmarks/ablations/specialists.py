"""Which parts of the trees are specialists: all leaves, all nodes below the roots, or all trees."""

from matplotlib.figure import Figure

from benchmarks.ablations.effects import effect_by_row
from benchmarks.ablations.models import BASE_FOREST, DEFAULT, FOREST, TREES, hedgeclipper
from benchmarks.ablations.plots import points_figure
from benchmarks.ablations.study import Study
from benchmarks.ablations.summary import Summary


def sentence(summary: Summary) -> str:
    nodes, trees = (summary.difference(kind, "leaves") for kind in ("nodes", "trees"))
    return (
        f"Compared with leaves, using all nodes {effect_by_row(nodes)}, and using whole trees "
        f"{effect_by_row(trees)}."
    )


def plot(summary: Summary) -> Figure:
    return points_figure(summary, ("leaves", "nodes", "trees"))


STUDY = Study(
    name="specialists",
    title="Leaves, nodes or trees",
    question="Which parts of the trees should be the specialists of the game?",
    settings={
        FOREST: BASE_FOREST,
        "leaves": DEFAULT,
        "nodes": hedgeclipper(specialists="nodes"),
        "trees": TREES,
    },
    sentence=sentence,
    plot=plot,
)
