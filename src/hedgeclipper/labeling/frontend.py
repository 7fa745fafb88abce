"""What the page and the terminal share: who has which row, labels, undo, fits meanwhile.

A `Frontend` may be called by many threads. A label counts as saved once `Frontend.label` has
returned, since the loop has then written it to the disk.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from hedgeclipper.bounds.whole_file import least_tested
from hedgeclipper.labeling.fitting import FitWorker, JobError

# after so many seconds without an action of a tab, another one that asks gets its row
SILENT = 600.0
REASON_WORDS = {
    "start": "Drawn at random, to begin with.",
    "chosen": "Chosen because the model is unsure.",
    "test": "Drawn at random, to test the model.",
    "review": "The model is too unsure here: this row needs your label.",
    "second": "Somebody else has labeled this row, too: it shows whether people agree.",
    "settle": "People differ on this row: your label settles it.",
}
HIDDEN = "hidden, since your label must not know it here."


class RowTakenError(Exception):
    """A row is not open any more for who wants to label it."""


@dataclass
class Holder:
    """A tab, or the terminal: the row that it shows, and those that it has labeled."""

    row: int | None = None
    labeled: list[int] = field(default_factory=list)
    acted: float = field(default_factory=time.monotonic)


class Frontend:
    """Hands out rows of a loop, takes labels, and has fits run in the background.

    Parameters
    ----------
    loop : LabelingLoop
        What decides which row is next.
    X : array or frame
        The rows of the loop, which the process of fits gets once.
    annotator : str, default=""
        Who labels; it is written with each label.
    """

    def __init__(self, loop: Any, X: Any, annotator: str = "") -> None:
        self.loop, self.annotator = loop, annotator
        self.is_fitting = False
        self.n_changes = 0  # labels given and taken back
        self._fit_problem = self._step_problem = ""
        self._lock = RLock()
        self._holders: dict[str, Holder] = {}
        self._waiting: list[int] = []  # rows that were asked, and that no tab has now
        self._worker = FitWorker(X)
        least_tested(100, 5, 0.05)  # what is compiled is loaded before a label waits for it
        with self._lock:
            first = self._asked()
            self._waiting += [] if first is None else [first]
            self._is_exhausted = not self._waiting  # whether the last who asked got no row
            self._fit_if_due()

    def close(self) -> None:
        """End the fits; what was labeled is on the disk already."""
        self._worker.close()

    @property
    def problem(self) -> str:
        """Why the model does not learn, or why no row comes next; empty if all is well."""
        return self._step_problem or self._fit_problem

    def run_apart(self, job: Any) -> Future[Any]:
        """Run a job in the process of the fits, after them."""
        return self._worker.submit(job)

    def status(self) -> Any:
        """Return the status of the loop."""
        with self._lock:
            return self.loop.status()

    def result(self) -> Any:
        """Return the result of the loop."""
        with self._lock:
            return self.loop.result()

    def is_over(self) -> bool:
        """Return whether no row is open, and no fit will ask for another one."""
        with self._lock:
            is_open = any(holder.row is not None for holder in self._holders.values())
            is_learning = self.is_fitting and not self.loop.is_answered
            is_exhausted = self._is_exhausted and not self._step_problem
            return is_exhausted and not is_open and not is_learning

    def next_row(self, tab: str) -> int | None:
        """Return the row that a tab has open, or another one; None if there is none now."""
        with self._lock:
            holder = self._holder(tab)
            if holder.row is None:
                holder.row = self._waiting.pop() if self._waiting else self._left_behind(SILENT)
            if holder.row is None:
                holder.row = self._asked()
            if holder.row is None:  # all others are open elsewhere: who is first labels one
                holder.row = self._left_behind(0)
            self._is_exhausted = holder.row is None
            if not self._fit_problem:  # after a failure the next label tries again
                self._fit_if_due()
            return holder.row

    def label(self, tab: str, row: int, label: Any, note: str = "") -> None:
        """Save the label of a row, None for "cannot tell"; it is on the disk on return."""
        with self._lock:
            holder = self._holder(tab)
            if holder.row != row:
                raise RowTakenError(
                    f"Row {row + 1} was labeled in another tab meanwhile. Nothing was saved."
                )
            self.loop.tell([row], [label], annotator=self.annotator, notes=[note])
            self.n_changes += 1
            for other in self._holders.values():
                other.row = None if other.row == row else other.row
            self._waiting = [one for one in self._waiting if one != row]
            holder.labeled.append(row)
            self._fit_if_due()

    def undo(self, tab: str) -> bool:
        """Take back the last label of a tab, and give it the row again; False if there is none."""
        with self._lock:
            holder = self._holder(tab)
            if not holder.labeled:
                return False
            self.loop.undo(holder.labeled[-1])
            self.n_changes += 1
            holder.labeled.pop()
            if holder.row is not None:  # the row that was open is the next one
                self._waiting.append(holder.row)
            holder.row = self._asked()
            self._is_exhausted = False
            return True

    def reason(self, row: int) -> str:
        """Return why a row was asked for, in a sentence."""
        with self._lock:
            return REASON_WORDS.get(self.loop.reason(row), "")

    def opinion(self, row: int) -> str:
        """Return what the model predicts for a row, unless the row tests it."""
        with self._lock:
            if self.loop.reason(row) in ("test", "second", "settle"):
                return HIDDEN  # labels that test predictions must not know them
            found = self.loop.prediction(row)
        if found is None:
            return "it has not seen enough labels yet."
        return f"{found[0]} ({found[1]:.0%})"

    def holds(self, tab: str, row: int) -> bool:
        """Return whether a tab has this row open."""
        with self._lock:
            return self._holder(tab).row == row

    def _asked(self) -> int | None:
        try:
            rows = self.loop.ask(1, refit=False, annotator=self.annotator)
        except OSError as error:  # an attempt to prove that cannot be written: asked again later
            self._step_problem = f"The next step cannot be written: {error}"
            return None
        self._step_problem = ""
        return int(rows[0]) if rows.size else None

    def _holder(self, tab: str) -> Holder:
        holder = self._holders.setdefault(tab, Holder())
        holder.acted = time.monotonic()
        return holder

    def _left_behind(self, silent: float) -> int | None:
        """Return the row of the tab that was silent for longest, at least for so long."""
        holders = [one for one in self._holders.values() if one.row is not None]
        oldest = min(holders, key=lambda one: one.acted, default=None)
        if oldest is None or time.monotonic() - oldest.acted < silent:
            return None
        return oldest.row

    def _fit_if_due(self) -> None:
        if self.is_fitting:
            return
        job = self.loop.fit_job()
        if job is not None:
            self.is_fitting = True
            self._worker.submit(job).add_done_callback(self._receive)

    def _receive(self, fit: Future[Any]) -> None:
        with self._lock:
            self.is_fitting = False
            try:
                self.loop.receive(fit.result())
            except (JobError, ValueError) as error:
                self._fit_problem = f"The model could not be fitted: {error}"
            else:
                self._fit_problem = ""
                self._fit_if_due()
