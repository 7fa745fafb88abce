"""Columns that float32 cannot hold as they are: predictions must not depend on their units."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score

from hedgeclipper import HedgeClipperClassifier, load, save
from hedgeclipper.base.columns import ColumnScale

X, Y = make_classification(1200, 6, n_informative=4, flip_y=0.05, random_state=0)
L, U, T = slice(0, 150), slice(150, 700), slice(700, 1200)
NAMES = list("abcdef")
UNITS = {"tiny": X * 1e-30, "far": X + 1e8 * X.std(axis=0)}


def new(estimators="trees", **options):
    return HedgeClipperClassifier(estimators, n_estimators=30, random_state=0, **options)


def fit(rows, kind, folder):
    """A model fitted to rows of this kind, and test rows of the same kind."""
    frame = pd.DataFrame(rows, columns=NAMES)
    if kind == "array":
        return new("default").fit(rows[L], Y[L], X_unlabeled=rows[U]), rows[T]
    if kind == "strings":
        frame["g"] = np.where(np.arange(1200) % 2, "odd", "even")
        return new().fit(frame[L], Y[L], X_unlabeled=frame[U]), frame[T]
    if kind == "sparse":
        few = sparse.csr_array(np.where(np.abs(X) < 0.3, 0.0, rows))
        return new().fit(few[L], Y[L], X_unlabeled=few[U]), few[T]
    if kind == "dask":
        collection = pytest.importorskip("dask.dataframe").from_pandas(frame[U], npartitions=2)
        model = new(confidence_level=0.9).fit(frame[L], Y[L], X_unlabeled=collection)
        return model, frame[T]
    frame[T].to_parquet(folder / "test.parquet")
    if kind == "files":
        frame[U].to_parquet(folder / "rows.parquet")
        model = new(confidence_level=0.9).fit(frame[L], Y[L], X_unlabeled=folder / "rows.parquet")
    else:
        labels = np.where(np.arange(700) < 150, Y[:700], np.nan)
        frame[:700].assign(label=labels).to_parquet(folder / "rows.parquet")
        model = new().fit(folder / "rows.parquet", "label")
    return model, folder / "test.parquet"


@pytest.mark.parametrize("kind", ["array", "strings", "sparse", "dask", "files", "label column"])
def test_the_unit_of_columns_does_not_matter(kind, tmp_path):
    def auc(rows):
        model, test = fit(rows, kind, tmp_path)
        return roc_auc_score(Y[T], model.decision_function(test))

    expected = auc(X)
    assert expected > 0.85
    for name, rows in UNITS.items():
        if (kind, name) != ("sparse", "far"):  # no zeros would be left
            assert auc(rows) == pytest.approx(expected, abs=0.02)


def test_a_saved_model_knows_the_scale(tmp_path):
    model, test = fit(UNITS["far"], "strings", tmp_path)
    save(model, tmp_path / "model.hedgeclipper")
    loaded = load(tmp_path / "model.hedgeclipper")
    np.testing.assert_array_equal(loaded.predict_proba(test), model.predict_proba(test))


def test_usual_columns_stay_as_they_are_to_the_last_bit():
    usual = np.column_stack([X, 2000 + 10 * X[:, 0], 1e9 * X[:, 1], X[:, 2] > 2])
    usual[::7, 3] = np.nan
    assert ColumnScale.of(usual) is None
    assert ColumnScale.of(np.column_stack([np.full(9, 1e12), np.full(9, np.nan)])) is None
    assert ColumnScale.of(sparse.csr_array(X)) is None


def test_factors_are_powers_of_two_and_outliers_stay_finite():
    rows = np.column_stack([X[:, 0] * 1e-30, X[:, 1], X[:, 2] + 1e8])
    rows[3], rows[::5, 2] = np.nan, 0.0  # zeros in place of missing values
    scale = ColumnScale.of(rows)
    assert scale.center.tolist() == [0.0, 0.0, np.nanmedian(rows[:, 2])]
    assert np.frexp(scale.factor)[0].tolist() == [0.5, 0.5, 0.5]
    rows[4, 0] = 1e20
    found = scale.transform(rows)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found[:, 1], rows[:, 1].astype(np.float32))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(rows))
    assert np.nanmax(np.abs(found)) < np.inf
    some = ~np.isnan(rows[:, 2]) & (rows[:, 2] > 0)
    np.testing.assert_allclose(found[some, 2], X[some, 2] - (scale.center[2] - 1e8), atol=1e-5)
