"""Labels flipped with probability (1 - alpha) / 2, which is how the paper's Theorem 2 reads alpha.

The labeled rows' labels are flipped, the scored ones are clean. Without noise the matched weight
is 1, and so is "auto" as a rule: these two settings may be the same.
"""

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from benchmarks.ablations.models import BASE_FOREST, DEFAULT, FOREST, hedgeclipper
from benchmarks.ablations.plots import along, lines_figure
from benchmarks.ablations.study import Outcome, Setting, Study, at
from benchmarks.ablations.summary import Difference, Summary
from benchmarks.ablations.words import effect, effect_by_row
from benchmarks.draws import Draw

ALPHAS = (1.0, 0.8, 0.6, 0.4, 0.2)
AUTO, MATCHED = "automatic weight", "weight matched to alpha"


def flipped(draw: Draw, alpha: float) -> Draw:
    """Return the draw with noisy labels; those of less noise are among those of more."""
    chance = np.random.default_rng([draw.seed, draw.y.size]).random(draw.y.size)
    return replace(draw, y=np.where(chance < (1 - alpha) / 2, 1 - draw.y, draw.y))


def noisy(run: Setting, alpha: float) -> Setting:
    """Return the setting on noisy labels."""

    def run_noisy(draw: Draw) -> Outcome:
        return run(flipped(draw, alpha))

    return run_noisy


def pooled(summary: Summary, setting: str, over: str) -> Difference:
    """Return the difference over all noisy levels, draw by draw."""
    parts = [summary.difference(at(setting, a), at(over, a)).by_row for a in ALPHAS[1:]]
    return Difference({row: np.mean([part[row] for part in parts], axis=0) for row in summary.rows})


def sentence(summary: Summary) -> str:
    clean, worst = (
        summary.difference(at(AUTO, alpha), at(FOREST, alpha)) for alpha in (ALPHAS[0], ALPHAS[-1])
    )
    matched = pooled(summary, MATCHED, AUTO)
    share = f"{50 * (1 - ALPHAS[-1]):.0f} %"
    return (
        f"Against the forest HedgeClipper {effect_by_row(clean)} with clean labels and "
        f"{effect_by_row(worst)} with {share} of them flipped, and matching the weight of the "
        f"unlabeled rows to the noise {effect(matched)} over all noisy levels."
    )


def plot(summary: Summary) -> Figure:
    flips = {(1 - alpha) / 2: f"{50 * (1 - alpha):.0f} %" for alpha in ALPHAS}
    return lines_figure(
        summary,
        [along(who, ALPHAS, list(flips), over_along=FOREST) for who in (AUTO, MATCHED)],
        xlabel="labels flipped; alpha is 1 less twice as much",
        ylabel="AUC less the forest's, by the same labels",
        ticks=flips,
    )


STUDY = Study(
    name="label_noise",
    title="Label noise",
    question="Does the game stand noisy labels, and does it help to tell it how noisy they are?",
    settings={
        **{at(FOREST, alpha): noisy(BASE_FOREST, alpha) for alpha in ALPHAS},
        **{at(AUTO, alpha): noisy(DEFAULT, alpha) for alpha in ALPHAS},
        **{
            at(MATCHED, alpha): noisy(hedgeclipper(unlabeled_weight=alpha), alpha)
            for alpha in ALPHAS
        },
    },
    sentence=sentence,
    plot=plot,
    same=frozenset([frozenset([at(AUTO, 1.0), at(MATCHED, 1.0)])]),
)
