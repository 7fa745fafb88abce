"""The page of the bounds: docs/bounds.md, from the results of `benchmarks.bounds_table`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.figures import when, with_what
from benchmarks.finishing import BARGAIN, LEVEL, MAX_ERRORS, PROCEDURES, QUESTIONS
from benchmarks.pages import (
    DOCS,
    FIGURES,
    NOT_RUN,
    bullets,
    listed,
    markdown_table,
    save_figure,
    write_sections,
)  # fmt: skip

PAGE, FIGURE = DOCS / "bounds.md", FIGURES / "bounds.png"
MODELS = {"trees": "trees", "default": "default classifier", "votes": "votes"}
SHOWN = ((200, 0.05), (1000, 0.05), (1000, 0.01))
ALLOWED = 1 - LEVEL
Setting = tuple[int, float]  # labels, largest error


def procedures(among: str) -> list[str]:
    """Return the procedures for a question, ours first."""
    own = [name for question, name in PROCEDURES if question == among]
    return sorted([*own, *BARGAIN], key=["ours", *own[1:-1], *BARGAIN, "tuned"].index)


def cells(results: Sequence[Any], model: str, among: str, name: str, setting: Setting) -> Any:
    """Return shares, and how often they are broken, of data sets; and if that is too often.

    It has the shape (n_sets, 3). Too often is three standard errors more than promised.
    """
    n_labels, most = setting
    key, found = (model, among, name, n_labels), []
    for one in results:
        if (one.model, one.among, one.procedure, one.n_labels) == key:
            share, broken = (getattr(one, f"{x}_{100 * most:g}") for x in ("share", "broken"))
            margin = 3 * np.sqrt(ALLOWED * LEVEL / one.n_splits)
            found.append((100 * share, 100 * broken, broken > ALLOWED + margin))
    return np.array(found).reshape(-1, 3)


def settings(results: Sequence[Any]) -> list[Setting]:
    """Return numbers of labels and largest errors that were run."""
    return [(n, most) for n in sorted({one.n_labels for one in results}) for most in MAX_ERRORS]


def table(results: Sequence[Any], columns: Sequence[tuple[str, str, str, str]]) -> str:
    """Return mean shares, how often they are broken in parentheses; columns have a title first."""
    rows = [["labels, largest error", *(title for title, *_ in columns)]]
    for setting in settings(results):
        found = [cells(results, *key, setting) for _, *key in columns]
        if any(map(len, found)):
            shown = [
                f"{x[:, 0].mean():.1f} ({x[:, 1].mean():.1f})" if len(x) else "" for x in found
            ]
            rows.append([f"{setting[0]:,}, {100 * setting[1]:g}%", *shown])
    return markdown_table(rows)


def finding(results: Sequence[Any], among: str) -> str:
    """Return how often each procedure breaks its promise, over all models and settings."""
    lines = []
    for name in procedures(among):
        parts = [
            cells(results, model, among, name, setting)
            for model in MODELS
            for setting in settings(results)
        ]
        found = np.concatenate(parts)
        if len(found):
            lines.append(
                f"{name}: broken in {found[:, 1].mean():.1f}% of all files; significantly more "
                f"often than promised in {int(found[:, 2].sum())} of {len(found)} settings"
            )
    return bullets(*lines)


def draw(results: Sequence[Any]) -> Figure:
    """Return dots for data sets, hollow where promises are broken, and lines for medians."""
    names = procedures("file")
    figure = Figure(figsize=(10.0, 3.4), layout="constrained")
    axes = figure.subplots(1, len(SHOWN), sharex=True, sharey=True)
    for ax, setting in zip(axes, SHOWN, strict=True):
        for y, name in enumerate(names):
            found = cells(results, "trees", "file", name, setting)
            if not len(found):
                continue
            color = "#0072B2" if name.startswith("ours") else "0.35"
            faces = np.where(found[:, 2] > 0, "none", color)
            ax.scatter(found[:, 0], np.full(len(found), y), c=faces, edgecolors=color, s=26)
            ax.plot([np.median(found[:, 0])] * 2, [y - 0.35, y + 0.35], color=color, linewidth=2)
        ax.set_title(f"{setting[0]:,} labels, at most {100 * setting[1]:g}% wrong", fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color="0.93")
        ax.set_axisbelow(True)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    axes[1].set_xlabel("rows that need no review, % of the unlabeled ones")
    return figure


def sections(results: Sequence[Any]) -> dict[str, str]:
    """Return the text of each section of the page."""
    if not results:
        return dict.fromkeys(("file", "automatic", "models", "when"), NOT_RUN)
    parts = {
        among: table(results, [(name, "trees", among, name) for name in procedures(among)])
        + f"\n\n{finding(results, among)}"
        for among in QUESTIONS
    }
    columns = [
        (f"{title}, {words}", model, among, "ours")
        for model, title in MODELS.items()
        for among, words in zip(QUESTIONS, ("file", "automatic"), strict=True)
        if model != "trees"
    ]
    names = {
        title: sorted({one.data for one in results if one.model == model})
        for model, title in MODELS.items()
    }
    said = [f"{title}: {listed(own)}" for title, own in names.items() if own]
    parts["models"] = f"{table(results, columns)}\n\n{bullets(*said)}"
    return parts | {"when": f"Measured on {when(results)} with {with_what(results)}."}


def write(results: Sequence[Any]) -> None:
    """Write the sections of the page, and its figure."""
    write_sections(PAGE, sections(results))
    save_figure(draw(results), FIGURE)
