"""Labels flipped with probability (1 - alpha) / 2, the meaning of alpha in the paper's Theorem 2.

Only labels used in the fit are flipped; scores use the clean ones. Without noise the matched weight
is 1, and "auto" usually is too, so these two settings may be the same.
"""

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from benchmarks.ablations.effects import effect, effect_by_row
from benchmarks.ablations.models import BASE_FOREST, DEFAULT, FOREST, hedgeclipper
from benchmarks.ablations.plots import along, lines_figure
from benchmarks.ablations.study import Outcome, Setting, Study, at
from benchmarks.ablations.summary import Difference, Summary
from benchmarks.draws import Draw

ALPHAS = (1.0, 0.8, 0.6, 0.4, 0.2)
AUTO, MATCHED = "automatic weight", "weight matched to alpha"


def flipped(draw: Draw, alpha: float) -> Draw:
    """Return the draw with noisy labels; those of less noise are among those of more."""
    uniform = np.random.default_rng([draw.seed, draw.y.size]).random(draw.y.size)
    return replace(draw, y=np.where(uniform < (1 - alpha) / 2, 1 - draw.y, draw.y))


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
    flipped_labels = f"{50 * (1 - ALPHAS[-1]):.0f} %"
    return (
        f"Compared with the forest, HedgeClipper {effect_by_row(clean)} with clean labels and "
        f"{effect_by_row(worst)} with {flipped_labels} of them flipped. Matching the "
        f"weight of unlabeled rows to the noise {effect(matched)} over all noise levels."
    )


def plot(summary: Summary) -> Figure:
    flips = {(1 - alpha) / 2: f"{50 * (1 - alpha):.0f} %" for alpha in ALPHAS}
    return lines_figure(
        summary,
        [along(name, ALPHAS, list(flips), over_along=FOREST) for name in (AUTO, MATCHED)],
        xlabel="labels flipped; alpha = 1 - 2 x this fraction",
        ylabel="AUC gain over the forest with the same labels",
        ticks=flips,
    )


STUDY = Study(
    name="label_noise",
    title="Label noise",
    question="Is the game robust to noisy labels, and does it help to set the noise level?",
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
