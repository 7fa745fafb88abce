"""Where files of the paper's data sets are found, and that downloads are verified."""

import gzip
import hashlib
import re
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from scipy import sparse

from benchmarks.data.fetching import fetch, load
from benchmarks.data.readers import LAYOUTS
from benchmarks.data.sources import DATASETS, data_folder, locate
from hedgeclipper.datasets import load_adult

TEXT = b"1,0.5,2\n0,1.5,3\n"
PACKED = gzip.compress(TEXT, mtime=0)
OTHER = gzip.compress(b"1,0.5,2\n0,1.5,4\n", mtime=0)
SHA256 = hashlib.sha256(PACKED).hexdigest()
NAME = "SUSY.csv.gz"
SHARED = data_folder()


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty home, an empty data folder, and no proxy between here and the local server."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")
    (tmp_path / "mine").mkdir()
    monkeypatch.setenv("HEDGECLIPPER_DATA", "~/mine")
    return tmp_path


@pytest.fixture
def cache(home):
    return home / "hedgeclipper_data"


@pytest.fixture
def server():
    """A web server on this machine: ``pages`` maps a path to its bytes and announced length."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.requests.append((self.path, self.headers["Accept-Encoding"]))
            if self.path not in self.server.pages:
                self.send_error(404)
                return
            body, length = self.server.pages[self.path]
            self.send_response(200)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.pages, server.requests = {}, []
        server.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def small_susy(url="", sha256=""):
    changes = {"base_url": url, "files": {NAME: sha256}, "shape": (2, 2), "n_test": 1}
    return replace(DATASETS["SUSY"], **changes)


def offer(server, body=PACKED, length=None):
    server.pages[f"/{NAME}"] = (body, len(body) if length is None else length)


def put(folder, name=NAME, body=PACKED):
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(body)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=lambda dataset: dataset.name)
def test_record_of_published_files_has_a_layout_and_whole_hashes(dataset):
    assert bool(dataset.files) == (dataset.layout in LAYOUTS)
    assert all(re.fullmatch("|[0-9a-f]{64}", sha256) for sha256 in dataset.files.values())
    assert set(dataset.urls) <= set(dataset.files)
    assert 0 <= dataset.n_test < dataset.shape[0]


def test_what_comes_over_plain_http_is_known():
    """A new address without encryption has to be added here, with a reason in datasets.toml."""
    plain = [d.name for d in DATASETS.values() if "http://" in f"{d.base_url} {d.urls}"]
    assert plain == ["ssl-text"]


def test_a1a_is_the_adult_data_of_the_package():
    ours, theirs = fetch("a1a"), load_adult()
    assert (ours.data != theirs.data).nnz == 0
    np.testing.assert_array_equal(ours.target, theirs.target)
    assert ours.n_train == theirs.n_train


@pytest.mark.parametrize(
    "name", ["kagg-prot", "ssl-text", "kagg-cred", "w1a", "covtype", "ssl-secstr"]
)
def test_real_archives(name, monkeypatch):
    dataset = DATASETS[name]
    for archive in dataset.archives:
        if not (Path(SHARED or "nowhere") / archive).exists():
            pytest.skip(f"{archive} is not in the data folder")
    monkeypatch.setenv("HEDGECLIPPER_DATA", str(SHARED))
    contents = fetch(name)
    assert contents.data.dtype == np.float32
    assert sparse.issparse(contents.data) == dataset.is_sparse
    assert set(np.unique(contents.target)) == {0, 1}


@pytest.mark.parametrize(("name", "body"), [(NAME, PACKED), ("SUSY.csv", TEXT)])
def test_originals_in_the_data_folder(home, name, body):
    put(home / "mine", name, body)
    dataset = small_susy(sha256="0" * 64)
    assert locate(dataset) == (home / "mine" / name,)
    assert load(dataset).data.tolist() == [[0.5, 2], [1.5, 3]]


def test_data_folder_that_is_not_there(home, monkeypatch):
    monkeypatch.setenv("HEDGECLIPPER_DATA", str(home / "typo"))
    with pytest.raises(NotADirectoryError, match=r"HEDGECLIPPER_DATA is '.*typo', which is no"):
        locate(small_susy())


def test_archive_without_its_unlabeled_rows_is_not_enough(home):
    put(home / "mine", "kagg_cred.npz")
    with pytest.raises(FileNotFoundError, match=r"kagg_cred\.npz and kagg_cred_unlabeled\.npz"):
        fetch("kagg-cred")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("kagg-cred", r"by hand.*kagg-cred/cs-training\.csv and kagg-cred/cs-test\.csv.*kaggle"),
        ("kagg-prot", r"by hand.*kagg-prot/train\.csv and kagg-prot/test\.csv.*kaggle"),
        ("ssl-secstr", r"by hand.*ssl_secstr\.npz.*HEDGECLIPPER_DATA.*chapelle"),
    ],
)
def test_what_cannot_be_downloaded_says_where_to_get_it(name, advice):
    with pytest.raises(FileNotFoundError, match=advice):
        fetch(name)


def test_download_with_the_right_hash_is_made_once(server, cache):
    offer(server)
    dataset = small_susy(server.url, SHA256)
    assert load(dataset).data.tolist() == load(dataset).data.tolist() == [[0.5, 2], [1.5, 3]]
    assert server.requests == [(f"/{NAME}", "identity")]
    assert names_in(cache) == [NAME]


def test_address_of_its_own_comes_before_the_base(server):
    server.pages["/files/5976039"] = (PACKED, len(PACKED))
    urls = {NAME: f"{server.url}/files/5976039"}
    assert load(replace(small_susy("http://127.0.0.1:9"), urls=urls)).target.tolist() == [1, 0]


@pytest.mark.parametrize("body", [OTHER, PACKED[:-5], PACKED * 2])
def test_download_that_is_not_the_published_file_leaves_nothing(server, cache, body):
    offer(server, body)
    got = hashlib.sha256(body).hexdigest()
    with pytest.raises(OSError, match=rf"{NAME} could not be .*expected {SHA256} but got {got}"):
        load(small_susy(server.url, SHA256))
    assert names_in(cache) == []


@pytest.mark.parametrize("sha256", ["", SHA256])
def test_download_cut_short_leaves_nothing(server, cache, sha256):
    offer(server, PACKED[:-5], length=len(PACKED))
    with pytest.raises(OSError, match=rf"{server.url}/{NAME} could not be downloaded"):
        load(small_susy(server.url, sha256))
    assert names_in(cache) == []


def test_page_that_is_not_there_says_where_the_file_goes(server, cache):
    with pytest.raises(OSError, match=rf"{NAME} could not be downloaded \(404 .*Put SUSY"):
        load(small_susy(server.url))
    assert names_in(cache) == []


def test_cached_file_without_its_published_hash_is_downloaded_again(server, cache):
    put(cache, body=OTHER)
    offer(server)
    assert load(small_susy(server.url, SHA256)).data.tolist() == [[0.5, 2], [1.5, 3]]
    assert server.requests
