from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from hedgeclipper.datasets.archives import one_hot
from hedgeclipper.datasets.fetchers import load
from hedgeclipper.datasets.registry import find_dataset

ROWS = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, np.nan]], dtype=np.float32)
LABELS = np.array([0, 1], dtype=np.uint8)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HEDGECLIPPER_DATA", str(tmp_path))
    return tmp_path


def csr_parts(name, matrix):
    matrix = sparse.csr_array(matrix)
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    return {f"{name}_{part}": value for part, value in (parts | {"shape": matrix.shape}).items()}


def test_dense_archive_with_unlabeled_rows_apart(folder):
    np.savez(folder / "kagg_cred.npz", X=ROWS, y=LABELS)
    np.savez(folder / "kagg_cred_unlabeled.npz", X=ROWS[:1])
    shape = {"n_rows": 2, "n_train": 2, "n_unlabeled": 1, "n_columns": 3, "named_columns": ()}
    bunch = load(replace(find_dataset("kagg-cred"), **shape))
    np.testing.assert_array_equal(bunch.data, ROWS)
    np.testing.assert_array_equal(bunch.data_unlabeled, ROWS[:1])
    assert bunch.target.tolist() == [0, 1]
    assert bunch.target.dtype == np.int64


def test_archive_without_its_unlabeled_rows_is_not_enough(folder):
    np.savez(folder / "kagg_cred.npz", X=ROWS, y=LABELS)
    with pytest.raises(FileNotFoundError, match=r"kagg_cred\.npz and kagg_cred_unlabeled\.npz"):
        load(find_dataset("kagg-cred"), data_home=folder)


def test_sparse_archive_of_training_and_test_rows(folder):
    X = np.nan_to_num(ROWS)
    train, test = csr_parts("X_train", X[:1]), csr_parts("X_test", X[1:])
    np.savez(folder / "w1a.npz", **train, **test, y_train=LABELS[:1], y_test=LABELS[1:])
    bunch = load(replace(find_dataset("w1a"), n_rows=2, n_train=1, n_columns=3))
    np.testing.assert_array_equal(bunch.data.toarray(), X)
    assert bunch.n_train == 1
    assert bunch.data.indices.dtype == bunch.data.indptr.dtype == np.int32


def test_sparse_archive_with_splits(folder):
    splits = {"idxlab1": [[0], [1]], "idxlab2": [[1, 0]]}
    np.savez(folder / "ssl_text.npz", **csr_parts("X", np.nan_to_num(ROWS)), y=LABELS, **splits)
    bunch = load(replace(find_dataset("ssl-text"), n_rows=2, n_train=2, n_columns=3))
    assert {budget: rows.tolist() for budget, rows in bunch.labeled_splits.items()} == {
        1: [[0], [1]],
        2: [[1, 0]],
    }


def test_symbols_become_one_column_for_each_place_and_symbol(folder):
    symbols = np.array([[0, 20], [3, 1]], dtype=np.uint8)
    np.savez(folder / "ssl_secstr.npz", T=symbols, T_extra=symbols[:1], y=LABELS)
    shape = {"n_rows": 2, "n_train": 2, "n_unlabeled": 1, "n_columns": 42}
    bunch = load(replace(find_dataset("ssl-secstr"), **shape))
    assert [row.indices.tolist() for row in bunch.data] == [[0, 41], [3, 22]]
    assert bunch.data_unlabeled.shape == (1, 42)


def test_symbol_out_of_range():
    with pytest.raises(ValueError, match="from 1 to 21, not from 0 to 20"):
        one_hot(np.array([[1, 21]]), 21)


def test_wrong_number_of_rows_names_the_file(folder):
    np.savez(folder / "covtype.npz", X=ROWS, y=LABELS)
    with pytest.raises(ValueError, match=r"have 581,012 labeled rows, but 2 .*covtype\.npz"):
        load(find_dataset("covtype"))


def test_wrong_number_of_columns(folder):
    np.savez(folder / "covtype.npz", X=ROWS, y=LABELS)
    with pytest.raises(ValueError, match="should have 54 columns, but 3 were read"):
        load(replace(find_dataset("covtype"), n_rows=2, n_train=2))


def test_fewer_labels_than_rows(folder):
    np.savez(folder / "covtype.npz", X=ROWS, y=LABELS[:1])
    with pytest.raises(ValueError, match="should have 2 labels, but 1 were read"):
        load(replace(find_dataset("covtype"), n_rows=2, n_train=2))


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_archive_cut_short(folder, share):
    path = folder / "covtype.npz"
    np.savez_compressed(path, X=ROWS, y=LABELS)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(OSError, match=r"covtype\.npz is damaged, cut short"):
        load(find_dataset("covtype"))


def test_archive_with_altered_bytes(folder):
    path = folder / "covtype.npz"
    np.savez(path, X=ROWS, y=LABELS)
    bytes_ = bytearray(path.read_bytes())
    bytes_[150] ^= 0xFF
    path.write_bytes(bytes_)
    with pytest.raises(OSError, match=r"covtype\.npz is damaged"):
        load(find_dataset("covtype"))


def test_archive_of_something_else(folder):
    np.savez(folder / "covtype.npz", votes=ROWS)
    with pytest.raises(OSError, match=r"covtype\.npz is damaged.*not the file it should be"):
        load(find_dataset("covtype"))
