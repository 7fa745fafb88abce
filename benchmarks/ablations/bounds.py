"""How b is estimated: the shrunk residual, the plug-in mean, or Wilson's lower bound.

First each with its default box and anchor; then all with the same cap of 1 and no anchor, so that
only b differs.
"""

from matplotlib.figure import Figure

from benchmarks.ablations.effects import effect, effect_by_row
from benchmarks.ablations.models import BASE_FOREST, DEFAULT, FOREST, hedgeclipper
from benchmarks.ablations.plots import points_panels
from benchmarks.ablations.study import Study, at
from benchmarks.ablations.summary import Summary

WHOLE, ALONE = "default box and anchor", "cap of 1, no anchor"
BOUNDS = {"shrunk": "shrunk", "plug_in": "plug-in", "wilson": "Wilson"}


def sentence(summary: Summary) -> str:
    plug_in, wilson = (
        summary.difference(at(WHOLE, bound), at(WHOLE, "shrunk")) for bound in ("plug_in", "wilson")
    )
    wilson_alone = summary.difference(at(ALONE, "wilson"), at(ALONE, "plug_in"))
    return (
        f"Compared with the shrunk correlation, the plug-in mean {effect_by_row(plug_in)} and "
        f"Wilson's bound {effect_by_row(wilson)}; with a cap of 1 and no anchor, Wilson's bound "
        f"{effect(wilson_alone)} compared with plug-in."
    )


def plot(summary: Summary) -> Figure:
    panels = {
        game: {at(game, bound): label for bound, label in BOUNDS.items()} for game in (WHOLE, ALONE)
    }
    return points_panels(summary, panels)


STUDY = Study(
    name="bounds",
    title="Plug-in, Wilson or shrunk correlations",
    question="How should the label correlation of a leaf be estimated?",
    settings={
        FOREST: BASE_FOREST,
        at(WHOLE, "shrunk"): DEFAULT,
        **{at(WHOLE, bound): hedgeclipper(bound=bound) for bound in ("plug_in", "wilson")},
        **{at(ALONE, bound): hedgeclipper(bound=bound, cap=1.0, ridge=0.0) for bound in BOUNDS},
    },
    sentence=sentence,
    plot=plot,
)
