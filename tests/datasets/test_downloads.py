import gzip
import hashlib
import sys
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from hedgeclipper.datasets import load
from hedgeclipper.datasets.registry import DATASETS, UnverifiedDownloadWarning, find_dataset

pytestmark = pytest.mark.filterwarnings(
    "ignore::hedgeclipper.datasets.registry.UnverifiedDownloadWarning"
)

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
            self.server.encodings.append(self.headers["Accept-Encoding"])
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
        server.pages, server.requests, server.encodings = {}, [], []
        server.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def small_susy(url="", sha256=None):
    changes = {"base_url": url, "files": {NAME: sha256}, "shape": (2, 2), "n_test": 1}
    return replace(find_dataset("SUSY"), **changes)


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


def test_address_of_its_own_comes_before_the_base(server):
    server.pages["/files/5976039"] = (PACKED, len(PACKED))
    urls = {NAME: f"{server.url}/files/5976039"}
    assert load(replace(small_susy("http://127.0.0.1:9"), urls=urls)).target.tolist() == [1, 0]


def test_download_shows_its_progress(server, capsys):
    offer(server)
    load(small_susy(server.url))
    assert "downloading SUSY.csv.gz" in capsys.readouterr().err


def test_server_is_asked_for_the_file_as_it_is(server):
    offer(server)
    load(small_susy(server.url))
    assert server.encodings == ["identity"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are those of POSIX")
def test_downloaded_file_can_be_read_by_others(server, cache):
    offer(server)
    load(small_susy(server.url))
    assert (cache / NAME).stat().st_mode & 0o777 == 0o644


def test_download_without_pooch_says_what_to_install(server, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"SUSY needs pooch.*'hedgeclipper\[datasets\]'"):
        load(small_susy(server.url))
    assert server.requests == []


def test_only_downloads_need_pooch(home, cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    put(cache)
    assert load(small_susy("http://127.0.0.1:9", SHA256)).source == str(cache / NAME)
    put(home / "mine")
    monkeypatch.setenv("HEDGECLIPPER_DATA", str(home / "mine"))
    assert load(small_susy("http://127.0.0.1:9")).source == str(home / "mine" / NAME)
    assert load(find_dataset("a1a")).n_train == 1605


def test_download_with_the_right_hash(server, cache):
    offer(server)
    dataset = small_susy(server.url, SHA256)
    assert load(dataset).data.tolist() == load(dataset).data.tolist() == [[0.5, 2], [1.5, 3]]
    assert server.requests == [f"/{NAME}"]
    assert names_in(cache) == [NAME]


@pytest.mark.parametrize("body", [gzip.compress(OTHER, mtime=0), PACKED[:-5], PACKED * 2])
def test_download_that_is_not_the_published_file_leaves_nothing(server, cache, body):
    offer(server, body)
    got = hashlib.sha256(body).hexdigest()
    with pytest.raises(OSError, match=rf"{NAME} could not be .*expected {SHA256} but got {got}"):
        load(small_susy(server.url, SHA256))
    assert names_in(cache) == []


@pytest.mark.parametrize("sha256", [None, SHA256])
def test_download_cut_short_leaves_nothing(server, cache, sha256):
    offer(server, PACKED[:-5], length=len(PACKED))
    with pytest.raises(OSError, match=rf"{server.url}/{NAME} could not be downloaded"):
        load(small_susy(server.url, sha256))
    assert names_in(cache) == []


def test_page_that_is_not_there(server, cache):
    with pytest.raises(OSError, match=rf"{NAME} could not be downloaded \(404 .*Put SUSY"):
        load(small_susy(server.url))
    assert names_in(cache) == []


def test_no_network(cache):
    # Nothing listens on port 9 of this machine.
    with pytest.raises(
        OSError, match=r"http://127\.0\.0\.1:9/SUSY.*Put SUSY\.csv\.gz into .*_data"
    ):
        load(small_susy("http://127.0.0.1:9"))
    assert names_in(cache) == []


def test_only_what_is_missing_is_downloaded(server, cache):
    put(cache, "w1a", b"-1 1:1\n")
    server.pages["/w1a.t"] = (b"+1 2:1\n", 7)
    changes = {"base_url": server.url, "shape": (2, 2), "n_test": 1}
    assert load(replace(find_dataset("w1a"), **changes)).target.tolist() == [0, 1]
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


def test_a_download_that_cannot_be_verified_says_so(server, cache, recwarn):
    offer(server)
    with pytest.warns(UnverifiedDownloadWarning, match=f"{NAME} cannot be verified"):
        load(small_susy(server.url))
    recwarn.clear()
    load(small_susy(server.url))  # from the cache, where its hash is noted
    cache.rename(cache.with_name("other"))
    load(small_susy(server.url, sha256=SHA256))
    assert not recwarn.list


def test_what_comes_over_plain_http_is_known():
    """A new address without encryption has to be added here, with a reason in datasets.toml."""
    plain = [data.name for data in DATASETS if "http://" in f"{data.base_url} {data.urls}"]
    assert plain == ["ssl-text"]


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
    with pytest.raises(OSError, match="is damaged") as caught:
        load(small_susy("http://127.0.0.1:9"))
    assert caught.value.__notes__ == ["Delete the file to have it downloaded again."]
    assert names_in(cache) == [NAME]
