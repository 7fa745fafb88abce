"""Files of the paper's data sets: where they are found, how they are read, what is verified."""

import gzip
import hashlib
import re
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from benchmarks.data.readers import READERS, read_archive
from benchmarks.data.sources import DATASETS, data_folder, fetch, load, locate
from hedgeclipper.datasets import load_adult

ROWS = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, np.nan]], dtype=np.float32)
LABELS = np.array([0, 1], dtype=np.uint8)
NAME = "covtype.data.gz"
PACKED = gzip.compress(b"2596,51,5\n2804,139,2\n", mtime=0)
SHA256 = hashlib.sha256(PACKED).hexdigest()
SHARED = data_folder()


@pytest.fixture(autouse=True)
def mine(tmp_path, monkeypatch):
    """An empty data folder in an empty home, and no proxy between here and the local server."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")
    (tmp_path / "mine").mkdir()
    monkeypatch.setenv("HEDGECLIPPER_DATA", "~/mine")
    return tmp_path / "mine"


def small(name, n_rows, n_columns, **changes):
    return replace(DATASETS[name], shape=(n_rows, n_columns), **{"n_test": 0, **changes})


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=lambda dataset: dataset.name)
def test_a_record_of_published_files_has_a_reader_and_whole_hashes(dataset):
    assert bool(dataset.files) == (dataset.name in READERS)
    assert all(re.fullmatch("|[0-9a-f]{64}", sha256) for sha256 in dataset.files.values())
    assert set(dataset.urls) <= set(dataset.files)
    assert {int(n) for n in dataset.published} <= set(dataset.budgets)


def test_indicators_of_the_bundled_data_are_those_of_a1a():
    if not SHARED or not (SHARED / "a1a.npz").exists():
        pytest.skip("a1a.npz is not in the data folder")
    ours, theirs = load_adult(), read_archive(SHARED / "a1a.npz")
    assert (ours.data != theirs.data).nnz == 0
    np.testing.assert_array_equal(ours.target, theirs.target)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in DATASETS if name != "a1a"])
def test_real_archives(name, monkeypatch):
    archives = [(SHARED or data_folder()) / archive for archive in DATASETS[name].archives]
    if not all(path.exists() for path in archives):
        pytest.skip(f"{name} is not in the data folder")
    monkeypatch.setenv("HEDGECLIPPER_DATA", str(SHARED))
    contents = fetch(name)
    assert contents.data.dtype == np.float32
    assert set(np.unique(contents.target)) == {0, 1}


def csr_parts(name, matrix):
    matrix = sparse.csr_array(matrix)
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    return {f"{name}_{part}": value for part, value in (parts | {"shape": matrix.shape}).items()}


def test_dense_archive_with_unlabeled_rows_apart(mine):
    np.savez(mine / "kagg_cred.npz", X=ROWS, y=LABELS)
    np.savez(mine / "kagg_cred_unlabeled.npz", X=ROWS[:1])
    found = load(small("kagg-cred", 2, 3, n_unlabeled=1))
    np.testing.assert_array_equal(found.data, ROWS)
    np.testing.assert_array_equal(found.data_unlabeled, ROWS[:1])
    assert found.target.tolist() == [0, 1]


def test_sparse_archive_of_training_and_test_rows(mine):
    X = np.nan_to_num(ROWS)
    train, test = csr_parts("X_train", X[:1]), csr_parts("X_test", X[1:])
    np.savez(mine / "w1a.npz", **train, **test, y_train=LABELS[:1], y_test=LABELS[1:])
    found = load(small("w1a", 2, 3, n_test=1))
    np.testing.assert_array_equal(found.data.toarray(), X)
    assert found.n_train == 1
    assert found.data.indices.dtype == found.data.indptr.dtype == np.int32


def test_symbols_become_one_column_for_each_place_and_symbol(mine):
    symbols = np.array([[0, 20], [3, 1]], dtype=np.uint8)
    np.savez(mine / "ssl_secstr.npz", T=symbols, T_extra=symbols[:1], y=LABELS)
    found = load(small("ssl-secstr", 2, 42, n_unlabeled=1))
    assert [row.indices.tolist() for row in found.data] == [[0, 41], [3, 22]]


def test_libsvm_text_has_all_columns_and_the_test_rows_below(mine):
    for name in ("w1a", "w1a.t"):
        (mine / name).write_text("+1 1:0.5 3:1\n-1 2:2\n")
    found = load(small("w1a", 4, 300, n_test=2))
    np.testing.assert_array_equal(found.data.toarray()[:, :3], [[0.5, 0, 1], [0, 2, 0]] * 2)
    assert (found.target.tolist(), found.n_train) == ([1, 0, 1, 0], 2)


def test_kaggle_row_numbers_are_no_column_and_na_is_nan(mine):
    folder = mine / "kagg-cred"
    folder.mkdir()
    (folder / "cs-training.csv").write_text('"",SeriousDlqin2yrs,age,b\n1,1,45,0.8\n2,0,NA,0.25\n')
    (folder / "cs-test.csv").write_text('"",SeriousDlqin2yrs,age,b\n1,NA,43,NA\n')
    found = load(small("kagg-cred", 2, 2, n_unlabeled=1))
    np.testing.assert_array_equal(found.data, np.float32([[45, 0.8], [np.nan, 0.25]]))
    np.testing.assert_array_equal(found.data_unlabeled, [[43, np.nan]])
    assert found.target.tolist() == [1, 0]


def test_matlab_rows(mine):
    X = sparse.csc_array(np.nan_to_num(ROWS))
    savemat(mine / "SSL,set=9,data.mat", {"X": X, "y": np.array([[-1.0], [1.0]])})
    found = load(small("ssl-text", 2, 3))
    np.testing.assert_array_equal(found.data.toarray(), np.nan_to_num(ROWS))
    assert found.target.tolist() == [0, 1]


def test_covtype_has_the_class_last_and_asks_for_class_2(mine):
    (mine / NAME).write_bytes(PACKED)
    found = load(small("covtype", 2, 2))
    np.testing.assert_array_equal(found.data, [[2596, 51], [2804, 139]])
    assert found.target.tolist() == [0, 1]


def test_files_that_are_damaged_or_of_another_shape_are_named(mine):
    path = mine / "covtype.npz"
    np.savez(path, X=ROWS, y=LABELS)
    with pytest.raises(ValueError, match=r"have 581,012 labeled rows, but 2 .*covtype\.npz"):
        load(DATASETS["covtype"])
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(OSError, match=r"covtype\.npz cannot be read"):
        load(DATASETS["covtype"])


def test_data_folder_that_is_not_there(monkeypatch):
    monkeypatch.setenv("HEDGECLIPPER_DATA", "/no/typo")
    with pytest.raises(NotADirectoryError, match=r"HEDGECLIPPER_DATA is '.*typo', which is no"):
        locate(DATASETS["covtype"])


@pytest.mark.parametrize("name", ["kagg-cred", "kagg-prot", "ssl-secstr"])
def test_what_cannot_be_downloaded_says_where_to_get_it(name):
    with pytest.raises(FileNotFoundError, match=r"by hand.*npz.*HEDGECLIPPER_DATA.*http"):
        fetch(name)


@pytest.fixture
def served():
    """The bytes that a web server on this machine gives away, and the address of the server."""
    page = {"body": PACKED}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(page["body"])))
            self.end_headers()
            self.wfile.write(page["body"])

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        page["url"] = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield page
        server.shutdown()
        thread.join()


def test_a_download_is_verified_and_kept(served, mine):
    urls = {NAME: f"{served['url']}/file"}
    dataset = small("covtype", 2, 2, urls=urls, files={NAME: SHA256})
    assert load(dataset).target.tolist() == [0, 1]
    served["body"] = gzip.compress(b"1,2,3\n")
    assert load(dataset).target.tolist() == [0, 1]
    (mine.parent / "hedgeclipper_data" / NAME).unlink()
    with pytest.raises(OSError, match=rf"could not be downloaded .*expected {SHA256}"):
        load(dataset)
