"""Interleaved timings: the machine's moods hit all methods alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np


def interleaved(methods: dict[str, Callable[[], Any]], n_rounds: int = 5) -> dict[str, float]:
    """Return the median seconds of each method over rounds in which all of them run."""
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    for _ in range(n_rounds):
        for name, run in methods.items():
            started = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - started)
    return {name: float(np.median(values)) for name, values in seconds.items()}


@contextmanager
def calls_timed(owner: Any, name: str) -> Iterator[list[float]]:
    """Note the seconds of every call of a function, found by its name in a module or class."""
    function, seconds = getattr(owner, name), []

    def timed(*arguments: Any, **named: Any) -> Any:
        started = time.perf_counter()
        try:
            return function(*arguments, **named)
        finally:
            seconds.append(time.perf_counter() - started)

    with patch.object(owner, name, timed):
        yield seconds
