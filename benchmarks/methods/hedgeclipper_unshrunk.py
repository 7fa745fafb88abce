"""Control: HedgeClipper without shrinkage."""

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods.hedgeclipper import fit
from benchmarks.methods.method import Method, probability
from hedgeclipper import HedgeClipperClassifier


def scores(draw: Draw) -> np.ndarray:
    model = fit(HedgeClipperClassifier(shrinkage=0.0, random_state=draw.seed), draw)
    return probability(model, draw.X_scored)


METHOD = Method(
    "hedgeclipper-unshrunk",
    "without shrinkage",
    scores,
    uses_unlabeled=True,
    is_control=True,
    is_ablation=True,
)
