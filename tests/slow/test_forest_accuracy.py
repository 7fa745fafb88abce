"""The classifier on the bundled real data, against a forest."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.datasets import load_adult

pytestmark = pytest.mark.slow
N_SPLITS = 5


@pytest.mark.parametrize("n_labeled", [100, 1000])
def test_no_worse_than_a_forest_of_as_many_trees(n_labeled):
    X, y = load_adult(return_X_y=True)
    gains = []
    for seed in range(N_SPLITS):
        order = np.random.default_rng(seed).permutation(y.size)
        labeled, unlabeled = order[:n_labeled], order[n_labeled : n_labeled + 8_000]
        model = HedgeClipperClassifier(n_jobs=-1, random_state=seed)
        model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])
        forest = RandomForestClassifier(600, n_jobs=-1, random_state=seed)
        forest.fit(X[labeled], y[labeled])
        scores = [one.predict_proba(X[unlabeled])[:, 1] for one in (model, forest)]
        ours, theirs = (roc_auc_score(y[unlabeled], own) for own in scores)
        gains.append(ours - theirs)
    assert np.mean(gains) > -0.005
