from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hedgeclipper.forest.forest_inspection import column_contributions, describe_reasons
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

from hedgeclipper import HedgeClipperClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 4)).astype(np.float32)
Y = (X[:, 1] + 0.5 * X[:, 2] + 0.3 * RNG.normal(size=500) > 0).astype(int)
NEW = slice(400, 500)


def fitted(y=Y, rows=X, **parameters):
    model = HedgeClipperClassifier(**{"n_estimators": 24, "random_state": 0, **parameters})
    return model.fit(rows[:200], y[:200], X_unlabeled=rows[200:400])


@pytest.mark.parametrize("views", ["auto", None])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_and_a_constant_add_up_to_the_log_odds(views, n_classes):
    y = Y if n_classes == 2 else Y + (X[:, 1] > 0.8)
    predictor = fitted(y, views=views)._predictor
    raw = predictor.raw_predictions(X[NEW], 1)
    for game in range(predictor.n_games):
        added = column_contributions(predictor, X[NEW], game)
        assert added.shape == (100, 5)
        rest = raw[:, game] - added.sum(axis=1)
        np.testing.assert_allclose(rest, rest[0], atol=1e-5)
        assert np.any(added[:, 4] != 0) == (views is not None)


def test_they_are_steps_between_the_means_of_nodes():
    """Along the paths of one forest on raw columns, by hand."""
    model = fitted(estimator=RandomForestClassifier(3), shrinkage=0)
    (forest,), predictor = model.estimators_.values(), model._predictor
    (game,) = predictor.games
    scale = game.scales[0].center
    factor = game.calibration.slope * game.weights[0] / max(scale, 1 - scale) / 3
    theirs = np.zeros((100, 5))
    for tree in forest.estimators_:
        means, paths = tree.tree_.value[:, 0, 1], tree.decision_path(X[NEW])
        for row in range(100):
            nodes = paths[[row]].indices
            for above, below in pairwise(nodes):
                theirs[row, tree.tree_.feature[above]] += factor * (means[below] - means[above])
    np.testing.assert_allclose(column_contributions(predictor, X[NEW], 0), theirs, atol=1e-10)


def test_reasons_name_the_columns_of_a_row_for_and_against_its_class():
    frame = pd.DataFrame(X, columns=["size", "weight", "age", "noise"])
    model = fitted(rows=frame)
    texts = describe_reasons(model, X[NEW])
    sure = int(np.argmax(model.decision_function(frame[NEW])))
    added = column_contributions(model._predictor, X[NEW], 0)[sure]
    values = [f"{name} = {x:.4g}" for name, x in zip(frame, X[NEW][sure], strict=True)]
    assert texts[sure].startswith(f"for: {[*values, 'components'][np.argmax(added)]}")
    opposed = int(np.argmin(model.decision_function(frame[NEW])))
    assert texts[opposed].startswith("for: ")  # the other class
    assert "weight" in texts[opposed].split(";")[0]


def test_of_many_classes_they_are_for_the_predicted_one():
    y = Y + (X[:, 1] > 0.8)
    model = fitted(y)
    texts = describe_reasons(model, X[NEW])
    predicted = model.predict(X[NEW])
    for row in (0, 1, 2):
        added = column_contributions(model._predictor, X[NEW][[row]], predicted[row])[0, :4]
        first = f"x{np.argmax(np.where(added > 0, added, 0))} = "
        assert first in texts[row].split("against")[0]


def test_boosters_have_none():
    model = fitted(estimator=GradientBoostingClassifier(n_estimators=3))
    assert column_contributions(model._predictor, X[NEW], 0) is None
    assert describe_reasons(model, X[NEW]) is None
