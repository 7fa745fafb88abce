"""HedgedVotingClassifier on rows that are not in memory."""

import hedgeclipper.panel.classifier
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from hedgeclipper import HedgedVotingClassifier
from hedgeclipper.io.arrays import draw_rows

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

NAMES = list("abcd")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3_000, 4)).astype(np.float32)
Y = (X[:, 0] + 0.5 * X[:, 1] + 0.5 * RNG.normal(size=3_000) > 0).astype(int)
FRAME = pd.DataFrame(X, columns=NAMES)
LABELED, UNLABELED = FRAME[:200], FRAME[200:].reset_index(drop=True)


def new(**parameters):
    first = make_column_transformer(("passthrough", ["b", "a"]))
    members = [
        ("linear", LinearDiscriminantAnalysis()),
        ("two", make_pipeline(first, GaussianNB())),
    ]
    return HedgedVotingClassifier(members, random_state=0, **parameters)


def fitted(rows):
    return new().fit(LABELED, Y[:200], X_unlabeled=rows)


def assert_same(ours, theirs):
    assert ours.n_unlabeled_ == theirs.n_unlabeled_
    np.testing.assert_allclose(
        ours.decision_function(LABELED), theirs.decision_function(LABELED), atol=1e-3
    )


@pytest.fixture(scope="module")
def in_memory():
    return fitted(UNLABELED)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Columns in another order, and one too many."""
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    UNLABELED[NAMES[::-1]].assign(other="text").to_parquet(path, row_group_size=700)
    return path


def test_files_give_what_memory_gives(path, in_memory):
    model = fitted(path)
    assert_same(model, in_memory)
    np.testing.assert_array_equal(model.predict(path), model.predict(UNLABELED))
    with pytest.raises(AttributeError, match="kept only where fit had these in memory"):
        model.transduction_


def test_batches_give_what_memory_gives(in_memory):
    cut = [UNLABELED[:1_000], UNLABELED[1_000:]]
    assert_same(fitted(cut), in_memory)
    assert_same(fitted(lambda: iter(cut)), in_memory)
    np.testing.assert_array_equal(in_memory.predict(iter(cut)), in_memory.predict(UNLABELED))


def test_labels_in_the_files(tmp_path):
    labels = np.where(np.arange(3_000) < 200, Y, np.nan)
    FRAME.assign(label=labels).to_parquet(tmp_path / "all.parquet")
    members = [("linear", LinearDiscriminantAnalysis()), ("bayes", GaussianNB())]
    model = HedgedVotingClassifier(members, random_state=0).fit(tmp_path / "all.parquet", "label")
    theirs = HedgedVotingClassifier(members, random_state=0)
    theirs.fit(X[:200], Y[:200], X_unlabeled=X[200:])
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_allclose(
        model.decision_function(FRAME), theirs.decision_function(X), atol=1e-3
    )


@pytest.mark.parametrize("where", ["memory", "file", "dask"])
def test_of_many_rows_some_play(monkeypatch, where, path):
    monkeypatch.setattr(hedgeclipper.panel.classifier, "ROWS_IN_GAME", 500)
    monkeypatch.setattr(hedgeclipper.panel.classifier, "ROWS_FOR_VIEWS", 400)
    rows = {"memory": UNLABELED, "file": path, "dask": dd.from_pandas(UNLABELED, npartitions=3)}
    with dask.config.set(scheduler="threads"):
        model, again = fitted(rows[where]), fitted(rows[where])
    assert model.n_unlabeled_ == model.certificate_.n_unlabeled == 500
    assert "the 500 unlabeled rows that were drawn" in model.certificate_.describe()
    assert_same(again, model)
    if where == "memory":
        seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)
        drawn = draw_rows(UNLABELED, 500, np.random.RandomState(seed))
        whole = fitted(drawn)
        assert_same(model, whole)
        assert "the 500 unlabeled rows, an estimate" in whole.certificate_.describe()
        np.testing.assert_array_equal(model.transduction_, model.predict(UNLABELED))


@pytest.mark.parametrize("source", ["file", "frame", "iterator"])
def test_predictions_are_written(in_memory, path, tmp_path, source):
    rows = {"file": path, "frame": UNLABELED, "iterator": iter([UNLABELED[:9], UNLABELED[9:]])}
    assert in_memory.predict_to(tmp_path / "out.parquet", rows[source]) == 2_800
    found = pd.read_parquet(tmp_path / "out.parquet")
    assert found.columns.tolist() == ["prediction", "probability_0", "probability_1"]
    np.testing.assert_array_equal(found["prediction"], in_memory.predict(UNLABELED))
    theirs = in_memory.predict_proba(UNLABELED)[:, 1]
    np.testing.assert_allclose(found["probability_1"], theirs, atol=1e-3)


def test_dask_frames(in_memory):
    rows = dd.from_pandas(UNLABELED[NAMES[::-1]].assign(other="text"), npartitions=3)
    with dask.config.set(scheduler="threads"):
        model = fitted(rows)
        assert_same(model, in_memory)
        labels = model.predict(rows)
        assert isinstance(labels, dd.Series)
        np.testing.assert_array_equal(labels.compute(), model.predict(UNLABELED))


def test_dask_arrays():
    members = [("linear", LinearDiscriminantAnalysis()), ("bayes", GaussianNB())]
    ours, theirs = (HedgedVotingClassifier(members, random_state=0) for _ in range(2))
    rows = da.from_array(X[200:], chunks=(900, 3))
    theirs.fit(X[:200], Y[:200], X_unlabeled=X[200:])
    with dask.config.set(scheduler="threads"):
        ours.fit(X[:200], Y[:200], X_unlabeled=rows)
        proba = ours.predict_proba(rows).compute()
    np.testing.assert_allclose(proba, theirs.predict_proba(X[200:]), atol=1e-3)
    np.testing.assert_array_equal(proba, ours.predict_proba(X[200:]))


def test_no_rows_in_a_collection():
    with dask.config.set(scheduler="threads"), pytest.raises(ValueError, match="no rows"):
        fitted(dd.from_pandas(UNLABELED[:0], npartitions=1))
