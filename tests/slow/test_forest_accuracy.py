"""The classifier on the bundled real data, against its own forest and the paper's print."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.datasets import fetch_a1a

pytestmark = pytest.mark.slow
N_SPLITS = 5


@pytest.mark.parametrize("n_labeled", [100, 1000])
def test_no_worse_than_the_forest_it_was_built_from(n_labeled):
    X, y = fetch_a1a(return_X_y=True)
    gains = []
    for seed in range(N_SPLITS):
        order = np.random.default_rng(seed).permutation(y.size)
        labeled, unlabeled = order[:n_labeled], order[n_labeled:]
        model = HedgeClipperClassifier(n_jobs=-1, random_state=seed)
        model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])
        ours = roc_auc_score(y[unlabeled], model.decision_function(X[unlabeled]))
        theirs = model.estimator_.predict_proba(X[unlabeled])[:, 1]
        gains.append(ours - roc_auc_score(y[unlabeled], theirs))
    assert np.mean(gains) > -0.003


@pytest.mark.parametrize(("n_labeled", "printed"), [(100, 0.779), (1000, 0.808)])
def test_paper_settings_give_what_the_paper_prints(n_labeled, printed):
    X, y = fetch_a1a(return_X_y=True)
    test, aucs = np.arange(1605, y.size), []
    for seed in range(N_SPLITS):
        labeled = np.random.default_rng(seed).permutation(1605)[:n_labeled]
        unlabeled = np.setdiff1d(np.arange(y.size), labeled)
        model = HedgeClipperClassifier.as_in_paper(random_state=seed, n_jobs=-1)
        model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])
        aucs.append(roc_auc_score(y[test], model.decision_function(X[test])))
    assert np.mean(aucs) == pytest.approx(printed, abs=0.03)
