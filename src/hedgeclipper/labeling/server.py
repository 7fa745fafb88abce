"""The server of the page: rows as JSON, labels taken, static files, images.

It runs on this machine for one person, in front of a `Frontend`. `Guard` decides who may ask.
"""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from threading import Timer
from typing import Any

import jinja2
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from hedgeclipper.io.messages import as_json
from hedgeclipper.labeling.frontend import Frontend, RowTakenError
from hedgeclipper.labeling.guard import Guard
from hedgeclipper.labeling.rows_view import ImageError, RowView, class_keys

STATIC = {
    "label.css": "text/css; charset=utf-8",
    "label.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
MOST_NOTE_CHARACTERS = 2_000


class BadRequestError(Exception):
    """A request that the page does not send."""


@dataclass(frozen=True, eq=False)
class LabelPage:
    """The page of one session.

    Parameters
    ----------
    frontend : Frontend
        Rows and labels.
    view : RowView
        How a row is shown.
    target : str
        Name of what is labeled.
    classes : list
        The classes, in the order of their keys.
    finish : callable
        Called once all rows are done: begins to write the files, and returns at once what to say,
        and whether a part of it is still being written.
    """

    frontend: Frontend
    view: RowView
    target: str
    classes: list[Any]
    finish: Callable[[], tuple[str, bool]]

    def page(self) -> str:
        """Return the page, without any row."""
        pairs = zip(self.classes, class_keys(self.classes), strict=True)
        keys = [{"name": str(name), "keys": own} for name, own in pairs]
        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("hedgeclipper.labeling"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
        )
        return environment.get_template("page.html").render(
            target=self.target, classes=keys, annotator=self.frontend.annotator
        )

    def state(self) -> dict[str, Any]:
        """Return the progress."""
        status = self.frontend.status()
        return {
            **as_json(status),
            "words": status.describe(),
            "fitting": self.frontend.is_fitting,
            "problem": self.frontend.problem,
        }

    def next(self, tab: str, saved: str | None = None) -> dict[str, Any]:
        """Return the row that a tab is to label next, or what to say if there is none."""
        number = self.frontend.next_row(tab)
        found: dict[str, Any] = {"saved": saved, "row": None, "done": None, "writing": False}
        if number is not None:
            found["row"] = {**self.view.show(number), "reason": self.frontend.reason(number)}
        elif self.frontend.is_over():
            found["done"], found["writing"] = self.finish()
            found["undecided"] = self.frontend.status().n_left_to_review
        return found

    def label(self, tab: str, row: Any, label: Any, note: Any) -> dict[str, Any]:
        """Save a label, given by the number of its class or None, and return the next row."""
        if type(row) is not int or not isinstance(note, str):
            raise BadRequestError("A row is a number, and a note is text.")
        if label is not None and (type(label) is not int or not 0 <= label < len(self.classes)):
            raise BadRequestError("There is no such class.")
        name = None if label is None else self.classes[label]
        self.frontend.label(tab, row, name, note[:MOST_NOTE_CHARACTERS])
        return self.next(tab, "cannot tell" if label is None else str(name))

    def undo(self, tab: str) -> dict[str, Any]:
        """Take back the last label of a tab."""
        if not self.frontend.undo(tab):
            raise BadRequestError("There is no label of this tab to take back.")
        return self.next(tab)

    def opinion(self, tab: str, row: Any) -> dict[str, Any]:
        """Return what the model predicts for a row that the tab has open."""
        if type(row) is not int or not self.frontend.holds(tab, row):
            raise BadRequestError("This row is not open here.")
        return {"opinion": self.frontend.opinion(row)}


def make_app(page: LabelPage) -> Starlette:
    """Return the application, without its guard."""

    def answering(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
        async def endpoint(request: Request) -> Response:
            try:
                given = await request.json()
                if not isinstance(given, dict) or not isinstance(given.get("tab"), str):
                    raise BadRequestError("A request is a JSON object with a tab.")
                return JSONResponse(await run_in_threadpool(answer, given))
            except RowTakenError as error:
                return _error(str(error), 409)
            except (BadRequestError, ValueError, RecursionError) as error:
                return _error(str(error), 400)
            except OSError as error:
                return _error(f"Nothing was saved: {error.strerror or error}.", 507)

        return endpoint

    async def index(request: Request) -> Response:
        return HTMLResponse(page.page())

    def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            return _error("There is no such file.", 404)
        content = files("hedgeclipper.labeling").joinpath("static", name).read_bytes()
        return Response(content, headers={"content-type": STATIC[name]})

    def image(request: Request) -> Response:
        row = request.path_params["row"]
        try:
            if not 0 <= row < len(page.view.frame):
                raise ImageError("There is no such row.")
            kind, content = page.view.read_image(row)
        except ImageError as error:
            return _error(str(error), 404)
        return Response(content, media_type=kind)

    answers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
        "state": lambda given: page.state(),
        "next": lambda given: page.next(given["tab"]),
        "label": lambda given: page.label(
            given["tab"], given.get("row"), given.get("label", -1), given.get("note", "")
        ),
        "undo": lambda given: page.undo(given["tab"]),
        "opinion": lambda given: page.opinion(given["tab"], given.get("row")),
    }
    return Starlette(
        routes=[
            Route("/", index),
            Route("/static/{name}", static),
            Route("/image/{row:int}", image),
            *(Route(f"/{name}", answering(one), methods=["POST"]) for name, one in answers.items()),
        ]
    )


def _error(message: str, code: int) -> Response:
    return JSONResponse({"error": message}, code)


def serve(
    page: LabelPage, port: int, say: Callable[[str], None], *, open_browser: bool = True
) -> None:
    """Serve the page on this machine until Ctrl-C; port 0 is any that is free."""
    with socket.create_server(("127.0.0.1", port)) as listening:
        guard = Guard(make_app(page), listening.getsockname()[1])
        say(f"Label at {guard.address} (Ctrl-C to stop; labels are saved one by one).")
        if open_browser:
            opening = Timer(0.3, webbrowser.open, [guard.address_once])
            opening.daemon = True
            opening.start()
        config = uvicorn.Config(
            guard,
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        uvicorn.Server(config).run(sockets=[listening])
