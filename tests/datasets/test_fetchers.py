import inspect
import os
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from hedgeclipper import datasets
from hedgeclipper.datasets import dataset_names, fetch, fetch_a1a, load, load_judges
from hedgeclipper.datasets.registry import find_dataset

SHARED = Path(__file__).parents[3] / "shared" / "data"
FETCHERS = {
    "kagg-prot": datasets.fetch_kagg_prot,
    "ssl-text": datasets.fetch_ssl_text,
    "kagg-cred": datasets.fetch_kagg_cred,
    "a1a": datasets.fetch_a1a,
    "w1a": datasets.fetch_w1a,
    "covtype": datasets.fetch_covtype_binary,
    "ssl-secstr": datasets.fetch_ssl_secstr,
    "SUSY": datasets.fetch_susy,
    "HIGGS": datasets.fetch_higgs,
    "epsilon": datasets.fetch_epsilon,
    "webspam-uni": datasets.fetch_webspam_uni,
}


def test_a1a_has_the_papers_shape():
    bunch = fetch_a1a()
    assert bunch.data.shape == (32_561, 123)
    assert bunch.data.dtype == np.float32
    assert bunch.n_train == 1605
    assert set(np.unique(bunch.target)) == {0, 1}
    assert bunch.target.mean() == pytest.approx(0.24, abs=0.005)
    assert set(np.unique(bunch.data.sum(axis=1))) <= {11, 12, 13, 14}
    assert "CC BY 4.0" in bunch.DESCR
    assert bunch.source == "the copy bundled with the package"


def test_a1a_file_is_small():
    assert len((files("hedgeclipper") / "data" / "a1a.npz").read_bytes()) < 400_000


def test_a1a_as_frame():
    bunch = fetch_a1a(as_frame=True)
    assert bunch.data.shape == (32_561, 123)
    assert list(bunch.data.columns[:2]) == ["column_1", "column_2"]
    assert bunch.target.name == "income_over_50k"
    assert list(bunch.frame.columns) == [*bunch.data.columns, "income_over_50k"]


def test_frame_without_pandas_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"needs pandas.*pip install 'hedgeclipper\[io\]'"):
        fetch_a1a(as_frame=True)


def test_a1a_agrees_with_the_shared_copy():
    path = Path(os.environ.get("HEDGECLIPPER_DATA", SHARED)) / "a1a.npz"
    if not path.exists():
        pytest.skip(f"no independent copy of a1a at {path}")
    theirs, ours = np.load(path), fetch_a1a()
    labels = np.concatenate([theirs["y_train"], theirs["y_test"]])
    np.testing.assert_array_equal(ours.target, labels)
    assert ours.data.nnz == theirs["X_train_indices"].size + theirs["X_test_indices"].size
    first = np.sort(theirs["X_train_indices"][: theirs["X_train_indptr"][1]])
    np.testing.assert_array_equal(ours.data[:1].indices, first)


def test_names_are_those_of_the_paper():
    assert dataset_names() == list(FETCHERS)


def test_unknown_name_lists_the_names():
    with pytest.raises(ValueError, match=r"no data set 'a2a'.*kagg-prot, .*, webspam-uni"):
        fetch("a2a")


@pytest.mark.parametrize("name", FETCHERS)
def test_named_fetcher_asks_for_its_own_data_set(name, monkeypatch, tmp_path):
    monkeypatch.delenv("HEDGECLIPPER_DATA", raising=False)
    fetcher = FETCHERS[name]
    assert fetcher.__doc__.startswith(f"Return {name}: ")
    ours, generic = inspect.signature(fetcher), inspect.signature(fetch)
    assert list(ours.parameters.values()) == list(generic.parameters.values())[1:]
    if name != "a1a":
        with pytest.raises(FileNotFoundError, match=f"^{name} was found neither"):
            fetcher(data_home=tmp_path, download_if_missing=False)


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("labeled rows", {"shape": (32_562, 123)}),
        ("training rows", {"n_test": 30_957}),
        ("unlabeled rows", {"n_unlabeled": 1}),
    ],
)
def test_wrong_shape_says_what_was_expected_and_got(what, change):
    dataset = replace(find_dataset("a1a"), **change)
    with pytest.raises(ValueError, match=rf"a1a should have [\d,]+ {what}, but [\d,]+ were read"):
        load(dataset)


@pytest.mark.parametrize(
    "name", ["kagg-prot", "ssl-text", "kagg-cred", "w1a", "covtype", "ssl-secstr"]
)
def test_real_archives(name, monkeypatch):
    dataset = find_dataset(name)
    for archive in dataset.archives:
        if not (SHARED / archive).exists():
            pytest.skip(f"{archive} is not beside the repository")
    monkeypatch.setenv("HEDGECLIPPER_DATA", str(SHARED))
    bunch = fetch(name)
    assert bunch.data.dtype == np.float32
    assert sparse.issparse(bunch.data) == dataset.is_sparse
    assert set(np.unique(bunch.target)) == {0, 1}
    assert str(SHARED) in bunch.source
    for budget, rows in bunch.labeled_splits.items():
        assert rows.shape[1] == budget
        assert all(set(bunch.target[split]) == {0, 1} for split in rows)
    assert bool(bunch.labeled_splits) == name.startswith("ssl")


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
