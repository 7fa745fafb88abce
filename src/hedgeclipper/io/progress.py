"""What a user is told on the way: lines of progress on standard error, and warnings."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

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


@contextmanager
def row_reporter(
    verbose: int, task: str, n_all: int | None, unit: str = "rows"
) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how many rows (or other units) of ``n_all`` are done.

    If ``verbose``, it prints a line every few seconds; the last one is printed at the end.
    """
    started = last = time.perf_counter()
    line = ""

    def report(n_done: int) -> None:
        nonlocal line, last
        now = time.perf_counter()
        percent = f"  {n_done / n_all:.0%}" if n_all else ""
        line = f"{task}  {n_done:,} {unit}  {now - started:.1f} s{percent}"
        if now - last > SECONDS_BETWEEN_LINES:
            _print(line)
            line, last = "", now

    try:
        yield report if verbose else lambda n_done: None
    finally:
        if line:
            _print(line)


def _print(line: str) -> None:
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:  # nobody reads it, or its disk is full, which must not end a fit
        drop(sys.stderr)
