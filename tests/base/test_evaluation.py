import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, log_loss, recall_score, roc_auc_score

from hedgeclipper import ColumnWarning, HedgeClipperClassifier, SeenRowsWarning, VoteAggregator
from hedgeclipper.base.evaluation import evaluate_predictions


def small(**more):
    return HedgeClipperClassifier("trees", n_estimators=20, random_state=0, **more)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_figures_are_those_of_scikit_learn(load):
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(y.size)
    train, test = order[:40], order[40:]
    model = small().fit(X[train], y[train], X_unlabeled=X[test])
    found = model.evaluate(X[test], y[test])
    predicted, probabilities = model.predict(X[test]), model.predict_proba(X[test])
    assert found.accuracy == model.score(X[test], y[test])
    interval = binomtest(int(np.sum(predicted == y[test])), test.size).proportion_ci(0.95)
    np.testing.assert_allclose(found.accuracy_interval, interval)
    is_binary = probabilities.shape[1] == 2
    scores = probabilities[:, 1] if is_binary else probabilities
    assert found.auc == pytest.approx(roc_auc_score(y[test], scores, multi_class="ovr"))
    assert found.log_loss == pytest.approx(log_loss(y[test], np.clip(probabilities, 1e-6, 1)), 1e-4)
    np.testing.assert_array_equal(found.confusion, confusion_matrix(y[test], predicted))
    np.testing.assert_allclose(found.recall, recall_score(y[test], predicted, average=None))
    assert found.majority_accuracy == np.bincount(y[test]).max() / test.size
    assert found.calibration[:, 2].sum() == test.size
    assert json.loads(json.dumps(found.to_dict()))["confusion"] == found.confusion.tolist()
    assert f"{found.accuracy:.1%}" in str(found)


def test_intervals_cover_the_truth():
    """Scores N(1, 1) and N(0, 1) have the AUC Phi(1 / sqrt(2)) = 0.760, and sign errors 0.309."""
    rng = np.random.default_rng(0)
    covered = np.zeros(2)
    for _ in range(200):
        y = rng.integers(0, 2, 120)
        p = 1 / (1 + np.exp(-(rng.normal(size=120) + y - 0.5)))
        P = np.column_stack([1 - p, p])
        found = evaluate_predictions(y, (p > 0.5).astype(int), P, np.array([0, 1]), 0.9)
        for k, (interval, truth) in enumerate(
            [(found.auc_interval, 0.7602), (found.accuracy_interval, 1 - 0.3085)]
        ):
            covered[k] += interval[0] <= truth <= interval[1]
    # 200 draws at 90 % have a standard deviation of 2 %
    assert np.all(covered / 200 > 0.84)


@pytest.mark.parametrize("n_positive", [1, 2, 5])
def test_the_interval_of_auc_has_the_variance_of_delong(n_positive):
    """Sample covariances of the placements; one positive has the largest for its mean."""
    y, p = np.arange(12) < n_positive, np.random.default_rng(1).random(12)
    found = evaluate_predictions(y, p > 0.5, np.column_stack([1 - p, p]), np.array([False, True]))
    wins = p[y][:, None] > p[~y]
    own, other = wins.mean(axis=1), wins.mean(axis=0)
    spread = np.var(own, ddof=1) if n_positive > 1 else wins.mean() * (1 - wins.mean())
    error = np.sqrt(spread / n_positive + np.var(other, ddof=1) / (12 - n_positive))
    reach = 1.959964 * error
    assert 0 < wins.mean() < 1
    expected = max(0, wins.mean() - reach), min(1, wins.mean() + reach)
    assert found.auc_interval == pytest.approx(expected)


def test_a_perfect_order_is_not_certain():
    y, p = np.array([0, 0, 0, 1, 1, 1]), np.array([0.1, 0.2, 0.3, 0.6, 0.7, 0.8])
    found = evaluate_predictions(y, y, np.column_stack([1 - p, p]), np.array([0, 1]))
    assert found.auc == 1
    assert found.auc_interval == (pytest.approx(0.025 ** (1 / 3)), 1)


def test_classes_the_model_does_not_know_are_errors():
    y = np.array(["a", "b", "c"], dtype=object)
    P = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    found = evaluate_predictions(y, np.array(["a", "b", "a"]), P, np.array(["a", "b"]))
    assert found.accuracy == 2 / 3
    assert found.classes.tolist() == ["a", "b", "c"]
    assert found.confusion.tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert found.log_loss > 4


def test_one_class_alone_has_no_auc():
    found = evaluate_predictions(
        np.array([1, 1]), np.array([1, 0]), np.full((2, 2), 0.5), np.array([0, 1])
    )
    assert np.isnan(found.auc)
    assert found.to_dict()["auc"] is None
    assert "all rows are of one class" in str(found)
    with pytest.raises(ValueError, match=r"'confidence_level' parameter .* Got 95"):
        evaluate_predictions(np.ones(1), np.ones(1), np.ones((1, 1)), np.ones(1), 95)


def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.choice(["x", "y"], 60)})
    frame["income"] = np.where(frame["a"] + 0.5 * rng.normal(size=60) > 0, "high", "low")
    frame.loc[40:, "income"] = None
    return frame


@pytest.mark.filterwarnings("ignore::hedgeclipper.SeenRowsWarning")
@pytest.mark.parametrize("convert", [lambda f: f, pl.from_pandas, pa.Table.from_pandas])
def test_the_target_of_a_frame_may_be_named(convert):
    frame, whole = table(), convert(table())
    ours = small().fit(whole, "income")
    theirs = small().fit(frame[["a", "b"]], frame["income"])
    assert (ours.n_labeled_, ours.n_unlabeled_) == (40, 20)
    np.testing.assert_array_equal(
        ours.predict(convert(frame[["a", "b"]])), theirs.predict(frame[["a", "b"]])
    )
    assert ours.evaluate(whole, "income").n_samples > 30
    assert ours.score(whole, "income") == theirs.score(frame[["a", "b"]], frame["income"])
    with pytest.raises(ValueError, match=r"X has no column 'incone'. It has 'a', 'b', 'income'"):
        small().fit(whole, "incone")
    own = HedgeClipperClassifier([("linear", LogisticRegression())], random_state=0)
    numbers = convert(frame.drop(columns="b").assign(c=frame["a"] ** 2))
    assert own.fit(numbers, "income").feature_names_in_.tolist() == ["a", "c"]
    assert own.evaluate(numbers, "income").n_samples > 30


@pytest.mark.parametrize("confidence_level", [None, 0.9])
def test_rows_of_the_fit_are_scored_by_predictions_without_their_labels(confidence_level):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(2, size=300)  # nothing can be learned
    model = small(confidence_level=confidence_level)
    model.fit(X[:100], y[:100], X_unlabeled=X[100:])
    with pytest.warns(SeenRowsWarning, match="rows of the fit"):
        found = model.evaluate(X[:100], y[:100])
    tested, probabilities = model.tested_probabilities()
    assert found.n_samples == tested.size
    assert found.accuracy == np.mean(probabilities.argmax(axis=1) == tested) < 0.8
    with pytest.warns(SeenRowsWarning):  # also among others
        assert model.evaluate(X, y).n_samples == 200 + tested.size
    new = model.evaluate(X[100:], y[100:])  # and no other rows are changed
    assert new.accuracy == np.mean(model.predict(X[100:]) == y[100:])


def test_new_rows_that_are_equal_to_rows_of_the_fit_by_accident_are_scored_as_new():
    rng = np.random.default_rng(0)
    X = rng.integers(5, size=(3000, 3)).astype(float)  # 125 different rows
    y = (X.sum(axis=1) > 6).astype(int) ^ (rng.random(3000) < 0.1)
    _, first = np.unique(X, axis=0, return_index=True)
    labeled = np.isin(np.arange(3000), first)
    model = small().fit(X[labeled], y[labeled], X_unlabeled=X[~labeled])
    found = model.evaluate(X[~labeled], y[~labeled])
    assert found.accuracy == np.mean(model.predict(X[~labeled]) == y[~labeled])


def test_labels_in_another_spelling_are_no_errors_in_silence():
    frame = table()
    model, new = small().fit(frame, "income"), frame.assign(a=frame["a"] + 0.01)
    with pytest.raises(ValueError, match=r"labels '(HIGH|LOW)', .* classes are 'high', 'low'"):
        model.evaluate(new[["a", "b"]], new["income"].str.upper())
    labels = new["income"].replace("high", "High")
    with pytest.warns(ColumnWarning, match="does not know the labels 'High'"):
        found = model.evaluate(new[["a", "b"]], labels)
    assert found.n_samples == 40
    assert found.recall[2] == 0


@pytest.mark.parametrize("form", ["csv", "parquet", "batches"])
def test_labels_of_files_are_named(form, tmp_path):
    frame, path = table(), tmp_path / f"rows.{form}"
    frame["b"] = frame["b"].replace("x", "1")
    model, new = small().fit(frame, "income"), frame.iloc[5:35].reset_index(drop=True)
    new.loc[:3, "income"] = None
    new["a"] += 0.01
    if form != "batches":
        new.to_csv(path, index=False) if form == "csv" else new.to_parquet(path)
    rows = [new[:9], new[9:]] if form == "batches" else path
    assert model.evaluate(rows, "income").describe() == model.evaluate(new, "income").describe()
    assert model.evaluate(rows, "income").n_samples == 26
    assert model.score(rows, "income") == model.score(new, "income")
    with pytest.raises(ValueError, match=r"has no column 'incom'.* Did you mean 'income'"):
        model.evaluate(rows, "incom")


def test_gold_labels_in_a_file_of_votes_are_no_voter(tmp_path):
    votes = pd.DataFrame(np.tile([[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 0, 1]], (10, 1)))
    table, path = votes.set_axis(list("abc"), axis=1), tmp_path / "votes.csv"
    model = VoteAggregator().fit(table, np.where(np.arange(40) < 8, votes[0], -1))
    gold = table.assign(gold=votes[0])
    gold.to_csv(path, index=False)
    assert model.evaluate(path, "gold").describe() == model.evaluate(gold, "gold").describe()
    assert model.score(path, "gold") == model.score(gold, "gold")
