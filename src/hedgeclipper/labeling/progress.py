"""What a labeling loop tells of itself: where it stands, and what its labels are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.bounds.finishing import FileClaim, Plan
from hedgeclipper.io.messages import counted

NEXT = {
    "start": "Next are random rows, to begin with.",
    "choose": "Next are rows of which the model is least certain.",
    "prove": "Next are random rows, which test the predictions.",
    "review": "Next are the rows that need review, the most uncertain first.",
    "finished": "Nothing is left to label.",
}


@dataclass(frozen=True, eq=False)
class LabelingStatus:
    """Where a loop stands.

    Parameters
    ----------
    phase : {"start", "choose", "prove", "review", "finished"}
        What labels are asked for now.
    n_rows, n_labeled, n_test, n_skipped : int
        Rows of the file, rows with a label, test labels of the last attempt to prove, and rows
        skipped so far.
    estimated_error : float or None
        Estimated proportion of wrong labels if all other rows kept their predictions now; None
        without a model, or where people have labeled all rows.
    interval : tuple of float or None
        About where it is with 90% confidence: an estimate.
    error_upper : float or None
        Proved upper bound on the proportion of wrong labels in the finished file, once people have
        labeled the rows to review; None as long as nothing is proved.
    n_needs_no_review, n_left_to_review : int
        Rows that have a label or keep their predictions, and all others.
    n_more_labels : int or None
        Roughly how many more labels it takes to finish the file; None without a model.
    plan : Plan or None
        The same for other errors of the finished file: an estimate. None once an attempt to prove
        has begun, or where people have labeled all rows.
    n_second : int
        Rows that two people have labeled.
    agreement : float or None
        Proportion of these on which they agree; None without any.
    max_error, confidence_level : float
        What is asked for.
    """

    phase: str
    n_rows: int
    n_labeled: int
    n_test: int
    n_skipped: int
    estimated_error: float | None
    interval: tuple[float, float] | None
    error_upper: float | None
    n_needs_no_review: int
    n_left_to_review: int
    n_more_labels: int | None
    plan: Plan | None
    n_second: int
    agreement: float | None
    max_error: float
    confidence_level: float

    def describe(self) -> str:
        """Return where the loop stands, in sentences."""
        is_finished = self.phase == "finished"
        parts = [f"{self.n_labeled:,} of {self.n_rows:,} rows have a label."]
        if self.n_skipped:
            parts.append(f"{self.n_skipped:,} could not be decided yet.")
        if self.estimated_error is not None and self.interval is not None:
            now = "About" if is_finished else "If all others kept their predictions now, about"
            wrong = "of all labels are wrong" if is_finished else "of the file would be wrong"
            low, high = self.interval
            parts.append(
                f"{now} {self.estimated_error:.1%} {wrong} (estimate: {low:.1%} to {high:.1%})."
            )
        if self.error_upper is not None:
            if not is_finished:
                parts.append(f"{self.n_needs_no_review:,} rows need no review.")
            by_hand = f"With the other {self.n_left_to_review:,} labeled by hand, at"
            parts.append(
                f"{'At' if is_finished else by_hand} most {self.error_upper:.1%} of all labels are "
                f"wrong, guaranteed with {100 * self.confidence_level:g}% confidence."
            )
        elif not is_finished:
            parts.append(
                f"Nothing is proved yet: you asked for at most {self.max_error:.1%} wrong."
            )
        if self.n_more_labels:
            labels = counted(self.n_more_labels, "more label")
            parts.append(f"It takes roughly {labels} to finish the file.")
        if self.agreement is not None:
            parts.append(
                f"Two people labeled {self.n_second:,} rows, and agree on {self.agreement:.0%}."
            )
        return " ".join([*parts, NEXT[self.phase]])

    def __str__(self) -> str:
        return self.describe()


@dataclass(frozen=True, eq=False)
class LabelingResult:
    """Labels of all rows, and what is known of them.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Label of each row, by people or predicted; None where there is neither.
    by_hand : ndarray of bool of shape (n_rows,)
        Which labels are people's.
    needs_review : ndarray of bool of shape (n_rows,)
        Rows that people must still label.
    review_order : ndarray of int of shape (n_review,)
        These rows, the most uncertain first.
    claim : FileClaim
        How many labels may be wrong once people have labeled these.
    notes : dict of int to str
        Notes that people wrote to rows.
    baseline : float or None, default=None
        Estimated error of always guessing the most frequent class, ``majority``, by labels of rows
        that were drawn at random; None before they are there.
    majority : object
        That class.
    """

    labels: np.ndarray
    by_hand: np.ndarray
    needs_review: np.ndarray
    review_order: np.ndarray
    claim: FileClaim
    notes: dict[int, str]
    baseline: float | None = None
    majority: Any = None

    @property
    def kind(self) -> str:
        """Whether the bound is a "guarantee" or an "estimate"."""
        return self.claim.kind

    @property
    def error_upper(self) -> float:
        """Upper bound on the proportion of wrong labels in the finished file."""
        return self.claim.errors_left / max(self.claim.n_rows, 1)

    @property
    def n_automatic(self) -> int:
        """Number of rows that keep their predicted label."""
        return self.claim.n_automatic

    def describe(self) -> str:
        """Return how many rows need no review, and what is known of the file, in sentences."""
        n_rows, n_review = self.labels.size, self.review_order.size
        text = self.claim.describe(n_review)
        if n_review:
            text = (
                f"{n_rows - n_review:,} of {n_rows:,} rows need no review: "
                f"{int(self.by_hand.sum()):,} have a label by people, {self.n_automatic:,} keep "
                f"their predicted one. {text}"
            )
        if not self.n_automatic:
            return text
        upper = self.claim.errors_left / self.n_automatic
        notes = [f"Among the {self.n_automatic:,} automatic labels at most {upper:.1%}"]
        if self.baseline is not None:
            notes.append(f"always guessing {self.majority}: about {self.baseline:.1%}")
        text += f" ({'; '.join(notes)})"
        if self.baseline is not None and self.claim.max_error >= self.baseline:
            text += (
                f" Note that always guessing {self.majority} may be allowed, too: ask for a "
                "smaller error."
            )
        return text

    def __str__(self) -> str:
        return self.describe()
