"""Gold labels: which rows have one, and what classes there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgeclipper.base.semi_supervised import is_unlabeled, label_values
from hedgeclipper.votes.matrix import Votes, all_voters
from hedgeclipper.votes.vote_labels import class_codes, seen_classes


@dataclass(frozen=True, eq=False)
class Gold:
    """Votes on rows with gold labels, and on rows without.

    Parameters
    ----------
    labeled : Votes
        Votes on rows with a gold label.
    labels : list of shape (n_labeled,)
        These labels.
    rest : Votes
        Votes on the other rows, if there are any.
    marked : ndarray of bool, or None
        Which of the rows that were passed have no gold label; None if they came apart.
    """

    labeled: Votes
    labels: list[Any]
    rest: Votes
    marked: np.ndarray | None = None

    @property
    def has_unlabeled(self) -> bool:
        """Whether there are rows without gold labels; if not, the others are reused as such."""
        return self.rest.n_rows > 0

    def coded(self) -> tuple[Votes, np.ndarray, Votes]:
        """Return votes with the same voters and classes, and the gold labels as codes.

        Returns
        -------
        labeled : Votes
            Votes on rows with a gold label.
        codes : ndarray of shape (n_labeled,)
            Positions of their labels among the classes.
        unlabeled : Votes
            Votes on the other rows; the labeled ones again if there are no others.
        """
        if not self.labels:
            raise ValueError(
                "y has no gold label: the game needs a few, of each class if possible. Label some "
                "rows."
            )
        voted = [*self.labeled.classes.tolist(), *self.rest.classes.tolist()]
        seen = dict.fromkeys([*voted, *self.labels])
        classes = seen_classes(seen, "Votes and gold labels together")
        if classes.size < 2:
            raise ValueError(
                "Votes and gold labels must have at least two classes. Got one, "
                f"{classes.tolist()[0]!r}."
            )
        parts = self.labeled, self.rest
        if not any(part.n_votes for part in parts):
            raise ValueError(
                "There are no votes: everybody abstains everywhere. Check what is read as an "
                "abstention."
            )
        voters, named = all_voters(*parts)
        labeled, rest = (part.align(voters, classes, named=named) for part in parts)
        unlabeled = rest if self.has_unlabeled else labeled
        return labeled, class_codes(self.labels, classes, "y"), unlabeled

    def and_more(self, more: Gold) -> Gold:
        """Return these rows and others, those without labels apart."""
        labeled = Votes.stack(self.labeled, more.labeled)
        return Gold(labeled, self.labels + more.labels, Votes.stack(self.rest, more.rest))

    def all_labels(self, predicted: np.ndarray) -> np.ndarray:
        """Return the labels of all rows that were passed, given those without gold."""
        if self.marked is None:
            return predicted
        whole = np.empty(self.marked.size, dtype=predicted.dtype)
        whole[~self.marked] = self.labels
        if self.has_unlabeled:
            whole[self.marked] = predicted
        return whole


def read_gold(
    votes: Votes, y: Any, others: Votes | None = None, *, minus_one_is_class: bool = False
) -> Gold:
    """Return rows with gold labels and rows without.

    Parameters
    ----------
    votes : Votes
        Votes on rows, some or all with gold labels.
    y : array-like of shape (n_rows,)
        Gold labels; missing ones, and -1 without ``others``, mark rows that have none.
    others : Votes, optional
        Votes on rows without gold labels.
    minus_one_is_class : bool
        Whether -1 is a label also without ``others``.
    """
    labels = label_values(y)
    _check_order(votes, y)
    if labels.shape != (votes.n_rows,):
        raise ValueError(
            f"y must have one entry for each of the {votes.n_rows} rows of votes. Got shape "
            f"{labels.shape}."
        )
    marked = is_unlabeled(labels, minus_one_is_class=True)
    if others is None and not minus_one_is_class:
        marked = _marks(labels, votes, missing=marked)
    labeled, rest = votes.take(~marked), votes.take(marked)
    known = labels[~marked].tolist()
    if others is None:
        return Gold(labeled, known, rest, marked)
    return Gold(labeled, known, Votes.stack(rest, others))


def _check_order(votes: Votes, y: Any) -> None:
    """Raise if rows and labels have the same names, but in another order."""
    index = getattr(y, "index", None)
    if votes.rows is None or index is None or callable(index):
        return
    rows, names = votes.rows.tolist(), list(index)
    if rows != names and len(rows) == len(names) and set(rows) == set(names):
        raise ValueError(
            "The index of y has the names of the rows of votes, but in another order. Labels are "
            "taken as they stand: pass y.loc[votes.rows]."
        )


def _marks(labels: np.ndarray, votes: Votes, missing: np.ndarray) -> np.ndarray:
    """Return which rows have no label, where -1 stands for none unless it is a class of votes."""
    unlabeled = is_unlabeled(labels)
    if not is_unlabeled(votes.classes).any() or np.array_equal(unlabeled, missing):
        return unlabeled
    if missing.any():
        return missing
    raise ValueError(
        "-1 is a class of the votes, and in y it marks rows without a label. Pass a missing "
        "label (None or NaN) for these, or their votes as L_unlabeled."
    )
