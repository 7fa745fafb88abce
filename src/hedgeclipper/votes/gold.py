"""Gold labels: which rows have one, and what classes there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.batches import missing_labels
from hedgeclipper.semi_supervised import is_unlabeled, labeled_only
from hedgeclipper.votes.labels import seen_classes
from hedgeclipper.votes.matrix import Votes


@dataclass(frozen=True, eq=False)
class Gold:
    """Votes on rows with gold labels, and on rows without.

    Parameters
    ----------
    labeled : Votes
        Votes on rows with a gold label.
    labels : ndarray of shape (n_labeled,)
        These labels.
    unlabeled : Votes
        Votes on the other rows.
    marked : ndarray of bool, or None
        Which of the rows that were passed have no gold label; None if they came apart.
    """

    labeled: Votes
    labels: np.ndarray
    unlabeled: Votes
    marked: np.ndarray | None

    @property
    def has_unlabeled(self) -> bool:
        """Whether there are rows without gold labels."""
        return self.marked is None or bool(self.marked.any())

    def coded(self) -> tuple[Votes, np.ndarray, Votes]:
        """Return votes with the same voters and classes, and the gold labels as codes."""
        votes = Votes.stack(self.labeled, self.unlabeled)
        seen = dict.fromkeys([*votes.classes.tolist(), *self.labels.tolist()])
        classes = seen_classes(seen, "Votes and gold labels together")
        if classes.size < 2:
            raise ValueError(
                "Votes and gold labels must have at least two classes. Got one, "
                f"{classes.tolist()[0]!r}."
            )
        votes = votes.align(votes.voters, classes)
        codes = np.searchsorted(classes, self.labels.astype(classes.dtype))
        n_labeled = self.labeled.n_rows
        return votes.take(slice(None, n_labeled)), codes, votes.take(slice(n_labeled, None))

    def all_labels(self, predicted: np.ndarray) -> np.ndarray:
        """Return the labels of all rows that were passed, given those without gold."""
        if self.marked is None:
            return predicted
        whole = np.empty(self.marked.size, dtype=predicted.dtype)
        whole[~self.marked] = self.labels
        if self.marked.any():
            whole[self.marked] = predicted
        return whole


def read_gold(votes: Votes, y: Any, others: Votes | None, *, is_whole: bool = True) -> Gold:
    """Return rows with gold labels and rows without.

    Parameters
    ----------
    votes : Votes
        Votes on rows, some or all with gold labels.
    y : array-like of shape (n_rows,)
        Gold labels; missing ones, and -1 without ``others``, mark rows that have none.
    others : Votes or None
        Votes on rows without gold labels.
    is_whole : bool
        Whether there must be labels, and without unlabelled rows labelled ones stand in.
    """
    labels = np.asarray(y)
    if labels.shape != (votes.n_rows,):
        raise ValueError(
            f"y must have one entry for each of the {votes.n_rows} rows of votes. Got shape "
            f"{labels.shape}."
        )
    has_none = missing_labels(labels)
    if others is None:
        has_none = has_none | is_unlabeled(labels)
    known = np.array(labels[~has_none].tolist())
    labeled = votes.take(~has_none)
    if is_whole and known.size == 0:
        raise ValueError(
            "y has no gold label: the game needs a few, of each class if possible. Label some rows."
        )
    if others is not None:
        return Gold(labeled, known, _beside(votes.take(has_none), others), None)
    if is_whole and not has_none.any():
        labeled_only(votes, known, None, "pass L_unlabeled, or mark them with y = -1")
        return Gold(votes, known, votes, has_none)
    return Gold(labeled, known, votes.take(has_none), has_none)


def _beside(rest: Votes, others: Votes) -> Votes:
    return Votes.stack(rest, others) if rest.n_rows else others
