"""Generated panels, and how often intervals of class rates hold, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.figures import OURS
from benchmarks.pages import listed, markdown_table
from benchmarks.votes.rates import CASES, RateResult
from benchmarks.votes.stress import CLASSES, KINDS, LABELS, VOTERS, StressResult

ONE_POINT = 0.01


def _mean(results: Sequence[StressResult], cell: tuple, method: str) -> float:
    return float(np.mean([r.accuracy for r in results if (r.cell, r.method) == (cell, method)]))


def stress_table(results: Sequence[StressResult]) -> str:
    """Return accuracies of ours, naive Bayes and majority vote in each cell."""
    rows = [["voters", "voters, classes", *[f"{n} labels" for n in LABELS]]]
    known = {result.cell for result in results}
    for kind in KINDS:
        for shape in ((p, k) for p in VOTERS for k in CLASSES):
            cells = [(kind, *shape, n) for n in LABELS]
            texts = [
                " / ".join(
                    f"{_mean(results, cell, m):.3f}" for m in (OURS, "naive_bayes", "majority")
                )
                if cell in known
                else "-"
                for cell in cells
            ]
            rows.append([kind, f"{shape[0]}, {shape[1]}", *texts])
    return markdown_table(rows)


def describe_stress(results: Sequence[StressResult]) -> str:
    """Return in which cells ours is more than a point below the better of the two others."""
    gaps = {}
    for cell in dict.fromkeys(result.cell for result in results):
        ours, bayes, majority = (_mean(results, cell, m) for m in (OURS, "naive_bayes", "majority"))
        gaps[cell] = ours - max(bayes, majority)
    below = {cell: gap for cell, gap in gaps.items() if gap < -ONE_POINT}
    where = [f"{c[0]}, {c[1]} voters, {c[2]} classes, {c[3]} labels ({g:+.3f})"
             for c, g in below.items()]  # fmt: skip
    return (
        f"In {len(gaps)} cells the mean difference from the better of naive Bayes and majority "
        f"vote is {np.mean([*gaps.values()]):+.3f}. It is below minus one point in "
        f"{listed(where) if where else 'no cell'}."
    )


def rates_table(results: Sequence[RateResult]) -> str:
    """Return how often intervals hold, and their mean length."""
    rows = [["data, labels", "estimate: holds", "mean length", "guarantee: holds", "mean length"]]
    for data, n_labels in CASES:
        texts = []
        for kind in ("estimate", "guarantee"):
            own = [r for r in results if (r.data, r.n_labels, r.kind) == (data, n_labels, kind)]
            if not own:
                texts += ["-", "-"]
                continue
            texts.append(f"{np.mean([r.holds for r in own]):.1%}")
            texts.append(f"{np.mean([r.upper - r.lower for r in own]):.3f}")
        rows.append([f"{data}, {n_labels}", *texts])
    return markdown_table(rows)


def describe_rates(results: Sequence[RateResult]) -> str:
    """Return how often intervals hold, over all sets."""
    held = {
        kind: float(np.mean([r.holds for r in results if r.kind == kind]))
        for kind in ("estimate", "guarantee")
    }
    return (
        f"Estimates hold in {held['estimate']:.1%} of all draws, guarantees in "
        f"{held['guarantee']:.1%}."
    )
