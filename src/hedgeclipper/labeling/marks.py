"""The labels of rows as people gave them: who gave which, what differs, what was taken back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# what a row has in place of the number of a class
NONE, SKIPPED, DISPUTED = -1, -2, -3
REASONS = ("known", "start", "chosen", "test", "review", "second", "settle")


@dataclass(frozen=True)
class Mark:
    """One label of one row by one person.

    ``code`` is the number of a class, or ``SKIPPED``. ``predicted`` and ``uncertainty`` are what
    the model had for the row before, None without a model.
    """

    code: int
    reason: str
    annotator: str = ""
    note: str = ""
    predicted: int | None = None
    uncertainty: float | None = None


class Marks:
    """All labels so far, and what they make of each row.

    The newest label of each person counts. If those of two persons differ, the row is disputed
    until somebody settles it, and the settled label counts from then on. A skip counts if nobody
    has given a label.
    """

    def __init__(self, n_rows: int) -> None:
        self.codes = np.full(n_rows, NONE, np.int64)
        self._of: dict[int, list[Mark]] = {}

    def add(self, row: int, mark: Mark) -> None:
        """Add a label; it settles the row if it is disputed."""
        self._of.setdefault(row, []).append(mark)
        self.codes[row] = self._resolved(row)

    def check_undo(self, row: int) -> None:
        """Raise if a row has no label that could be taken back."""
        if not self._of.get(row) or self._of[row][-1].reason == "known":
            raise ValueError(f"Row {row} has no label that could be taken back.")

    def undo(self, row: int) -> Mark:
        """Take back the last label of a row, and return it."""
        self.check_undo(row)
        mark = self._of[row].pop()
        self.codes[row] = self._resolved(row)
        return mark

    def of(self, row: int) -> tuple[Mark, ...]:
        """Return the labels of a row, the last one last."""
        return tuple(self._of.get(row, ()))

    def all(self) -> list[list[Mark]]:
        """Return the labels of each row that has any, in the order of the first ones."""
        return [marks for marks in self._of.values() if marks]

    def labeled_by_another(self, annotator: str) -> np.ndarray:
        """Return the rows that one person has labeled, who is not this one."""
        found = []
        for row, marks in self._of.items():
            if any(mark.reason == "known" for mark in marks):
                continue  # these count as right
            names = {mark.annotator for mark in marks}
            if names and self.codes[row] >= 0 and annotator not in names and len(names) == 1:
                found.append(row)
        return np.array(found, np.int64)

    def n_by(self, annotator: str) -> int:
        """Return how many labels a person has given."""
        return sum(m.annotator == annotator for marks in self._of.values() for m in marks)

    def notes(self) -> dict[int, str]:
        """Return the notes of rows, those of several people joined."""
        found = {row: [m.note for m in marks if m.note] for row, marks in self._of.items()}
        return {row: "; ".join(notes) for row, notes in found.items() if notes}

    def agreement(self) -> tuple[int, int]:
        """Return how many rows two persons have labeled, and on how many of them they agree."""
        both = agreed = 0
        for row in self._of:
            own = self._by_annotator([m for m in self._of[row] if m.reason != "settle"])
            labels = [code for code in own.values() if code != SKIPPED]
            both += len(labels) > 1
            agreed += len(labels) > 1 and len(set(labels)) == 1
        return both, agreed

    def _resolved(self, row: int) -> int:
        marks = self._of[row]
        settled = [i for i, mark in enumerate(marks) if mark.reason == "settle"]
        own = self._by_annotator(marks[settled[-1] :] if settled else marks)
        labels = {code for code in own.values() if code != SKIPPED}
        if len(labels) > 1:
            return DISPUTED
        return labels.pop() if labels else SKIPPED if own else NONE

    @staticmethod
    def _by_annotator(marks: list[Mark]) -> dict[Any, int]:
        return {mark.annotator: mark.code for mark in marks}
