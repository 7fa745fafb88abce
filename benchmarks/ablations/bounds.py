"""What is taken for b: the shrunk residual, the plug-in mean, or Wilson's lower bound.

As they come, each with the box and the anchor that go with it; and all with the same cap of 1 and
no anchor, so that nothing but b differs.
"""

from matplotlib.figure import Figure

from benchmarks.ablations.models import BASE_FOREST, DEFAULT, FOREST, hedgeclipper
from benchmarks.ablations.plots import points_panels
from benchmarks.ablations.study import Study, at
from benchmarks.ablations.summary import Summary
from benchmarks.ablations.words import effect, effect_by_row

WHOLE, ALONE = "as they come", "cap of 1, no anchor"
BOUNDS = {"shrunk": "shrunk", "plug_in": "plug-in", "wilson": "Wilson"}


def sentence(summary: Summary) -> str:
    plug_in, wilson = (
        summary.difference(at(WHOLE, bound), at(WHOLE, "shrunk")) for bound in ("plug_in", "wilson")
    )
    wilson_alone = summary.difference(at(ALONE, "wilson"), at(ALONE, "plug_in"))
    return (
        f"Against the shrunk correlation the plug-in one {effect_by_row(plug_in)} and Wilson's "
        f"bound {effect_by_row(wilson)}; with a cap of 1 and no anchor to lean on, Wilson's bound "
        f"{effect(wilson_alone)} against plug-in."
    )


def plot(summary: Summary) -> Figure:
    panels = {
        game: {at(game, bound): label for bound, label in BOUNDS.items()} for game in (WHOLE, ALONE)
    }
    return points_panels(summary, panels)


STUDY = Study(
    name="bounds",
    title="Plug-in against Wilson against shrunk",
    question="What should the labels be taken to say of a leaf?",
    settings={
        FOREST: BASE_FOREST,
        at(WHOLE, "shrunk"): DEFAULT,
        **{at(WHOLE, bound): hedgeclipper(bound=bound) for bound in ("plug_in", "wilson")},
        **{at(ALONE, bound): hedgeclipper(bound=bound, cap=1.0, ridge=0.0) for bound in BOUNDS},
    },
    sentence=sentence,
    plot=plot,
)
