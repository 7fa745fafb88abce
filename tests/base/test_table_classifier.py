"""Rows in memory, in files, in batches and in Dask collections: the same result from all."""

from itertools import product

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import SelfTrainingClassifier

from hedgeclipper import HedgeClipperClassifier, NoUnlabeledRowsWarning, load, save
from hedgeclipper.io import as_source
from hedgeclipper.voters.tree_groups import check_shift

NAMES = list("abcde")
RNG = np.random.default_rng(0)
N_LABELED, N_ROWS = 300, 9_300
X = RNG.normal(size=(N_ROWS, 5)).astype(np.float32)
Y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.normal(size=N_ROWS) > 0).astype(int)
# numbers of float32, as files are read, in float64
FRAME = pd.DataFrame(X.astype(float), columns=NAMES)
LABELED, UNLABELED = FRAME[:N_LABELED], FRAME[N_LABELED:].reset_index(drop=True)
METHODS = ("predict", "predict_proba", "decision_function")


def by_name(columns, model):
    return make_pipeline(make_column_transformer(("passthrough", columns)), model)


OWN = [
    ("linear", LinearDiscriminantAnalysis()),
    ("two", by_name(["b", "a"], GaussianNB())),
    ("all", by_name(["a", "c"], SelfTrainingClassifier(LogisticRegression()))),
]


def new(kind="trees", **parameters):
    voters = OWN if kind == "own" else kind
    return HedgeClipperClassifier(voters, n_estimators=12, random_state=0, **parameters)


def fitted(rows, kind="trees", y=Y, **parameters):
    return new(kind, **parameters).fit(LABELED, y[:N_LABELED], X_unlabeled=rows)


@pytest.fixture(scope="module")
def in_memory():
    return {kind: fitted(UNLABELED, kind) for kind in ("default", "trees", "own")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two Parquet files whose columns are in another order, one with a column too many."""
    folder = tmp_path_factory.mktemp("rows")
    UNLABELED[:5_000][NAMES[::-1]].to_parquet(folder / "a.parquet", row_group_size=1500)
    UNLABELED[5_000:].assign(other="text").to_parquet(folder / "b.parquet")
    return folder


def assert_same(ours, theirs, rows=LABELED):
    assert ours.n_unlabeled_ == theirs.n_unlabeled_
    assert ours.certificate_.error_upper == pytest.approx(theirs.certificate_.error_upper, rel=1e-3)
    found, expected = ours.decision_function(rows), theirs.decision_function(LABELED)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


# Unlabeled rows that are not in memory.


FORMS = ["folder", "batches", "function", "source", "dask"]


@pytest.mark.parametrize(
    ("kind", "form"),
    [*product(("trees", "own"), FORMS), ("default", "folder"), ("default", "dask")],
)
def test_rows_elsewhere_give_what_memory_gives(kind, form, folder, in_memory):
    parts = [UNLABELED[:4_000], UNLABELED[4_000:]]
    rows = {
        "folder": folder,
        "batches": parts,
        "function": lambda: iter(parts),
        "source": as_source(folder, columns=NAMES),
        "dask": dd.from_pandas(UNLABELED[NAMES[::-1]].assign(other="text"), npartitions=3),
    }[form]
    with dask.config.set(scheduler="threads"):
        model = fitted(rows, kind)
        assert_same(model, in_memory[kind])
        found = model.predict(folder if form == "function" else rows)
        np.testing.assert_array_equal(found, model.predict(UNLABELED))


def test_other_kinds_of_files(tmp_path, in_memory):
    UNLABELED.to_csv(tmp_path / "rows.csv.gz", index=False, float_format="%.9g")
    assert_same(fitted(tmp_path / "rows.csv.gz"), in_memory["trees"])
    parts = [tmp_path / f"part{number}.parquet" for number in range(2)]
    UNLABELED[:4_500].to_parquet(parts[0])
    UNLABELED[4_500:].to_parquet(parts[1])
    assert_same(fitted(parts), in_memory["trees"])
    assert_same(fitted(str(tmp_path / "part*.parquet")), in_memory["trees"])
    np.save(tmp_path / "rows.npy", UNLABELED.to_numpy(np.float64))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = new().fit(X[:N_LABELED], Y[:N_LABELED], X_unlabeled=mapped)
    assert_same(model, in_memory["trees"], X[:N_LABELED])


def test_many_classes_and_a_guarantee_from_files(folder):
    noise = 0.1 * np.random.default_rng(0).normal(size=len(X))
    classes = np.digitize(X[:, 0] + noise, [-0.5, 0.5])
    ours, theirs = (fitted(rows, y=classes, confidence_level=0.95) for rows in (folder, UNLABELED))
    assert_same(ours, theirs)
    assert ours.certificate_.kind == "guarantee"


@pytest.mark.parametrize("kind", ["trees", "own"])
def test_the_game_of_a_large_sorted_file_is_that_of_its_rows_in_memory(tmp_path, kind, monkeypatch):
    """It is solved on the same sample, which comes from all over the file."""
    for name in ("classifier.ROWS_FOR_VIEWS", "voters.voters.ROWS_TO_LEARN_FROM"):
        monkeypatch.setattr(f"hedgeclipper.{name}", 500)
    monkeypatch.setattr("hedgeclipper.voters.voters.ROWS_IN_GAME", 2_000)
    ordered = UNLABELED.sort_values("a")
    ordered.to_parquet(tmp_path / "sorted.parquet")
    files, memory = fitted(tmp_path / "sorted.parquet", kind), fitted(ordered, kind)
    np.testing.assert_allclose(
        files.decision_function(LABELED), memory.decision_function(LABELED), rtol=1e-4, atol=1e-4
    )
    assert files.certificate_.error == pytest.approx(memory.certificate_.error, abs=0.01)


@pytest.mark.parametrize("unlabeled", ["file", "batches", "frame"])
@pytest.mark.filterwarnings("ignore:X has feature names")  # scikit-learn, of a frame in memory
def test_names_of_the_unlabeled_rows_are_remembered(tmp_path, unlabeled):
    """The labeled rows have none, so that the first names that come up decide."""
    UNLABELED.to_parquet(tmp_path / "rows.parquet")
    UNLABELED[NAMES[::-1]].to_parquet(tmp_path / "turned.parquet")
    given = {"file": tmp_path / "rows.parquet", "batches": [UNLABELED], "frame": UNLABELED}
    model = new().fit(X[:N_LABELED], Y[:N_LABELED], X_unlabeled=given[unlabeled])
    assert not hasattr(model, "feature_names_in_")
    ours, theirs = model.predict(tmp_path / "turned.parquet"), model.predict(X[N_LABELED:])
    np.testing.assert_array_equal(ours, theirs)


def test_a_record_batch_is_a_frame():
    def batch(frame):
        return pa.RecordBatch.from_pandas(frame, preserve_index=False)

    model = new().fit(batch(LABELED), Y[:N_LABELED], X_unlabeled=batch(UNLABELED))
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(model.predict(batch(LABELED)), model.predict(LABELED))
    with pytest.raises(ValueError, match="same order"):
        model.predict(batch(LABELED[NAMES[::-1]]))


# Labels in the files.


def test_labels_in_the_files(tmp_path):
    labels = np.where(np.arange(N_ROWS) < N_LABELED, Y, np.nan)
    shuffled = FRAME.assign(label=labels).sample(frac=1.0, random_state=0)
    shuffled.to_parquet(tmp_path / "all.parquet")
    known = shuffled[shuffled["label"].notna()]
    rest = shuffled[shuffled["label"].isna()][NAMES]
    for kind in ("trees", OWN[:1]):
        model = new(kind).fit(tmp_path / "all.parquet", "label")
        theirs = new(kind).fit(known[NAMES], known["label"].astype(int), X_unlabeled=rest)
        np.testing.assert_allclose(
            model.predict_proba(FRAME), theirs.predict_proba(FRAME), rtol=1e-4, atol=1e-4
        )
        assert (model.classes_.tolist(), model.classes_.dtype.kind) == ([0, 1], "i")
        assert model.feature_names_in_.tolist() == NAMES


def test_columns_of_files_are_chosen_by_a_source(in_memory, tmp_path):
    labels = np.where(Y == 1, "yes", "no").astype(object)
    labels[N_LABELED:] = None
    path = tmp_path / "table.parquet"
    FRAME[NAMES[::-1]].assign(id=0, label=labels, text="some").to_parquet(path)
    model = new().fit(as_source(path, columns=NAMES), "label")
    assert model.classes_.tolist() == ["no", "yes"]
    assert_same(model, in_memory["trees"])
    np.testing.assert_array_equal(model.predict(path), model.predict(FRAME))


def test_files_in_which_all_rows_have_labels_or_none_or_minus_one(tmp_path):
    path = tmp_path / "all.parquet"
    LABELED.assign(label=2 * Y[:N_LABELED] - 1).to_parquet(path)
    with pytest.warns(NoUnlabeledRowsWarning, match="where their label is missing") as caught:
        model = new().fit(path, "label")
    assert caught[0].filename == __file__
    assert (model.classes_.tolist(), model.n_unlabeled_) == ([-1, 1], 0)
    LABELED.assign(label=np.nan).to_parquet(path)
    with pytest.raises(ValueError, match="No row has a label in the column 'label'"):
        new().fit(path, "label")
    FRAME.assign(label=np.where(np.arange(N_ROWS) < N_LABELED, Y, -1)).to_parquet(path)
    with pytest.raises(ValueError, match="has -1 beside two other classes"):
        new().fit(path, "label")


def test_files_need_the_name_of_a_column_of_labels(folder):
    with pytest.raises(TypeError, match="name of their column of labels"):
        new().fit(folder, Y[:N_LABELED])
    with pytest.raises(ValueError, match="goes neither with"):
        new().fit(folder, "label", X_unlabeled=UNLABELED)


# Predictions.


@pytest.mark.parametrize("method", METHODS)
def test_rows_are_predicted_in_any_form(method, folder, in_memory):
    for model in in_memory.values():
        whole = getattr(model, method)(UNLABELED)
        parts = (UNLABELED[k : k + 4_500][NAMES[::-1]] for k in range(0, 9_000, 4_500))
        for rows in (folder, parts):
            np.testing.assert_allclose(getattr(model, method)(rows), whole, rtol=1e-4, atol=1e-4)
        nothing = getattr(model, method)(iter([UNLABELED[:0]]))
        assert nothing.shape == (0, *whole.shape[1:])


def test_predictions_are_written_to_a_file(folder, in_memory, tmp_path):
    path = tmp_path / "out.parquet"
    model = load(save(in_memory["trees"], tmp_path / "model"))
    assert model.predict_to(path, folder) == len(UNLABELED)
    found = pd.read_parquet(path)
    assert found.columns.tolist() == ["prediction", "probability_0", "probability_1"]
    np.testing.assert_array_equal(found["prediction"], model.predict(UNLABELED))
    np.testing.assert_allclose(found["probability_1"], model.predict_proba(UNLABELED)[:, 1])

    def rows():
        yield UNLABELED[:10]
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        model.predict_to(path, rows)
    with pytest.raises(ValueError, match="writes Parquet"):
        model.predict_to(tmp_path / "out.csv", UNLABELED)
    assert len(pd.read_parquet(path)) == len(UNLABELED)  # the old file stays
    assert model.predict_to(path, iter([UNLABELED[:0]])) == 0
    assert pd.read_parquet(path).shape == (0, 3)
    assert {own.name for own in tmp_path.iterdir()} == {"out.parquet", "model"}


def test_labels_of_rows_that_are_not_kept_are_not_kept_either(folder):
    model = fitted(folder)
    with pytest.raises(AttributeError, match="predict_to"):
        _ = model.transduction_


# Files that will not do.


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda rows: rows.drop(columns="c"), ValueError, r"(?s)rows\.parquet.*no column 'c'"),
        (lambda rows: rows.assign(c="text"), ValueError, "'c' holds numbers only in the labeled"),
        (lambda rows: rows.assign(c=np.inf), ValueError, "X_unlabeled contains infinity"),
        (lambda rows: rows[:0], ValueError, "X_unlabeled has no rows"),
    ],
)
def test_rows_that_will_not_do_are_named(change, error, message, tmp_path):
    change(UNLABELED).to_parquet(tmp_path / "rows.parquet")
    for level in (None, 0.9):
        with pytest.raises(error, match=message):
            fitted(tmp_path / "rows.parquet", confidence_level=level)


def test_rows_that_can_be_read_only_once_are_refused():
    with pytest.raises(TypeError, match="X_unlabeled can be read only once"):
        fitted(iter([UNLABELED]))


def test_a_file_that_is_cut_or_disappears_is_named_and_leaves_no_model(tmp_path, monkeypatch):
    path, model = tmp_path / "rows.parquet", fitted(UNLABELED[:500])
    UNLABELED.to_parquet(path)

    def remove(*arguments):
        path.unlink()
        return check_shift(*arguments)

    monkeypatch.setattr("hedgeclipper.classifier.check_shift", remove)
    with pytest.raises(OSError, match=r"rows\.parquet"):  # it disappears between passes
        model.fit(LABELED, Y[:N_LABELED], X_unlabeled=path)
    with pytest.raises(NotFittedError):
        model.predict(LABELED)
    UNLABELED.to_parquet(path)
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(OSError, match=r"rows\.parquet"):
        model.fit(LABELED, Y[:N_LABELED], X_unlabeled=path)
