"""Control: HedgeClipper on the raw columns alone, with as many trees in all."""

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods.hedgeclipper import fit
from benchmarks.methods.method import Method, probability
from hedgeclipper import HedgeClipperClassifier

N_VIEWS = 2  # raw columns and components


def scores(draw: Draw) -> np.ndarray:
    n_trees = N_VIEWS * HedgeClipperClassifier().n_estimators
    model = HedgeClipperClassifier(n_estimators=n_trees, views=None, random_state=draw.seed)
    return probability(fit(model, draw), draw.X_scored)


METHOD = Method(
    "hedgeclipper-no-views",
    "without views",
    scores,
    uses_unlabeled=True,
    is_control=True,
    is_ablation=True,
)
