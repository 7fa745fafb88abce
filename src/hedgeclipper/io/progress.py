"""What a user is told on the way: progress on standard error, and warnings.

Progress is a bar of rich on a terminal, else lines.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any

SECONDS_BETWEEN_LINES = 5.0
# where warnings do not point to, since they concern the code that called
NOT_THE_USER = ("hedgeclipper", "sklearn", "contextlib")


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line outside this package and scikit-learn that led here."""
    frame, level = sys._getframe(), 1
    while frame.f_globals.get("__name__", "").split(".")[0] in NOT_THE_USER and frame.f_back:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def drop(stream: IO[str]) -> None:
    """Drop all that is written to a stream whose reader has gone, from now on."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class Reporter:
    """Shows how far something is: in a bar on a terminal with rich, else in lines."""

    def __init__(self) -> None:
        has_terminal = sys.stderr is not None and sys.stderr.isatty()
        self.bar: Any = _make_bar() if has_terminal else None
        self.started = self.last = time.perf_counter()
        self._unshown = ""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar is not None and self.bar.live.is_started:
            self.bar.stop()
        self._print()

    def show(self, done: float, text: str, ending: str = "", *, at_once: bool = False) -> None:
        """Show a text and the fraction that is done; a line only has the ending too.

        Lines come every few seconds unless they shall come at once, and one more at the end for
        what was not shown yet.
        """
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=done, description=text)
            self.bar.start()  # now that there is something to show
            return
        self._unshown = f"{text}  {ending}" if ending else text
        now = time.perf_counter()
        if at_once or now - self.last > SECONDS_BETWEEN_LINES:
            self._print()
            self.last = now

    def _print(self) -> None:
        if self._unshown:
            text, self._unshown = self._unshown, ""
            try:
                print(text, file=sys.stderr, flush=True)
            except OSError:  # nobody reads it, or its disk is full, which must not end a fit
                drop(sys.stderr)


class RowReporter(Reporter):
    """Shows how many rows (or other units) of ``n_all`` are done, where that is known."""

    def __init__(self, task: str, n_all: int | None, unit: str = "rows"):
        super().__init__()
        self.task, self.n_all, self.unit = task, n_all, unit

    def __exit__(self, *error: object) -> None:
        if self.bar is not None and error[0] is None:
            self.bar.update(self.bar.task_ids[0], completed=1.0)
        super().__exit__(*error)

    def __call__(self, n_done: int) -> None:
        """Show how many rows are done."""
        seconds = time.perf_counter() - self.started
        done = n_done / self.n_all if self.n_all else 0.0
        text = f"{self.task}  {n_done:,} {self.unit}  {seconds:.1f} s"
        self.show(done, text, f"{done:.0%}" if self.n_all else "")


class MemberReporter(Reporter):
    """Shows how many fits of members of a panel are done, and the time left."""

    def __call__(self, name: str, n_done: int, n_all: int) -> None:
        """Show that a fit of a member is done."""
        seconds, is_last = time.perf_counter() - self.started, n_done == n_all
        left = f"{seconds * (n_all - n_done) / n_done:.0f} s left"
        text = f"fitting members {n_done} of {n_all}, {'done' if is_last else left}"
        self.show(n_done / n_all, text, f"(last {name})", at_once=is_last)


def row_reporter(
    verbose: int, task: str, n_all: int | None, unit: str = "rows"
) -> AbstractContextManager:
    """Return a context that yields a reporter of rows, which does nothing unless verbose."""
    return RowReporter(task, n_all, unit) if verbose else nullcontext(lambda n_done: None)


def member_reporter(verbose: int) -> AbstractContextManager:
    """Return a context that yields a reporter of members, which does nothing unless verbose."""
    return MemberReporter() if verbose else nullcontext(lambda name, n_done, n_all: None)


def _make_bar() -> Any:
    """Return a bar of rich with one task, or None where rich is not installed."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        return None
    columns = (BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True))
    bar.add_task("", total=1.0)
    return bar
