"""The page of the bounds: docs/bounds.md, from the results of `benchmarks.bounds_table`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.bounds_table import MAX_ERRORS, N_SPLITS, SIMPLE
from benchmarks.figures import when, with_what
from benchmarks.pages import DOCS, NOT_RUN, bullets, markdown_table, write_sections

NAMES = {"hedgeclipper": "HedgeClipper", "votes": "votes"}
PAGE = DOCS / "bounds.md"
Cells = dict[tuple[str, int, str], list[Any]]  # data, labels, method -> results of all draws


def write(results: Sequence[Any]) -> None:
    """Write the sections of the page."""
    write_sections(PAGE, sections(results))


def sections(results: Sequence[Any]) -> dict[str, str]:
    """Return the text of each section of the page."""
    cells: Cells = {}
    for one in sorted(results, key=lambda one: (one.data, one.n_labels, one.draw)):
        cells.setdefault((one.data, one.n_labels, one.method), []).append(one)
    return {
        "guarantee": f"{guarantee_table(cells)}\n\n{_findings(cells, guarantee_finding)}",
        "estimate": f"{estimate_table(cells)}\n\n{_findings(cells, estimate_finding)}",
        "automatic labels": f"{label_table(cells)}\n\n{_findings(cells, label_finding)}",
        "when": f"Measured on {when(results)} with {with_what(results)}.",
    }


def _findings(cells: Cells, describe: Any) -> str:
    lines = []
    for method, name in NAMES.items():
        groups = [found for key, found in cells.items() if key[2] == method]
        lines.append(f"For {name} {describe(groups)}" if groups else f"{name}: {NOT_RUN[:-1]}")
    return bullets(*lines)


def _mean(found: Sequence[Any], name: str) -> float:
    return float(np.mean([getattr(one, name) for one in found]))


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _rows(cells: Cells) -> list[tuple[str, int, str]]:
    """Return data, number of labels and method of the rows of the tables."""
    return [key for method in NAMES for key in cells if key[2] == method]


def guarantee_table(cells: Cells) -> str:
    """Return guarantees beside the truth and what is done by hand, on the same draws."""
    rows = [["rows, labels", "method", "error", "at most", "holds", "by hand: error", "at most"]]
    for key in _rows(cells):
        simple = cells[*key[:2], SIMPLE[key[2]]]
        figures = [_mean(cells[key], name) for name in ("error", "guarantee", "covered")]
        figures += [_mean(simple, name) for name in ("error", "guarantee")]
        rows.append([f"{key[0]}, {key[1]:,}", NAMES[key[2]], *map(_percent, figures)])
    return markdown_table(rows)


def guarantee_finding(groups: list[list[Any]]) -> str:
    """Return how often the guarantees hold."""
    ours = [one for group in groups for one in group]
    held = float(np.mean([one.guarantee >= one.error for one in ours]))
    return (
        f"the bound holds in {_percent(_mean(ours, 'covered'))}% of {len(ours) * N_SPLITS:,} "
        f"splits and in {_percent(held)}% of the {len(ours)} fits"
    )


def root_mean_square(found: Sequence[Any], name: str) -> float:
    """Return the root of the mean square difference of an estimate from the error."""
    return float(
        np.sqrt(np.mean([(getattr(one, name) - one.estimated_error) ** 2 for one in found]))
    )


def _coverage(found: Sequence[Any]) -> float:
    """Return how often the interval of an estimate has the truth in it."""
    inside = [one.estimate_lower <= one.estimated_error <= one.estimate_upper for one in found]
    return float(np.mean(inside))


def estimate_table(cells: Cells) -> str:
    """Return estimates beside the truth."""
    rows = [["rows, labels", "method", "error", "estimate", "RMSE", "uncorrected RMSE", "covers"]]
    for key in _rows(cells):
        found = cells[key]
        figures = [_mean(found, name) for name in ("estimated_error", "estimate")]
        figures += [root_mean_square(found, name) for name in ("estimate", "out_of_sample")]
        figures.append(_coverage(found))
        rows.append([f"{key[0]}, {key[1]:,}", NAMES[key[2]], *map(_percent, figures)])
    return markdown_table(rows)


def estimate_finding(groups: list[list[Any]]) -> str:
    """Return how often intervals of estimates cover the error, and what the correction brings."""
    ours = [one for group in groups for one in group]
    errors = [
        100 * np.mean([root_mean_square(group, name) for group in groups])
        for name in ("estimate", "out_of_sample")
    ]
    return (
        f"the 95% interval covers the error in {_percent(_coverage(ours))}% of {len(ours)} fits. "
        f"The root mean square error of the estimate is {errors[0]:.2f} points on average, that of "
        f"the uncorrected out-of-sample error {errors[1]:.2f}"
    )


def label_table(cells: Cells) -> str:
    """Return the proportion of rows labeled automatically, and how often too many are wrong."""
    rows = [["labels", "method", "max_error", "labeled", "broken", "tuned: labeled", "broken"]]
    for n_labels, method in sorted({(key[1], key[2]) for key in _rows(cells)}):
        ours = [
            one for key, found in cells.items() if key[1:] == (n_labels, method) for one in found
        ]
        for most in MAX_ERRORS:
            names = [f"labeled_{100 * most:g}", f"broken_{100 * most:g}"]
            figures = [_mean(ours, name) for name in (*names, *(f"tuned_{n}" for n in names))]
            cell = [f"{n_labels:,}", NAMES[method], f"{100 * most:g}%"]
            rows.append([*cell, *map(_percent, figures)])
    return markdown_table(rows)


def label_finding(groups: list[list[Any]]) -> str:
    """Return how often automatic labels have more errors than allowed."""
    ours = [one for group in groups for one in group]
    names = [f"broken_{100 * most:g}" for most in MAX_ERRORS]
    worst = max(getattr(one, name) for one in ours for name in names)
    return (
        f"more labels are wrong than allowed in {_percent(max(_mean(ours, n) for n in names))}% of "
        f"the splits, in the worst fit in {_percent(worst)}%"
    )
