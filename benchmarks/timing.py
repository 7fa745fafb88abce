"""Interleaved timings: the machine's moods hit everybody alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np


def interleaved(contestants: dict[str, Callable[[], Any]], n_rounds: int = 5) -> dict[str, float]:
    """Return the median seconds of each contestant over rounds in which all of them run."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(n_rounds):
        for name, run in contestants.items():
            started = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - started)
    return {name: float(np.median(values)) for name, values in seconds.items()}


def print_rows(rows: list[tuple[str, ...]]) -> None:
    """Print rows of text, the first one as a heading, in columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))
        if number == 0:
            print("  ".join("-" * width for width in widths))
