"""Control: HedgeClipper of random forests alone, without extra trees, as many trees in all."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.draws import Draw
from benchmarks.methods.hedgeclipper import fit
from benchmarks.methods.method import Method, probability
from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.forest.views import Components

N_KINDS = 2  # random forest and extra trees


def scores(draw: Draw) -> np.ndarray:
    forest = RandomForestClassifier(N_KINDS * HedgeClipperClassifier().n_estimators)
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
