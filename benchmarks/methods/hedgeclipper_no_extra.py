"""Control: HedgeClipper with random forests in place of its extra trees."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.draws import Draw
from benchmarks.methods.hedgeclipper import fit
from benchmarks.methods.method import Method, probability
from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.forest.growing import Ensemble, default_ensembles


def random_forests(n_trees: int, names: list[str], n_jobs: int | None) -> list[Ensemble]:
    """Return the default ensembles, all of them random forests."""
    return [
        replace(one, model=RandomForestClassifier(one.model.n_estimators, n_jobs=n_jobs))
        for one in default_ensembles(n_trees, names, n_jobs)
    ]


def scores(draw: Draw) -> np.ndarray:
    with patch("hedgeclipper.forest.growing.default_ensembles", random_forests):
        model = fit(HedgeClipperClassifier(random_state=draw.seed), draw)
    return probability(model, draw.X_scored)


METHOD = Method(
    "hedgeclipper-no-extra",
    "without extra trees",
    scores,
    uses_unlabeled=True,
    is_control=True,
    is_ablation=True,
)
