"""Time and memory on a million rows, as ratios, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.figures import OURS
from benchmarks.pages import bullets, markdown_table
from benchmarks.votes.methods import METHODS, ON_A_MILLION_ROWS
from benchmarks.votes.results import VoteResult


def median(results: Sequence[VoteResult], method: str, *measures: str) -> float:
    """Return the median over the rounds of a figure, or of a sum of figures."""
    own = [r for r in results if r.method == method]
    return float(np.median([sum(getattr(r, m) for m in measures) for r in own]))


def speed_table(results: Sequence[VoteResult]) -> str:
    """Return time and memory of each method, and their ratio to ours."""
    head = ["method", "fit, s", "conversion, s", "both, x ours", "peak MB", "x ours", "accuracy"]
    rows = [head]
    for name in ON_A_MILLION_ROWS:
        times, memory = ratios(results, name)
        cells = [f"{median(results, name, m):.2f}" for m in ("seconds", "conversion_seconds")]
        peak, accuracy = (median(results, name, m) for m in ("peak_mb", "accuracy"))
        cells += [f"{times:.2f}", f"{peak:.0f}", f"{memory:.2f}", f"{accuracy:.4f}"]
        rows.append([METHODS[name].title, *cells])
    return markdown_table(rows)


def ratios(results: Sequence[VoteResult], name: str) -> tuple[float, float]:
    """Return time, conversion included, and memory of a method over ours."""
    both = ("seconds", "conversion_seconds")
    times = median(results, name, *both) / median(results, OURS, *both)
    return times, median(results, name, "peak_mb") / median(results, OURS, "peak_mb")


def describe_speed(results: Sequence[VoteResult]) -> str:
    """Return time and memory relative to each other method."""
    lines = []
    for name in ON_A_MILLION_ROWS[1:]:
        times, memory = ratios(results, name)
        title = METHODS[name].title
        lines.append(f"{times:.1f} times as fast as {title}, with {1.0 / memory:.2f} of its memory")
    return bullets(*lines)
