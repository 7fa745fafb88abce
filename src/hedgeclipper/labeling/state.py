"""What the lines of a session make: what was fixed at the start, labels, attempts to prove.

`SessionState.apply` is the only place where these change, for new lines, for those of a session
that is resumed, and where labels alone are read (`session.read_session`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from hedgeclipper.bounds.sample import FirstQuestion, Sample
from hedgeclipper.bounds.whole_file import error_limit
from hedgeclipper.io.arrays import is_array
from hedgeclipper.io.frames import as_classes, as_plain_array, is_missing
from hedgeclipper.labeling.attempt import Attempt, attempt_seed, draw_order
from hedgeclipper.labeling.marks import NONE, REASONS, SKIPPED, Mark, Marks


class SessionState:
    """Labels of a session, and what was proved by them.

    Parameters
    ----------
    start : mapping
        The first line of the session.
    load : callable or None, default=None
        Returns the arrays of an attempt by its number, their digest and the number of rows, where
        the line does not have them. None where labels alone are read: attempts have no predictions
        then.
    """

    def __init__(
        self,
        start: Mapping[str, Any],
        load: Callable[[int, str, int], Mapping[str, np.ndarray]] | None = None,
    ) -> None:
        self._load = load
        self.n_rows, self.seed = int(start["rows"]), int(start["seed"])
        self.digest, self.target = str(start["digest"]), str(start["target"])
        self.classes = check_classes(start["classes"])
        self.max_error = float(start["max_error"])
        self.confidence_level = float(start["confidence_level"])
        self.levels = [float(level) for level in start["levels"]]
        is_whole = abs(sum(self.levels) - (1.0 - self.confidence_level)) < 1e-9
        if not is_whole or min(self.levels) <= 0:
            raise ValueError(f"The levels {self.levels} are not those of the confidence level.")
        self.limit = error_limit(self.max_error, self.n_rows)
        self._code_of = {name: code for code, name in enumerate(self.classes.tolist())}
        self.marks = Marks(self.n_rows)
        for row, label in zip(*start["known"], strict=True):
            self.marks.add(self.row(row), Mark(self.code(label), "known"))
        self.start_order = draw_order(self.codes, attempt_seed(self.seed, 0))
        self.attempts: list[Attempt] = []
        self.sample: Sample | None = None  # of the last attempt
        # rows whose label was taken back, the last one first, and why they had been asked for
        self.again: dict[int, str] = {}

    @property
    def codes(self) -> np.ndarray:
        """The number of each row's class, or what it has in place of one (`marks`)."""
        return self.marks.codes

    @property
    def running(self) -> Attempt | None:
        """The last attempt, if test labels are missing."""
        last = self.attempts[-1] if self.attempts else None
        return last if last is not None and last.untested(self.codes).size else None

    @property
    def level(self) -> float | None:
        """The level of the next attempt; None if there is none."""
        return self.levels[len(self.attempts)] if len(self.attempts) < len(self.levels) else None

    @cached_property
    def best(self) -> Attempt | None:
        """The attempt that leaves the fewest rows to review, if any has proved something."""
        sizes = [int(one.accepted_rows(self.codes).sum()) for one in self.attempts]
        most = max(sizes, default=0)
        return self.attempts[sizes.index(most)] if most else None

    @cached_property
    def needs_review(self) -> np.ndarray:
        """A mask of the rows that have neither a label nor an accepted prediction."""
        rest = self.codes < 0
        return rest if self.best is None else rest & ~self.best.accepted_rows(self.codes)

    def row(self, row: Any) -> int:
        """Return the number of a row; raise if it is none."""
        is_number = isinstance(row, int | np.integer) and not isinstance(row, bool)
        if not is_number or not 0 <= row < self.n_rows:
            raise ValueError(f"A row must be a number from 0 to {self.n_rows - 1}. Got {row!r}.")
        return int(row)

    def code(self, label: Any) -> int:
        """Return the number of a class; that of skipped rows for a missing label."""
        if is_missing(label):
            return SKIPPED
        value = label.item() if isinstance(label, np.generic) else label
        if value not in self._code_of:
            raise ValueError(
                f"A label must be one of {self.classes.tolist()}, or None. Got {value!r}."
            )
        return self._code_of[value]

    def apply(self, event: Mapping[str, Any]) -> None:
        """Change the state as a line of the session says."""
        for name in ("best", "needs_review"):
            self.__dict__.pop(name, None)
        kind = event["event"]
        if kind == "attempt":
            self._begin_attempt(event)
            return
        row = self.row(event["row"])
        if kind == "label":
            self._label(row, event)
            self.again.pop(row, None)
        elif kind == "undo":
            reason = self.marks.undo(row).reason
            self.again = {row: reason} | {k: v for k, v in self.again.items() if k != row}
        else:
            raise ValueError(f"There is no event {kind!r}.")

    def _label(self, row: int, event: Mapping[str, Any]) -> None:
        reason, predicted = event["reason"], event.get("predicted")
        uncertainty = event.get("uncertainty")
        if reason not in REASONS[1:]:
            raise ValueError(f"Row {row} has the unknown reason {reason!r}.")
        if uncertainty is not None and not 0.0 <= uncertainty <= 1.0:
            raise ValueError(f"Row {row} has the uncertainty {uncertainty!r}.")
        mark = Mark(
            self.code(event["label"]),
            reason,
            str(event["annotator"]),
            str(event.get("note", "")),
            None if predicted is None else self.code(predicted),
            uncertainty,
        )
        self.marks.add(row, mark)

    def _begin_attempt(self, event: Mapping[str, Any]) -> None:
        number, level, n_test = (event[name] for name in ("attempt", "level", "tests"))
        seed = attempt_seed(self.seed, number)
        if self.running is not None or number != len(self.attempts) + 1:
            raise ValueError(f"Attempt {number} is not the next one.")
        if level != self.level or event["seed"] != seed:
            raise ValueError(f"Attempt {number} has another level or seed than was fixed before.")
        order = draw_order(self.codes, seed)
        if not isinstance(n_test, int) or not 0 < n_test <= order.size:
            raise ValueError(f"Attempt {number} cannot have {n_test!r} test rows.")
        predicted, uncertainties = np.zeros(0, np.int64), np.zeros(0)
        arrays = event.get("arrays")
        if arrays is None and self._load is not None:
            arrays = self._load(number, event["digest"], self.n_rows)
        if arrays is not None:
            if not np.array_equal(order, arrays["order"]):
                raise ValueError(f"The test rows of attempt {number} are not those of the draw.")
            predicted, uncertainties = arrays["predicted"], arrays["uncertainties"]
            pairs = (predicted, "iu"), (uncertainties, "f")
            if not all(is_array(array, kinds, self.n_rows) for array, kinds in pairs):
                raise ValueError(f"Attempt {number} does not have a prediction for each row.")
            is_class = (predicted >= 0) & (predicted < self.classes.size)
            if not is_class.all() or not np.isfinite(uncertainties).all():
                raise ValueError(f"Attempt {number} has predictions that are none.")
        excluded, drawn = np.flatnonzero(self.codes != NONE), order[:n_test]
        # what these labels prove is what the loop asks: for another model they are an estimate
        asked = FirstQuestion(f"max_error={self.max_error:g}", str(event["digest"]))
        self.sample = Sample(
            drawn, self.n_rows, excluded, seed, self.digest, n_test, first_question=asked
        )
        fixed = level, self.limit, n_test, seed, order
        self.attempts.append(Attempt(*fixed, predicted.astype(np.int64), uncertainties))


def check_classes(classes: Sequence[Any]) -> np.ndarray:
    """Return the classes of a session as an array; raise unless they can be that."""
    names = as_plain_array(classes)
    names = as_classes(names, "classes") if names.ndim == 1 else names
    is_kind = names.ndim == 1 and names.dtype.kind in "biuU"
    if not is_kind or not 1 < np.unique(names).size == names.size:
        raise ValueError(
            "classes must be two or more different strings, whole numbers or booleans. Got "
            f"{classes!r}."
        )
    return names
