"""Voters, importances, the gain of unlabeled rows and held-out predictions, made by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import HedgeClipperClassifier, load, save
from hedgeclipper.table_inspection import UnlabeledGain, unlabeled_gain
from hedgeclipper.voters.classifiers import LabeledRows
from hedgeclipper.voters.tree_groups import see
from hedgeclipper.weighing import scores_by_game, weigh_by_folds

X, Y = make_classification(400, 6, n_informative=4, flip_y=0.05, random_state=0)
X = X.astype(np.float32)
THREE = np.digitize(X[:, 0] + 0.1 * np.random.default_rng(0).normal(size=400), [-0.5, 0.5])
OWN = [("linear", LogisticRegression()), ("bayes", GaussianNB())]


def fitted(voters="trees", y=Y, rows=X, n_labeled=150, **parameters):
    model = HedgeClipperClassifier(voters, **{"n_estimators": 40, "random_state": 0, **parameters})
    return model.fit(rows[:n_labeled], y[:n_labeled], X_unlabeled=rows[n_labeled:])


@pytest.fixture(scope="module")
def own():
    return fitted(OWN)


# Columns.


def test_the_encoding_tells_what_was_done_with_each_column(tmp_path):
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    frame["word"] = np.where(X[:, 2] > 0, "red", "blue")
    frame["same"] = 1.0
    model = fitted(rows=frame)
    for known in (model, load(save(model, tmp_path / "model"))):
        found = known.encoding_
        assert list(found) == ["column", "kind", "what", "note"]
        assert found["column"].tolist() == ["a", "b", "word", "same"]
        assert found["kind"].tolist() == ["numbers", "numbers", "categories", "left out"]
        assert found["what"][2] == "2 values, a column of 0 and 1 for each"
    assert model.feature_importances_[3] == 0


def test_columns_that_are_not_encoded():
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    for rows, names in ((X[:, :2], ["x0", "x1"]), (frame, ["a", "b"])):
        found = fitted(rows=rows).encoding_
        assert found["column"].tolist() == names
        assert set(found["kind"]) == {"numbers"}
        assert set(found["what"]) == {"as they are"}
    assert set(fitted(OWN, rows=frame).encoding_["kind"]) == {"as given"}
    with pytest.raises(NotFittedError):
        _ = HedgeClipperClassifier().encoding_


# Voters.


@pytest.mark.parametrize("y", [Y, THREE], ids=["two", "three"])
def test_the_summary_describes_each_voter_in_each_game(y):
    model = fitted([*OWN, ("trees", "default")], y)
    found = model.voter_summary()
    columns = ["weight", "correlation", "standard_error", "auc", "agreement", "contribution"]
    assert found.columns.drop("class", errors="ignore").tolist() == ["voter", *columns, "seconds"]
    games = found.groupby("class") if y is THREE else [(1, found)]
    for code, part in games:
        game = code if y is THREE else 0
        assert part["contribution"].is_monotonic_decreasing
        assert part["contribution"].sum() == pytest.approx(1)
        by_name = part.set_index("voter").loc[model.voter_names_]
        np.testing.assert_array_equal(by_name["weight"], model.weights_[game])
        np.testing.assert_array_equal(by_name["correlation"], model.label_correlations_[game])
    with pytest.raises(NotFittedError):
        HedgeClipperClassifier().voter_summary()


def test_columns_of_the_summary_are_those_of_out_of_fold_and_unlabeled_scores(own):
    found = own.voter_summary().set_index("voter")
    scores = own._voters.labeled[:, :, 0]
    new = own._predictor.scorer.score(X[150:])[:, :, 0]
    votes = own._predictor.votes[0].scales(new).T
    for k, name in enumerate(own.voter_names_):
        assert found["auc"][name] == pytest.approx(roc_auc_score(Y[:150], scores[:, k]), abs=1e-3)
        together = np.corrcoef(votes[0], votes[1])[0, 1]
        assert found["agreement"][name] == pytest.approx(together, abs=1e-4)
    sizes = own.weights_[0] * np.std(votes, axis=1)
    np.testing.assert_allclose(
        found["contribution"][own.voter_names_], sizes / sizes.sum(), atol=1e-4
    )


@pytest.mark.parametrize("y", [Y, THREE], ids=["two", "three"])
def test_the_leaderboard_has_the_figures_of_voters_and_model(y):
    model = fitted(OWN, y, n_labeled=100)
    board = model.leaderboard(X[200:], y[200:])
    assert board["auc"].is_monotonic_decreasing
    board = board.set_index("voter")
    assert set(board.index) == {"all voters", "linear", "bayes"}
    for name, predictor in {"all voters": model, **model.estimators_}.items():
        found = predictor.predict_proba(X[200:])
        two = found[:, 1] if found.shape[1] == 2 else found
        assert board["auc"][name] == pytest.approx(roc_auc_score(y[200:], two, multi_class="ovr"))
        assert board["log_loss"][name] == pytest.approx(log_loss(y[200:], found), abs=1e-5)
        accuracy = np.mean(predictor.predict(X[200:]) == y[200:])
        assert board["accuracy"][name] == pytest.approx(accuracy)
    marked = np.where(np.arange(200) < 50, y[200:], np.nan)
    theirs = model.leaderboard(X[200:250], y[200:250]).drop(columns="seconds")
    for rows in (X[200:], [X[200:220], X[220:]]):
        some = model.leaderboard(rows, marked).drop(columns="seconds")
        pd.testing.assert_frame_equal(some, theirs)


def test_a_leaderboard_needs_a_label_for_each_row():
    """The first rows were scored if there were fewer labels."""
    model = fitted([("ridge", RidgeClassifier())])
    for y in (Y[200:240], Y[:300]):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            model.leaderboard(X[200:260], y)
    with pytest.raises(TypeError, match=r"y='target' names a column .* from frames alone"):
        model.leaderboard(X, "target")


def test_voters_without_probabilities_are_on_the_leaderboard():
    model = fitted([("ridge", RidgeClassifier())])
    board, ridge = model.leaderboard(X, Y).set_index("voter"), model.estimators_["ridge"]
    assert board["accuracy"]["ridge"] == pytest.approx(ridge.score(X, Y))
    assert board["auc"]["ridge"] == pytest.approx(roc_auc_score(Y, ridge.decision_function(X)))


# Held-out predictions.


def test_tested_rows_are_predicted_by_weights_from_the_other_folds(own):
    """A label changes the predictions of other folds, and nothing in its own."""
    y, found = own.tested_probabilities()
    np.testing.assert_array_equal(y, Y[:150])
    scores = scores_by_game(
        own._voters.labeled, own._predictor.scorer.score(X[150:]).astype(float), Y[:150], [1]
    )
    for test, votes, _ in weigh_by_folds(scores, np.empty(0)):
        theirs = expit(votes[0].log_odds(scores[0].labeled[test]))
        np.testing.assert_allclose(found[test, 1], theirs, atol=1e-6)
        changed = replace(scores[0], is_positive=scores[0].is_positive.copy())
        changed.is_positive[test] ^= True
        again = dict(_by_first_row(weigh_by_folds([changed], np.empty(0))))
        np.testing.assert_array_equal(again[test[0]].weights, votes[0].weights)


def _by_first_row(folds):
    return [(test[0], votes[0]) for test, votes, _ in folds]


# Importances.


def test_importances_are_the_loss_in_out_of_bag_auc():
    """Of all trees alike, three shuffles of each column; the last column is constant."""
    rows = np.column_stack([X[:, :4], np.ones(400)]).astype(np.float32)
    model = fitted(rows=rows)
    trees = model._voters.trees

    def auc(values):
        scores = trees.out_of_bag_in(see(values, trees.scorer.components))[:, :, 0]
        known = ~np.isnan(scores).any(axis=1)
        return roc_auc_score(Y[:150][known], scores[known] @ [0.5, 0.25, 0.25])

    rng, theirs = np.random.default_rng(0), np.zeros(5)
    for column in range(5):
        for _ in range(3):
            shuffled = rows[:150].copy()
            shuffled[:, column] = shuffled[rng.permutation(150), column]
            theirs[column] += (auc(rows[:150]) - auc(shuffled)) / 3
    np.testing.assert_allclose(model.feature_importances_, theirs, atol=3e-3)
    assert model.feature_importances_[4] == 0


def test_columns_of_strings_count_whole_and_once_measured_they_are_kept(tmp_path):
    frame = pd.DataFrame(X[:, :2], columns=["noise", "some"])
    frame["word"] = np.array(["red", "green", "blue"])[np.digitize(X[:, 2], [-0.4, 0.4])]
    y = (frame["word"] == "red").to_numpy().astype(int)
    y[:3] = 1 - y[:3]  # a column that tells classes apart without exception is refused
    model = fitted([("trees", "default"), *OWN], y, frame)
    with pytest.raises(AttributeError, match="a copy of a model has none"):
        _ = load(save(model, tmp_path / "new")).feature_importances_
    found = model.feature_importances_
    assert (found.shape, found.argmax()) == ((3,), 2)
    again = load(save(model, tmp_path / "measured"))
    np.testing.assert_array_equal(again.feature_importances_, found)
    model.set_params(keep=["noise"])
    model.fit(frame[:150], (X[:150, 0] > 0).astype(int), X_unlabeled=frame[150:])
    assert model.feature_importances_.argmax() == 0
    assert model.feature_importances_ is model.feature_importances_


def test_importances_of_sparse_rows_and_many_classes():
    rows = np.where(np.abs(X) < 0.3, np.float32(0), X)
    ours, theirs = (fitted(y=THREE, rows=given) for given in (sparse.csr_array(rows), rows))
    np.testing.assert_allclose(
        ours.feature_importances_, theirs.feature_importances_, rtol=1e-6, atol=1e-6
    )
    assert theirs.feature_importances_.argmax() == 0


def test_without_trees_or_components_there_is_no_such_measure(own):
    for name in ("unlabeled_gain_", "feature_importances_"):
        with pytest.raises(AttributeError, match=f"{name} is measured on trees"):
            getattr(own, name)
    with pytest.raises(AttributeError, match="about components, and there are none"):
        _ = fitted(rows=X[:, :2]).unlabeled_gain_


# What the unlabeled rows bring.


@pytest.mark.filterwarnings("ignore::hedgeclipper.NoUnlabeledRowsWarning")
def test_the_gain_is_over_a_fit_without_unlabeled_rows():
    model = fitted()
    alone = HedgeClipperClassifier("trees", n_estimators=40, random_state=0).fit(X[:150], Y[:150])
    rows = LabeledRows(X[:150], Y[:150], np.arange(2))
    theirs = unlabeled_gain(model._voters.trees, alone._voters.trees, rows, [1])
    assert model.unlabeled_gain_ == theirs
    assert theirs.auc_error > 0
    assert model.unlabeled_gain_ is model.unlabeled_gain_
    sure = np.where(Y[:150, None, None] == 1, 0.9, 0.1)
    better = replace(model._voters.trees, out_of_bag=np.tile(sure, (1, 3, 1)))
    certain = unlabeled_gain(better, alone._voters.trees, rows, [1])
    means = alone._voters.trees.out_of_bag[:, :, 0] @ [0.5, 0.25, 0.25]
    known = ~np.isnan(means)
    assert certain.is_significant
    assert 1 - certain.auc == pytest.approx(roc_auc_score(Y[:150][known], means[known]))


@pytest.mark.filterwarnings("ignore::hedgeclipper.NoUnlabeledRowsWarning")
def test_without_unlabeled_rows_they_bring_nothing():
    for y in (Y, THREE):
        model = HedgeClipperClassifier("trees", n_estimators=40, random_state=0)
        found = model.fit(X[:150], y[:150]).unlabeled_gain_
        assert found.auc == 0


def test_a_gain_of_two_standard_errors_is_significant_and_such_a_loss_is_one():
    assert UnlabeledGain(0.021, 0.01).is_significant
    assert not UnlabeledGain(0.019, 0.01).is_significant
    assert "no significant gain (-0.019" in UnlabeledGain(-0.019, 0.01).describe()
    assert "a loss (-0.021" in UnlabeledGain(-0.021, 0.01).describe()
    unknown = UnlabeledGain(np.nan, np.nan)
    assert not unknown.is_significant
    assert unknown.describe() == "unlabeled rows: too few labels to measure what they bring"
