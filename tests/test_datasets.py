import sys
from importlib.resources import files

import numpy as np
import pytest

from hedgeclipper.datasets import load_adult, load_judges


def test_adult_has_the_papers_shape():
    bunch = load_adult()
    assert bunch.data.shape == (32_561, 123)
    assert bunch.data.dtype == np.float32
    assert bunch.n_train == 1605
    assert set(np.unique(bunch.target)) == {0, 1}
    assert bunch.target.mean() == pytest.approx(0.24, abs=0.005)
    assert set(np.unique(bunch.data.sum(axis=1))) <= {11, 12, 13, 14}
    assert "CC BY 4.0" in bunch.DESCR


def test_adult_file_is_small():
    assert len((files("hedgeclipper") / "data" / "adult.npz").read_bytes()) < 400_000


def test_the_frame_has_the_same_people_with_the_names_of_their_columns():
    bunch, (X, y) = load_adult(as_frame=True), load_adult(return_X_y=True)
    names = load_adult().feature_names
    assert bunch.data.shape == (32_561, 14)
    assert list(bunch.frame.columns) == [*bunch.feature_names, bunch.target.name]
    np.testing.assert_array_equal(bunch.target == ">50K", y == 1)
    for name, holds in {
        "age <=32": bunch.data["age"].between(26, 32),
        "hours-per-week >47": bunch.data["hours-per-week"] > 47,
        "occupation Sales": bunch.data["occupation"] == "Sales",
    }.items():
        np.testing.assert_array_equal(X[:, [names.index(name)]].toarray().ravel() == 1, holds)
    assert bunch.data["occupation"].isna().sum() == 1843


def test_frame_without_pandas_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"needs pandas.*pip install 'hedgeclipper\[io\]'"):
        load_adult(as_frame=True)


def test_verdicts_gold_labels_and_subsets_belong_together():
    judges = load_judges()
    assert judges.verdicts.shape == (419, 130)
    assert judges.verdicts.index.equals(judges.gold.index)
    assert judges.subset.index.equals(judges.gold.index)
    assert set(judges.gold) == {"A", "B"}
    assert sorted(judges.subset.unique()) == ["GPTInst", "GPTOut", "Manual", "Natural", "Neighbor"]
    assert sum(name.endswith(" swapped") for name in judges.verdicts) == 65
    assert "LLMBar" in judges.DESCR


def test_half_of_the_judges_are_wrong_more_often_than_right_somewhere():
    """The bias that makes the majority vote fail: longer answers look better."""
    judges = load_judges()
    hard = judges.subset.eq("Neighbor")
    accuracy = judges.verdicts[hard].eq(judges.gold[hard], axis=0).mean()
    assert (accuracy < 0.5).mean() > 0.5
