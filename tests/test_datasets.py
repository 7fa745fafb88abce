import os
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from hedgeclipper.datasets import load_a1a


def test_a1a_has_the_papers_shape():
    bunch = load_a1a()
    assert bunch.data.shape == (32_561, 123)
    assert bunch.data.dtype == np.float32
    assert bunch.n_train == 1605
    assert set(np.unique(bunch.target)) == {0, 1}
    assert bunch.target.mean() == pytest.approx(0.24, abs=0.005)
    assert set(np.unique(bunch.data.sum(axis=1))) <= {11, 12, 13, 14}
    assert "CC BY 4.0" in bunch.DESCR


def test_a1a_file_is_small():
    assert len((files("hedgeclipper") / "data" / "a1a.npz").read_bytes()) < 400_000


def test_a1a_as_frame():
    X, y = load_a1a(return_X_y=True, as_frame=True)
    assert X.shape == (32_561, 123)
    assert list(X.columns[:2]) == ["column_1", "column_2"]
    assert y.name == "income_over_50k"


def test_frame_without_pandas_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"needs pandas.*pip install 'hedgeclipper\[io\]'"):
        load_a1a(as_frame=True)


def test_a1a_agrees_with_the_shared_copy():
    beside = Path(__file__).parents[2] / "shared" / "data"
    path = Path(os.environ.get("HEDGECLIPPER_DATA", beside)) / "a1a.npz"
    if not path.exists():
        pytest.skip(f"no independent copy of a1a at {path}")
    theirs, ours = np.load(path), load_a1a()
    labels = np.concatenate([theirs["y_train"], theirs["y_test"]])
    np.testing.assert_array_equal(ours.target, labels)
    assert ours.data.nnz == theirs["X_train_indices"].size + theirs["X_test_indices"].size
    first = np.sort(theirs["X_train_indices"][: theirs["X_train_indptr"][1]])
    np.testing.assert_array_equal(ours.data[:1].indices, first)
