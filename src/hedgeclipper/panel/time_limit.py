"""How long the fit of a panel may take: which members are fitted, and how many rows are scored."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgeclipper.io.progress import warn_user
from hedgeclipper.sklearn_private import _safe_indexing

# the rest is for scoring unlabeled rows; these are at least so many, where there are as many
FOR_FITS, LEAST_ROWS = 0.75, 1_000


class TimeLimitWarning(UserWarning):
    """A time limit left members out, or drew some of the unlabeled rows."""


@dataclass(eq=False)
class TimeLimit:
    """Decides which fits are begun, and keeps the names of members that are left out.

    ``seconds`` None is no limit. The clock starts with the object.
    """

    seconds: float | None = None
    left_out: list[str] = field(default_factory=list)
    rows_drawn: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        self.started = time.perf_counter()
        self.begun: list[str] = []

    def begins(
        self, name: str, took: Sequence[float], n_left: int, failed: set[str], n_jobs: int
    ) -> bool:
        """Return whether a member's next fit is begun, given the seconds of those that are done.

        That is so while its ``n_left`` fits are expected to end in time, and for the first member
        that has not failed in any case.
        """
        if self.seconds is None or set(self.begun) <= failed | {name, *self.left_out}:
            is_begun = True
        else:
            expected = n_left * float(np.mean(took)) / n_jobs if took else 0.0
            is_begun = self._passed() + expected < FOR_FITS * self.seconds
        (self.begun if is_begun else self.left_out).append(name)
        return is_begun

    def score_rows(
        self, X: Any, n_last: int, score: Callable[[Any], Any], random_state: np.random.RandomState
    ) -> Any:
        """Return the scores of all rows, or of as many, drawn at random, as there is time for.

        The last ``n_last`` rows are scored in any case, after the others.
        """
        n_rows = X.shape[0] - n_last
        if self.seconds is None or n_rows <= LEAST_ROWS:
            return score(X)
        order, last = random_state.permutation(n_rows), np.arange(n_rows, X.shape[0])
        before = self._passed()
        scored = score(_safe_indexing(X, np.append(np.sort(order[:LEAST_ROWS]), last)))
        now = self._passed()
        per_row = (now - before) / (LEAST_ROWS + n_last)
        n_drawn = int((self.seconds - now) / max(per_row, 1e-9)) - n_last
        if n_drawn >= n_rows:
            return score(X)
        self.rows_drawn = max(n_drawn, LEAST_ROWS), n_rows
        if n_drawn <= LEAST_ROWS:
            return scored
        return score(_safe_indexing(X, np.append(np.sort(order[:n_drawn]), last)))

    def warn(self) -> None:
        """Warn of what the limit has left out."""
        parts = []
        if self.left_out:
            n_members = len(set(self.begun) | set(self.left_out))
            names = ", ".join(self.left_out)
            parts.append(f"left out {len(self.left_out)} of {n_members} members ({names})")
        if self.rows_drawn is not None:
            n_drawn, n_rows = self.rows_drawn
            parts.append(f"drew {n_drawn:,} of {n_rows:,} unlabeled rows to weigh members by")
        if parts:
            warn_user(
                f"The time limit of {self.seconds:g} s {' and '.join(parts)}. Raise time_limit for "
                "more, or name members that are faster.",
                TimeLimitWarning,
            )

    def _passed(self) -> float:
        return time.perf_counter() - self.started
