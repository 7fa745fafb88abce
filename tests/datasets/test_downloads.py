import gzip
import hashlib
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from hedgeclipper.datasets.fetchers import load
from hedgeclipper.datasets.registry import OriginalFile, find_dataset

TEXT = b"1,0.5,2\n0,1.5,3\n"
OTHER = b"1,0.5,2\n0,1.5,4\n"
PACKED = gzip.compress(TEXT, mtime=0)
SHA256 = hashlib.sha256(PACKED).hexdigest()
NAME = "SUSY.csv.gz"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty home, no folder of one's own, and no proxy between here and the local server."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("HEDGECLIPPER_DATA", raising=False)
    return tmp_path


@pytest.fixture
def cache(home):
    return home / "hedgeclipper_data"


@pytest.fixture
def server():
    """A web server on this machine: ``pages`` maps a path to its bytes and announced length."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.requests.append(self.path)
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


def small_susy(url=None, sha256=None, size=None):
    file = OriginalFile(NAME, url and f"{url}/{NAME}", sha256, size)
    shape = {"n_rows": 2, "n_columns": 2, "n_train": 1}
    return replace(find_dataset("SUSY"), originals=(file,), **shape)


def offer(server, body=PACKED, length=None):
    server.pages[f"/{NAME}"] = (body, len(body) if length is None else length)


def put(folder, name=NAME, body=PACKED):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(body)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize(("name", "body"), [(NAME, PACKED), ("SUSY.csv", TEXT)])
def test_originals_in_the_named_folder(home, monkeypatch, name, body):
    put(home / "mine", name, body)
    monkeypatch.setenv("HEDGECLIPPER_DATA", "~/mine")
    bunch = load(small_susy(sha256="0" * 64), download_if_missing=False)
    assert bunch.data.tolist() == [[0.5, 2], [1.5, 3]]
    assert bunch.source == str(home / "mine" / name)
    assert names_in(home / "mine") == [name]


def test_named_folder_that_is_not_there(home, monkeypatch):
    monkeypatch.setenv("HEDGECLIPPER_DATA", str(home / "typo"))
    with pytest.raises(NotADirectoryError, match=r"HEDGECLIPPER_DATA is '.*typo', which is no"):
        load(small_susy())


def test_named_folder_without_the_data_leads_to_the_cache(home, cache, monkeypatch):
    monkeypatch.setenv("HEDGECLIPPER_DATA", str(home))
    put(cache)
    assert load(small_susy()).source == str(cache / NAME)


def test_cache_can_be_anywhere(home):
    put(home / "elsewhere")
    assert load(small_susy(), data_home=home / "elsewhere").target.tolist() == [1, 0]


def test_nothing_is_downloaded_unless_allowed(server, cache):
    offer(server)
    with pytest.raises(
        OSError, match=r"nor in .*_data, and download_if_missing is False. Put SUSY"
    ):
        load(small_susy(server.url), download_if_missing=False)
    assert server.requests == []
    assert not cache.exists()


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
        load(find_dataset(name))


def test_download_with_the_right_hash(server, cache):
    offer(server)
    dataset = small_susy(server.url, SHA256, len(PACKED))
    assert load(dataset).data.tolist() == load(dataset).data.tolist() == [[0.5, 2], [1.5, 3]]
    assert server.requests == [f"/{NAME}"]
    assert names_in(cache) == [NAME]


def test_download_with_a_wrong_hash_leaves_nothing(server, cache):
    offer(server)
    with pytest.raises(OSError, match=rf"SHA-256 should be {'0' * 64} but is {SHA256}"):
        load(small_susy(server.url, "0" * 64))
    assert names_in(cache) == []


@pytest.mark.parametrize("size", [None, len(PACKED)])
def test_download_cut_short_leaves_nothing(server, cache, size):
    offer(server, PACKED[:-5], length=len(PACKED))
    with pytest.raises(OSError, match=rf"{server.url}/{NAME} could not be downloaded"):
        load(small_susy(server.url, size=size))
    assert names_in(cache) == []


def test_download_of_another_size_than_published_leaves_nothing(server, cache):
    offer(server)
    with pytest.raises(OSError, match=rf"{len(PACKED)} bytes came of 1,000"):
        load(small_susy(server.url, size=1000))
    assert names_in(cache) == []


def test_page_that_is_not_there(server, cache):
    with pytest.raises(
        OSError, match=rf"{NAME} could not be downloaded \(HTTP Error 404.*Put SUSY"
    ):
        load(small_susy(server.url))
    assert not cache.exists()


def test_no_network(cache):
    # Nothing listens on port 9 of this machine.
    with pytest.raises(
        OSError, match=r"http://127\.0\.0\.1:9/SUSY.*Put SUSY\.csv\.gz into .*_data"
    ):
        load(small_susy("http://127.0.0.1:9"))
    assert not cache.exists()


def test_only_what_is_missing_is_downloaded(server, cache):
    put(cache, "w1a", b"-1 1:1\n")
    server.pages["/w1a.t"] = (b"+1 2:1\n", 7)
    files = tuple(OriginalFile(name, f"{server.url}/{name}") for name in ("w1a", "w1a.t"))
    dataset = replace(find_dataset("w1a"), originals=files, n_rows=2, n_train=1, n_columns=2)
    assert load(dataset).target.tolist() == [0, 1]
    assert server.requests == ["/w1a.t"]


def test_hash_is_noted_where_none_is_published_and_checked_later(server, cache):
    offer(server)
    dataset = small_susy(server.url)
    load(dataset)
    assert (cache / f"{NAME}.sha256").read_text().strip() == SHA256
    load(dataset)
    put(cache, body=gzip.compress(OTHER, mtime=0))
    with pytest.raises(OSError, match=rf"{SHA256} but is .* Delete it, and {NAME}\.sha256"):
        load(dataset)


def test_cached_file_without_its_published_hash(cache):
    put(cache, body=gzip.compress(OTHER, mtime=0))
    with pytest.raises(OSError, match=rf"{NAME} is not what it should be: .*{SHA256} but is"):
        load(small_susy(sha256=SHA256))
    assert names_in(cache) == [NAME]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"<html>please log in</html>", OSError),
        (gzip.compress(TEXT * 2, mtime=0), ValueError),
        (gzip.compress(TEXT[:8], mtime=0), ValueError),
    ],
    ids=["page", "too long", "too short"],
)
def test_download_that_is_not_the_data_is_deleted_again(server, cache, body, error):
    offer(server, body)
    with pytest.raises(error) as caught:
        load(small_susy(server.url))
    assert "has been deleted again" in caught.value.__notes__[0]
    assert names_in(cache) == []


def test_unreadable_file_that_was_not_downloaded_is_kept(cache):
    put(cache, body=PACKED[:-5])
    with pytest.raises(OSError, match="is damaged"):
        load(small_susy())
    assert names_in(cache) == [NAME]
