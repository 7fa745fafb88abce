"""The rows of a fit: votes from whatever a user passes, and which rows have gold labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from hedgeclipper.base.semi_supervised import (
    SemiSupervisedRows,
    is_unlabeled,
    label_values,
    labeled_only,
)
from hedgeclipper.io import BatchSource, as_source, is_batched
from hedgeclipper.votes.matrix import Votes, align_all
from hedgeclipper.votes.readers import class_codes, seen_classes


def read_votes(L: Any, abstain_label: Any, classes: Any = None) -> Votes:
    """Return votes, read batch by batch where they come so.

    Batches are read once, so that an iterator of them will do. ``classes`` are the labels of the
    classes where votes must not have others.
    """
    if isinstance(L, (list, tuple)) and L and all(isinstance(part, Votes) for part in L):
        return Votes.stack(*L)
    if isinstance(L, Votes) or not is_batched(L):
        return Votes.of(L, abstain_label=abstain_label, classes=classes)
    source = as_source(L, strings=True, once=True)
    if isinstance(source, BatchSource):  # as they are, so that frames keep names that are numbers
        batches, voters = source.batches(), source.request.columns
    else:
        batches, voters = source, source.column_names
    return Votes.from_batches(batches, abstain_label=abstain_label, classes=classes, voters=voters)


class SplitVotes(NamedTuple):
    """Votes on rows with gold labels, these labels, votes on the other rows, and a mask of these.

    ``marked`` is None if the other rows were passed as a set of their own.
    """

    labeled: Votes
    labels: list[Any]
    rest: Votes
    marked: np.ndarray | None


def split_votes(votes: Votes, y: Any, others: Votes | None = None) -> SplitVotes:
    """Return rows with gold labels and rows without, those of ``others`` included.

    A missing entry of y marks a row without a label; so does -1, unless there are ``others``, or
    some entries are missing and -1 is a class of the votes. y None: no row has one.
    """
    labels = label_values(np.full(votes.n_rows, None) if y is None else by_row(votes, y))
    if labels.shape != (votes.n_rows,):
        raise ValueError(
            f"y must have one entry for each of the {votes.n_rows} rows of votes. Got shape "
            f"{labels.shape}."
        )
    marked = missing = is_unlabeled(labels, minus_one_is_class=True)
    if others is None:
        marked = is_unlabeled(labels)
        if is_unlabeled(votes.classes).any() and not np.array_equal(marked, missing):
            if not missing.any():
                raise ValueError(
                    "-1 is a class of the votes, and in y it marks rows without a label. Pass a "
                    "missing label (None or NaN) for these, or their votes as L_unlabeled."
                )
            marked = missing
    labeled, rest, known = votes.take(~marked), votes.take(marked), labels[~marked].tolist()
    if others is None:
        return SplitVotes(labeled, known, rest, marked)
    return SplitVotes(labeled, known, Votes.stack(rest, others), None)


def by_row(votes: Votes, y: Any) -> Any:
    """Return labels in the order of the rows, None where there is none, if they are by name.

    Those of a mapping are; those of a Series if all its names are names of rows.
    """
    index = None if isinstance(y, Mapping) else getattr(y, "index", None)
    is_series = index is not None and not callable(index)
    if not is_series and not isinstance(y, Mapping):
        return y
    names = np.arange(votes.n_rows) if votes.rows is None else votes.rows
    position_of = {name: position for position, name in enumerate(names.tolist())}
    given = dict(y.items())
    unknown = [name for name in given if name not in position_of]
    if is_series and (unknown or len(given) < len(y)) and len(y) == votes.n_rows:
        return y  # its names are others, or not unique: labels are in the order of the rows
    if unknown:
        raise ValueError(
            f"y has labels of {len(unknown)} rows that are not among the votes, such as "
            f"{unknown[0]!r}; the first row is {names.tolist()[0]!r}. Pass labels by the names of "
            "the rows (Votes.rows), or one for each row in their order."
        )
    labels = np.full(votes.n_rows, None, dtype=object)
    for name, label in given.items():
        labels[position_of[name]] = label
    return labels


@dataclass(frozen=True, eq=False)
class GoldRows:
    """Votes on the labeled and unlabeled rows of a fit, with the same voters and classes.

    ``codes`` are the classes of the labeled rows. Without unlabeled rows the labeled ones are
    reused as such. ``marked`` is that of `SplitVotes`.
    """

    labeled: Votes
    codes: np.ndarray
    unlabeled: Votes
    has_unlabeled: bool
    marked: np.ndarray | None

    @classmethod
    def of(cls, split: SplitVotes, abstain_label: Any = None) -> GoldRows:
        """Return rows with voters and classes aligned; ``abstain_label`` must not be a class.

        Warns if no row is unlabeled.
        """
        labeled, labels, rest, marked = split
        if not labels:
            raise ValueError(
                "y has no gold label: the game needs a few, of each class if possible. Label some "
                "rows."
            )
        seen = dict.fromkeys([*labeled.classes.tolist(), *rest.classes.tolist(), *labels])
        classes = seen_classes(seen, "Votes and gold labels together")
        if classes.size < 2:
            raise ValueError(
                "Votes and gold labels must have at least two classes. Got one, "
                f"{classes.tolist()[0]!r}."
            )
        if labeled.n_votes + rest.n_votes == 0:
            raise ValueError(
                "There are no votes: all voters abstain on all rows. Check what is read as an "
                "abstention."
            )
        labeled, rest = align_all([labeled, rest], classes)
        codes, has_unlabeled = class_codes(labels, classes, "y"), rest.n_rows > 0
        if not has_unlabeled:
            labeled_only(labeled, codes, None, "pass L_unlabeled, or mark them with y = -1")
            rest = labeled
        if any(label == abstain_label for label in classes.tolist()):
            raise ValueError(
                f"The label {abstain_label!r} is both a class of the votes or of y, and "
                "abstain_label. Pass another abstain_label, or None if only missing votes abstain."
            )
        return cls(labeled, codes, rest, has_unlabeled, marked)

    def hold_out(self, held: np.ndarray) -> GoldRows:
        """Return rows without some of the labels: these rows come last among the unlabeled ones.

        Without unlabeled rows, all rows are reused as such, in their order.
        """
        fitted, pool = np.setdiff1d(np.arange(self.codes.size), held), self.unlabeled
        if self.has_unlabeled:
            pool = Votes.stack(pool, self.labeled.take(held))
        labeled, codes = self.labeled.take(fitted), self.codes[fitted]
        return replace(self, labeled=labeled, codes=codes, unlabeled=pool)

    def split(self) -> SplitVotes:
        """Return the rows as they were passed."""
        rest = self.unlabeled if self.has_unlabeled else self.unlabeled.take(np.arange(0))
        labels = self.labeled.classes[self.codes].tolist()
        return SplitVotes(self.labeled, labels, rest, None)

    def aligned(self, votes: Votes) -> Votes:
        """Return other votes with the voters and classes of these."""
        own = self.labeled
        return votes.align(own.voters, own.classes, named=own.named)

    def read_again(self, votes: Votes | None, y: Any) -> SemiSupervisedRows:
        """Return these rows, or others of the same classes, for displays and the report."""
        known = self.split() if votes is None else split_votes(self.aligned(votes), y)
        classes = self.labeled.classes
        labels = classes[class_codes(known.labels, classes, "gold")]
        rest, marked = known.rest, known.marked
        if not rest.n_rows:
            rest, marked = known.labeled, np.zeros(labels.size, bool)
        return SemiSupervisedRows(known.labeled, labels, None, rest, marked)

    def all_labels(self, predicted: np.ndarray) -> np.ndarray:
        """Return the labels of all rows passed, given predicted ones of the unlabeled rows."""
        if self.marked is None:
            return predicted
        whole = np.empty(self.marked.size, dtype=predicted.dtype)
        whole[~self.marked] = self.labeled.classes[self.codes]
        if self.has_unlabeled:
            whole[self.marked] = predicted
        return whole
