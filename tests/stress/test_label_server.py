"""The server of the label page under requests of anybody, full disks and second servers."""

import contextlib
import json
import os
import socket
import time
from collections import Counter
from http.client import HTTPException

import numpy as np
import pytest

from hedgeclipper.labeling.guard import MOST_BODY_BYTES
from tests.labeling.served import Served, write_rows
from tests.labeling.test_kills import labels_in
from tests.stress.tally import WITH_SERVER, Tally, tries

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals and limits of files")
SESSION = "rows.csv.session.jsonl"
METHODS = ["GET", *["POST"] * 15, "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "BREW"]
PATHS = [*["/label"] * 6, *["/next", "/undo", "/state", "/opinion"] * 2]
PATHS += [
    "/",
    "/static/label.js",
    "/image/0",
    "/image/99999999999999999999",
    "/static/../server.py",
    "//",
    "/%00",
    "/?token=x",
    "/x" * 99,
]
VALUES = [
    None,
    True,
    -1,
    0,
    1,
    2,
    10**30,
    0.5,
    "",
    "0",
    "benign",
    "\x00",
    "\ud800",
    [],
    {},
    [[]] * 9,
]
# what a request may end in; 400 is also the answer of the HTTP library to what is no HTTP
REFUSED = {400, 403, 404, 405, 409, 413, 415, 421, 431}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    write_rows(folder, 400)
    with Served(folder) as served:
        served.folder = folder
        yield served


def headers_of(served, rng, method):
    """Return headers, right ones as a rule, and whether all are that count.

    A page of another origin can read nothing: its requests come without the cookie.
    """
    right = {"Host": f"127.0.0.1:{served.port}", "Origin": served.origin, "Cookie": served.cookie}
    wrong = {
        "Host": ["evil.example", "localhost:1", "", f"[::1]:{served.port}"],
        "Origin": ["http://evil.example", "null", "file://", ""],
        "Cookie": ["", "hedgeclipper-1=x", served.cookie[:-1], served.cookie * 300],
    }
    headers = dict(right)
    for name, values in wrong.items():
        if rng.random() < 0.1:
            headers[name] = str(rng.choice(values))
    counts = ("Host", "Cookie") if method in ("GET", "HEAD") else tuple(right)
    return headers, all(headers[name] == right[name] for name in counts)


def body_of(rng, row):
    """Return a body: fields of any kind, some as the page sends them; any bytes; far too much."""
    kind = rng.integers(8)
    if kind == 0:
        return rng.bytes(int(rng.integers(0, 300)))
    if kind == 1:
        return b"x" * (MOST_BODY_BYTES + 1)
    if kind == 2:
        return b"[" * int(rng.integers(1, 3000))
    right = {"tab": "enemy", "row": row, "label": int(rng.integers(2)), "note": "ok", "x": 1}
    fields = {name: VALUES[rng.integers(len(VALUES))] for name in right if rng.random() < 0.9}
    for name in right:
        if rng.random() < 0.7:
            fields[name] = right[name]
    return json.dumps(fields).encode()


def send(port, content, *, slow=False):
    """Send bytes as they are, and return the status of the answer; None if there is none."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 10) as one:
        if slow:  # the client goes away in the middle
            one.sendall(content[: len(content) // 2])
            time.sleep(0.002)
            return None
        one.sendall(content)
        found = one.recv(100)
        return int(found.split(b" ", 2)[1]) if found.startswith(b"HTTP/1.1 ") else None
    return None


def request(method, path, headers, body):
    """Return a request as bytes, also one that no library would send."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    lines += [f"Content-Length: {len(body)}", "Connection: close", "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogatepass") + body


def test_requests_of_anybody_change_nothing_and_end_nothing(served):
    """None ends the server, none is an error of its own, and who is not the page gets nothing.

    Only a request with the right host, origin and cookie may be answered with success. The session
    has a line for each label that was confirmed, and no other one.
    """
    rng, confirmed = np.random.default_rng(0), Counter()
    row = served.next_row()["row"]
    served.ask("/label", row=row, label=1)
    with Tally("requests to the label server") as tally:
        for number in range(tries(200, 10_000)):
            method, path = str(rng.choice(METHODS)), str(rng.choice(PATHS))
            headers, is_right = headers_of(served, rng, method)
            if number % 5 == 0:
                assert served.process.is_alive()
                assert served.ask("/state")["n_labeled"] >= 1
                open_row = (served.ask("/next", tab="enemy")["row"] or {"row": 0})["row"]
            body, slow = body_of(rng, open_row), rng.random() < 0.05
            with tally.attempt(f"{number}: {method} {path[:30]} {headers}"):
                status = send(served.port, request(method, path, headers, body), slow=slow)
                assert status is None or is_right or status in REFUSED, status
                assert status is None or status < 500, status
                confirmed[path] += method == "POST" and status == 200
        lines = (served.folder / SESSION).read_text(encoding="utf-8").splitlines()
        found = Counter(json.loads(line)["event"] for line in lines)
        assert (found["label"], found["undo"]) == (confirmed["/label"] + 1, confirmed["/undo"])
        assert labels_in(served.folder / SESSION)[row] == "malignant"
        assert confirmed["/label"] > 1


@pytest.mark.slow
def test_a_full_disk_takes_no_label_that_was_confirmed(tmp_path):
    rng = np.random.default_rng(0)
    with Tally("label servers on a full disk") as tally:
        for number in range(tries(1, 20)):
            folder = tmp_path / str(number)
            folder.mkdir()
            write_rows(folder)
            confirmed = {}
            with (
                tally.attempt(f"disk {number}", WITH_SERVER),
                Served(folder, largest_file=int(rng.integers(900, 9000))) as served,
            ):
                with contextlib.suppress(OSError, HTTPException, RuntimeError):
                    while True:
                        row = served.next_row()["row"]
                        served.ask("/label", row=row, label=0)
                        confirmed[row] = "benign"
                assert served.process.is_alive()
                assert labels_in(folder / SESSION) == confirmed


@pytest.mark.slow
def test_of_two_servers_on_one_session_one_is_refused(tmp_path):
    write_rows(tmp_path)
    with Served(tmp_path) as served, Tally("two label servers on one session") as tally:
        for number in range(tries(1, 15)):
            with tally.attempt(f"pair {number}", WITH_SERVER):
                with pytest.raises(RuntimeError, match="in use by another process"):
                    Served(tmp_path)
                row = served.next_row()["row"]
                served.ask("/label", row=row, label=0)
                assert labels_in(tmp_path / SESSION)[row] == "benign"
