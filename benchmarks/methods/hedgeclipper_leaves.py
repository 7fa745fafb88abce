"""Control: the paper's game of leaves on HedgeClipper's trees."""

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods.hedgeclipper import fit
from benchmarks.methods.method import Method, probability
from hedgeclipper import HedgeClipperClassifier, LeafGame


def scores(draw: Draw) -> np.ndarray:
    model = fit(HedgeClipperClassifier(game=LeafGame(), random_state=draw.seed), draw)
    return probability(model, draw.X_scored)


METHOD = Method(
    "hedgeclipper-leaves",
    "game of leaves",
    scores,
    uses_unlabeled=True,
    is_control=True,
    is_ablation=True,
)
