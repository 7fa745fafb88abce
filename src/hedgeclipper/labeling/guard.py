"""Who may talk to the server of the page: the browser that was given the address, and nobody else.

The server listens on this machine only. Other pages in the same browser, other users of the machine
and names that point to this address (DNS rebinding) could still reach it; `Guard` refuses them
before any other code sees a request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from secrets import compare_digest, token_urlsafe
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response

MOST_BODY_BYTES = 64_000
OPEN_AGAIN = "Open the address that the command has printed, in the address bar."
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
Messages = Callable[..., Awaitable[Any]]


class Guard:
    """Refuses requests of others, and turns the token of the address into a cookie.

    Parameters
    ----------
    app : ASGI application
        What gets the requests that pass.
    port : int
        The port of the server, which is part of the Host header.
    """

    def __init__(self, app: Any, port: int) -> None:
        self.app, self.port = app, port
        self.token = token_urlsafe(32)
        # the browser gets an address of its own that works once: its command line is visible to
        # other users of the machine
        self._once = {token_urlsafe(32)}
        self._secret = token_urlsafe(32)
        self._cookie = f"hedgeclipper-{port}"  # cookies do not tell ports apart
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    @property
    def address(self) -> str:
        """Address to print, which works as long as the server runs."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def address_once(self) -> str:
        """Address to open the browser with."""
        return f"http://127.0.0.1:{self.port}/?token={next(iter(self._once))}"

    async def __call__(self, scope: Any, receive: Messages, send: Messages) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            return  # no websockets

        async def send_safe(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = self._answer(scope, Headers(scope=scope))
        if refusal is not None:
            await refusal(scope, receive, send_safe)
            return
        await self.app(scope, _limited(receive), send_safe)

    def _answer(self, scope: Any, headers: Headers) -> Response | None:
        """Return the answer to a request that is not passed on, None for others."""
        host = headers.get("host", "")
        if host not in self._hosts:
            return PlainTextResponse("This server has another name.", 421)
        if scope["method"] not in ("GET", "POST"):
            return PlainTextResponse("Only GET and POST are known here.", 405)
        if scope["method"] == "POST" and not _is_own(headers, host):
            return PlainTextResponse("Requests of other pages are refused.", 403)
        if _length(headers) > MOST_BODY_BYTES:
            return PlainTextResponse("The request is too large.", 413)
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        cookie = cookie_parser(headers.get("cookie", "")).get(self._cookie, "")
        is_known = _same(cookie, self._secret)
        if scope["path"] == "/" and token:
            return self._login(token, is_known)
        return None if is_known else PlainTextResponse(OPEN_AGAIN, 403)

    def _login(self, token: str, is_known: bool) -> Response:
        used = {one for one in self._once if _same(token, one)}
        self._once -= used
        if not (used or is_known or _same(token, self.token)):
            return PlainTextResponse(OPEN_AGAIN, 403)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self._cookie, self._secret, httponly=True, samesite="strict", path="/")
        return answer


def _same(given: str, secret: str) -> bool:
    return compare_digest(given.encode(), secret.encode())


def _is_own(headers: Headers, host: str) -> bool:
    """Return whether a browser says that our own page sends this; without a word it does not."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    return (
        (origin or site) is not None
        and origin in (None, f"http://{host}")
        and (site in (None, "same-origin"))
    )


def _length(headers: Headers) -> int:
    given = headers.get("content-length", "0")
    return int(given) if given.isdecimal() else MOST_BODY_BYTES + 1


def _limited(receive: Messages) -> Messages:
    """Return what receives a body, cut where it is too large: no JSON then, which is refused."""
    left = MOST_BODY_BYTES

    async def receive_some() -> Any:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            return {"type": "http.request", "body": b"", "more_body": False}
        return message

    return receive_some
