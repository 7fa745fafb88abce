import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from hedgeclipper import HedgeClipperClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 5)).astype(np.float32)
X[:, 4] = 1.0
Y = (X[:, 1] + 0.5 * X[:, 2] + 0.5 * RNG.normal(size=600) > 0).astype(int)


def fitted(rows=X, y=Y, **parameters):
    model = HedgeClipperClassifier(**{"n_estimators": 60, "random_state": 0, **parameters})
    return model.fit(rows[:200], y[:200], X_unlabeled=rows[200:])


def out_of_bag_scores(forest, rows):
    """Mean probability over the trees that were grown without each row, of scikit-learn's trees."""
    sums, n_trees = np.zeros(200), np.zeros(200)
    for tree, bag in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        unseen = np.setdiff1d(np.arange(200), bag)
        sums[unseen] += tree.predict_proba(rows[unseen])[:, 1]
        n_trees[unseen] += 1
    return sums / np.maximum(n_trees, 1), n_trees > 0


def test_they_are_the_loss_in_out_of_bag_auc():
    """Of one forest without shrinkage, by hand; three shuffles of each column."""
    model = fitted(estimator=RandomForestClassifier(20), shrinkage=0)
    (forest,) = model.estimators_.values()

    def auc(rows):
        scores, known = out_of_bag_scores(forest, rows)
        return roc_auc_score(Y[:200][known], scores[known].round(9))

    rng, theirs = np.random.default_rng(0), np.zeros(5)
    for column in range(5):
        for _ in range(3):
            shuffled = X[:200].copy()
            shuffled[:, column] = shuffled[rng.permutation(200), column]
            theirs[column] += (auc(X[:200]) - auc(shuffled)) / 3
    np.testing.assert_allclose(model.feature_importances_, theirs, atol=3e-3)  # but for ties


@pytest.mark.parametrize("views", ["auto", None])
def test_columns_that_matter_are_found_in_their_order_and_a_constant_one_is_nothing(views):
    found = fitted(views=views).feature_importances_
    assert found.shape == (5,)
    assert np.argsort(-found)[:2].tolist() == [1, 2]
    assert found[4] == 0


def test_columns_of_strings_count_whole():
    """Each is one entry, though it becomes several columns for the trees."""
    frame = pd.DataFrame(X[:, :2], columns=["noise", "some"])
    frame["word"] = np.array(["red", "green", "blue"])[np.digitize(X[:, 2], [-0.4, 0.4])]
    y = (frame["word"] == "red").to_numpy().astype(int)
    model = fitted(frame, y)
    assert model._predictor.finder.parts[0].used.size > 3
    found = model.feature_importances_
    assert found.shape == (3,)
    assert found.argmax() == 2


def test_sparse_rows_and_many_classes():
    rows = np.where(np.abs(X) < 0.3, np.float32(0), X)
    three = Y + (rows[:, 1] > 1)
    ours, theirs = (fitted(given, three) for given in (sparse.csr_array(rows), rows))
    np.testing.assert_allclose(
        ours.feature_importances_, theirs.feature_importances_, rtol=1e-6, atol=1e-6
    )
    assert theirs.feature_importances_.argmax() == 1


def test_they_are_measured_once_and_anew_after_another_fit():
    model = fitted()
    first = model.feature_importances_
    assert model.feature_importances_ is first
    model.fit(X[:200], 1 - (X[:200, 3] > 0), X_unlabeled=X[200:])
    assert model.feature_importances_.argmax() == 3
