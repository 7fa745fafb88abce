"""What to do next, from what the report has found."""

from __future__ import annotations

from copy import copy

import numpy as np

from hedgeclipper.base.summary import certificates_of
from hedgeclipper.forest.classifier import SHIFT_THRESHOLD
from hedgeclipper.inspection.compare import Comparison
from hedgeclipper.inspection.markup import Section, bullets
from hedgeclipper.inspection.model_sections import how_to_guarantee
from hedgeclipper.inspection.subject import SEED, Subject
from hedgeclipper.inspection.words import count, per_cent

FEW_LABELS = 50
SUGGESTED = 10


def advice_section(subject: Subject, found: Comparison | str) -> Section:
    """Return what would help most."""
    items = [
        *_labels(subject),
        *_which_labels(subject),
        *_simpler(found),
        *_solver(subject),
        *_shift(subject),
        *_guarantee(subject),
        *_rows(subject),
    ]
    return Section("next", "What to do next", bullets(items or ["Nothing stands out."]))


def _labels(subject: Subject) -> list[str]:
    if subject.y is None:
        return []
    counts = np.unique(subject.y, return_counts=True)[1]
    rarest = int(counts.min()) if counts.size == subject.classes.size else 0
    if rarest >= FEW_LABELS:
        return []
    return [
        f"Label more rows. The rarest class has {count(rarest, 'label')}, and the spread of all "
        "figures here is that of so few."
    ]


def _which_labels(subject: Subject) -> list[str]:
    if not subject.has_own_unlabeled or subject.shares is None:
        return []
    if subject.is_votes:
        return [
            f"Labels that would tighten the bound on the error most: those of rows "
            f"{_suggested(subject)}. Rows picked so are no random draw, and give estimates."
        ]
    return [
        "To get better predictions, label the most uncertain rows in the table above. To know the "
        "error better, label rows drawn at random."
    ]


def _suggested(subject: Subject) -> str:
    """Return rows of the fit to label next, by name if they have one."""
    model, fitted = copy(subject.estimator), subject.estimator._fitted.unlabeled
    if model.random_state is None:
        # the same report from run to run
        model.random_state = SEED
    rows = model.suggest_labels(min(SUGGESTED, fitted.n_rows))
    names = subject.row_names if subject.unlabeled is fitted else fitted.rows
    if names is None:
        numbers = ", ".join(str(row) for row in rows)
        return f"{numbers}, counted from 0 among the unlabeled rows of the fit"
    return ", ".join(str(name) for name in names[rows])


def _simpler(found: Comparison | str) -> list[str]:
    """Return whether something simpler would do."""
    if isinstance(found, str) or not found.others:
        return []
    best = found.best_other
    gain, noise = found.gain(best)
    if gain > 2 * noise:
        return []
    what = "does better than the model" if gain < -2 * noise else "cannot be told from the model"
    return [
        f"On these labels {best.name} {what} (error {per_cent(found.error(best)[0])} against "
        f"{per_cent(found.error(found.ours)[0])}). Where speed counts, it may do; more labels "
        "would tell."
    ]


def _solver(subject: Subject) -> list[str]:
    model = subject.estimator
    # steps of sgd are a given number, and not to go on until nothing is left to do
    if "max_passes" in np.atleast_1d(model.stop_reason_) and getattr(model, "method", "") != "sgd":
        return [
            "The solver ran out of passes. In Python, raise max_passes, or tol if that will do."
        ]
    return []


def _shift(subject: Subject) -> list[str]:
    if getattr(subject.estimator, "shift_score_", 0.0) <= SHIFT_THRESHOLD:
        return []
    return ["Draw the next rows to label at random from the unlabeled ones, which differ."]


def _guarantee(subject: Subject) -> list[str]:
    if any(one.is_guarantee for one in certificates_of(subject.estimator)):
        return []
    return ["There is no guarantee on the error yet. " + how_to_guarantee(subject)]


def _rows(subject: Subject) -> list[str]:
    if subject.has_own_unlabeled:
        return []
    return ["Fit with unlabeled rows, too: without them nothing is learned beyond the labels."]
