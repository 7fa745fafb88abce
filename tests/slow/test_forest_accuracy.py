"""The classifier on the bundled real data, against a forest and the published values."""

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


@pytest.mark.parametrize(("n_labeled", "published"), [(100, 0.779), (1000, 0.808)])
def test_paper_settings_give_the_published_values(n_labeled, published):
    X, y = load_adult(return_X_y=True)
    test, aucs = np.arange(1605, y.size), []
    for seed in range(N_SPLITS):
        labeled = np.random.default_rng(seed).permutation(1605)[:n_labeled]
        unlabeled = np.setdiff1d(np.arange(y.size), labeled)
        model = HedgeClipperClassifier.as_in_paper(random_state=seed, n_jobs=-1)
        model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])
        aucs.append(roc_auc_score(y[test], model.decision_function(X[test])))
    assert np.mean(aucs) == pytest.approx(published, abs=0.03)
