"""What was promised and what happened: the README, docs/benchmarks.md and two pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from benchmarks.figures import when, with_what
from benchmarks.finishing import BARGAIN, LEVEL, MAX_ERRORS, PROCEDURES
from benchmarks.pages import (
    FIGURES,
    NOT_RUN,
    listed,
    markdown_table,
    save_figure,
    write_pages,
)  # fmt: skip

MODELS = ("trees", "default", "votes")
SHOWN = ((200, 0.05), (1000, 0.05), (1000, 0.01))
MAIN_ERROR = 0.05  # of the README's picture
ALLOWED = 1 - LEVEL
BLUE, ORANGE = "#0072B2", "#D55E00"
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


def numbers_of_labels(results: Sequence[Any]) -> list[int]:
    """Return the numbers of labels that were run."""
    return sorted({one.n_labels for one in results})


def settings(results: Sequence[Any]) -> list[Setting]:
    """Return numbers of labels and largest errors that were run."""
    return [(n, most) for n in numbers_of_labels(results) for most in MAX_ERRORS]


def table(results: Sequence[Any], columns: Sequence[tuple[str, str, str, str, float]]) -> str:
    """Return mean shares, how often they are broken in parentheses.

    Columns have a title, the model, the question, the procedure and the largest error.
    """
    rows = [["labels", *(title for title, *_ in columns)]]
    for n_labels in numbers_of_labels(results):
        found = [cells(results, *key, (n_labels, most)) for _, *key, most in columns]
        shown = [f"{x[:, 0].mean():.0f} ({x[:, 1].mean():.0f})" if len(x) else "" for x in found]
        rows.append([f"{n_labels:,}", *shown])
    return markdown_table(rows)


def overall(results: Sequence[Any], among: str, name: str) -> Any:
    """Return the cells of a procedure in all models and settings."""
    parts = [
        cells(results, model, among, name, setting)
        for model in MODELS
        for setting in settings(results)
    ]
    return np.concatenate(parts)


def compared(results: Sequence[Any]) -> str:
    """Return the procedures beside each other, and how often each breaks its promise in all."""
    names = procedures("file")
    found = [overall(results, "file", name) for name in names]
    last = [
        ["broken, all settings", *(f"{x[:, 1].mean():.1f}%" if len(x) else "" for x in found)],
        ["significantly, settings", *(f"{int(x[:, 2].sum())} of {len(x)}" for x in found)],
    ]
    own = table(results, [(name, "default", "file", name, MAIN_ERROR) for name in names])
    return own + "".join("\n| " + " | ".join(row) + " |" for row in last)


def draw(results: Sequence[Any]) -> Figure:
    """Return dots for data sets, hollow where promises are broken, and lines for medians."""
    names = procedures("file")
    figure = Figure(figsize=(10.0, 3.4), layout="constrained")
    axes = figure.subplots(1, len(SHOWN), sharex=True, sharey=True)
    for ax, setting in zip(axes, SHOWN, strict=True):
        for y, name in enumerate(names):
            found = cells(results, "default", "file", name, setting)
            if not len(found):
                continue
            color = BLUE if name.startswith("ours") else "0.35"
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


def draw_promise(results: Sequence[Any]) -> Figure:
    """Return the README's picture: broken promises and rows without review, by labels.

    A dot is a data set; lines are means. Dots of the two procedures are beside each other.
    """
    figure = Figure(figsize=(7.6, 3.9), layout="constrained")
    axes = figure.subplots(1, 2, sharex=True)
    labels = numbers_of_labels(results)
    titles = {
        "ours": ("HedgeClipper", BLUE, "o", 0.93),
        "tuned": ("tuned threshold", ORANGE, "s", 1.07),
    }
    for name, (title, color, marker, shift) in titles.items():
        found = [cells(results, "default", "file", name, (n, MAIN_ERROR)) for n in labels]
        for ax, column in zip(axes, (1, 0), strict=True):
            for n, part in zip(labels, found, strict=True):
                x = np.full(len(part), n * shift)
                ax.scatter(x, part[:, column], s=24, color=color, marker=marker, alpha=0.45, lw=0)
            means = [part[:, column].mean() for part in found]
            x = shift * np.array(labels)
            ax.plot(x, means, color=color, marker=marker, ms=8, lw=2.2, label=title, zorder=3)
    broken, rows = axes
    broken.axhline(100 * ALLOWED, color="0.2", linestyle="--", linewidth=1.3)
    words = f"promised: at most {100 * ALLOWED:.0f}%"
    broken.text(labels[0], 13, words, fontsize=12)
    broken.set_title(f"Files with more than {100 * MAIN_ERROR:g}% wrong labels", fontsize=13)
    broken.set_ylabel("% of files", fontsize=13)
    rows.set_title("Rows that need no review", fontsize=13)
    rows.set_ylabel("% of rows", fontsize=13)
    rows.legend(frameon=False, fontsize=13, loc="lower right")
    for ax in axes:
        ax.set(xscale="log", ylim=(-3, 103))
        ax.set_xticks(labels, [f"{n:,}" for n in labels], fontsize=12)
        ax.xaxis.set_minor_locator(NullLocator())
        ax.tick_params(axis="y", labelsize=12)
        ax.set_xlabel("labels by hand, drawn at random", fontsize=13)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def describe_promise(results: Sequence[Any]) -> str:
    """Return what the README's picture shows, in sentences."""
    labels, sets = numbers_of_labels(results), {r.data for r in results if r.model == "default"}
    parts = {
        name: [cells(results, "default", "file", name, (n, MAIN_ERROR)) for n in labels]
        for name in ("ours", "tuned")
    }
    ours, tuned = (np.concatenate(parts[name]) for name in ("ours", "tuned"))
    n_files = sum(
        r.n_splits
        for r in results
        if (r.model, r.among, r.procedure) == ("default", "file", "ours")
    )
    least, most = (parts["ours"][at][:, 0].mean() for at in (0, -1))
    return (
        f"{len(sets)} real data sets, {labels[0]:,} to {labels[-1]:,} labels, {n_files:,} finished "
        f"files. The promise is that at most {100 * MAIN_ERROR:g}% of the labels in the "
        f"finished file are wrong, with {100 * LEVEL:.0f}% confidence. HedgeClipper broke it in "
        f"{ours[:, 1].mean():.1f}% of the files, and left {least:.0f}% ({labels[0]:,} labels) to "
        f"{most:.0f}% ({labels[-1]:,} labels) of the rows to the model. A threshold tuned on the "
        f"same held-out labels broke it in {tuned[:, 1].mean():.0f}% of the files."
    )


def sections(results: Sequence[Any]) -> dict[str, str]:
    """Return the text of each section of docs/benchmarks.md."""
    if not results:
        return dict.fromkeys(("file", "limits", "bounds-when"), NOT_RUN)
    limits = [
        (f"{words}, {100 * most:g}%", model, among, "ours", most)
        for words, model, among, errors in (
            ("file", "default", "file", (0.01, 0.1)),
            ("automatic labels alone", "default", "automatic", (0.05,)),
            ("file of votes", "votes", "file", (0.05,)),
        )
        for most in errors
    ]
    names = {
        title: listed(sorted({one.data for one in results if one.model == model}))
        for title, model in (("Tables", "default"), ("Votes", "votes"))
        if any(one.model == model for one in results)
    }
    return {
        "file": compared(results),
        "limits": table(results, limits),
        "bounds-when": " ".join(f"{title}: {own}." for title, own in names.items())
        + f" Measured on {when(results)} with {with_what(results)}.",
    }


def pages(results: Sequence[Any]) -> dict[str, dict[str, str]]:
    """Return the sections by page; on two are the sentences below the README's picture."""
    promise = {"promise": describe_promise(results) if results else NOT_RUN}
    return {"docs/benchmarks.md": sections(results), "README.md": promise, "docs/index.md": promise}


def write(results: Sequence[Any]) -> None:
    """Write the sections of the pages, and the pictures."""
    write_pages(pages(results))
    save_figure(draw(results), FIGURES / "bounds.png")
    save_figure(draw_promise(results), FIGURES / "promise.png")
