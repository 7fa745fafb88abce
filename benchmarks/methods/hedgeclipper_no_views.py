"""Control: HedgeClipper on the raw columns alone, with as many trees in all."""

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods.hedgeclipper import fit
from benchmarks.methods.method import Method, probability
from hedgeclipper import HedgeClipperClassifier


def scores(draw: Draw) -> np.ndarray:
    model = fit(HedgeClipperClassifier(views=None, random_state=draw.seed), draw)
    return probability(model, draw.X_scored)


METHOD = Method(
    "hedgeclipper-no-views",
    "without views",
    scores,
    uses_unlabeled=True,
    is_control=True,
    is_ablation=True,
)
