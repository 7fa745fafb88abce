"""Dask collections of unlabeled rows: the same result as in memory, whoever computes it."""

import os
import pickle
import signal
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.io.arrays import draw_batches

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
bag = pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"
NAMES = list("abcd")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(12_000, 4)).astype(np.float32)
Y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.normal(size=12_000) > 0).astype(int)
LABELED, UNLABELED = X[:300], X[300:]


def fitted(rows, **parameters):
    options = {"estimators": "trees", "n_estimators": 12, "random_state": 0, **parameters}
    model = HedgeClipperClassifier(**options)
    return model.fit(LABELED, Y[:300], X_unlabeled=rows)


def assert_same(ours, theirs):
    assert ours.n_unlabeled_ == theirs.n_unlabeled_
    assert ours.slack_ == pytest.approx(theirs.slack_, rel=1e-6)
    assert ours.certificate_.error_upper == pytest.approx(theirs.certificate_.error_upper, rel=1e-3)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


@pytest.fixture(scope="module")
def in_memory():
    return fitted(UNLABELED)


@pytest.fixture(scope="module")
def client():
    """Two worker processes."""
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def of_frames():
    """A frame whose index counts down, and a model fitted to it."""
    frame = pd.DataFrame(UNLABELED, columns=NAMES, index=np.arange(len(UNLABELED))[::-1] + 7)
    model = HedgeClipperClassifier("trees", n_estimators=20, random_state=0)
    return frame, model.fit(pd.DataFrame(LABELED, columns=NAMES), Y[:300], X_unlabeled=frame)


@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_any_scheduler_gives_what_memory_gives(in_memory, scheduler):
    rows = da.from_array(UNLABELED, chunks=(3_500, 3))
    with dask.config.set(scheduler=scheduler):
        model = fitted(rows)
    assert_same(model, in_memory)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).predict(X), in_memory.predict(X)
    )


def test_labeled_rows_must_be_in_memory():
    rows = dd.from_pandas(pd.DataFrame(LABELED, columns=NAMES), npartitions=2)
    with pytest.raises(TypeError, match=r"Got a Dask DataFrame as X: pass X\.compute\(\)"):
        HedgeClipperClassifier().fit(rows, Y[:300], X_unlabeled=rows)


def test_a_missing_column_is_named(of_frames):
    rows = dd.from_pandas(pd.DataFrame(UNLABELED[:, :3], columns=NAMES[:3]), npartitions=2)
    model, labeled = HedgeClipperClassifier("trees"), pd.DataFrame(LABELED, columns=NAMES)
    with dask.config.set(scheduler="threads"):
        with pytest.raises(ValueError, match="X_unlabeled has no column 'd'"):
            model.fit(labeled, Y[:300], X_unlabeled=rows)
        with pytest.raises(ValueError, match="X has no column 'd'"):
            of_frames[1].predict(rows)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_predictions_of_arrays_are_lazy_arrays(in_memory, method):
    rows = da.from_array(UNLABELED, chunks=(5_000, 2))
    lazy = getattr(in_memory, method)(rows)
    assert isinstance(lazy, da.Array)
    theirs = getattr(in_memory, method)(UNLABELED)
    assert lazy.shape == theirs.shape
    assert lazy.dtype == theirs.dtype
    np.testing.assert_array_equal(lazy.compute(scheduler="threads"), theirs)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # in Dask, with pandas 3.1
def test_predictions_of_frames_are_lazy_series_and_frames_that_can_be_written(of_frames, tmp_path):
    frame, model = of_frames
    rows = dd.from_pandas(frame[NAMES[::-1]].assign(id=1), npartitions=3, sort=False)
    labels, shares = model.predict(rows), model.predict_proba(rows)
    assert isinstance(labels, dd.Series)
    assert isinstance(shares, dd.DataFrame)
    with dask.config.set(scheduler="threads"):
        np.testing.assert_array_equal(labels.compute(), model.predict(frame))
        np.testing.assert_array_equal(labels.compute().index, frame.index)
        shares.to_parquet(tmp_path / "out")
    found = pd.read_parquet(tmp_path / "out")
    assert found.columns.tolist() == ["probability_0", "probability_1"]
    np.testing.assert_array_equal(found, model.predict_proba(frame))


def test_other_numbers_of_columns_are_refused(in_memory):
    rows = da.from_array(np.hstack([UNLABELED, UNLABELED[:, :1]]), chunks=(5_000, 5))
    with pytest.raises(ValueError, match="must have 4 columns"):
        fitted(rows)
    with pytest.raises(ValueError, match="must have 4 columns"):
        in_memory.predict(rows)


@pytest.mark.parametrize("cut", [np.asarray, lambda rows: [rows], da.from_array])
def test_missing_numbers_are_refused_wherever_the_rows_are(cut):
    """Gradient boosting takes none, though the default voters do."""
    booster = GradientBoostingClassifier(n_estimators=5, random_state=0)
    model = fitted(UNLABELED[:1_000], estimators=[("boosting", booster)])
    rows = UNLABELED[:100].copy()
    rows[3, 0] = np.nan
    with dask.config.set(scheduler="threads"), pytest.raises(ValueError, match="contains NaN"):
        np.asarray(model.predict(cut(rows)))


def test_other_collections_are_refused(in_memory):
    frame = pd.DataFrame(UNLABELED, columns=NAMES)
    for rows in (dask.delayed(frame), bag.from_sequence([1, 2])):
        with pytest.raises(TypeError, match=r"X must be a two-dim.*Got (Delayed|Bag)"):
            in_memory.predict(rows)
    with pytest.raises(TypeError, match=r"X is a list of Dask collections. Got Delayed"):
        in_memory.predict([dask.delayed(frame)])
    with pytest.raises(TypeError, match=r"must be a two-dimensional array.*Got Series"):
        in_memory.predict(dd.from_pandas(frame, npartitions=2)["a"])


def test_empty_blocks_have_no_predictions(in_memory):
    rows = da.from_array(UNLABELED, chunks=(5_000, 4))
    few = rows[da.arange(len(UNLABELED), chunks=5_000) < 6_000]
    with dask.config.set(scheduler="threads"):
        np.testing.assert_array_equal(in_memory.predict(few), in_memory.predict(UNLABELED[:6_000]))


def test_what_a_prediction_ships_is_light(in_memory):
    lazy = in_memory.predict(da.from_array(UNLABELED, chunks=(5_000, 4)))
    (box,) = [part for key, part in dict(lazy.dask).items() if "partial" in str(key)]
    assert len(pickle.dumps(box)) < 200_000 < len(pickle.dumps(in_memory))


def test_methods_that_read_here_say_so(in_memory, tmp_path):
    rows = da.from_array(UNLABELED, chunks=(5_000, 4))
    with pytest.raises(TypeError, match=r"Got a Dask collection: call predict_proba\(X\)"):
        in_memory.predict_to(tmp_path / "x", rows)


def test_no_warning_of_what_travels_in_the_graph_on_purpose(client, in_memory):
    rows = da.from_array(UNLABELED, chunks=(6_000, 4)).persist()
    with dask.config.set({LARGE_GRAPH: 0}):
        assert_same(fitted(rows), in_memory)
        with pytest.warns(UserWarning, match="Sending large graph"):
            rows.sum().compute()


def test_a_partition_that_fails_is_told(client):
    bad = UNLABELED.copy()
    bad[9_000] = np.inf
    rows = da.from_array(bad, chunks=(2_000, 4))
    with pytest.raises(ValueError, match="infinity"):
        fitted(rows)


def test_a_killed_worker_does_not_change_the_result(client, in_memory, tmp_path):
    """It is killed while the rows are scored, with what it has scored and drawn by then."""
    mark = tmp_path / "killed"

    def read(block, block_info=None):
        number = block_info[0]["chunk-location"][0] if block_info else 0
        reads = tmp_path / f"{number} {os.getpid()} {time.monotonic_ns()}"
        reads.touch()
        if number == 5 and len(list(tmp_path.glob("5 *"))) == 2 and not mark.exists():
            mark.write_text(str(os.getpid()))
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        return block

    rows = da.from_array(UNLABELED, chunks=(2_000, 4)).map_blocks(read, dtype=UNLABELED.dtype)
    assert_same(fitted(rows), in_memory)
    assert int(mark.read_text()) not in client.run(os.getpid).values()


def test_rows_that_change_between_passes_are_refused():
    counts = []

    def read(block):
        counts.append(len(block))
        return block[: len(block) - len(counts) // 12]

    rows = dd.from_pandas(pd.DataFrame(UNLABELED, columns=NAMES), npartitions=6)
    rows = rows.map_partitions(read, meta=rows._meta)
    with dask.config.set(scheduler="threads"), pytest.raises(ValueError, match="rows changed"):
        HedgeClipperClassifier("trees", n_estimators=12).fit(
            pd.DataFrame(LABELED, columns=NAMES), Y[:300], X_unlabeled=rows
        )


def drawn(rows, n_rows, names=None, seed=0):
    from hedgeclipper.io.distributed import draw_from, select_columns, sizes_of

    rows = select_columns(rows, names, "X_unlabeled", 4)
    with dask.config.set(scheduler="threads"):
        return draw_from(rows, sizes_of(rows), n_rows, np.random.RandomState(seed), n_more=15)


@pytest.mark.parametrize("knows_sizes", [True, False])
def test_draws_are_those_of_the_same_rows_in_batches(knows_sizes):
    rows = da.from_array(UNLABELED[:100], chunks=((7, 0, 60, 33), 4))
    if not knows_sizes:
        rows = dd.from_dask_array(rows, columns=NAMES)
    batches = iter([UNLABELED[:50], UNLABELED[50:100]])
    theirs = draw_batches(batches, 20, np.random.RandomState(3), n_more=15)
    for one, other in zip(drawn(rows, 20, seed=3), theirs, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("confidence_level", [None, 0.9])
def test_views_and_the_game_are_of_the_same_rows_wherever_these_are(confidence_level, monkeypatch):
    """Of more rows than it takes the same ones are drawn, and rows are held out alike."""
    monkeypatch.setattr("hedgeclipper.classifier.ROWS_FOR_VIEWS", 500)
    monkeypatch.setattr("hedgeclipper.voters.voters.ROWS_IN_GAME", 2_000)
    with dask.config.set(scheduler="threads"):
        rows = da.from_array(UNLABELED, chunks=(1_000, 4))  # draws are merged twice
        model = fitted(rows, confidence_level=confidence_level)
    assert_same(model, fitted(UNLABELED, confidence_level=confidence_level))


def test_draws_of_frames_have_the_named_columns():
    frame = pd.DataFrame(UNLABELED[:100], columns=NAMES)
    rows = dd.from_pandas(frame[NAMES[::-1]].assign(other="text"), npartitions=3)
    np.testing.assert_array_equal(drawn(rows, 1_000, NAMES)[0], UNLABELED[:100])
    with pytest.raises(ValueError, match="has no column 'z'"):
        drawn(rows, 10, ["a", "z"])
