"""Writes the section on other methods of docs/benchmarks.md, and its picture, from the results.

python -m benchmarks.rivals.page
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.figures import OURS, when, with_what
from benchmarks.pages import (
    FIGURES,
    NOT_RUN,
    listed,
    markdown_table,
    save_figure,
    write_pages,
)
from benchmarks.results_file import Result, read_results
from benchmarks.run_table import BUSY, COMPARISONS, KINDS, METHODS

RESULTS, RIVALS = COMPARISONS["rivals"].results, COMPARISONS["rivals"].methods
TITLES = {"paper": "the paper's data", "other": "other data", "csv": "CSV files"}
KIND_OF = {row: kind for kind, rows in KINDS.items() for row in rows}

MEASURES = {"auc": "AUC", "log_loss": "Log loss"}
SIGNS = {"auc": 1, "log_loss": -1}  # of what is better
# Okabe and Ito's colors, told apart by the color-blind; the markers differ as well.
STYLES = {"paper": ("#0072B2", "o"), "other": ("#D55E00", "s"), "csv": ("#009E73", "^")}
# Differences beyond this are drawn at the edge, hollow.
LIMITS = {"auc": 0.15, "log_loss": 0.3}
IN_README = ("autogluon", "tabpfn", "lightgbm-few-labels")
PICTURE = "rivals.png"
ALT = "Each setting as a dot: the difference in AUC and in log loss between HedgeClipper and others"


def paired(results: Sequence[Result], name: str, measure: str) -> pd.DataFrame:
    """Return means by setting of a figure, for ours and one other method, on draws both have.

    Times that were taken beside other load are left out.
    """
    kept = [r for r in results if measure != "seconds" or not r.versions.endswith(BUSY)]
    own = [{**vars(result), "value": getattr(result, measure)} for result in kept]
    found = pd.DataFrame(own, columns=["data", "n_labels", "draw", "method", "value"])
    by_draw = found.pivot(index=["data", "n_labels", "draw"], columns="method", values="value")
    both = by_draw.reindex(columns=[OURS, name]).dropna()
    return both.groupby(["data", "n_labels"]).mean()


def others(results: Sequence[Result]) -> dict[str, str]:
    """Return names and titles of the methods that can be compared with ours."""
    names = [name for name in RIVALS if name != OURS and len(paired(results, name, "auc"))]
    return {name: METHODS[name].title for name in names}


def figure_table(results: Sequence[Result], measure: str) -> str:
    """Return means of a figure, and mean and median of the difference, for each other method.

    Methods whose results lack the figure are left out.
    """
    head = ["settings", "its mean", "HedgeClipper", "difference", "median", "better in"]
    rows = [[f"{MEASURES[measure]}, compared with", *head]]
    for name, title in others(results).items():
        means = paired(results, name, measure)
        if means.empty:
            continue
        gains = means[OURS] - means[name]
        better = f"{(SIGNS[measure] * gains > 0).sum()} of {len(means)}"
        averages = [f"{means[column].mean():.3f}" for column in (name, OURS)]
        changes = [f"{gains.mean():+.3f}", f"{gains.median():+.3f}"]
        rows.append([title, str(len(means)), *averages, *changes, better])
    return markdown_table(rows) if len(rows) > 1 else ""


def time_table(results: Sequence[Result]) -> str:
    """Return mean seconds, and the median ratio to ours; nothing if no times are comparable."""
    rows = [["Seconds, compared with", "settings", "its mean", "HedgeClipper", "median ratio"]]
    for name, title in others(results).items():
        means = paired(results, name, "seconds")
        if len(means):
            averages = [f"{means[column].mean():.1f}" for column in (name, OURS)]
            ratio = f"{(means[name] / means[OURS]).median():.2f}"
            rows.append([title, str(len(means)), *averages, ratio])
    return markdown_table(rows) if len(rows) > 1 else ""


def findings(results: Sequence[Result]) -> str:
    """Return the section: what was run, the picture, and the tables."""
    own = [result for result in results if result.method == OURS]
    if not others(results):
        return NOT_RUN
    times = time_table(results) or "Times were taken beside other load and are left out."
    run = (
        f"HedgeClipper was run on {when(own)} with {with_what(own)}, the others on "
        f"{when([result for result in results if result.method != OURS])}."
    )
    tables = [figure_table(results, measure) for measure in MEASURES]
    return "\n\n".join([run, f"![{ALT}](figures/{PICTURE})", *filter(None, tables), times])


def read(folder: Path = RESULTS.parent) -> list[Result]:
    """Return the results of settings that are compared."""
    return [one for one in read_results(folder / RESULTS.name) if one.key[:2] in KIND_OF]


def describe_in_short(folder: Path = RESULTS.parent) -> str:
    """Return the README's sentence: in how many settings ours is better, and medians."""
    results = read(folder)
    said = []
    for name in (n for n in IN_README if n in others(results)):
        means = paired(results, name, "auc")
        gains = means[OURS] - means[name]
        better = f"{(gains > 0).sum()} of {len(gains)} settings"
        said.append(f"{METHODS[name].title} in {better} (median {gains.median():+.3f})")
    if not said:
        return ""
    return f"On the same labels its AUC is higher than that of {listed(said)}."


def draw_differences(results: Sequence[Result]) -> Figure:
    """Return the picture: each setting as a dot, right of 0 where ours is better."""
    titles = others(results)
    figure = Figure(figsize=(10.0, 1.6 + 0.55 * len(titles)), layout="constrained")
    axes = figure.subplots(1, len(LIMITS), sharey=True)
    for ax, (measure, limit) in zip(axes, LIMITS.items(), strict=True):
        for place, name in enumerate(titles):
            means = paired(results, name, measure)
            gains = SIGNS[measure] * (means[OURS] - means[name])
            _dots(ax, gains, place, limit)
        ax.axvline(0.0, color="0.3", linewidth=1.0, zorder=1)
        ax.set_xlim(-1.08 * limit, 1.08 * limit)
        worse = "lower" if SIGNS[measure] < 0 else "higher"
        name = MEASURES[measure] if measure == "auc" else MEASURES[measure].lower()
        ax.set_xlabel(f"HedgeClipper has {worse} {name} by")
        ax.grid(axis="y", color="0.92")
        ax.set_axisbelow(True)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(left=False)
    axes[0].set_yticks(range(len(titles)), list(titles.values()))
    axes[0].invert_yaxis()
    for kind, (color, marker) in STYLES.items():
        axes[0].scatter([], [], color=color, marker=marker, alpha=0.7, label=TITLES[kind])
    axes[0].plot([], [], color="black", linewidth=2.5, label="median")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _dots(ax, gains: pd.Series, place: int, limit: float) -> None:
    """Draw the settings of one method, those of a kind on a line, and their median."""
    for offset, (kind, (color, marker)) in zip((-0.2, 0.0, 0.2), STYLES.items(), strict=True):
        own = gains[[KIND_OF[row] == kind for row in gains.index]]
        is_beyond = np.abs(own) > limit
        for x, fill in ((own[~is_beyond], color), (np.sign(own[is_beyond]) * limit, "none")):
            y = np.full(len(x), place + offset)
            style = {"facecolors": fill, "edgecolors": color, "marker": marker, "alpha": 0.7}
            ax.scatter(x, y, s=22, zorder=2, **style)
    middle = float(np.clip(gains.median(), -limit, limit))
    ax.plot([middle, middle], [place - 0.34, place + 0.34], color="black", linewidth=2.5, zorder=3)


def pages() -> dict[str, dict[str, str]]:
    """Return the section by page; `table_page` writes the README's sentence."""
    return {"docs/benchmarks.md": {"rivals": findings(read())}}


if __name__ == "__main__":
    if others(read()):
        save_figure(draw_differences(read()), FIGURES / PICTURE)
    write_pages(pages())
