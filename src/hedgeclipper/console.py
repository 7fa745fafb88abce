"""What a long run says while it runs: a bar on a terminal that has rich, else plain lines."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any


def pass_printer(tol: float = 1e-3) -> Callable[[Any, Any], None]:
    """Return a function that shows each pass on standard error.

    Parameters
    ----------
    tol : float
        Relative gap the run stops at, from which the time left is guessed.
    """
    show = _bar() if sys.stderr.isatty() else None
    started = time.perf_counter()
    first: list[float] = []

    def report(record: Any, evaluation: Any) -> None:
        gap = max(record.primal - record.dual, 0.0)
        relative = gap / max(abs(record.primal), 1e-3)
        first.append(relative) if not first else None
        seconds = time.perf_counter() - started
        done = _share_done(first[0], relative, tol)
        left = f"{seconds * (1 - done) / done:.0f} s left" if 0.05 < done < 1 else "..."
        text = f"slack {record.primal:+.6f}  gap {gap:.2e}  {seconds:6.1f} s"
        if show is not None:
            show(done, f"pass {record.n_passes}  {text}")
        else:
            line = f"pass {record.n_passes:4d}  {text}  {'done' if done == 1 else left}"
            print(line, file=sys.stderr, flush=True)

    return report


def _share_done(first: float, now: float, tol: float) -> float:
    """Return how far the gap has come on its way to tol, in orders of magnitude."""
    if now <= tol:
        return 1.0
    if not math.isfinite(first) or first <= now:
        return 0.0
    return math.log(first / now) / math.log(first / tol)


def _bar() -> Callable[[float, str], None] | None:
    """Return a function that moves a bar, or None where rich is not installed."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        return None
    columns = (BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True))
    task = bar.add_task("", total=1.0)
    bar.start()

    def show(done: float, text: str) -> None:
        bar.update(task, completed=done, description=text)
        if done == 1.0:
            bar.stop()

    return show
