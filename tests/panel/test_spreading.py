import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.semi_supervised import LabelSpreading

from hedgeclipper.panel.spreading import SmoothSpreading

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
X = np.vstack([center + RNG.normal(size=(40, 2)) for center in CENTERS])
CLUSTER = np.repeat([0, 1, 2], 40)


def marked(*labels):
    """One label at the start of each cluster, -1 for none."""
    y = np.full(120, -1)
    y[::40] = labels
    return y


def fitted(y, **options):
    return SmoothSpreading(kernel="knn", n_neighbors=10, **options).fit(X, y)


def test_labels_spread_through_their_clusters():
    model = fitted(marked(0, 1, 2))
    assert model.score(X, CLUSTER) > 0.95
    new = CENTERS + 0.1
    np.testing.assert_array_equal(model.predict(new), [0, 1, 2])
    np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1)


def test_rows_that_no_label_reaches_get_the_shares_of_the_labels():
    y = marked(0, 1, -1)
    y[1] = 0
    proba = fitted(y).predict_proba(CENTERS[2:])
    np.testing.assert_allclose(proba, [[2 / 3, 1 / 3]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = LabelSpreading(kernel="knn", n_neighbors=10).fit(X, y)
        assert not np.all(theirs.label_distributions_.sum(axis=1) > 0)


def test_it_does_not_warn_of_what_it_mends():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(marked(0, 1, -1), max_iter=1)


def test_fewer_rows_than_neighbors():
    model = SmoothSpreading(kernel="knn", n_neighbors=10).fit(X[[0, 40, 41]], [0, 1, -1])
    assert np.isfinite(model.predict_proba(X)).all()


def test_it_can_be_cloned():
    model = clone(SmoothSpreading(kernel="knn", n_neighbors=3, alpha=0.5))
    assert (model.n_neighbors, model.alpha) == (3, 0.5)


@pytest.mark.parametrize("labels", [(0, 1, 2), (0, 1, -1)])
def test_predictions_are_the_most_probable_classes(labels):
    model = fitted(marked(*labels))
    most = model.classes_[model.predict_proba(X + 0.3).argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X + 0.3), most)
