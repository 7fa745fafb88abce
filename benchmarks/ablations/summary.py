"""From results to paired differences between settings, with their standard errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from benchmarks.ablations.results import AblationResult
from benchmarks.ablations.study import Row
from benchmarks.comparison import LEVEL


@dataclass(frozen=True, eq=False)
class Difference:
    """Difference in AUC between two settings on the same draws.

    Parameters
    ----------
    by_row : dict
        Each row to its differences, one for each draw.
    """

    by_row: dict[Row, np.ndarray]

    @property
    def mean(self) -> float:
        """Mean over the rows of the mean over the draws."""
        return float(np.mean([values.mean() for values in self.by_row.values()]))

    @property
    def error(self) -> float:
        """Standard error of the mean; draws vary, the rows are given."""
        errors = [standard_error(values) for values in self.by_row.values()]
        return float(np.sqrt(np.sum(np.square(errors))) / len(errors))

    @property
    def sign(self) -> int:
        """1 or -1 where the mean is significant by a t-test, else 0.

        Rows vary unlike each other, so the degrees of freedom are Welch's; with one row this is the
        paired t-test.
        """
        if self.error == 0.0:
            return int(np.sign(self.mean))
        squares = np.array([standard_error(values) ** 2 for values in self.by_row.values()])
        freedom = np.array([values.size - 1 for values in self.by_row.values()])
        degrees = squares.sum() ** 2 / np.sum(squares**2 / freedom)
        limit = stats.t.ppf(1.0 - LEVEL / 2.0, degrees)
        return int(np.sign(self.mean)) if abs(self.mean) > limit * self.error else 0

    def rows_of_sign(self, sign: int) -> list[Row]:
        """Return the rows where, each by itself, the difference has this sign significantly."""
        return [row for row, part in self.by_row.items() if Difference({row: part}).sign == sign]


class Summary:
    """The results of one study.

    Parameters
    ----------
    results : iterable of AblationResult
        All of the study.
    rows : iterable of Row
        Its rows, in order; those without results are left out.
    """

    def __init__(self, results: Iterable[AblationResult], rows: Iterable[Row]):
        self._known: dict[tuple[Row, str], dict[int, AblationResult]] = {}
        for result in results:
            self._known.setdefault((result.row, result.setting), {})[result.draw] = result
        found = {row for row, _ in self._known}
        self.rows = [row for row in rows if row in found]

    def difference(self, setting: str, over: str, rows: Iterable[Row] | None = None) -> Difference:
        """Return the paired difference of two settings, on all rows or on some."""
        rows = self.rows if rows is None else rows
        return Difference({row: self._paired(row, setting, over) for row in rows})

    def values(self, row: Row, setting: str, figure: str) -> np.ndarray:
        """Return a figure of a setting on each draw."""
        known = self._known[row, setting]
        return np.array([getattr(known[draw], figure) for draw in sorted(known)])

    def _paired(self, row: Row, setting: str, over: str) -> np.ndarray:
        ours, theirs = self._known[row, setting], self._known[row, over]
        return np.array([ours[d].auc - theirs[d].auc for d in sorted(ours.keys() & theirs.keys())])


def standard_error(values: np.ndarray) -> float:
    """Return the standard error of the mean of independent values."""
    return float(values.std(ddof=1) / np.sqrt(values.size))
