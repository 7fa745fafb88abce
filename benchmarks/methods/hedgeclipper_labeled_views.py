"""Control: HedgeClipper whose components are learned from the labeled rows alone.

Its random forest is the same one, and so is all else.
"""

import numpy as np
from sklearn.frozen import FrozenEstimator

from benchmarks.draws import Draw
from benchmarks.methods.hedgeclipper import fit
from benchmarks.methods.method import Method, probability
from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.forest.views import Components


def scores(draw: Draw) -> np.ndarray:
    # frozen: the classifier's own fit to all rows leaves it as it is
    view = FrozenEstimator(Components(random_state=draw.seed).fit(draw.X))
    model = fit(HedgeClipperClassifier(views=view, random_state=draw.seed), draw)
    return probability(model, draw.X_scored)


METHOD = Method(
    "hedgeclipper-labeled-views",
    "views from labeled rows only",
    scores,
    uses_unlabeled=True,
    is_control=True,
)
