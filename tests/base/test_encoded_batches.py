import numpy as np
import pandas as pd
import pytest

from hedgeclipper import ColumnWarning, HedgeClipperClassifier
from hedgeclipper.base import row_reader
from hedgeclipper.base.columns import ColumnEncoder
from hedgeclipper.io import arrays, sources

N = 900


def rows_and_labels(seed):
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900_000, N), "min")
    rows = pd.DataFrame(
        {
            "size": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N).round(3)),
            "count": rng.integers(0, 5, N),
            "town": rng.choice([f"town {k}" for k in range(70)], N),
            "color": np.where(rng.random(N) < 0.1, None, rng.choice(["red", "blue"], N)),
            "seen": days.strftime("%m/%d/%Y %H:%M"),
        }
    )
    y = np.where((rows["color"] == "red") ^ (days.hour < 12), "yes", "no")
    return rows, y


ROWS, Y = rows_and_labels(0)
LABELED, UNLABELED = ROWS[:100], ROWS[100:].reset_index(drop=True)


def fitted(X_unlabeled, X=LABELED, y=Y[:100], **parameters):
    model = HedgeClipperClassifier("trees", n_estimators=12, random_state=0, **parameters)
    return model.fit(X, y, X_unlabeled=X_unlabeled)


@pytest.fixture
def small_batches(monkeypatch):
    """Read and sample fewer rows than there are."""
    monkeypatch.setattr(row_reader, "ROWS_FOR_ENCODING", 300)
    monkeypatch.setattr("hedgeclipper.classifier.ROWS_FOR_VIEWS", 300)
    monkeypatch.setattr(row_reader, "ROWS_PER_SLICE", 256)
    monkeypatch.setattr(arrays, "MOST_ROWS_PER_BATCH", 200)


def dask_frame(rows):
    return pytest.importorskip("dask.dataframe").from_pandas(rows, npartitions=3)


@pytest.mark.parametrize("parameters", [{}, {"confidence_level": 0.9}])
@pytest.mark.parametrize("form", ["parquet", "csv", "batches", "dask"])
def test_predictions_from_files_of_strings_and_dates_are_those_from_memory(
    form, parameters, tmp_path, small_batches
):
    path = tmp_path / f"rows.{form}"
    if form == "parquet":
        UNLABELED[UNLABELED.columns[::-1]].to_parquet(path)
    UNLABELED.to_csv(path, index=False) if form == "csv" else None
    batches = [UNLABELED[:250], UNLABELED[250:]]
    forms = {"batches": batches, "dask": dask_frame(UNLABELED)}
    model, known = fitted(forms.get(form, path), **parameters), fitted(UNLABELED, **parameters)
    assert model.n_unlabeled_ == 800
    expected = known.predict_proba(ROWS)
    np.testing.assert_array_equal(model.predict_proba(ROWS), expected)
    in_form = {"batches": [ROWS[:250], ROWS[250:]], "dask": dask_frame(ROWS)}.get(form, path)
    if form in ("parquet", "csv"):
        ROWS.to_csv(path, index=False) if form == "csv" else ROWS.to_parquet(path)
    np.testing.assert_array_equal(np.asarray(model.predict_proba(in_form)), expected)


def test_partitions_of_dask_are_encoded_in_blocks(small_batches, monkeypatch):
    encode, sizes = ColumnEncoder.transform, []

    def encode_and_note(encoder, rows):
        sizes.append(len(rows))
        return encode(encoder, rows)

    model = fitted(UNLABELED)
    monkeypatch.setattr(ColumnEncoder, "transform", encode_and_note)
    whole = dask_frame(UNLABELED).repartition(npartitions=1)
    model.predict(whole).compute(scheduler="threads")
    assert sizes == [200] * 4


def test_partitions_of_dask_may_be_empty():
    rows = UNLABELED.assign(size=UNLABELED["size"].astype(object), part=np.arange(800))
    rows.loc[700, "size"] = "n.k."  # a stray among numbers
    whole = pytest.importorskip("dask.dataframe").from_pandas(rows, npartitions=4)
    some = whole[whole["part"] < 250]
    model, known = fitted(some), fitted(rows[:250])
    found = model.predict_proba(some).compute(scheduler="threads")
    np.testing.assert_array_equal(found, known.predict_proba(rows[:250].drop(columns="part")))


def test_rows_that_are_sorted_have_no_unknown_categories(small_batches):
    rows = pd.concat([UNLABELED[:260], UNLABELED[:260].assign(color="green")])
    assert np.isfinite(fitted(UNLABELED).predict_proba(rows)).all()
    with pytest.warns(ColumnWarning, match="'color' has no value of the fit"):
        fitted(UNLABELED).predict_proba(rows[260:])


@pytest.mark.parametrize("marked", [False, True])
def test_held_out_rows_are_encoded_like_unlabeled_ones(marked, small_batches, monkeypatch):
    learn, sizes = ColumnEncoder.fit, []

    def learn_and_note(encoder, rows, some):
        sizes.append((len(rows), len(some)))
        return learn(encoder, rows, some)

    monkeypatch.setattr(ColumnEncoder, "fit", learn_and_note)
    options = {"confidence_level": 0.9, "holdout": 0.5}
    if marked:
        fitted(None, ROWS, np.where(np.arange(N) < 100, Y, None), **options)
    else:
        fitted(UNLABELED, **options)
    ((n_labeled, n_drawn),) = sizes
    assert n_labeled + n_drawn == 50 + 300  # those to fit to, and a draw of all others
    assert 50 < n_labeled < 100


@pytest.mark.parametrize("column", UNLABELED.columns)
def test_rows_that_change_between_passes_are_refused(column):
    passes = []

    def batches():
        passes.append(column)
        changed = UNLABELED.copy()
        if len(passes) > n_passes - 1:  # the last pass finds one other cell
            changed.loc[700, column] = UNLABELED[column][
                UNLABELED[column] != changed[column][700]
            ].iloc[0]
        return iter([changed[:300], changed[300:]])

    n_passes = 99
    fitted(batches)
    n_passes = len(passes)
    passes.clear()
    with pytest.raises(ValueError, match="The rows changed between passes"):
        fitted(batches)


def test_a_file_with_a_column_of_labels_may_hold_strings_and_dates(tmp_path, small_batches):
    labels = np.where(np.arange(N) < 100, Y, None)
    ROWS.assign(label=labels).to_parquet(tmp_path / "rows.parquet")
    model = fitted(None, tmp_path / "rows.parquet", "label")
    expected = fitted(UNLABELED).predict_proba(ROWS)
    np.testing.assert_array_equal(model.predict_proba(ROWS), expected)
    assert model.evaluate(ROWS[100:], Y[100:]).accuracy > 0.7


def test_types_of_columns_of_csv_suit_all_rows(tmp_path, small_batches, monkeypatch):
    monkeypatch.setattr(sources, "CSV_BLOCK_BYTES", 1 << 12)
    rows = UNLABELED.assign(size=UNLABELED["size"].astype(object), count=UNLABELED["count"] * 1.0)
    rows.loc[790, "size"], rows.loc[799, "count"] = "n.k.", 2.5
    rows.to_csv(tmp_path / "rows.csv", index=False)
    model = fitted(tmp_path / "rows.csv")
    assert model.encoding_["kind"].tolist()[:2] == ["numbers", "numbers"]
    assert np.isfinite(model.predict_proba(tmp_path / "rows.csv")).all()
