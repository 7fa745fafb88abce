"""What the sections about data, rows and voters show; their texts are in the templates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from hedgeclipper.inspection.margins import MarginDisplay, count_clipped, hedged_range_of
from hedgeclipper.inspection.rendering import (
    NOT_KNOWN,
    Cell,
    figure,
    plain,
    proportion,
    whole,
)
from hedgeclipper.inspection.subject import Subject
from hedgeclipper.inspection.voters import VoterDisplay

LONGEST_VALUE = 90
MOST_BARS = 12
MOST_UNCERTAIN, MOST_COLUMNS = 15, 4
MOST_VOTERS, MOST_POINTS = 25, 1_000


def data_section(subject: Subject) -> dict[str, Any]:
    """Return labels by class, and the parameters that differ from the default."""
    labels = []
    if subject.y is not None:
        labels = [f"{np.sum(subject.y == k):,} of class {k}" for k in subject.classes]
    default = type(subject.estimator)().get_params(deep=False)
    own = subject.estimator.get_params(deep=False)
    return {
        "labels": labels,
        "n_columns": None if subject.is_votes else subject.estimator.n_features_in_,
        "changed": [
            (name, _written(value))
            for name, value in own.items()
            if repr(value) != repr(default[name])
        ],
    }


def _written(value: Any) -> str:
    """Return a value as it is written in Python, cut off where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def proportions_section(subject: Subject) -> dict[str, Any] | None:
    """Return the classes with how many rows are predicted to be of each, most frequent first."""
    if subject.probabilities is None:
        return None
    codes = subject.probabilities.argmax(axis=1)
    predicted = np.bincount(codes, minlength=subject.classes.size) / codes.size
    expected = subject.probabilities.mean(axis=0)
    order = np.argsort(-predicted, kind="stable")[:MOST_BARS]
    bars = [(str(subject.classes[k]), float(predicted[k]), float(expected[k])) for k in order]
    return {"bars": bars, "n_left_out": subject.classes.size - order.size}


def margins_section(subject: Subject) -> dict[str, Any] | None:
    """Return the histogram of awake predictions, or with many classes of the best probability."""
    if subject.probabilities is None:
        return None
    if subject.awake is None:
        name, best = "probability of the most probable class", subject.probabilities.max(axis=1)
        return {"figure": figure(f"Histogram of the {name}", _draw_histogram, best, None, name)}
    clip_at = hedged_range_of(subject.estimator)
    name = "twice the probability, less one" if subject.is_votes else "awake prediction"
    label = "Histogram of the awake predictions"
    n_clipped = count_clipped(subject.awake, clip_at)
    return {
        "figure": figure(label, _draw_histogram, subject.awake, clip_at, name),
        "clipped": None if clip_at is None else n_clipped / subject.awake.size,
    }


def _draw_histogram(values: np.ndarray, clip_at: Any, name: str, *, ax: Any) -> None:
    MarginDisplay.from_predictions(None, values, clip_at=clip_at, bins=40, legend=False, ax=ax)
    ax.set_xlabel(name)


def voters_section(subject: Subject) -> dict[str, Any]:
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
        "figure": figure(label, VoterDisplay.from_table, plotted),
        "columns": _voter_columns(subject, order[:MOST_VOTERS]),
    }


def _voter_columns(subject: Subject, order: np.ndarray) -> list[tuple[str, Any]]:
    """Return the columns of the table of these voters, by name."""
    shown = subject.model.voters.take(order)
    columns: list[tuple[str, Any]] = [(shown.kind, shown.names)]
    if shown.targets is not None:
        columns.append(("class", [str(target) for target in shown.targets]))
    columns += [
        ("part of the result", [proportion(value) for value in shown.contributions]),
        ("weight", shown.weights),
        ("correlation", shown.correlations),
    ]
    if shown.errors is not None:
        columns.append(("± standard error", shown.errors))
    if shown.coverage is not None:
        columns.append(("awake on", [proportion(value) for value in shown.coverage]))
    return [*columns, *shown.more.items(), *subject.model.describe_voters(order).items()]


def uncertain_section(subject: Subject) -> dict[str, Any] | None:
    """Return the rows whose two most probable classes are closest."""
    if subject.probabilities is None:
        return None
    best_two = np.sort(subject.probabilities, axis=1)[:, ::-1][:, :2]
    margins = best_two[:, 0] - best_two[:, 1]
    covered = np.arange(margins.size)
    if subject.is_votes:
        covered = np.flatnonzero(subject.unlabeled.counts().sum(axis=1) > 0)
    rows = covered[np.argsort(margins[covered], kind="stable")[:MOST_UNCERTAIN]]
    predicted = subject.classes[subject.probabilities[rows].argmax(axis=1)]
    columns = [
        ("row", [_which_row(subject, row) for row in rows]),
        ("prediction", [str(label) for label in predicted]),
        ("its probability", [proportion(value) for value in best_two[rows, 0]]),
        *_values(subject, rows),
    ]
    return {
        "columns": columns,
        "n_shown": rows.size,
        "below_60": float(np.mean(best_two[:, 0] < 0.6)),
        "uncovered": 1.0 - covered.size / margins.size,
    }


def _which_row(subject: Subject, row: int) -> Cell:
    """Return the name of a row, or its number."""
    if subject.row_names is not None:
        return plain(subject.row_names[row])
    return NOT_KNOWN if subject.numbers is None else whole(subject.numbers[row])


def _values(subject: Subject, rows: np.ndarray) -> list[tuple[str, list[Cell]]]:
    """Return a few columns of the rows, where columns have names; of votes the counts."""
    if subject.is_votes:
        names = [f"votes for {label}" for label in subject.classes]
        part = subject.unlabeled.counts()[rows]
    elif hasattr(subject.estimator, "feature_names_in_"):
        names, X = subject.estimator.feature_names_in_.tolist(), subject.unlabeled
        if hasattr(X, "iloc"):
            part = X.iloc[rows, :MOST_COLUMNS].to_numpy(dtype=object)
        else:
            part = X[rows][:, :MOST_COLUMNS]
            part = part.toarray() if sparse.issparse(part) else part
    else:
        return []
    shown = range(min(MOST_COLUMNS, len(names)))
    return [(str(names[k]), [whole(value) for value in part[:, k]]) for k in shown]
