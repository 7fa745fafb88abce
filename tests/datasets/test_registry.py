import re

import pytest

from hedgeclipper.datasets.file_formats import LAYOUTS
from hedgeclipper.datasets.registry import DATASETS, Dataset, find_dataset


@pytest.mark.parametrize("name", ["HIGGS", "higgs", "webspam_uni", "Webspam-Uni", "SSL_text"])
def test_case_and_underscores_do_not_matter(name):
    assert find_dataset(name).name.lower() == name.lower().replace("_", "-")


@pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: dataset.name)
def test_record_has_a_name_for_each_column(dataset):
    assert len(dataset.feature_names) == len(set(dataset.feature_names)) == dataset.shape[1]
    assert 0 <= dataset.n_test < dataset.shape[0]


@pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: dataset.name)
def test_record_of_published_files_has_a_layout_and_whole_hashes(dataset):
    assert bool(dataset.files) == (dataset.layout in LAYOUTS)
    assert all(
        not sha256 or re.fullmatch("[0-9a-f]{64}", sha256) for sha256 in dataset.files.values()
    )
    assert set(dataset.urls) <= set(dataset.files)


def test_names_of_columns_by_place_and_symbol():
    names = find_dataset("ssl-secstr").feature_names
    assert names == [f"place_{k // 21 + 1}_symbol_{k % 21}" for k in range(len(names))]


@pytest.mark.parametrize(
    ("more", "size"),
    [
        ({}, "3,000 rows x 2 columns."),
        ({"n_test": 1000}, "3,000 rows x 2 columns, the first 2,000 rows for training."),
        ({"n_unlabeled": 5000}, "3,000 rows x 2 columns; 5,000 more without labels."),
    ],
)
def test_size_is_a_sentence(more, size):
    assert Dataset("x", "What is x?", (3000, 2), ("x.npz",), "nowhere", **more).size == size
