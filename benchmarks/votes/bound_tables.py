"""How much suggested labels help, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.comparison import LEVEL, paired_p_value
from benchmarks.pages import bullets, listed, markdown_table
from benchmarks.votes.results import BoundResult
from benchmarks.votes.suggestions import CHOICES, DATA, STEPS


def holds(result: BoundResult) -> bool:
    """Return whether the error is within the bounds, which have six digits."""
    return result.lower - 1e-6 <= result.error <= result.upper + 1e-6


def suggestions_table(results: Sequence[BoundResult]) -> str:
    """Return bound and error after each step."""
    rows = [["data, labels", *[f"{how}: {what}" for how in CHOICES for what in _COLUMNS]]]
    for name in DATA:
        for n_labels in STEPS:
            cells = [_after(results, name, n_labels, how) for how in CHOICES]
            if all(cells):
                rows.append([f"{name}, {n_labels}", *[text for cell in cells for text in cell]])
    return markdown_table(rows)


_COLUMNS = ("mean bound", "holds", "mean error", "void")


def _after(results: Sequence[BoundResult], name: str, n_labels: int, choice: str) -> list[str]:
    own = [r for r in results if (r.data, r.n_labels, r.choice) == (name, n_labels, choice)]
    if not own:
        return []
    bound, error = (f"{np.mean([getattr(r, m) for r in own]):.3f}" for m in ("upper", "error"))
    rate = np.mean([holds(r) for r in own])
    return [bound, f"{rate:.1%}", error, str(sum(r.kind == "void" for r in own))]


def describe_suggestions(results: Sequence[BoundResult]) -> str:
    """Return whether suggested labels give a lower bound than random ones, and a lower error."""
    return bullets(
        _suggestion_gain(results, "upper", "bound"), _suggestion_gain(results, "error", "error")
    )


def _suggestion_gain(results: Sequence[BoundResult], field: str, what: str) -> str:
    random, suggested = (_last_figures(results, field, how) for how in CHOICES)
    draws = sorted(set(random) & set(suggested))
    ours, theirs = (np.array([found[d] for d in draws]) for found in (suggested, random))
    names = np.array([name for name, _ in draws])
    gains = {name: float((theirs - ours)[names == name].mean()) for name in dict.fromkeys(names)}
    gain = float((theirs - ours).mean())
    is_significant = gain > 0 and paired_p_value(ours, theirs) < LEVEL
    significance = "significant" if is_significant else "not significant"
    return (
        f"Suggested labels reduce the {what} with {STEPS[-1]} labels by {gain:.3f} on average "
        f"({significance}; {len(draws)} draws; a void bound counts as 1); by set: "
        + listed([f"{by:.3f} ({name})" for name, by in gains.items()])
    )


def _last_figures(
    results: Sequence[BoundResult], field: str, choice: str
) -> dict[tuple[str, int], float]:
    key = (STEPS[-1], choice)
    return {(r.data, r.draw): getattr(r, field) for r in results if (r.n_labels, r.choice) == key}
