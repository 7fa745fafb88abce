"""Who must not reach the server of the page, and what must never leave or run."""

import json
import os
import socket
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hedgeclipper.labeling.guard import MOST_BODY_BYTES, Guard
from hedgeclipper.labeling.rows_view import MOST_IMAGE_BYTES, ImageError, RowView, read_image

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


def paths(served):
    return ["/", "/static/label.js", "/image/0", served.address.removeprefix(served.origin)]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "[::1]:{port}", ""]
)
def test_another_host_gets_nothing(served, host):
    for path in paths(served):
        answer = served.request(
            "GET", path, Cookie=served.cookie, Host=host.format(port=served.port)
        )
        assert answer.status == 421
        assert answer.getheader("set-cookie") is None


@pytest.mark.parametrize("cookie", ["", "hedgeclipper-{port}=", "hedgeclipper-{port}=x", "{other}"])
def test_without_the_cookie_there_is_nothing(served, cookie):
    cookie = cookie.format(port=served.port, other=served.cookie.swapcase())
    for path in paths(served)[:3]:
        assert served.request("GET", path, Cookie=cookie).status == 403
    for path in ("/next", "/label", "/state", "/undo", "/opinion"):
        assert served.post(path, {"tab": "a"}, Cookie=cookie).status == 403


@pytest.mark.parametrize("token", ["x", "", "x" * 10_000, "%00", "%fc"])
def test_a_wrong_token_makes_no_cookie(served, token):
    answer = served.request("GET", f"/?token={token}")
    assert answer.status == 403
    assert answer.getheader("set-cookie") is None


def test_the_token_becomes_a_cookie_that_scripts_and_others_do_not_get(served):
    answer = served.request("GET", served.address.removeprefix(served.origin))
    assert (answer.status, answer.getheader("location")) == (303, "/")
    cookie = answer.getheader("set-cookie")
    assert {"httponly", "samesite=strict"} <= {*cookie.lower().split("; ")}
    assert served.address.partition("token=")[2] not in cookie


def test_the_address_that_a_browser_is_started_with_works_once():
    guard = Guard(None, 8000)
    once = guard.address_once.partition("token=")[2]
    found = [guard._login(token, is_known=False) for token in (once, once, guard.token)]
    assert [answer.status_code for answer in found] == [303, 403, 303]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-site"},
        {},
    ],
)
def test_posts_of_other_pages_are_refused(served, headers):
    headers = {name: value.format(port=served.port) for name, value in headers.items()}
    body = json.dumps({"tab": "evil", "row": 0, "label": 0})
    for path in ("/label", "/next", "/undo"):
        answer = served.request("POST", path, body, Cookie=served.cookie, **headers)
        assert answer.status == 403


def test_a_huge_body_is_refused_with_and_without_a_length(served):
    large = b'{"tab": "' + b"x" * MOST_BODY_BYTES + b'"}'
    headers = {"Cookie": served.cookie, "Origin": served.origin}
    assert served.request("POST", "/next", large, **headers).status == 413
    chunks = (large[k : k + 10_000] for k in range(0, len(large), 10_000))
    assert served.request("POST", "/next", chunks, **headers).status == 400
    assert served.next_row() is not None


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"tab": 1}', "{", '"x"', "\x00", "[" * 5000])
def test_bodies_that_are_no_request_are_refused(served, body):
    answer = served.request("POST", "/next", body, Cookie=served.cookie, Origin=served.origin)
    assert answer.status == 400


@pytest.mark.parametrize(
    ("method", "path"),
    [*((name, "/") for name in ("PUT", "DELETE", "OPTIONS", "TRACE", "HEAD", "PATCH"))]
    + [("GET", path) for path in ("/next", "/label", "/undo", "/state", "/opinion")],
)
def test_other_methods_are_refused(served, method, path):
    answer = served.request(method, path, Cookie=served.cookie, Origin=served.origin)
    assert answer.status == 405
    assert answer.getheader("access-control-allow-origin") is None


def test_clients_that_never_end_a_request_do_not_keep_the_page_waiting(served):
    head = f"POST /label HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nOrigin: {served.origin}\r\n"
    body = f"{head}Cookie: {served.cookie}\r\nContent-Length: 5000\r\n\r\n{{"
    with ExitStack() as clients:
        for content in [head, body] * 60:
            client = socket.create_connection(("127.0.0.1", served.port))
            clients.enter_context(client).sendall(content.encode())
        assert served.next_row()["row"] is not None


@pytest.mark.parametrize(
    "path",
    ["/static/../server.py", "/static/%2e%2e%2fserver.py", "/static/..%5cserver.py", "/image/-1"],
)
def test_no_other_file_is_served(served, path):
    answer = served.request("GET", path, Cookie=served.cookie)
    assert answer.status == 404
    assert b"import" not in answer.content


def test_every_answer_has_the_headers_of_safety(served):
    for path, cookie in [("/", served.cookie), ("/", ""), ("/image/0", served.cookie)]:
        answer = served.request("GET", path, Cookie=cookie)
        policy = answer.getheader("content-security-policy")
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.getheader("referrer-policy") == "no-referrer"
        assert answer.getheader("x-content-type-options") == "nosniff"
        assert answer.getheader("cache-control") == "no-store"
        assert answer.getheader("server") is None


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "data"
    (folder / "pictures").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "pictures" / "own.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "inside.png").symlink_to(folder / "pictures" / "own.png")
    (folder / "away").symlink_to(tmp_path)
    (folder / "loop.png").symlink_to(folder / "loop.png")
    (folder / "script.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>")
    (folder / "page.png").write_text("<html><script>alert(1)</script>")
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe.png")
    with (folder / "large.png").open("wb") as file:
        file.write(PNG)
        file.truncate(MOST_IMAGE_BYTES + 1)
    return folder


@pytest.mark.parametrize("name", ["pictures/own.png", "inside.png", "pictures/../pictures/own.png"])
def test_images_in_the_folder_are_read(folder, name):
    assert read_image(folder, name) == ("image/png", PNG)


@pytest.mark.parametrize(
    "name",
    [
        "../secret.png",
        "/etc/passwd",
        "{folder}/../secret.png",
        "link.png",
        "away/secret.png",
        "loop.png",
        "pictures",
        "pipe.png",
        "script.svg",
        "page.png",
        "large.png",
        "none.png",
        "x\0.png",
        "http://evil.example/x.png",
        "~/x.png",
    ],
)
def test_other_images_are_not_read(folder, name):
    with pytest.raises(ImageError):
        read_image(folder, name.format(folder=folder))


def test_a_row_view_has_text_and_never_a_path_outside():
    frame = pd.DataFrame(
        {"a": ["<script>alert(1)</script>", None, "x" * 30_000], "b": [1.5, np.nan, 2]}
    )
    view = RowView(frame, folder=Path("/"))
    assert view.show(0)["cells"][0]["value"] == "<script>alert(1)</script>"
    assert view.show(1)["cells"][0]["value"] is None
    assert view.show(1)["cells"][1]["range"] is None
    assert len(view.show(2)["cells"][0]["value"]) < 20_100
    with pytest.raises(ImageError):
        view.read_image(0)
