"""With and without the box, in the default game, without its anchor, and in the paper's game.

"auto" keeps a leaf between half and three times its weight in the forest's vote; for the paper's
plug-in correlations it is a cap of 1, so there is no third setting there. In the default game the
anchor keeps every weight far below 1, so a cap of 1 changes only the path of the solver.
"""

from matplotlib.figure import Figure

from benchmarks.ablations.effects import effect, effect_by_row
from benchmarks.ablations.models import BASE_FOREST, DEFAULT, FOREST, PAPER, hedgeclipper
from benchmarks.ablations.plots import points_panels
from benchmarks.ablations.study import Study, at
from benchmarks.ablations.summary import Summary

GAME, LOOSE, PAPERS = "default game", "without the anchor", "paper's game"
AUTO, CAP, NONE = "box at the forest's vote", "cap of 1", "no box"
SETTINGS = {
    FOREST: BASE_FOREST,
    at(GAME, AUTO): DEFAULT,
    at(GAME, CAP): hedgeclipper(cap=1.0),
    at(GAME, NONE): hedgeclipper(cap=None),
    at(LOOSE, AUTO): hedgeclipper(ridge=0.0),
    at(LOOSE, CAP): hedgeclipper(ridge=0.0, cap=1.0),
    at(LOOSE, NONE): hedgeclipper(ridge=0.0, cap=None),
    at(PAPERS, CAP): hedgeclipper(as_in_paper=True, cap=1.0),
    at(PAPERS, NONE): PAPER,
}


def sentence(summary: Summary) -> str:
    default = summary.difference(at(GAME, NONE), at(GAME, AUTO))
    anchor = summary.difference(at(LOOSE, AUTO), at(GAME, AUTO))
    both = summary.difference(at(LOOSE, NONE), at(GAME, AUTO))
    paper = summary.difference(at(PAPERS, CAP), at(PAPERS, NONE))
    return (
        f"In the default game, removing the box {effect_by_row(default)}, removing the anchor "
        f"{effect(anchor)} and removing both {effect(both)}; in the paper's game, a cap of 1 "
        f"{effect(paper)}."
    )


def plot(summary: Summary) -> Figure:
    panels = {
        game: {at(game, box): box for box in (AUTO, CAP, NONE) if at(game, box) in SETTINGS}
        for game in (GAME, LOOSE, PAPERS)
    }
    return points_panels(summary, panels)


STUDY = Study(
    name="box",
    title="With and without the box",
    question="Do the weights of leaves need box constraints, or is the anchor enough?",
    settings=SETTINGS,
    sentence=sentence,
    plot=plot,
    same=frozenset([frozenset([at(GAME, CAP), at(GAME, NONE)])]),
)
