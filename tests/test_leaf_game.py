import numpy as np
import pytest
from sklearn.datasets import make_classification

from hedgeclipper import HedgeClipperClassifier

X, Y = make_classification(2000, 6, n_informative=4, n_redundant=0, random_state=1)
X = X.astype(np.float32)


def fitted(**parameters):
    model = HedgeClipperClassifier(n_estimators=20, random_state=0, **parameters)
    return model.fit(X[:300], Y[:300], X_unlabeled=X[300:])


def test_weights_stay_between_half_and_three_times_the_forests():
    anchor = fitted(ridge=1e9).specialist_weights_
    free = fitted(ridge=1e-6).specialist_weights_
    assert np.all(free >= 0.5 * anchor - 1e-6)
    assert np.all(free[anchor > 0] <= 3 * anchor[anchor > 0] + 1e-6)
    assert np.max(np.abs(free - anchor)) > 1e-3


def test_a_number_as_cap_is_one():
    assert fitted(cap=0.01, bound="plug_in").specialist_weights_.max() <= 0.01 + 1e-12


def test_specialists_without_a_positive_correlation_are_dropped_unless_shrunk():
    assert np.all(fitted(bound="wilson").label_correlations_ > 0)
    n_leaves = sum(tree.tree_.n_leaves for tree in fitted().estimator_.estimators_)
    assert fitted(bound="wilson").n_specialists_ < fitted().n_specialists_ <= n_leaves


def test_nobody_left():
    noise = np.random.default_rng(0).integers(0, 2, 300)
    model = HedgeClipperClassifier(n_estimators=2, delta=0.05, random_state=0)
    with pytest.raises(ValueError, match="No specialist is left"):
        model.fit(X[:40], noise[:40], X_unlabeled=X[300:])


def test_gap_is_within_tol():
    model = fitted(tol=1e-4)
    assert model.stop_reason_ == "converged"
    assert model.duality_gap_ <= 1e-4 * 2
