"""Control: HedgeClipper of random forests alone, without extra trees, as many trees in all."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.draws import Draw
from benchmarks.methods.hedgeclipper import fit
from benchmarks.methods.method import Method, probability
from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.forest.views import Components

N_VIEWS = 2  # raw columns and components


def scores(draw: Draw) -> np.ndarray:
    forest = RandomForestClassifier(HedgeClipperClassifier().n_estimators // N_VIEWS)
    view = Components(random_state=draw.seed)
    model = fit(HedgeClipperClassifier(forest, views=view, random_state=draw.seed), draw)
    return probability(model, draw.X_scored)


METHOD = Method(
    "hedgeclipper-no-extra",
    "without extra trees",
    scores,
    uses_unlabeled=True,
    is_control=True,
    is_ablation=True,
)
