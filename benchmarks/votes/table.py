"""The table of votes, and what follows from it."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import numpy as np

from benchmarks.figures import (
    OURS,
    PairedFigures,
    Row,
    first_counts,
    row_name,
    when,
    with_what,
)
from benchmarks.pages import bullets, listed
from benchmarks.votes.data import BUDGETS, JUDGES, JUDGES_BUDGETS, SETS
from benchmarks.votes.methods import BF, METHODS

HALF_A_POINT = 0.005


class VoteFigures(PairedFigures):
    """The results of the table of votes; An and Dasgupta's setting is not compared."""

    order: ClassVar = [(name, n_labels) for name in SETS for n_labels in BUDGETS]
    titles: ClassVar = {name: method.title for name, method in METHODS.items()}
    outside, main_measure, command = (BF,), "accuracy", "make votes-table"

    def ties(self, row: Row, measure: str) -> list[str]:
        """Return the best and its ties; for times only the best, as a few draws show no ties."""
        if measure != "seconds":
            return super().ties(row, measure)
        names = [name for name in self.methods(without=self.outside) if self.has(row, name)]
        return [min(names, key=lambda name: self.mean(row, name, measure))]

    def behind(self, row: Row) -> float:
        """Return the lead of the most accurate other method, on the draws that both have."""
        ours = self.values(row, OURS, "accuracy")
        others = [n for n in self.methods(without=[OURS, *self.outside]) if self.has(row, n)]
        return float(max(np.nanmean(self.values(row, n, "accuracy") - ours) for n in others))

    def is_first(self, row: Row) -> bool:
        """Return whether ours is first, or tied and within half a point of the first."""
        return OURS in self.ties(row, "accuracy") and self.behind(row) <= HALF_A_POINT


class JudgeFigures(VoteFigures):
    """The results on the verdicts of language models."""

    order: ClassVar = [(JUDGES, n_labels) for n_labels in JUDGES_BUDGETS]


def describe_judges(figures: JudgeFigures) -> str:
    """Return where ours is behind the best, and which is first on average."""
    off = [
        row
        for row in figures.rows
        if figures.behind(row) > HALF_A_POINT and OURS not in figures.ties(row, "accuracy")
    ]
    means = {
        name: np.mean([figures.mean(row, name, "accuracy") for row in figures.rows])
        for name in figures.methods(without=[BF])
    }
    first = max(means, key=lambda name: means[name])
    where = f"with {listed([str(row[1]) for row in off])} labels" if off else "in no row"
    return bullets(
        f"HedgeClipper is significantly and by more than half a point below the best {where}",
        f"First on average is {METHODS[first].title}, {means[first]:.3f}",
    )


def describe_run(figures: VoteFigures) -> str:
    """Return when and with what it was run, and what was not."""
    draws = len({result.draw for result in figures.results})
    text = (
        f"Run on {when(figures.results)} with {with_what(figures.results)}. {draws} draws of the "
        "labels for each row."
    )
    reasons = Counter((r.method, r.reason) for r in figures.results if r.reason)
    lines = [
        f"- {METHODS[method].title}, {count} draw{'s' * (count > 1)}: {reason}."
        for (method, reason), count in sorted(reasons.items())
    ]
    return "\n".join([f"{text} Runs without a result:\n", *lines]) if lines else text


def describe_accuracy(figures: VoteFigures) -> str:
    """Return which methods are first, and where ours is not."""
    return f"{describe_first(figures, 'accuracy')}\n\n{findings_on_accuracy(figures)}"


def describe_first(figures: VoteFigures, measure: str) -> str:
    """Return in how many rows each method is first, and our mean gain over each."""
    first, alone = first_counts(figures, measure)
    methods = figures.methods(without=[BF])
    order = sorted(methods, key=lambda name: -first[name])
    counts = listed(
        [f"{METHODS[name].title} {first[name]} ({alone[name]} alone)" for name in order]
    )
    gains = [_gain(figures, name, measure) for name in methods if name != OURS]
    title = measure.replace("_", " ")
    return (
        f"First or tied with the first in {title}, of {len(figures.rows)} rows: {counts}. "
        f"Mean difference in {title} between HedgeClipper and each of the others: {listed(gains)}."
    )


def _gain(figures: VoteFigures, name: str, measure: str) -> str:
    gaps = [
        np.nanmean(figures.values(row, OURS, measure) - figures.values(row, name, measure))
        for row in figures.rows
        if figures.has(row, name)
    ]
    return f"{METHODS[name].title} {np.mean(gaps):+.3f}"


def findings_on_accuracy(figures: VoteFigures) -> str:
    """Return in how many rows ours is first or tied, and its mean."""
    rows = figures.rows
    if not rows:
        return ""
    not_first = [f"{row_name(row)} ({-figures.behind(row):+.3f})" for row in rows
                 if not figures.is_first(row)]  # fmt: skip
    n_first, mean = (
        len(rows) - len(not_first),
        np.mean([figures.mean(row, OURS, "accuracy") for row in rows]),
    )
    text = (
        "HedgeClipper is first, or not significantly worse and within half a point of the first, "
        f"in {n_first} of {len(rows)} rows; its mean accuracy is {mean:.4f}."
    )
    if not_first:
        text += f" The exceptions, with the difference from the first: {listed(not_first)}."
    return text


def describe_time(figures: VoteFigures) -> str:
    """Return the largest time and memory of each method."""
    parts = []
    for name in figures.methods(without=[BF]):
        runs = [r for r in figures.results if r.method == name and r.seconds == r.seconds]
        seconds, memory = max(r.seconds for r in runs), max(r.peak_mb for r in runs)
        parts.append(f"{METHODS[name].title} {seconds:.1f} s and {memory:.0f} MB")
    return f"Longest time and largest memory of a single run: {listed(parts)}."
