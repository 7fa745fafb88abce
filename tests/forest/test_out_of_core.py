"""HedgeClipperClassifier on rows that are not in memory: the same result as if they were."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hedgeclipper.forest.growing import check_shift
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import NotFittedError

from hedgeclipper import HedgeClipperClassifier, NoUnlabeledRowsWarning
from hedgeclipper.io import as_source

NAMES = list("abcde")
RNG = np.random.default_rng(0)
N_LABELED, N_ROWS = 400, 12_400
X = RNG.normal(size=(N_ROWS, 5)).astype(np.float32)
Y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.normal(size=N_ROWS) > 0).astype(int)
FRAME = pd.DataFrame(X, columns=NAMES)
LABELED, UNLABELED = FRAME[:N_LABELED], FRAME[N_LABELED:].reset_index(drop=True)


def new(**parameters):
    return HedgeClipperClassifier(n_estimators=20, random_state=0, **parameters)


def fitted(rows, **parameters):
    return new(**parameters).fit(LABELED, Y[:N_LABELED], X_unlabeled=rows)


@pytest.fixture(scope="module")
def in_memory():
    return fitted(UNLABELED)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two Parquet files whose columns are in another order, one with a column too many."""
    folder = tmp_path_factory.mktemp("rows")
    UNLABELED[:5_000][NAMES[::-1]].to_parquet(folder / "a.parquet", row_group_size=1500)
    UNLABELED[5_000:].assign(other="text").to_parquet(folder / "b.parquet")
    return folder


def assert_same(ours, theirs):
    assert ours.n_unlabeled_ == theirs.n_unlabeled_
    assert ours.slack_ == pytest.approx(theirs.slack_, rel=1e-6)
    assert ours.certificate_.error_upper == pytest.approx(theirs.certificate_.error_upper, rel=1e-3)
    np.testing.assert_allclose(
        ours.decision_function(LABELED), theirs.decision_function(LABELED), atol=1e-6
    )


def test_parquet_gives_what_memory_gives(folder, in_memory):
    assert_same(fitted(folder), in_memory)


def test_csv_arrow_and_lists_of_files(tmp_path, in_memory):
    UNLABELED.to_csv(tmp_path / "rows.csv.gz", index=False, float_format="%.9g")
    assert_same(fitted(tmp_path / "rows.csv.gz"), in_memory)
    parts = []
    for number, start in enumerate((0, 4_500)):
        parts.append(tmp_path / f"part{number}.feather")
        stop = 4_500 if start == 0 else len(UNLABELED)
        UNLABELED[start:stop].reset_index(drop=True).to_feather(parts[-1])
    assert_same(fitted(parts), in_memory)
    assert_same(fitted(str(tmp_path / "part*.feather")), in_memory)


def test_libsvm_gives_what_the_sparse_matrix_gives(tmp_path):
    rows = sparse.csr_array(np.where(np.abs(X) > 1, X, 0).astype(np.float32))
    rest, path = rows[N_LABELED:], str(tmp_path / "rows.svm")
    dump_svmlight_file(rest, np.zeros(rest.shape[0]), path, zero_based=False)
    ours, theirs = (
        new().fit(rows[:N_LABELED], Y[:N_LABELED], X_unlabeled=source) for source in (path, rest)
    )
    assert ours.slack_ == pytest.approx(theirs.slack_, rel=1e-3)
    np.testing.assert_array_equal(ours.predict(path), ours.predict(rest))


def test_memory_maps_and_batches(tmp_path, in_memory):
    np.save(tmp_path / "rows.npy", UNLABELED.to_numpy(np.float64))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    plain = new().fit(X[:N_LABELED], Y[:N_LABELED], X_unlabeled=mapped)
    assert_same_without_names(plain, in_memory)
    cut = [UNLABELED[:4_000], UNLABELED[4_000:]]
    assert_same(fitted(cut), in_memory)
    assert_same(fitted(lambda: iter(cut)), in_memory)


def assert_same_without_names(ours, theirs):
    assert ours.slack_ == pytest.approx(theirs.slack_, rel=1e-6)
    np.testing.assert_allclose(
        ours.decision_function(X[:50]), theirs.decision_function(FRAME[:50]), atol=1e-6
    )


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
    model.predict_to(tmp_path / "out.parquet", iter([UNLABELED[NAMES[::-1]]]))
    np.testing.assert_array_equal(pd.read_parquet(tmp_path / "out.parquet")["prediction"], theirs)


def test_a_record_batch_is_a_frame():
    def batch(frame):
        return pa.RecordBatch.from_pandas(frame, preserve_index=False)

    model = new().fit(batch(LABELED), Y[:N_LABELED], X_unlabeled=batch(UNLABELED))
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(model.predict(batch(LABELED)), model.predict(LABELED))
    with pytest.raises(ValueError, match="same order"):
        model.predict(batch(LABELED[NAMES[::-1]]))


def test_rows_that_can_be_read_only_once_are_refused():
    with pytest.raises(TypeError, match="X_unlabeled can be read only once"):
        fitted(iter([UNLABELED]))


def test_methods_that_read_once_take_iterators(in_memory, tmp_path):
    def parts():
        return (UNLABELED[start : start + 4_500][NAMES[::-1]] for start in range(0, 12_000, 4_500))

    for method in ("predict", "predict_proba", "decision_function"):
        ours = getattr(in_memory, method)(parts())
        np.testing.assert_array_equal(ours, getattr(in_memory, method)(UNLABELED))
    assert in_memory.predict_to(tmp_path / "out.parquet", parts()) == len(UNLABELED)


def test_predictions_of_files_are_those_of_the_rows(folder, in_memory):
    for method in ("predict", "predict_proba", "decision_function"):
        ours = getattr(in_memory, method)(folder)
        np.testing.assert_array_equal(ours, getattr(in_memory, method)(UNLABELED))


def test_labels_in_the_files(tmp_path, in_memory):
    labels = np.where(np.arange(N_ROWS) < N_LABELED, Y, np.nan)
    shuffled = FRAME.assign(label=labels).sample(frac=1.0, random_state=0)
    shuffled.to_parquet(tmp_path / "all.parquet")
    model = new().fit(tmp_path / "all.parquet", "label")
    known = shuffled[shuffled["label"].notna()]
    rest = shuffled[shuffled["label"].isna()][NAMES]
    theirs = new().fit(known[NAMES], known["label"].astype(int), X_unlabeled=rest)
    assert_same(model, theirs)
    assert model.classes_.tolist() == [0, 1]
    assert model.classes_.dtype.kind == "i"
    assert model.feature_names_in_.tolist() == NAMES


def test_labels_in_the_files_may_be_words(tmp_path):
    words = np.where(Y == 1, "yes", "no").astype(object)
    words[N_LABELED:] = None
    FRAME.assign(label=words).to_parquet(tmp_path / "all.parquet")
    assert new().fit(tmp_path / "all.parquet", "label").classes_.tolist() == ["no", "yes"]


@pytest.fixture
def table_file(tmp_path):
    """Labels and features among columns that are neither."""
    path = tmp_path / "table.parquet"
    labels = np.where(np.arange(N_ROWS) < N_LABELED, Y, np.nan)
    table = FRAME[NAMES[::-1]].assign(id=np.arange(N_ROWS), label=labels, text="some")
    table.to_parquet(path)
    return path


@pytest.mark.parametrize("options", [{}, {"label": "label"}, {"dtype": np.float64}])
def test_columns_of_files_are_chosen_by_a_source(table_file, in_memory, tmp_path, options):
    with pytest.raises(TypeError, match=r"'text' of .*as_source\(data, columns=\["):
        new().fit(table_file, "label")
    source = as_source(table_file, columns=NAMES, **options)
    model = new().fit(source, "label")
    assert_same(model, in_memory)
    assert model.feature_names_in_.tolist() == NAMES
    theirs = model.predict(FRAME)
    for rows in (source, table_file):
        np.testing.assert_array_equal(model.predict(rows), theirs)
        assert model.predict_to(tmp_path / "out.parquet", rows) == N_ROWS
        out = pd.read_parquet(tmp_path / "out.parquet")
        np.testing.assert_array_equal(out["prediction"], theirs)


def test_a_source_of_unlabeled_rows(folder, in_memory):
    assert_same(fitted(as_source(folder, columns=NAMES)), in_memory)
    with pytest.raises(ValueError, match=r"X_unlabeled is a source .*columns=\['e', 'd'"):
        fitted(as_source(folder, columns=NAMES[::-1]))
    with pytest.raises(TypeError, match="name of their column of labels"):
        new().fit(as_source(folder, columns=NAMES), Y)


def test_files_without_a_label_are_told(tmp_path):
    FRAME.assign(label=np.nan).to_parquet(tmp_path / "all.parquet")
    with pytest.raises(ValueError, match="No row has a label in the column 'label'"):
        new().fit(tmp_path / "all.parquet", "label")


def test_labels_of_rows_that_are_not_kept_are_not_kept_either(folder):
    model = fitted(folder)
    with pytest.raises(AttributeError, match="predict_to"):
        _ = model.transduction_


def test_predict_to_writes_what_predict_says(folder, in_memory, tmp_path):
    assert in_memory.predict_to(tmp_path / "out.parquet", folder) == len(UNLABELED)
    out = pd.read_parquet(tmp_path / "out.parquet")
    assert out.columns.tolist() == ["prediction", "probability_0", "probability_1"]
    np.testing.assert_array_equal(out["prediction"], in_memory.predict(UNLABELED))
    np.testing.assert_allclose(out["probability_1"], in_memory.predict_proba(UNLABELED)[:, 1])
    assert [path.name for path in tmp_path.iterdir()] == ["out.parquet"]


def test_predict_to_keeps_the_old_file_when_it_fails(folder, in_memory, tmp_path):
    (tmp_path / "out.parquet").write_text("old")

    def rows():
        yield UNLABELED[:10]
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        in_memory.predict_to(tmp_path / "out.parquet", rows)
    assert (tmp_path / "out.parquet").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.parquet"]


def test_predict_to_shows_progress(folder, in_memory, tmp_path, capsys):
    in_memory.set_params(verbose=1)
    in_memory.predict_to(tmp_path / "out.parquet", folder)
    in_memory.set_params(verbose=0)
    assert f"writing predictions  {len(UNLABELED):,} rows" in capsys.readouterr().err


def test_fit_shows_rows(folder, capsys):
    fitted(folder, verbose=1)
    assert f"scoring rows  {len(UNLABELED):,} rows" in capsys.readouterr().err


def test_rows_are_shown_where_their_number_is_not_known(capsys):
    cut = [UNLABELED[:4_000], UNLABELED[4_000:]]
    fitted(lambda: iter(cut), verbose=1)
    assert f"scoring rows  {len(UNLABELED):,} rows" in capsys.readouterr().err


def test_a_missing_column_is_named(tmp_path):
    UNLABELED.drop(columns="c").to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"(?s)rows\.parquet.*no column 'c'"):
        fitted(tmp_path / "rows.parquet")


def test_a_column_of_text_is_named(tmp_path):
    UNLABELED.assign(c="text").to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(
        TypeError, match=r"(?s)[Cc]olumn 'c'.*rows\.parquet|rows\.parquet.*[Cc]olumn 'c'"
    ):
        fitted(tmp_path / "rows.parquet")


def test_a_truncated_file_is_named_and_leaves_no_model(tmp_path):
    path = tmp_path / "rows.parquet"
    UNLABELED.to_parquet(path)
    path.write_bytes(path.read_bytes()[:-1000])
    model = new()
    with pytest.raises(OSError, match=r"rows\.parquet"):
        model.fit(LABELED, Y[:N_LABELED], X_unlabeled=path)
    with pytest.raises(NotFittedError):
        model.predict(LABELED)


def test_a_failed_refit_leaves_no_model_of_the_old_labels(tmp_path):
    model = fitted(UNLABELED)
    (tmp_path / "rows.parquet").write_bytes(b"no parquet")
    words = np.where(Y[:N_LABELED] == 1, "yes", "no")
    with pytest.raises(OSError, match=r"rows\.parquet"):
        model.fit(LABELED, words, X_unlabeled=tmp_path / "rows.parquet")
    with pytest.raises(NotFittedError):
        model.predict(LABELED)


def test_a_file_that_disappears_between_passes_is_named(tmp_path):
    path = tmp_path / "rows.parquet"
    UNLABELED.to_parquet(path)
    model = new()

    def remove(*arguments):
        path.unlink()
        return check_shift(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hedgeclipper.forest.classifier.check_shift", remove)
        with pytest.raises(OSError, match=r"rows\.parquet"):
            model.fit(LABELED, Y[:N_LABELED], X_unlabeled=path)
    with pytest.raises(NotFittedError):
        model.predict(LABELED)


def test_other_columns_without_names_are_refused(tmp_path):
    np.save(tmp_path / "rows.npy", X[:, :4])
    with pytest.raises(ValueError, match="5 columns"):
        new().fit(
            X[:N_LABELED], Y[:N_LABELED], X_unlabeled=np.load(tmp_path / "rows.npy", mmap_mode="r")
        )


def test_values_that_are_not_finite_are_refused(tmp_path):
    bad = UNLABELED.copy()
    bad.loc[17, "b"] = np.inf
    bad.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="X_unlabeled contains infinity"):
        fitted(tmp_path / "rows.parquet")


def test_no_rows_at_all(tmp_path, in_memory):
    UNLABELED[:0].to_parquet(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="X_unlabeled has no rows"):
        fitted(tmp_path / "none.parquet")
    assert in_memory.predict(tmp_path / "none.parquet").shape == (0,)
    assert in_memory.predict_proba(tmp_path / "none.parquet").shape == (0, 2)
    assert in_memory.predict_to(tmp_path / "out.parquet", tmp_path / "none.parquet") == 0
    assert pd.read_parquet(tmp_path / "out.parquet").shape == (0, 3)


def test_files_in_which_all_rows_have_labels(tmp_path):
    FRAME[:N_LABELED].assign(label=Y[:N_LABELED]).to_parquet(tmp_path / "all.parquet")
    with pytest.warns(NoUnlabeledRowsWarning, match="where their label is missing") as caught:
        model = new().fit(tmp_path / "all.parquet", "label")
    assert caught[0].filename == __file__
    assert model.n_unlabeled_ == N_LABELED


@pytest.mark.parametrize("n_missing", [0, 100])
@pytest.mark.filterwarnings("ignore::hedgeclipper.NoUnlabeledRowsWarning")
def test_minus_one_is_a_class_where_files_have_labels(tmp_path, n_missing):
    labels = np.where(np.arange(N_LABELED) < n_missing, np.nan, 2.0 * Y[:N_LABELED] - 1)
    LABELED.assign(label=labels).to_parquet(tmp_path / "all.parquet")
    model = new().fit(tmp_path / "all.parquet", "label")
    assert model.classes_.tolist() == [-1, 1]
    assert model.n_unlabeled_ == (n_missing or N_LABELED)


def test_minus_one_in_a_column_of_labels_is_asked_about(tmp_path):
    labels = np.where(np.arange(N_ROWS) < N_LABELED, Y, -1)
    FRAME.assign(label=labels).to_parquet(tmp_path / "all.parquet")
    with pytest.raises(ValueError, match="has -1 beside two other classes"):
        new().fit(tmp_path / "all.parquet", "label")


def test_files_need_the_name_of_a_column_of_labels(folder):
    with pytest.raises(TypeError, match="name of their column of labels"):
        new().fit(folder, Y[:N_LABELED])
    with pytest.raises(ValueError, match="goes with neither"):
        new().fit(folder, "label", X_unlabeled=UNLABELED)


def test_the_game_of_a_large_sorted_file_is_that_of_its_rows_in_memory(tmp_path):
    """It is solved on the same sample, which comes from all over the file."""
    many = pd.concat([UNLABELED] * 8).sort_values("a")
    many.to_parquet(tmp_path / "sorted.parquet")
    files, memory = fitted(tmp_path / "sorted.parquet"), fitted(many)
    assert files.slack_ == pytest.approx(memory.slack_, rel=1e-6)
    ours, theirs = files.certificate_.error_upper, memory.certificate_.error_upper
    assert ours == pytest.approx(theirs, abs=0.01)


@pytest.mark.parametrize(
    "parameters",
    [
        {"loss": "log"},
        {"confidence_level": 0.95},
    ],
)
def test_other_games_from_files(folder, parameters):
    assert_same(fitted(folder, **parameters), fitted(UNLABELED, **parameters))


def test_many_classes_from_files(folder):
    classes = np.digitize(X[:N_LABELED, 0], [-0.5, 0.5])
    ours, theirs = (new().fit(LABELED, classes, X_unlabeled=rows) for rows in (folder, UNLABELED))
    assert ours.slack_ == pytest.approx(theirs.slack_, rel=1e-6)
    np.testing.assert_array_equal(ours.predict(folder), theirs.predict(UNLABELED))
