"""What the sections about the model show: error, contradictions, solver, and what to do next."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.calibration import CalibrationDisplay

from hedgeclipper.game.equations import relative_gap
from hedgeclipper.inspection.abstention import AbstentionDisplay
from hedgeclipper.inspection.comparison import Comparison
from hedgeclipper.inspection.passes import ConvergenceDisplay
from hedgeclipper.inspection.display import BLUE
from hedgeclipper.inspection.rendering import figure
from hedgeclipper.inspection.subject import SEED, Subject

FEW_LABELS = 50
N_SUGGESTED = 10
CALIBRATION_BINS = 5
# part of the height that the bars of the counts take
BAR_HEIGHT = 0.18


def error_section(subject: Subject, found: Comparison | None) -> dict[str, Any]:
    """Return the bounds on the error, and figures of predictions while labels were held out."""
    certificates = list(enumerate(subject.model.certificates))
    return {
        "estimates": [(k, one) for k, one in certificates if one.kind == "estimate"],
        "guarantees": [(k, one) for k, one in certificates if one.is_guarantee],
        "doubts": sorted({(one.kind, one.reason.rstrip(".")) for _, one in certificates}),
        "figures": {} if found is None else _held_out_figures(subject, found),
    }


def _held_out_figures(subject: Subject, found: Comparison) -> dict[str, str]:
    y, probabilities = subject.classes[found.codes], found.probabilities[found.model]
    label, draw = "Error against the proportion of rows abstained on", AbstentionDisplay
    svg = figure(label, draw.from_predictions, y, probabilities, classes=subject.classes)
    figures = {"abstention": svg}
    if subject.classes.size == 2:
        label, positive = "Observed frequency against predicted probability", subject.classes[1]
        figures["calibration"] = figure(label, _draw_calibration, y, probabilities[:, 1], positive)
    return figures


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


def contradictions_section(subject: Subject) -> dict[str, Any]:
    """Return void bounds, relaxed voters, voters against labels or others, and a shift."""
    model, voters = subject.model, subject.model.voters
    against, apart = [], []
    if model.kind != "forest":
        errors = voters.errors if voters.errors is not None else 0.0
        against = np.flatnonzero(voters.correlations + errors < 0).tolist()
        agreement = np.array(voters.more.get("agreement", []), dtype=float)
        apart = np.flatnonzero(agreement < 0).tolist()
    return {
        "void": [(k, one) for k, one in enumerate(model.certificates) if one.kind == "void"],
        "relaxed": model.contradicting,
        "against_labels": [voters.names[k] for k in against],
        "against_others": [voters.names[k] for k in apart],
        "shift_score": model.shift_score,
    }


def convergence_section(subject: Subject) -> dict[str, Any]:
    """Return how the solver stopped, and a figure of its passes."""
    model = subject.model
    games = zip(model.histories, model.stop_reasons, strict=True)
    last = [history[-1] for history, reason in games if reason == "converged" and len(history)]
    gaps = [relative_gap(max(one.primal - one.dual, 0.0), one.primal) for one in last]
    svg = None
    if model.n_iter > 1:
        draw = ConvergenceDisplay.from_estimator
        svg = figure("Slack and gap after each pass", draw, subject.estimator, name="")
    return {
        "stop_reasons": sorted(set(model.stop_reasons)),
        "gap": max(gaps) if gaps and np.isfinite(gaps).all() else None,
        "figure": svg,
    }


def next_section(subject: Subject) -> dict[str, Any]:
    """Return what decides which advice is given."""
    model = subject.model
    rarest = None
    if subject.y is not None:
        counts = np.unique(subject.y, return_counts=True)[1]
        rarest = int(counts.min()) if counts.size == subject.classes.size else 0
    # SGD takes a given number of passes, whether it has converged or not
    is_sgd = getattr(subject.estimator, "method", "") == "sgd"
    has_rows = subject.has_own_unlabeled and subject.probabilities is not None
    return {
        "rarest": rarest if rarest is None or rarest < FEW_LABELS else None,
        "has_rows": has_rows,
        "suggested": _suggested(subject) if has_rows and subject.is_votes else None,
        "out_of_passes": "max_iter" in model.stop_reasons and not is_sgd,
        "has_guarantee": any(one.is_guarantee for one in model.certificates),
    }


def _suggested(subject: Subject) -> tuple[str, bool]:
    """Return rows of the fit to label next, by name if they have one, and whether they have."""
    model, fitted = copy(subject.estimator), subject.model.votes
    if model.random_state is None:
        # the same report from run to run
        model.random_state = SEED
    rows = model.suggest_labels(min(N_SUGGESTED, fitted.n_rows))
    names = subject.row_names if subject.unlabeled is fitted else fitted.rows
    named = rows if names is None else names[rows]
    return ", ".join(str(name) for name in named), names is not None
