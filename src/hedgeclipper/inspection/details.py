"""Sections of the report with technical details: how the error is measured, weights, settings."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.calibration import CalibrationDisplay

from hedgeclipper.inspection import rendering
from hedgeclipper.inspection.comparison import Comparison
from hedgeclipper.inspection.display import BLUE
from hedgeclipper.inspection.subject import Subject
from hedgeclipper.inspection.voters import VoterDisplay

LONGEST_VALUE = 90
MOST_VOTERS, MOST_POINTS = 25, 1_000
CALIBRATION_BINS = 5
# part of the height that the bars of the counts take
BAR_HEIGHT = 0.18


def details(subject: Subject, found: Comparison | None) -> dict[str, Any]:
    """Return the data of these sections, in the order of the page."""
    return {
        "error": _error(subject, found),
        "voters": _voters(subject),
        "contradictions": _contradictions(subject),
        "data": _data(subject),
    }


def _error(subject: Subject, found: Comparison | None) -> dict[str, Any]:
    """Return the calibration while labels were held out."""
    svg, classes = None, subject.classes
    if found is not None and classes.size == 2:
        label, own = "Observed frequency against predicted probability", found.probabilities
        y, positive = classes[found.codes], own[found.model][:, 1]
        svg = rendering.figure(label, _draw_calibration, y, positive, classes[1])
    return {"calibration": svg}


def _draw_calibration(y: np.ndarray, probabilities: np.ndarray, label: Any, *, ax: Any) -> None:
    """Draw scikit-learn's calibration curve of a class, and how many rows are in each bin."""
    options = {"n_bins": CALIBRATION_BINS, "pos_label": label, "ax": ax, "color": BLUE}
    CalibrationDisplay.from_predictions(y, probabilities, **options)
    ax.get_legend().remove()
    counts, edges = np.histogram(probabilities, CALIBRATION_BINS, (0.0, 1.0))
    middles, heights = (edges[:-1] + edges[1:]) / 2, BAR_HEIGHT * counts / counts.max()
    bars = ax.bar(middles, heights, 0.03, color=BLUE, alpha=0.3)
    # one number is enough to read all bars by
    labels = [""] * counts.size
    labels[counts.argmax()] = f"{counts.max():,} rows"
    ax.bar_label(bars, labels, padding=2, fontsize="small")
    ax.set(
        xlabel=f"predicted probability of class {label}",
        ylabel=f"observed frequency of class {label}",
        xlim=(-0.02, 1.02),
        ylim=(0.0, 1.02),
    )


def _voters(subject: Subject) -> dict[str, Any]:
    """Return which voters matter: a figure, and a table that can be sorted."""
    voters = subject.model.voters
    order = np.argsort(-voters.contributions, kind="stable")
    heaviest = np.cumsum(voters.contributions[order])
    plotted = voters.take(order[:MOST_POINTS])
    label = f"Weight of each {voters.kind} against its correlation with labels"
    return {
        "n_with_weight": int(np.sum(voters.weights != 0)),
        "n_half": int(np.searchsorted(heaviest, heaviest[-1] / 2)) + 1 if heaviest.size else 0,
        # thousands of points would only make the page slow
        "n_plotted": len(plotted.names),
        "figure": rendering.figure(label, VoterDisplay.from_table, plotted),
        "columns": _voter_columns(subject, order[:MOST_VOTERS]),
    }


def _voter_columns(subject: Subject, order: np.ndarray) -> list[tuple[str, Any]]:
    """Return the columns of the table of these voters, by name."""
    shown = subject.model.voters.take(order)
    columns: list[tuple[str, Any]] = [(shown.kind, shown.names)]
    if shown.targets is not None:
        columns.append(("class", [str(target) for target in shown.targets]))
    columns += [
        ("contribution", [rendering.proportion(value) for value in shown.contributions]),
        ("weight", shown.weights),
        ("correlation", shown.correlations),
    ]
    if shown.errors is not None:
        columns.append(("± standard error", shown.errors))
    if shown.coverage is not None:
        columns.append(("awake on", [rendering.proportion(value) for value in shown.coverage]))
    return [*columns, *shown.more.items()]


def _contradictions(subject: Subject) -> dict[str, Any]:
    """Return relaxed voters, voters against labels or others, and a shift."""
    model, voters = subject.model, subject.model.voters
    against, apart = [], []
    if model.kind != "forest":
        errors = voters.errors if voters.errors is not None else 0.0
        against = np.flatnonzero(voters.correlations + errors < 0).tolist()
        agreement = np.array(voters.more.get("agreement", []), dtype=float)
        apart = np.flatnonzero(agreement < 0).tolist()
    return {
        "relaxed": model.contradicting,
        "against_labels": [voters.names[k] for k in against],
        "against_others": [voters.names[k] for k in apart],
        "shift_score": model.shift_score,
    }


def _data(subject: Subject) -> dict[str, Any]:
    """Return labels by class, and the parameters that differ from the default."""
    labels, changed = [], []
    if subject.y is not None:
        labels = [f"{np.sum(subject.y == k):,} of class {k}" for k in subject.classes]
    default = type(subject.estimator)().get_params(deep=False)
    for name, value in subject.estimator.get_params(deep=False).items():
        if repr(value) != repr(default[name]):
            text = " ".join(repr(value).split())
            is_long = len(text) > LONGEST_VALUE
            changed.append((name, text[: LONGEST_VALUE - 3] + "..." if is_long else text))
    n_columns = None if subject.is_votes else subject.estimator.n_features_in_
    return {
        "labels": labels,
        "n_columns": n_columns,
        "stop_reasons": sorted(set(subject.model.stop_reasons)),
        "changed": changed,
    }
